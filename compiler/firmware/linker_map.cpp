// SPDX-License-Identifier: Apache-2.0
//
// Reader of the part behind "Linker script and memory map". An output section begins a line, an input section is
// indented by one blank; a long name stands on a line of its own.
#include "compiler/firmware/linker_map.h"

#include <optional>
#include <sstream>
#include <utility>

namespace rush::firmware {
namespace {

uint32_t hex(const std::string& text) { return static_cast<uint32_t>(std::stoull(text, nullptr, 16)); }

bool is_hex(const std::string& text) { return text.starts_with("0x"); }

/// "0xADDRESS 0xBYTES [OBJECT]" behind a name; nullopt if the line is something else.
std::optional<MapSection> parse_extent(std::istringstream& in) {
  MapSection section;
  std::string address;
  std::string bytes;
  if (!(in >> address >> bytes) || !is_hex(address) || !is_hex(bytes)) return std::nullopt;
  section.address = hex(address);
  section.bytes = hex(bytes);
  std::getline(in >> std::ws, section.object);
  return section;
}

class MapReader {
 public:
  void line(const std::string& text) {
    if (text.empty()) return;
    if (text[0] != ' ') return output_section(text);
    if (text.size() > 1 && text[1] != ' ') return input_section(text);
    if (!pending_.empty()) continued(text);
  }

  std::vector<MapSection> finish() { return std::move(sections_); }

 private:
  void output_section(const std::string& text) {
    std::istringstream(text) >> output_;
    pending_.clear();
  }

  void input_section(const std::string& text) {
    std::istringstream in(text);
    std::string name;
    in >> name;
    pending_ = in.eof() ? name : "";
    if (in.eof()) return;
    keep(name, in);
  }

  void continued(const std::string& text) {
    std::istringstream in(text);
    keep(std::exchange(pending_, {}), in);
  }

  void keep(const std::string& name, std::istringstream& in) {
    auto section = parse_extent(in);
    if (!section || section->bytes == 0) return;
    section->output = output_;
    section->input = name;
    sections_.push_back(std::move(*section));
  }

  std::string output_;
  std::string pending_;
  std::vector<MapSection> sections_;
};

}  // namespace

std::vector<MapSection> parse_linker_map(const std::string& text) {
  MapReader reader;
  std::istringstream in(text);
  bool begun = false;
  for (std::string line; std::getline(in, line);) {
    if (begun) reader.line(line);
    begun = begun || line.starts_with("Linker script and memory map");
  }
  return reader.finish();
}

}  // namespace rush::firmware
