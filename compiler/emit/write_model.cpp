// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/write_model.h"

#include <fmt/format.h>

#include "compiler/emit/image_reader.h"
#include "compiler/emit/names.h"
#include "compiler/emit/sources.h"
#include "compiler/firmware/process.h"
#include "compiler/report/report.h"

namespace rush {

void write_model(const Program& program, std::span<const uint8_t> image, const WriteOptions& options) {
  const SourceOptions names{.symbol = options.symbol, .made_from = options.made_from};
  const std::string header = emit_header(image, names), source = emit_source(image, names);
  firmware::make_directory(options.directory);
  const std::vector<uint8_t> file =
      ImageReader(image).debug().empty() ? with_names(image, program) : std::vector(image.begin(), image.end());
  firmware::write_file(options.directory / "model.rush", {reinterpret_cast<const char*>(file.data()), file.size()});
  firmware::write_file(options.directory / (options.symbol + ".h"), header);
  firmware::write_file(options.directory / (options.symbol + ".cpp"), source);
  const std::string report = report_json(program, image, {.model = options.made_from, .symbol = options.symbol});
  firmware::write_file(options.directory / "report.json", report + "\n");
  firmware::write_file(options.directory / "report.html", report_page(report));
}

}  // namespace rush
