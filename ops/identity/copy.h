// SPDX-License-Identifier: Apache-2.0
//
// Copies strided pieces: out[y][s][i] = in[y][s][i]. One contiguous piece, a part of the channels of a map, or any
// part of a concatenation.
#ifndef RUSHLIGHT_OPS_COPY_H
#define RUSHLIGHT_OPS_COPY_H

#include "rushlight/kernel.h"

namespace rush {

/// Operands: 0 in, 1 out, at any alignment; they must not overlap. A row has `segments` pieces of `segment_bytes`,
/// whose starts lie in_pitch and out_pitch bytes apart.
struct CopyParams {
  Rows in;
  Rows out;
  uint16_t rows;
  uint16_t reserved;
  uint32_t segments;
  uint32_t segment_bytes;
  uint32_t in_pitch;
  uint32_t out_pitch;
};

extern const KernelContract copy_contract;
Kernel copy_scalar, copy_dsp, copy_mve;

/// Walks the segments of a band; every variant brings its own way to copy bytes.
template <class CopyBytes>
inline void copy_segments(const CopyParams& p, void* const* operands, Band band, CopyBytes copy_bytes) {
  for (int32_t y = band.begin; y < band.end; ++y) {
    const uint8_t* in = static_cast<const uint8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y));
    uint8_t* out = static_cast<uint8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y));
    for (uint32_t s = 0; s < p.segments; ++s) {
      copy_bytes(out, in, p.segment_bytes);
      in += p.in_pitch;
      out += p.out_pitch;
    }
  }
}

}  // namespace rush
#endif
