// SPDX-License-Identifier: Apache-2.0
//
// Weights [outputs][inputs] for the portable variants: blocks of eight outputs, then one of four if as many are left,
// each [inputs][outputs of the block], then what is left, output by output.
#include "ops/conv2d/conv2d_packing.h"

namespace rush {

int64_t scalar_weight(size_t outputs, size_t inputs, size_t i) {
  const size_t eights = outputs / 8 * 8 * inputs, fours = outputs / 4 * 4 * inputs;
  if (i >= fours) return static_cast<int64_t>(i);
  const size_t block = i < eights ? 8 : 4;
  const size_t in_block = i % (8 * inputs);  // four outputs at most follow the last eight
  const size_t first = i / (8 * inputs) * 8;
  return static_cast<int64_t>((first + in_block % block) * inputs + in_block / block);
}

uint8_t scalar_weight_inverted(size_t outputs, size_t inputs, size_t i) {
  return i < outputs / 4 * 4 * inputs ? 0x80 : 0;
}

}  // namespace rush
