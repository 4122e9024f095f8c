// SPDX-License-Identifier: Apache-2.0
//
// Two positions at a time: with their inputs x0 and x1 in one word x0 + 2^16 x1, one multiplication by a weight makes
// both products. Two of them are added: the low half then holds the first position's sum, which lies in [-2^15, 2^15)
// as the compiler leaves no two taps of a word whose weights are both -128, and the rest the second's. A word of
// weights holds two taps of two outputs, the order being that in which the assembly takes it apart: the first output's
// first tap in its lowest byte, the second's two taps, the first's second tap.
#ifndef RUSHLIGHT_OPS_CONV2D_PAIRS_SCALAR_H
#define RUSHLIGHT_OPS_CONV2D_PAIRS_SCALAR_H

#include "conv2d_outputs_scalar.h"

namespace rush {

/// The inputs of two windows, an even number, and where the outputs of each begin.
struct PairWindow {
  const uint32_t* words;
  uint32_t count;
  int8_t* out[2];
};

#if RUSH_SCALAR_LOOPS
extern "C" void rush_pairs(const PairWindow* window, const OutputLayer* layer);

inline void pair_outputs(const PairWindow& window, const OutputLayer& layer) { rush_pairs(&window, &layer); }
#else
/// The sums of one output: of all products, the first position's in the low half, and of the second position alone.
struct PairSums {
  uint32_t all;
  uint32_t second;

  void add(uint32_t products) {
    all += products;
    second += wrapping(static_cast<int32_t>(products + 0x8000u) >> 16);
  }
  uint32_t first() const { return all - (second << 16); }
};

/// Adds the sums of two outputs at both positions; returns the weights' end.
inline const int8_t* add_pairs(const PairWindow& window, const int8_t* w, int32_t* first, int32_t* second) {
  PairSums a = {0, 0}, b = {0, 0};
  RUSH_ROLLED for (uint32_t i = 0; i < window.count; i += 2, w += 4) {
    const uint32_t x = window.words[i], y = window.words[i + 1];
    a.add(x * wrapping(w[0]) + y * wrapping(w[3]));
    b.add(x * wrapping(w[1]) + y * wrapping(w[2]));
  }
  first[0] = static_cast<int32_t>(wrapping(first[0]) + a.first());
  first[1] = static_cast<int32_t>(wrapping(first[1]) + b.first());
  second[0] = static_cast<int32_t>(wrapping(second[0]) + a.second);
  second[1] = static_cast<int32_t>(wrapping(second[1]) + b.second);
  return w;
}

/// All outputs of both positions, a multiple of eight.
inline __attribute__((noinline)) void pair_outputs(const PairWindow& window, const OutputLayer& layer) {
  const int8_t* w = layer.weights;
  const ChannelBlock* block = layer.channels;
  CodeSums first, second;
  first.out = window.out[0];
  second.out = window.out[1];
  first.stride = second.stride = 1;
  RUSH_ROLLED for (uint32_t left = layer.outputs; left >= 8; left -= 8, block += 2) {
    start_sums(block, 0, first.sum, 8);
    start_sums(block, 0, second.sum, 8);
    RUSH_ROLLED for (uint32_t j = 0; j < 8; j += 2) w = add_pairs(window, w, first.sum + j, second.sum + j);
    store_sums(block, *layer.codes, &first, 8);
    store_sums(block, *layer.codes, &second, 8);
  }
}
#endif

}  // namespace rush
#endif
