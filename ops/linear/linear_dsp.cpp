// SPDX-License-Identifier: Apache-2.0
//
// Four outputs at a time by SMLAD: five loads, sixteen multiply-accumulates.
#include "../conv2d/conv2d_dot_dsp.h"
#include "linear.h"
#include "linear_walk.h"

namespace rush {
namespace {

const int8_t* dot_four(const int8_t* x, const int8_t* w, uint32_t n, int32_t* sums) {
  int32_t a = 0, b = 0, c = 0, d = 0;
  RUSH_ROLLED for (const int8_t* const end = x + (n & ~3u); x != end; x += 4, w += 16) {
    const BytePairs p = load_pairs(x);
    a = multiply_accumulate(a, p, load_pairs(w));
    b = multiply_accumulate(b, p, load_pairs(w + 4));
    c = multiply_accumulate(c, p, load_pairs(w + 8));
    d = multiply_accumulate(d, p, load_pairs(w + 12));
  }
  const uint32_t rest = n & 3u;
  RUSH_ROLLED for (uint32_t i = 0; i < rest; ++i, ++w) {
    const int32_t v = x[i];
    a = __smlabb(v, w[0], a);
    b = __smlabb(v, w[rest], b);
    c = __smlabb(v, w[2 * rest], c);
    d = __smlabb(v, w[3 * rest], d);
  }
  sums[0] = a;
  sums[1] = b;
  sums[2] = c;
  sums[3] = d;
  return w + 3 * rest;
}

struct DspLinear {
  static const int8_t* dot(LinearTile* tile, const int8_t* w) {
    if (tile->count == 4) return dot_four(tile->x, w, tile->features, tile->sums.sum);
    RUSH_ROLLED for (uint32_t j = 0; j < tile->count; ++j, w += tile->features) {
      tile->sums.sum[j] = dot_one_by_one(tile->x, w, tile->features, 0);
    }
    return w;
  }

  static void store(const ChannelBlock& block, const OutputCodes& codes, BlockSums* sums, uint32_t count) {
    store_codes(block, codes, sums, count);
  }
};

}  // namespace

void linear_s8_dsp(const void* params, void* const* operands, Band band) {
  walk_linear<DspLinear>(*static_cast<const LinearParams*>(params), operands, band);
}

}  // namespace rush
