// SPDX-License-Identifier: Apache-2.0
//
// A patch is sixteen neighbouring rows: the map is taken for one whose columns lie four rows apart.
#include "depthwise_patch_walk_mve.h"

namespace rush {
namespace {

/// Rows of a map of one column, from the first window's on, and the outputs that are made from them.
struct Column {
  const DepthwiseConv2dParams* p;
  void* const* operands;
  Band outputs;
  Groups groups;
  const uint8_t* first;
  uint32_t pitch;
  int32_t height;  ///< what follows is outside the map
};

/// Outputs y, y + 4, ..., or both they and those that follow each.
[[gnu::noinline]] void sum_phase(const Column& column, int32_t y, uint32_t count, bool both, PatchRows* rows) {
  rows->count = count;
  set_columns(rows, 0, (column.p->geometry.kernel_height + 4u) / 4, 4 * column.pitch);
  int32_t row = y - column.outputs.begin;
  RUSH_ROLLED for (int32_t r = 0; r < 4; ++r, ++row) {
    const int32_t left = column.height - row;
    set_row(rows, r, column.first + static_cast<uint32_t>(row) * column.pitch,
            left > 0 ? static_cast<uint32_t>(left + 3) / 4 : 0);
  }
  sum_rows(*column.p, column.operands, {y, both ? y + 2 : y + 1}, column.groups, rows);
}

/// Two phases of patches with two outputs each, and the last output if there is one left.
inline void sum_column(const Column& column, PatchRows* rows) {
  RUSH_ROLLED for (int32_t i = 0; i < 4; i += 2) {
    const int32_t y = column.outputs.begin + i, left = column.outputs.end - y, pairs = (left + 2) / 4;
    if (left > 1) sum_phase(column, y, static_cast<uint32_t>(pairs), true, rows);
    if (left - 4 * pairs == 1) sum_phase(column, y + 4 * pairs, 1, false, rows);
  }
}

/// Copies four channels of the rows that the windows cover behind the patches.
[[gnu::noinline]] void copy_column(uint32_t group, const PatchRows& rows, Column* column) {
  const ConvGeometry& g = column->p->geometry;
  const uint8_t* const in = static_cast<const uint8_t*>(column->operands[0]) + 4 * group;
  uint32_t* to = reinterpret_cast<uint32_t*>(static_cast<uint8_t*>(column->operands[4]) + 16 * column_patches(g));
  column->groups = {group, 1};
  column->first = reinterpret_cast<const uint8_t*>(to);
  column->pitch = 4;
  column->height = column->outputs.end - column->outputs.begin + 15;
  const uint32_t outside = rows.zero_points, height = g.in_height;
  uint32_t y = static_cast<uint32_t>(column->outputs.begin - g.pad_top);
  RowCursor row = {row_offset(g.in, y < height ? y : 0), g.in.row_bytes, ring_bytes(g.in)};
  RUSH_ROLLED for (int32_t left = column->height; left != 0; --left, ++y) {
    uint32_t four = outside;
    if (y < height) {
      four = *reinterpret_cast<const uint32_t*>(in + row.offset);
      row.next();
    }
    *to++ = four;
  }
}

void sum_part(Column* column, PatchRows* rows) {
  const ConvGeometry& g = column->p->geometry;
  const uint32_t groups = column->p->channels / 4u, begin = static_cast<uint32_t>(column->outputs.begin);
  if (g.pad_top == 0 && g.in.reciprocal == 0) {
    column->groups = {0, groups};
    column->first = static_cast<const uint8_t*>(column->operands[0]) + begin * g.in.row_bytes;
    column->pitch = g.in.row_bytes;
    column->height = g.in_height - column->outputs.begin;
    sum_column(*column, rows);
    return;
  }
  RUSH_ROLLED for (uint32_t group = 0; group < groups; ++group) {
    copy_column(group, *rows, column);
    sum_column(*column, rows);
  }
}

}  // namespace

void depthwise_column_s8_mve(const void* params, void* const* operands, Band band) {
  const DepthwiseConv2dParams& p = *static_cast<const DepthwiseConv2dParams*>(params);
  PatchRows rows;
  set_common(p, operands, &rows);
  rows.out_step = 4 * p.geometry.out.row_bytes;
  Column column = {&p, operands, band, {}, nullptr, 0, 0};
  RUSH_ROLLED for (; column.outputs.begin < band.end; column.outputs.begin = column.outputs.end) {
    const Band left = {column.outputs.begin, band.end};
    column.outputs.end = left.begin + rows_in_sequence(p.geometry.out, left);
    sum_part(&column, &rows);
  }
  clamp_outputs(p, operands, band);
}

}  // namespace rush
