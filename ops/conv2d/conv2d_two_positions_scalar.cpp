// SPDX-License-Identifier: Apache-2.0
//
// Two positions at a time: with their inputs x0 and x1 in one word x0 + 2^16 x1, one multiplication by a weight makes
// both products. Two of them are added: the low half then holds the first position's sum, which lies in [-2^15, 2^15)
// as the compiler leaves no two taps of a word whose weights are both -128, and the rest the second's. A word of
// weights holds two taps of two outputs, the order being that in which the assembly takes it apart: the first output's
// first tap in its lowest byte, the second's two taps, the first's second tap.
#include "conv2d_two_positions.h"
#include "conv2d_walk_scalar.h"

namespace rush {
namespace {

/// The inputs of two windows, an even number, and where the outputs of each begin.
struct TwoWindows {
  const uint32_t* words;
  uint32_t count;
  int8_t* out[2];
};

#if RUSH_SCALAR_LOOPS
extern "C" void rush_two_positions(const TwoWindows* window, const OutputLayer* layer);

void two_positions_outputs(const TwoWindows& window, const OutputLayer& layer) { rush_two_positions(&window, &layer); }
#else
/// The sums of one output: of all products, the first position's in the low half, and of the second position alone.
struct TwoSums {
  uint32_t all;
  uint32_t second;

  void add(uint32_t products) {
    all += products;
    second += wrapping(static_cast<int32_t>(products + 0x8000u) >> 16);
  }
  uint32_t first() const { return all - (second << 16); }
};

/// Adds the sums of two outputs at both positions; returns the weights' end.
const int8_t* add_two_outputs(const TwoWindows& window, const int8_t* w, int32_t* first, int32_t* second) {
  TwoSums a = {0, 0}, b = {0, 0};
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
__attribute__((noinline)) void two_positions_outputs(const TwoWindows& window, const OutputLayer& layer) {
  const int8_t* w = layer.weights;
  const ChannelBlock* block = layer.channels;
  CodeSums first, second;
  first.out = window.out[0];
  second.out = window.out[1];
  first.stride = second.stride = 1;
  RUSH_ROLLED for (uint32_t left = layer.outputs; left >= 8; left -= 8, block += 2) {
    start_sums(block, 0, first.sum, 8);
    start_sums(block, 0, second.sum, 8);
    RUSH_ROLLED for (uint32_t j = 0; j < 8; j += 2) w = add_two_outputs(window, w, first.sum + j, second.sum + j);
    store_sums(block, *layer.codes, &first, 8);
    store_sums(block, *layer.codes, &second, 8);
  }
}
#endif

/// words[i] = a[i] + 2^16 b[i]; returns their end.
__attribute__((noinline)) uint32_t* join(const int8_t* a, const int8_t* b, uint32_t n, uint32_t* words) {
  RUSH_ROLLED for (uint32_t i = 0; i != n; ++i)* words++ = wrapping(a[i]) + (wrapping(b[i]) << 16);
  return words;
}

/// Joins windows of two positions: rows where they lie if they are contiguous and inside the map.
void join_windows(const Conv2dParams& p, void* const* operands, WindowOrigin first, WindowOrigin second) {
  const ConvGeometry& g = p.geometry;
  const int8_t* const in = static_cast<const int8_t*>(operands[0]);
  uint32_t* words = static_cast<uint32_t*>(operands[4]);
  const uint32_t row_bytes = static_cast<uint32_t>(g.kernel_width) * p.in_channels;
  const bool contiguous = g.kernel_width == 1 || (g.dilation_width == 1 && p.in_pixel == p.in_channels);
  if (contiguous && is_inside(g, first) && is_inside(g, second)) {
    RowCursor a = window_rows(g, static_cast<uint32_t>(first.y));
    RowCursor b = window_rows(g, static_cast<uint32_t>(second.y));
    RUSH_ROLLED for (uint32_t left = g.kernel_height; left != 0; --left, a.next(), b.next()) {
      words = join(in + a.offset + first.x * p.in_pixel, in + b.offset + second.x * p.in_pixel, row_bytes, words);
    }
  } else {
    int8_t* const a = reinterpret_cast<int8_t*>(words + two_positions_inputs(p));
    int8_t* const b = gather_window<ScalarCopy>(p, in, first, a);
    gather_window<ScalarCopy>(p, in, second, b);
    join(a, b, g.kernel_height * row_bytes, words);
  }
}

}  // namespace

/// Two positions at a time along the rows; one that is left over is computed twice.
void conv2d_two_positions_s8_scalar(const void* params, void* const* operands, Band band) {
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  if (p.geometry.out_width == 0) return;  // a damaged image
  const OutputLayer layer = output_layer(p, operands);
  TwoWindows window;
  uint32_t* const words = static_cast<uint32_t*>(operands[4]);
  window.words = words;
  window.count = two_positions_inputs(p);
  words[window.count - 1] = 0;  // in case that the window has one input less
  OutputPosition pair[2];
  begin_row(p, operands, band.begin, &pair[1]);
  RUSH_ROLLED while (pair[1].row < band.end) {
    pair[0] = pair[1];
    advance(p, operands, &pair[1]);
    const OutputPosition* const second = pair[1].row < band.end ? &pair[1] : &pair[0];
    join_windows(p, operands, pair[0].at, second->at);
    window.out[0] = pair[0].out;
    window.out[1] = second->out;
    two_positions_outputs(window, layer);
    advance(p, operands, &pair[1]);
  }
}

}  // namespace rush
