// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of depthwise_patch_s8_mve: in assembly (depthwise_patch_mve_asm.S) or in intrinsics.
#ifndef RUSHLIGHT_OPS_DEPTHWISE_PATCH_ROWS_H
#define RUSHLIGHT_OPS_DEPTHWISE_PATCH_ROWS_H

#include <stddef.h>

#include "../conv2d/conv2d_channels.h"

namespace rush {

/// One or two rows of outputs, codes of the whole range. The assembly knows the order.
///
/// Four rows of four channels are interleaved in scratch. Column j of row r lies j * pitch bytes behind its column 0,
/// and in the map if j, unsigned, is below the number of its columns: elsewhere are zero points. j is held as its
/// complement, since "greater" is the one order that a vector of unsigned numbers can be compared for with a register.
struct PatchRows {
  uint32_t zero_points;  ///< of the input, four in a word

  // To fill scratch.
  int8_t* to;         ///< scratch; 4-byte aligned
  uint32_t in_fours;  ///< columns to fill / 4; 0 if scratch has been filled
  uint32_t minus_pitch;
  const uint8_t* row[4];  ///< minus pitch
  uint32_t not_below[4];  ///< complement of the number of columns
  uint32_t not_first;     ///< complement of the first column

  // To sum up.
  const int8_t* patches;  ///< scratch
  uint32_t count;         ///< of patches, at least 1
  int8_t* below;          ///< the second output of each patch; as `out` if there is none
  /// Sixteen for each channel, then one zero. The first of the sixteen is zero: the upper window begins at the second.
  const int8_t* weights;
  int8_t* out;
  const ChannelBlock* block;
  uint32_t patch_step;  ///< bytes from patch to patch
  int32_t zero_point;
  uint32_t out_step;  ///< bytes from output to output

  uint32_t groups;  ///< of four channels
};

#ifdef RUSH_ASM
static_assert(offsetof(PatchRows, to) == 4 && offsetof(PatchRows, row) == 16 && offsetof(PatchRows, patches) == 52 &&
                  offsetof(PatchRows, below) == 60 && offsetof(PatchRows, groups) == 88,
              "depthwise_patch_mve_asm.S has these offsets");
#endif

extern "C" void rush_depthwise_patch_rows(PatchRows* rows);

}  // namespace rush
#endif
