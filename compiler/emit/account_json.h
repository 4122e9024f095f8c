// SPDX-License-Identifier: Apache-2.0
//
// An account as JSON, for the reports that it is part of.
#pragma once

#include <nlohmann/json.hpp>

#include "compiler/emit/account.h"

namespace rush {

/// {"sections": {name: bytes}, "layers": [{"layer", "source", "bytes", ...}]}
nlohmann::ordered_json account_json(const ImageAccount& account);

}  // namespace rush
