// SPDX-License-Identifier: Apache-2.0
//
// A transposed plane in blocks of four by four: four words in, four words out, the bytes exchanged in registers
// by UXTB16 and PKH. Everything else element by element.
#include <arm_acle.h>

#include "permute.h"

namespace rush {
namespace {

inline uint32_t load_word(const uint8_t* from) {
  uint32_t word;
  __builtin_memcpy(&word, from, 4);
  return word;
}

inline void store_word(uint8_t* to, uint32_t word) { __builtin_memcpy(to, &word, 4); }

/// Bytes 0 and 2 of a below bytes 0 and 2 of b: {a0, b0, a2, b2}.
inline uint32_t interleave_even(uint32_t a, uint32_t b) { return __uxtb16(a) | (__uxtb16(b) << 8); }

inline uint32_t low_halves(uint32_t a, uint32_t b) { return (a & 0xffffu) | (b << 16); }
inline uint32_t high_halves(uint32_t a, uint32_t b) { return (a >> 16) | (b & 0xffff0000u); }

/// out[r][c] = in[c * stride + r] for four rows and columns; out's rows lie `pitch` apart.
inline void transpose_block(uint8_t* out, uint32_t pitch, const uint8_t* in, uint32_t stride) {
  const uint32_t a = load_word(in), b = load_word(in + stride);
  const uint32_t c = load_word(in + 2 * stride), d = load_word(in + 3 * stride);
  const uint32_t ab_even = interleave_even(a, b), ab_odd = interleave_even(a >> 8, b >> 8);
  const uint32_t cd_even = interleave_even(c, d), cd_odd = interleave_even(c >> 8, d >> 8);
  store_word(out, low_halves(ab_even, cd_even));
  store_word(out + pitch, low_halves(ab_odd, cd_odd));
  store_word(out + 2 * pitch, high_halves(ab_even, cd_even));
  store_word(out + 3 * pitch, high_halves(ab_odd, cd_odd));
}

inline void gather_row(uint8_t* out, const uint8_t* in, uint32_t count, uint32_t stride) {
  for (uint32_t c = 0; c < count; ++c) {
    out[c] = *in;
    in += stride;
  }
}

void transpose_plane(uint8_t* out, const uint8_t* in, const Plane& plane) {
  uint32_t r = 0;
  for (; r + 4 <= plane.rows; r += 4) {
    uint32_t c = 0;
    for (; c + 4 <= plane.columns; c += 4)
      transpose_block(out + c, plane.columns, in + r + c * plane.column_stride, plane.column_stride);
    for (uint32_t k = 0; k < 4; ++k)
      gather_row(out + k * plane.columns + c, in + r + k + c * plane.column_stride, plane.columns - c,
                 plane.column_stride);
    out += 4 * plane.columns;
  }
  for (; r < plane.rows; ++r) {
    gather_row(out, in + r, plane.columns, plane.column_stride);
    out += plane.columns;
  }
}

void gather_plane(uint8_t* out, const uint8_t* in, const Plane& plane) {
  for (uint32_t r = 0; r < plane.rows; ++r) {
    gather_row(out, in, plane.columns, plane.column_stride);
    out += plane.columns;
    in += plane.row_stride;
  }
}

void copy_plane(uint8_t* out, const uint8_t* in, const Plane& plane) {
  for (uint32_t r = 0; r < plane.rows; ++r) {
    uint32_t c = 0;
    for (; c + 4 <= plane.columns; c += 4) store_word(out + c, load_word(in + c));
    for (; c < plane.columns; ++c) out[c] = in[c];
    out += plane.columns;
    in += plane.row_stride;
  }
}

}  // namespace

void permute_8_dsp(const void* params, void* const* operands, Band) {
  const PermuteParams& p = *static_cast<const PermuteParams*>(params);
  const Plane plane = plane_of(p);
  const auto move = plane.column_stride == 1 ? copy_plane : plane.row_stride == 1 ? transpose_plane : gather_plane;
  permute_planes<uint8_t>(p, operands, [&](uint8_t* out, const uint8_t* in) { move(out, in, plane); });
}

}  // namespace rush
