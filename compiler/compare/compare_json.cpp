// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "compiler/compare/compare.h"

namespace rush {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity: null stands for "nothing differs".
Json decibels(const Distance& distance) { return std::isinf(distance.sqnr_db()) ? Json() : Json(distance.sqnr_db()); }

Json to_json(const LayerComparison& layer) {
  return {{"layer", layer.origin.layer},
          {"source", layer.origin.source},
          {"tensor", layer.tensor},
          {"operator", layer.op},
          {"shape", layer.shape},
          {"sqnr_db", decibels(layer.from_torch)},
          {"max_error", layer.from_torch.max_error},
          {"max_error_lsb", layer.max_error_lsb()},
          {"program_codes_compared", layer.program_codes_compared},
          {"program_codes_different", layer.program_codes_different}};
}

Json to_json(const Distance& distance, double step) {
  return {{"sqnr_db", decibels(distance)},
          {"max_error", distance.max_error},
          {"max_error_lsb", step > 0 ? distance.max_error / step : 0}};
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  Json json = {{"samples", comparison.samples},
               {"program_is_exact", comparison.program_is_exact()},
               {"layers", Json::array()},
               {"outputs", Json::array()}};
  for (const LayerComparison& layer : comparison.layers) json["layers"].push_back(to_json(layer));
  for (const OutputComparison& output : comparison.outputs) {
    Json row = {{"name", output.name}, {"torch_to_program", to_json(output.torch_to_program, output.step)}};
    if (output.expected_to_program) row["expected_to_program"] = to_json(*output.expected_to_program, output.step);
    json["outputs"].push_back(row);
  }
  return json.dump(2);
}

}  // namespace rush
