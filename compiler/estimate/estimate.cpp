// SPDX-License-Identifier: Apache-2.0
#include "compiler/estimate/estimate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/emit/emit.h"
#include "compiler/plan/choose.h"
#include "compiler/report/summary.h"
#include "ops/code_bytes.h"
#include "ops/op_def.h"

namespace rush {
namespace {

using Json = nlohmann::ordered_json;

uint64_t kernel_code(const Program& program) {
  std::set<std::string_view> families;
  for (const ProgramStep& step : program.steps) families.insert(step.family->name);
  uint64_t bytes = 0;
  for (const std::string_view family : families) bytes += family_code_bytes({program.isa, program.core}, family);
  return bytes;
}

std::string what_does_not_fit(const TargetEstimate& estimate, const Target& target) {
  if (estimate.flash_bytes > target.flash_bytes) return fmt::format("has {} bytes of flash", target.flash_bytes);
  if (estimate.ram_bytes > target.ram_bytes) return fmt::format("has {} bytes of RAM", target.ram_bytes);
  return {};
}

TargetEstimate estimate_on(const Graph& quantized, const Target& target, const CompileOptions& options) {
  const Program program = program_stage(quantized, target, options);
  const std::vector<uint8_t> image = emit_image(program, image_options(options));
  const ProgramSummary summary = summarize(program, image);
  TargetEstimate estimate{.target = target.name,
                          .kernels = std::string(isa_name(target.isa)),
                          .mhz = target.mhz,
                          .cycles = summary.cycles,
                          .ram_bytes = total_ram(program),
                          .flash_bytes = 0,
                          .image_bytes = image.size(),
                          .kernel_bytes = kernel_code(program),
                          .problem = {}};
  estimate.flash_bytes = estimate.image_bytes + estimate.kernel_bytes + runtime_code_bytes({program.isa, program.core});
  estimate.problem = what_does_not_fit(estimate, target);
  return estimate;
}

/// The first line of a message, without "error: ".
std::string first_line(const std::string& message) {
  const std::string line = message.substr(0, message.find('\n'));
  return line.starts_with("error: ") ? line.substr(7) : line;
}

}  // namespace

std::vector<TargetEstimate> estimate_model(const std::filesystem::path& model, const std::vector<std::string>& targets,
                                           const CompileOptions& options) {
  const Graph quantized = quantized_stage(torch_stage(model, options), options);
  std::vector<TargetEstimate> estimates;
  std::optional<UserError> refused;
  for (const std::string& name : targets) {
    const Target target = load_target(name);
    try {
      estimates.push_back(estimate_on(quantized, target, options));
    } catch (const UserError& error) {
      if (!refused) refused = error;
      estimates.push_back({.target = name,
                           .kernels = std::string(isa_name(target.isa)),
                           .mhz = target.mhz,
                           .problem = first_line(error.what())});
    }
  }
  const bool any = std::ranges::any_of(estimates, [](const TargetEstimate& e) { return e.flash_bytes > 0; });
  if (!any && refused) throw *refused;
  return estimates;
}

std::string estimate_text(const std::vector<TargetEstimate>& estimates) {
  std::string text = fmt::format("{:<16} {:<7} {:>5} {:>14} {:>10} {:>12} {:>12} {:>12} {:>10}  {}\n", "target",
                                 "kernels", "MHz", "cycles", "ms", "RAM bytes", "flash bytes", "image", "code", "");
  for (const TargetEstimate& e : estimates) {
    if (e.flash_bytes == 0) {
      text += fmt::format("{:<16} {:<7} {:>5g} {}\n", e.target, e.kernels, e.mhz, e.problem);
      continue;
    }
    text += fmt::format("{:<16} {:<7} {:>5g} {:>14.0f} {:>10.3f} {:>12} {:>12} {:>12} {:>10}  {}\n", e.target,
                        e.kernels, e.mhz, e.cycles, e.milliseconds(), e.ram_bytes, e.flash_bytes, e.image_bytes,
                        e.kernel_bytes, e.problem.empty() ? "" : "does not fit: " + e.problem);
  }
  return text + fmt::format(
                    "Nothing was built. Measured figures of the bench's models differ by at most {:.0f} % in time, "
                    "{:.0f} % in flash and {:.0f} % in RAM.",
                    kLargestError.time * 100, kLargestError.flash * 100, kLargestError.ram * 100);
}

std::string estimate_json(const std::vector<TargetEstimate>& estimates) {
  Json json = {
      {"largest_error", {{"time", kLargestError.time}, {"flash", kLargestError.flash}, {"ram", kLargestError.ram}}},
      {"targets", Json::array()}};
  for (const TargetEstimate& e : estimates) {
    json["targets"].push_back({{"target", e.target},
                               {"kernels", e.kernels},
                               {"mhz", e.mhz},
                               {"cycles", std::llround(e.cycles)},
                               {"milliseconds", e.milliseconds()},
                               {"ram_bytes", e.ram_bytes},
                               {"flash_bytes", e.flash_bytes},
                               {"image_bytes", e.image_bytes},
                               {"kernel_bytes", e.kernel_bytes},
                               {"problem", e.problem}});
  }
  return json.dump(2);
}

}  // namespace rush
