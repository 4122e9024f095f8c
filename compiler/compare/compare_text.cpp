// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/compare/compare.h"

namespace rush {
namespace {

std::string decibels(const Distance& distance) {
  if (distance.count == 0) return "-";
  return std::isinf(distance.sqnr_db()) ? "exact" : fmt::format("{:.1f}", distance.sqnr_db());
}

std::string agreement(const Agreement& agreement) {
  if (agreement.compared == 0) return "-";
  return agreement.different == 0 ? "same bits" : fmt::format("{} differ", agreement.different);
}

std::string layer_line(const LayerComparison& layer) {
  return fmt::format("{:<32} {:<12} {:<16} {:>9} {:>9} {:>8} {:>9} {:>10} {:>10}\n", layer.origin.layer, layer.op,
                     to_string(layer.shape), decibels(layer.from_float), decibels(layer.from_torch),
                     layer.step > 0 ? fmt::format("{:.1f}", layer.max_error_lsb()) : "float",
                     layer.codes > 0 ? fmt::format("{:.2f}%", 100 * layer.saturation()) : "-", agreement(layer.program),
                     agreement(layer.board));
}

std::string output_line(const OutputComparison& output, const char* from, const Distance& distance) {
  return fmt::format("output \"{}\", {} to program: {} dB, largest difference {:.6g}{}\n", output.name, from,
                     decibels(distance), distance.max_error,
                     output.step > 0 ? fmt::format(" ({:.1f} steps)", distance.max_error / output.step) : "");
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text = fmt::format("{:<32} {:<12} {:<16} {:>9} {:>9} {:>8} {:>9} {:>10} {:>10}\n", "layer", "operator",
                                 "shape", "float dB", "SQNR dB", "max LSB", "saturated", "program",
                                 comparison.board.empty() ? "board" : comparison.board);
  for (const LayerComparison& layer : comparison.layers) text += layer_line(layer);
  for (const OutputComparison& output : comparison.outputs) {
    if (output.float_to_program) text += output_line(output, "float", *output.float_to_program);
    text += output_line(output, "torch", output.torch_to_program);
    if (output.expected_to_program) text += output_line(output, "expected", *output.expected_to_program);
  }
  for (const Divergence& found : comparison.divergences()) {
    const LayerComparison& layer = comparison.layers[found.layer];
    text += fmt::format("{} stage first departs at \"{}\"{}: {}\n", found.stage, layer.origin.layer,
                        layer.origin.source.empty() ? "" : " (" + layer.origin.source + ")", found.what);
  }
  return text + fmt::format("{} samples", comparison.samples);
}

}  // namespace rush
