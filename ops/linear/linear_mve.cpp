// SPDX-License-Identifier: Apache-2.0
//
// Four outputs at a time by VMLADAVA: five loads, four multiply-accumulates of sixteen.
#include <arm_mve.h>

#include "../conv2d/conv2d_channels_mve.h"
#include "../conv2d/conv2d_dot_mve.h"
#include "linear.h"
#include "linear_walk.h"

namespace rush {
namespace {

const int8_t* dot_four(const int8_t* x, const int8_t* w, uint32_t n, int32_t* sums) {
  int32_t a = 0, b = 0, c = 0, d = 0;
  RUSH_ROLLED for (uint32_t i = n >> 4; i != 0; --i) {
    const int8x16_t p = vldrbq_s8(x);
    a = vmladavaq_s8(a, p, vldrbq_s8(w));
    b = vmladavaq_s8(b, p, vldrbq_s8(w + 16));
    c = vmladavaq_s8(c, p, vldrbq_s8(w + 32));
    d = vmladavaq_s8(d, p, vldrbq_s8(w + 48));
    x += 16;
    w += 64;
  }
  const uint32_t rest = n & 15u;
  const mve_pred16_t live = vctp8q(rest);
  const int8x16_t p = vldrbq_z_s8(x, live);
  sums[0] = vmladavaq_s8(a, p, vldrbq_z_s8(w, live));
  sums[1] = vmladavaq_s8(b, p, vldrbq_z_s8(w + rest, live));
  sums[2] = vmladavaq_s8(c, p, vldrbq_z_s8(w + 2 * rest, live));
  sums[3] = vmladavaq_s8(d, p, vldrbq_z_s8(w + 3 * rest, live));
  return w + 4 * rest;
}

struct MveLinear {
  static const int8_t* dot(LinearTile* tile, const int8_t* w) {
    if (tile->count == 4) return dot_four(tile->x, w, tile->features, tile->sums.sum);
    RUSH_ROLLED for (uint32_t j = 0; j < tile->count; ++j, w += tile->features) {
      tile->sums.sum[j] = dot_one_by_one(tile->x, w, tile->features, 0);
    }
    return w;
  }

  static void store(const ChannelBlock& block, const OutputCodes& codes, BlockSums* sums, uint32_t count) {
    store_codes_mve(block, codes, sums, count);
  }
};

}  // namespace

void linear_s8_mve(const void* params, void* const* operands, Band band) {
  walk_linear<MveLinear>(*static_cast<const LinearParams*>(params), operands, band);
}

}  // namespace rush
