// SPDX-License-Identifier: Apache-2.0
//
// Which kernel each layer gets and why, and what would make it faster or smaller: read off the program, with the cost
// model's figures.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "compiler/report/summary.h"
#include "ops/program.h"

namespace rush {

/// A warning is about what costs the model noticeably and its author can change; the rest is good to know.
struct Advice {
  bool is_warning = false;
  std::string what;
  std::string fix;
};

struct ExplainedLayer {
  LayerRow row;
  std::string reason;  ///< why this kernel
  double share = 0;    ///< of the modelled time
  std::vector<Advice> advice;
};

struct Explanation {
  std::string target;
  double cycles = 0;
  std::vector<ExplainedLayer> layers;

  int warnings() const;
};

/// The program must be planned.
Explanation explain(const Program& program, std::span<const uint8_t> image);

/// Adds what another --opt would choose for a layer: `other` is the same graph lowered for it.
void add_alternative(Explanation& explanation, const Program& program, const Program& other);

/// [{"warning", "what", "fix"}]
nlohmann::ordered_json advice_json(const std::vector<Advice>& advice);

std::string explanation_text(const Explanation& explanation);
std::string explanation_json(const Explanation& explanation);

}  // namespace rush
