// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "compiler/compare/compare.h"

namespace rush {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity: null stands for "nothing differs".
Json decibels(const Distance& distance) { return std::isinf(distance.sqnr_db()) ? Json() : Json(distance.sqnr_db()); }

Json to_json(const Distance& distance, double step) {
  return {{"sqnr_db", decibels(distance)},
          {"max_error", distance.max_error},
          {"max_error_lsb", step > 0 ? distance.max_error / step : 0}};
}

Json to_json(const LayerComparison& layer, bool has_board) {
  Json json = {{"layer", layer.origin.layer},
               {"source", layer.origin.source},
               {"tensor", layer.tensor},
               {"operator", layer.op},
               {"shape", layer.shape},
               {"sqnr_db", decibels(layer.from_torch)},
               {"max_error", layer.from_torch.max_error},
               {"max_error_lsb", layer.max_error_lsb()},
               {"saturation", layer.saturation()},
               {"program_codes_compared", layer.program.compared},
               {"program_codes_different", layer.program.different}};
  if (layer.from_float.count > 0) json["from_float"] = to_json(layer.from_float, layer.step);
  if (has_board) json["board_codes_compared"] = layer.board.compared;
  if (has_board) json["board_codes_different"] = layer.board.different;
  return json;
}

Json to_json(const OutputComparison& output) {
  Json row = {{"name", output.name}, {"torch_to_program", to_json(output.torch_to_program, output.step)}};
  if (output.float_to_program) row["float_to_program"] = to_json(*output.float_to_program, output.step);
  if (output.expected_to_program) row["expected_to_program"] = to_json(*output.expected_to_program, output.step);
  return row;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  const bool has_board = !comparison.board.empty();
  Json json = {{"samples", comparison.samples}, {"program_is_exact", comparison.program_is_exact()}};
  if (has_board) json["board"] = comparison.board;
  if (has_board) json["board_is_exact"] = comparison.board_is_exact();
  json["divergences"] = Json::array();
  for (const Divergence& found : comparison.divergences())
    json["divergences"].push_back({{"stage", found.stage},
                                   {"layer", comparison.layers[found.layer].origin.layer},
                                   {"source", comparison.layers[found.layer].origin.source},
                                   {"what", found.what}});
  json["layers"] = Json::array();
  for (const LayerComparison& layer : comparison.layers) json["layers"].push_back(to_json(layer, has_board));
  json["outputs"] = Json::array();
  for (const OutputComparison& output : comparison.outputs) json["outputs"].push_back(to_json(output));
  return json.dump(2);
}

}  // namespace rush
