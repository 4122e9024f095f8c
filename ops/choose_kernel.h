// SPDX-License-Identifier: Apache-2.0
//
// Which of several kernels computes a layer: the choice of every operator that has more than one, in the one place
// that knows what cycles and bytes are worth.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/op_def.h"

namespace rush {

/// A kernel that can compute a layer, and the layer's parameters as it takes them.
struct KernelCandidate {
  const KernelFamily* family;
  std::vector<uint8_t> params;
};

/// Whether a step before the layer's has linked the family's code.
bool is_linked(const Lowering& lowering, const KernelFamily& family);

/// The candidate of least price; the first of equals. The price is the modelled cycles of the call (ops/cost.h), and
/// the bytes of flash that it takes at what `opt` says they are worth: packed weights, and code that no step before it
/// links (ops/code_bytes.h).
KernelCandidate choose_kernel(const Lowering& lowering, std::vector<KernelCandidate> candidates);

}  // namespace rush
