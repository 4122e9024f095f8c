// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/account_json.h"

namespace rush {

nlohmann::ordered_json account_json(const ImageAccount& account) {
  nlohmann::ordered_json out = {{"sections", account.sections}};
  out["layers"] = nlohmann::ordered_json::array();
  for (const LayerAccount& layer : account.layers)
    out["layers"].push_back({{"layer", layer.layer},
                             {"source", layer.source},
                             {"bytes", layer.bytes()},
                             {"constant_bytes", layer.constant_bytes},
                             {"padding_bytes", layer.padding_bytes},
                             {"step_bytes", layer.step_bytes},
                             {"shared_bytes", layer.shared_bytes}});
  return out;
}

}  // namespace rush
