// SPDX-License-Identifier: Apache-2.0
//
// For kernels whose codes saturate at the range of int8: a narrower range, which few layers have, is a second look.
#ifndef RUSHLIGHT_OPS_CONV2D_CLAMP_MVE_H
#define RUSHLIGHT_OPS_CONV2D_CLAMP_MVE_H

#include <arm_mve.h>

#include "conv2d_channels.h"
#include "conv2d_geometry.h"

namespace rush {

inline __attribute__((noinline)) void clamp_codes(int8_t* out, const OutputCodes& codes, uint32_t count) {
  const int8x16_t least = vdupq_n_s8(codes.min), most = vdupq_n_s8(codes.max);
  RUSH_ROLLED for (int32_t left = static_cast<int32_t>(count); left > 0; left -= 16) {
    const mve_pred16_t live = vctp8q(static_cast<uint32_t>(left));
    vstrbq_p_s8(out, vminq_s8(vmaxq_s8(vldrbq_z_s8(out, live), least), most), live);
    out += 16;
  }
}

inline bool is_narrow(const OutputCodes& codes) { return codes.min != -128 || codes.max != 127; }

/// The first channels of each pixel.
struct PixelCodes {
  int8_t* map;
  uint32_t pixel;
  uint32_t channels;
  OutputCodes codes;
};

inline __attribute__((noinline)) void clamp_band(const ConvGeometry& g, const PixelCodes& out, Band band) {
  const bool dense = out.pixel == out.channels;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    int8_t* pixel = out.map + row_offset(g.out, static_cast<uint32_t>(y));
    RUSH_ROLLED for (uint32_t left = dense ? 1 : g.out_width; left != 0; --left, pixel += out.pixel) {
      clamp_codes(pixel, out.codes, dense ? out.channels * g.out_width : out.channels);
    }
  }
}

}  // namespace rush
#endif
