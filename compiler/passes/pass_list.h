// SPDX-License-Identifier: Apache-2.0
//
// The passes in their order, each with the reason why it stands where it stands. compiler/pipeline.cpp runs them.
#pragma once

#include <array>
#include <string_view>

#include "compiler/passes/passes.h"

namespace rush {

struct Pass {
  std::string_view name;
  Graph (*run)(Graph);
  std::string_view why;
};

inline constexpr auto kPasses = std::to_array<Pass>({
    {"remove_dead_code", remove_dead_code, "exports carry counters and unused outputs"},
    {"remove_identities", remove_identities, "dropout hides neighbours from each other"},
    {"remove_casts", remove_casts, "so do casts that change nothing"},
    {"shift_uint8", shift_uint8, "from here on all codes are signed"},
    {"fold_constants", fold_constants, "weights that the graph casts, transposes or quantizes"},
    {"fold_batch_norm", fold_batch_norm, "into weights, while they are still float"},
    {"fold_clamp", fold_clamp, "activations belong to the operator before the quantize"},
    {"hoist_quantize", hoist_quantize, "operators that move data become int8 from below"},
    {"sink_dequantize", sink_dequantize, "and from above"},
    {"fold_constants", fold_constants, "weights whose transposes now work on codes"},
    {"share_nodes", share_nodes, "one quantize for an input, not one a reader"},
    {"cancel_quantization", cancel_quantization, "what is left between two operators on codes"},
    {"fold_quantization", fold_quantization, "the operators that compute become int8"},
    {"fold_clamp", fold_clamp, "activations that had a quantization of their own"},
    {"fold_pad", fold_pad, "zero points are known now; before the layout, views are still simple"},
    {"strip_border", strip_border, "the caller quantizes the input and dequantizes the output"},
    {"fold_float_weights", fold_float_weights, "what stayed float gets float weights"},
    {"assign_layout", assign_layout, "the kernels read rows of NHWC maps"},
    {"fold_constants", fold_constants, "weights to OHWI"},
    {"remove_transposes", remove_transposes, "most permutes meet their inverse"},
    {"remove_identities", remove_identities, "reshapes that became pointless"},
    {"share_nodes", share_nodes, "equal permutes of one tensor"},
});

}  // namespace rush
