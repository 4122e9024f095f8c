// SPDX-License-Identifier: Apache-2.0
//
// All outputs of one window, for the portable variants of convolution and linear: eight at a time, four if as many are
// left, the rest one by one.
#ifndef RUSHLIGHT_OPS_CONV2D_OUTPUTS_SCALAR_H
#define RUSHLIGHT_OPS_CONV2D_OUTPUTS_SCALAR_H

#include "conv2d.h"
#include "conv2d_codes_scalar.h"
#include "conv2d_eight_scalar.h"

namespace rush {

/// The inputs of a window: segment s begins at x + the cursor's s-th offset.
struct InputWindow {
  const int8_t* x;
  RowCursor rows;
  ConvSegments segments;
};

/// Constants of a layer, weights in the order of conv2d_scalar_packing.cpp.
struct OutputLayer {
  const int8_t* weights;
  const ChannelBlock* channels;
  const OutputCodes* codes;
  uint32_t outputs;
};

inline uint32_t sum_of(const int8_t* x, uint32_t n) {
  uint32_t sum = 0;
  RUSH_ROLLED for (const int8_t* const end = x + n; x != end; ++x) sum += wrapping(*x);
  return sum;
}

inline uint32_t sum_of(const InputWindow& window) {
  uint32_t sum = 0;
  RowCursor rows = window.rows;
  RUSH_ROLLED for (uint32_t left = window.segments.count; left != 0; --left, rows.next()) {
    sum += sum_of(window.x + rows.offset, window.segments.bytes);
  }
  return sum;
}

/// sums[0] += sum over n inputs of x * w.
inline void dot_one(const int8_t* x, const int8_t* w, uint32_t n, int32_t* sums) {
  uint32_t sum = wrapping(sums[0]);
  RUSH_ROLLED for (uint32_t i = 0; i != n; ++i) sum += wrapping(x[i] * w[i]);
  sums[0] = static_cast<int32_t>(sum);
}

/// The outputs of a layer, one after the other.
struct OutputCursor {
  const int8_t* w;
  const ChannelBlock* block;
  uint32_t left;
  CodeSums sums;
};

#if RUSH_SCALAR_LOOPS
extern "C" const int8_t* rush_eights(const InputWindow* window, const OutputLayer* layer, int8_t* out, int32_t offset);

/// All blocks of eight outputs.
inline void add_eights(const InputWindow& window, const OutputLayer& layer, int32_t offset, OutputCursor* at) {
  if (layer.outputs < 8) return;
  const uint32_t done = layer.outputs & ~7u;
  at->w = rush_eights(&window, &layer, at->sums.out, offset);
  at->block += done >> 2;
  at->sums.out += done;
  at->left -= done;
}
#else
inline void add_eights(const InputWindow& window, const OutputLayer& layer, int32_t offset, OutputCursor* at) {
  RUSH_ROLLED for (; at->left >= 8; at->left -= 8, at->block += 2) {
    start_sums(at->block, offset, at->sums.sum, 8);
    RowCursor rows = window.rows;
    RUSH_ROLLED for (uint32_t left = window.segments.count; left != 0; --left, rows.next()) {
      dot_eight(window.x + rows.offset, reinterpret_cast<const uint8_t*>(at->w), window.segments.bytes, at->sums.sum);
      at->w += 8 * window.segments.bytes;
    }
    store_sums(at->block, *layer.codes, &at->sums, 8);
  }
}
#endif

/// Adds a window's products with the weights of four outputs or of one.
inline __attribute__((noinline)) void add_products(const InputWindow& window, uint32_t lanes, int32_t* sums,
                                                   OutputCursor* at) {
  const uint32_t n = window.segments.bytes;
  RowCursor rows = window.rows;
  RUSH_ROLLED for (uint32_t left = window.segments.count; left != 0; --left, rows.next()) {
    const int8_t* const x = window.x + rows.offset;
    if (lanes == 4) {
      dot_four(x, reinterpret_cast<const uint8_t*>(at->w), n, 4, sums);
    } else {
      dot_one(x, at->w, n, sums);
    }
    at->w += n * lanes;
  }
}

/// Bytes of `out` that follow each other get the codes of all outputs.
inline __attribute__((noinline)) void window_outputs(const InputWindow& window, const OutputLayer& layer, int8_t* out) {
  const int32_t offset = static_cast<int32_t>(0u - 128u * sum_of(window));  // of weights stored as w + 128
  OutputCursor at;
  at.w = layer.weights;
  at.block = layer.channels;
  at.left = layer.outputs;
  at.sums.out = out;
  at.sums.stride = 1;
  add_eights(window, layer, offset, &at);
  RUSH_ROLLED while (at.left != 0) {
    const uint32_t count = at.left < 4 ? at.left : 4, lanes = at.left < 4 ? 1 : 4;
    start_sums(at.block, lanes == 1 ? 0 : offset, at.sums.sum, count);
    RUSH_ROLLED for (uint32_t j = 0; j < count; j += lanes) add_products(window, lanes, at.sums.sum + j, &at);
    store_sums(at.block, *layer.codes, &at.sums, count);
    at.left -= count;
    ++at.block;
  }
}

}  // namespace rush
#endif
