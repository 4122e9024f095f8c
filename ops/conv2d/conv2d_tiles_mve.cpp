// SPDX-License-Identifier: Apache-2.0
//
// Convolution by tiles of two positions and four channels. A run is a number of pairs of positions whose windows are
// equally far apart, with all their channels: what conv2d_tiles_mve_asm.S computes without coming back.
//
// Windows inside the map are read where they lie. Others, and all where the rows of a window are short, are gathered in
// scratch first, once for all channels.
#include <arm_mve.h>

#include "conv2d_channels_mve.h"
#include "conv2d_tiles.h"

// Once a window or run: one copy in flash is fast enough.
#define RUSH_SHARED __attribute__((noinline))

namespace rush {
namespace {

/// A segment of both positions' windows. The rest says how the run in assembly goes on behind it.
struct RunSegment {
  const int8_t* x[2];
  uint32_t code;
  uint32_t then;
};

/// As conv2d_tiles_mve_asm.S reads it.
struct ConvRun {
  uint32_t rest;
  uint32_t tile;
  const int8_t* weights_now;  ///< where something is to do at the end of a tile: behind the first one's weights
  const int8_t* weights_end;
  const int8_t* weights_first;
  const int8_t* weights;
  const ChannelBlock* channels;
  int8_t* out;       ///< first position's
  int32_t out_step;  ///< from pair to pair
  uint32_t pairs;
  uint32_t segments;
  uint32_t last;  ///< channels of the last block; with less than four there may be one pair only
  const ChannelBlock* channels_now;
  int32_t apart;  ///< from the end of four channels of the first position to the second's, times 2^16, plus zero point
  uint32_t count;
  uint32_t then;
  int32_t step[4];  ///< of segments from pair to pair
  RunSegment segment[kTileSegments + 1];
  uint32_t chunks;  ///< of a segment
};

static_assert(sizeof(ConvRun) == 180, "as in assembly");

#ifdef RUSH_ASM
extern "C" void rush_conv2d_run_mve(const ConvRun* run);
extern "C" void rush_conv2d_rows_mve(void);
extern "C" const uint16_t rush_conv2d_run_entries[6];
extern "C" const uint16_t rush_conv2d_rows_entries[6];

/// What a chunk that loads the next one's input takes of code.
enum : uint32_t { kChunkCode = 56 };

/// Fours of chunks before the last six or fewer.
uint32_t fours(uint32_t chunks) { return chunks <= 6 ? 0 : (chunks - 3) >> 2; }

/// Chooses the code for a window of one segment.
void set_code_of_one(ConvRun* run) {
  const uint32_t begin = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&rush_conv2d_run_mve));
  const uint16_t* const entry = rush_conv2d_run_entries;
  const uint32_t chunks = run->chunks, rest = chunks - 2;
  run->tile = begin + entry[chunks == 1 ? 0 : chunks == 2 ? 1 : chunks == 4 ? 2 : 3];
  if (chunks <= 2) {
    run->weights_now = run->weights_end;
    return;
  }
  run->count = fours(rest);
  run->then = begin + entry[4] - kChunkCode * (rest - 4 * run->count - 1);
  run->rest = run->count == 0 ? run->then : begin + entry[5];
}

/// The same for several.
RUSH_SHARED void set_code_of_rows(ConvRun* run) {
  const uint32_t begin = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&rush_conv2d_rows_mve));
  const uint16_t* const entry = rush_conv2d_rows_entries;
  const uint32_t chunks = run->chunks;
  if (run->segments == 3 && (chunks & 1u) != 0 && chunks <= 3) {
    run->tile = begin + entry[chunks >> 1];
    run->weights_now = run->weights_end;
    return;
  }
  run->tile = begin + entry[2];
  run->count = fours(chunks);
  RUSH_ROLLED for (uint32_t i = 0; i < run->segments; ++i) {
    // Two chunks of the first segment come before.
    const uint32_t left = chunks - 4 * run->count - (i == 0 ? 2 : 0);
    run->segment[i].then = begin + entry[3] - kChunkCode * (left - 1);
    run->segment[i].code = run->count == 0 ? run->segment[i].then : begin + entry[4];
  }
  run->segment[run->segments].code = begin + entry[5];
  run->segment[run->segments].x[0] = run->segment[run->segments].x[1] = run->weights;  // read, never used
}
#else
void set_code_of_one(ConvRun*) {}
void set_code_of_rows(ConvRun*) {}

/// A position of pair number step / run.step[0].
struct TilePosition {
  uint32_t which;
  int32_t step;
};

/// Four sums of a position.
int32x4_t tile_sums(const ConvRun& run, const TilePosition& at, const int8_t* w) {
  int32_t a = 0, b = 0, c = 0, d = 0;
  RUSH_ROLLED for (uint32_t s = 0; s < run.segments; ++s) {
    const int8_t* x = run.segment[s].x[at.which] + at.step;
    RUSH_ROLLED for (uint32_t left = run.chunks; left != 0; --left) {
      const int8x16_t v = vldrbq_s8(x);
      a = vmladavaq_s8(a, v, vldrbq_s8(w));
      b = vmladavaq_s8(b, v, vldrbq_s8(w + 16));
      c = vmladavaq_s8(c, v, vldrbq_s8(w + 32));
      d = vmladavaq_s8(d, v, vldrbq_s8(w + 48));
      x += 16;
      w += 64;
    }
  }
  const int32_t sums[] = {a, b, c, d};
  return vldrwq_s32(sums);
}

/// A run, when it cannot be in assembly.
RUSH_SHARED void rush_conv2d_run_mve(const ConvRun* run) {
  const int32_t second = (run->apart >> 16) + 4;
  const OutputCodes codes = {static_cast<int8_t>(run->apart & 0xff), -128, 127, 0};
  RUSH_ROLLED for (int32_t pair = 0; pair < static_cast<int32_t>(run->pairs); ++pair) {
    RUSH_ROLLED for (uint32_t i = 0; i < 2; ++i) {
      const ChannelBlock* block = run->channels;
      int8_t* out = run->out + pair * run->out_step + (i == 0 ? 0 : second);
      const uint32_t bytes = static_cast<uint32_t>(run->weights_first - run->weights);
      RUSH_ROLLED for (const int8_t* w = run->weights; w != run->weights_end; w += bytes, out += 4) {
        const uint32_t live = w + bytes == run->weights_end ? run->last : 4;
        vstrbq_p_s32(out, output_codes(*block++, codes, tile_sums(*run, {i, pair * run->step[0]}, w)), vctp32q(live));
      }
    }
  }
}
#endif

inline void copy_bytes(int8_t* to, const int8_t* from, int32_t bytes) {
  RUSH_ROLLED for (; bytes >= 16; bytes -= 16) {
    vstrbq_s8(to, vldrbq_s8(from));
    to += 16;
    from += 16;
  }
  const mve_pred16_t live = vctp8q(static_cast<uint32_t>(bytes));
  vstrbq_p_s8(to, vldrbq_z_s8(from, live), live);
}

inline void fill_bytes(int8_t* to, int8_t value, int32_t bytes) {
  RUSH_ROLLED for (; bytes > 0; bytes -= 16) {
    vstrbq_p_s8(to, vdupq_n_s8(value), vctp8q(static_cast<uint32_t>(bytes)));
    to += 16;
  }
}

RUSH_SHARED void clamp_bytes(int8_t* to, const OutputCodes& codes, int32_t bytes) {
  const int8x16_t least = vdupq_n_s8(codes.min), most = vdupq_n_s8(codes.max);
  RUSH_ROLLED for (; bytes > 0; bytes -= 16) {
    const mve_pred16_t live = vctp8q(static_cast<uint32_t>(bytes));
    vstrbq_p_s8(to, vminq_s8(vmaxq_s8(vldrbq_z_s8(to, live), least), most), live);
    to += 16;
  }
}

/// Positions of a pair, and how many pairs there are from there on.
struct PairedPositions {
  int32_t first;
  int32_t second;
  uint32_t pairs;
};

/// A kernel call's state; in scratch, since stacks are small.
struct Walk {
  ConvRun run;
  const Conv2dParams* params;
  const int8_t* in;
  int8_t* out;
  int8_t* row;  ///< of the output
  int8_t* windows;
  uint32_t window_bytes;
  uint32_t row_pitch;  ///< of a gathered window
  int32_t further;     ///< columns that the last chunk of a window's row reaches beyond it
  int32_t y;           ///< of the windows
  int32_t width;       ///< positions of all rows that are as one
  int32_t row_begin;   ///< first position of the row of the windows
  PairedPositions at;
  int32_t windows_most;
  const int8_t* small_rows;  ///< the first row inside the map, where gather_small() serves; null elsewhere
  const int8_t* outside;     ///< a segment of rows outside the map
  RowCursor first_row;       ///< of the windows' rows inside the map
  uint32_t rows_above;       ///< rows of the windows above the map, and so on
  uint32_t rows_inside;
  uint32_t rows_below;
};

static_assert(sizeof(Walk) == kTileWalkBytes, "scratch begins with a walk");

/// The parts that stay the same.
RUSH_SHARED Walk* set_up(const Conv2dParams& p, void* const* operands) {
  Walk* const walk = static_cast<Walk*>(operands[4]);
  const ConvSegments segments = conv2d_segments(p);
  ConvRun* const run = &walk->run;
  run->chunks = tile_chunks(segments);
  run->segments = segments.count;
  const uint32_t blocks = channel_blocks(p.out_channels), window_bytes = tile_window_bytes(segments);
  run->weights = static_cast<const int8_t*>(operands[2]);
  run->weights_first = run->weights_now = run->weights + 4 * window_bytes;
  run->weights_end = run->weights + 4 * window_bytes * blocks;
  run->channels = static_cast<const ChannelBlock*>(operands[3]);
  run->last = p.out_channels - 4 * (blocks - 1);
  run->out_step = 2 * p.out_pixel;
  run->step[2] = run->step[3] = 0;
  walk->params = &p;
  walk->in = static_cast<const int8_t*>(operands[0]);
  walk->out = static_cast<int8_t*>(operands[1]);
  int8_t* const outside = static_cast<int8_t*>(operands[4]) + kTileWalkBytes;
  walk->outside = outside;
  walk->windows = outside + tile_outside_bytes(segments);
  walk->window_bytes = window_bytes;
  walk->windows_most = static_cast<int32_t>(tile_windows(p, window_bytes));
  const uint32_t row_bytes = p.geometry.kernel_width * p.in_channels;
  walk->row_pitch = p.gather != 0 ? row_bytes : run->chunks * kTileChunk;
  if (segments.count > 1 && conv2d_gathers(p)) fill_bytes(outside, p.zero_point, static_cast<int32_t>(row_bytes));
  walk->further = static_cast<int32_t>(((0u - row_bytes) % kTileChunk + p.in_pixel - 1u) / p.in_pixel);
  return walk;
}

/// One bit for each of the first `bytes` lanes.
inline uint32_t lanes(int32_t bytes) { return (1u << bytes) - 1; }

/// The window of a position, column x of the map first, if its rows are single chunks.
RUSH_SHARED void gather_small(const Walk& walk, int32_t x, int8_t* to) {
  const Conv2dParams& p = *walk.params;
  const ConvGeometry& g = p.geometry;
  const int32_t right = clamp_to(g.in_width - x, 0, g.kernel_width), left = clamp_to(-x, 0, right);
  const mve_pred16_t live = static_cast<mve_pred16_t>(lanes(right * p.in_channels) & ~lanes(left * p.in_channels));
  const int8x16_t outside = vdupq_n_s8(p.zero_point);
  const int8_t* from = walk.small_rows + x * p.in_pixel;
  const uint32_t pitch = walk.row_pitch, down = g.dilation_height * g.in.row_bytes;
  RUSH_ROLLED for (uint32_t rows = walk.rows_above; rows != 0; --rows, to += pitch) vstrbq_s8(to, outside);
  RUSH_ROLLED for (uint32_t rows = walk.rows_inside; rows != 0; --rows, to += pitch, from += down) {
    vstrbq_s8(to, vpselq_s8(vldrbq_z_s8(from, live), outside, live));
  }
  RUSH_ROLLED for (uint32_t rows = walk.rows_below; rows != 0; --rows, to += pitch) vstrbq_s8(to, outside);
}

/// The window of a position, column x of the map first.
RUSH_SHARED void gather(const Walk& walk, int32_t x, int8_t* to) {
  const Conv2dParams& p = *walk.params;
  const ConvGeometry& g = p.geometry;
  fill_bytes(to, p.zero_point, static_cast<int32_t>(walk.window_bytes));
  to += walk.rows_above * walk.row_pitch;
  // Neighbours that lie side by side are copied as one.
  const bool contiguous = g.dilation_width == 1 && p.in_pixel == p.in_channels;
  const int32_t taps = contiguous ? g.kernel_width : 1;
  RUSH_ROLLED for (int32_t left = g.kernel_width; left > 0; left -= taps) {
    const int32_t begin = clamp_to(-x, 0, taps),
                  bytes = (clamp_to(g.in_width - x, begin, taps) - begin) * p.in_channels;
    const int8_t* const from = walk.in + (x + begin) * p.in_pixel;
    int8_t* row_to = to + begin * p.in_channels;
    RowCursor row = walk.first_row;
    RUSH_ROLLED for (uint32_t rows = walk.rows_inside; rows != 0; --rows, row_to += walk.row_pitch) {
      copy_bytes(row_to, from + row.offset, bytes);
      row.next();
    }
    x += g.dilation_width;
    to += p.in_channels;
  }
}

/// Runs over the pairs with the segments of the first one; those of the next one are `step` bytes further on.
RUSH_SHARED void start(Walk* walk, int32_t step) {
  ConvRun* const run = &walk->run;
  const Conv2dParams& p = *walk->params;
  const uint32_t apart = static_cast<uint32_t>((walk->at.second - walk->at.first) * p.out_pixel - 4);
  run->apart = static_cast<int32_t>(apart << 16 | static_cast<uint16_t>(p.codes.zero_point));
  run->out = walk->row + walk->at.first * p.out_pixel;
  run->step[0] = run->step[1] = step;
  run->pairs = run->last == 4 ? walk->at.pairs : 1;
  RUSH_ROLLED for (uint32_t left = walk->at.pairs; left != 0; left -= run->pairs) {
    rush_conv2d_run_mve(run);
    run->out += run->out_step;
    RUSH_ROLLED for (uint32_t i = 0; i < run->segments; ++i) {
      run->segment[i].x[0] += step;
      run->segment[i].x[1] += step;
    }
  }
}

RUSH_SHARED void run_in_place(Walk* walk) {
  const Conv2dParams& p = *walk->params;
  const ConvGeometry& g = p.geometry;
  const int32_t step = g.stride_width * p.in_pixel, apart = (walk->at.second - walk->at.first) * step;
  const uint32_t pairs = walk->at.pairs;
  // Rows outside the map do not go on with the pairs.
  const uint32_t at_once = walk->rows_inside == g.kernel_height ? pairs : 1;
  RUSH_ROLLED for (uint32_t left = pairs; left != 0; left -= at_once) {
    const int8_t* const from = walk->in + (walk->at.first * g.stride_width - g.pad_left) * p.in_pixel;
    RowCursor row = walk->first_row;
    RUSH_ROLLED for (uint32_t i = 0; i < walk->run.segments; ++i) {
      RunSegment* const segment = &walk->run.segment[i];
      segment->x[0] = segment->x[1] = walk->outside;
      if (i - walk->rows_above >= walk->rows_inside) continue;
      segment->x[0] = from + row.offset;
      segment->x[1] = segment->x[0] + apart;
      row.next();
    }
    walk->at.pairs = at_once;
    start(walk, 2 * step);
    walk->at.first += 2;
    walk->at.second += 2;
  }
}

/// Pairs of windows in scratch, from number `first` on; a single one is computed twice.
RUSH_SHARED void run_windows(Walk* walk, uint32_t first) {
  const uint32_t bytes = walk->window_bytes;
  const int8_t* from = walk->windows + first * bytes;
  RUSH_ROLLED for (uint32_t i = 0; i < walk->run.segments; ++i) {
    walk->run.segment[i].x[0] = from;
    walk->run.segment[i].x[1] = from + (walk->at.first == walk->at.second ? 0 : bytes);
    from += walk->run.chunks * kTileChunk;
  }
  start(walk, static_cast<int32_t>(2 * bytes));
}

/// How many of the windows' rows lie above the map and so on, and whether gather_small() may gather them.
RUSH_SHARED void look_at_rows(Walk* walk) {
  const Conv2dParams& p = *walk->params;
  const ConvGeometry& g = p.geometry;
  uint32_t above = 0, inside = 0;
  int32_t y = walk->y;
  for (; above < g.kernel_height && y < 0; ++above) y += g.dilation_height;
  const RowCursor rows = window_rows(g, static_cast<uint32_t>(y));
  walk->first_row = rows;
  for (; above + inside < g.kernel_height && y < g.in_height; ++inside) y += g.dilation_height;
  walk->rows_above = above;
  walk->rows_inside = inside;
  walk->rows_below = g.kernel_height - above - inside;
  walk->small_rows = nullptr;
  const bool contiguous = g.dilation_width == 1 && p.in_pixel == p.in_channels;
  if (p.gather == 0 || !contiguous || walk->row_pitch > kTileChunk) return;
  if (inside != 0 && rows.offset + (inside - 1) * rows.step >= rows.limit) return;
  walk->small_rows = walk->in + (inside == 0 ? 0 : rows.offset);
}

/// Goes on to the row of a position.
RUSH_SHARED void next_row(Walk* walk, int32_t at) {
  const ConvGeometry& g = walk->params->geometry;
  RUSH_ROLLED for (; at - walk->row_begin >= g.out_width; walk->row_begin += g.out_width) walk->y += g.stride_height;
  look_at_rows(walk);
}

/// Gathers windows of positions from x on, but those of `done`; returns how many, x behind them.
RUSH_SHARED int32_t gather_windows(Walk* walk, Band done, int32_t* x) {
  const ConvGeometry& g = walk->params->geometry;
  int8_t* to = walk->windows;
  int32_t count = 0, at = *x;
  RUSH_ROLLED for (; count < walk->windows_most; ++count, ++at) {
    if (at == done.begin) at = done.end;
    if (at >= walk->width) break;
    if (at - walk->row_begin >= g.out_width) next_row(walk, at);
    const int32_t column = (at - walk->row_begin) * g.stride_width - g.pad_left;
    if (walk->small_rows != nullptr) {
      gather_small(*walk, column, to);
    } else {
      gather(*walk, column, to);
    }
    if (count == 0) walk->at.first = at;
    if (count <= 1) walk->at.second = at;
    to += walk->window_bytes;
  }
  *x = at;
  return count;
}

/// All positions of the row but those of `done`.
RUSH_SHARED void run_gathered(Walk* walk, Band done) {
  int32_t x = 0;
  for (;;) {
    const int32_t count = gather_windows(walk, done, &x);
    if (count == 0) return;
    // Two may be far from each other, more are neighbours.
    const int32_t apart = (walk->at.second - walk->at.first) * walk->params->out_pixel - 4;
    const int32_t pairs = apart == static_cast<int16_t>(apart) ? count >> 1 : 0;
    const Band two = {walk->at.first, walk->at.second};
    walk->at.pairs = static_cast<uint32_t>(pairs);
    if (pairs != 0) run_windows(walk, 0);
    RUSH_ROLLED for (int32_t i = 2 * pairs; i < count; ++i) {
      walk->at.first = walk->at.second = i == 1 ? two.end : two.begin + i;
      walk->at.pairs = 1;
      run_windows(walk, static_cast<uint32_t>(i));
    }
  }
}

/// Positions whose windows can be read where they lie.
RUSH_SHARED Band columns_inside(const Walk& walk, int32_t rows) {
  const ConvGeometry& g = walk.params->geometry;
  // The bytes of the map behind the windows' last row.
  const int32_t rows_behind = g.in_height - walk.y - (g.kernel_height - 1) * g.dilation_height - rows;
  const bool roomy = g.in.reciprocal == 0 && rows_behind > 0 && g.in.row_bytes >= 15u + walk.params->in_pixel;
  const int32_t further = roomy ? 0 : walk.further, in_width = g.in_width * rows;
  const int32_t room = in_width - 1 - further - (g.kernel_width - 1) * g.dilation_width + g.pad_left;
  const Band none = {walk.width, walk.width};
  if (walk.params->gather != 0 || walk.rows_inside == 0 || room < 0) return none;

  const int32_t begin = (g.pad_left + g.stride_width - 1) / g.stride_width, end = room / g.stride_width + 1;
  return begin < walk.width && begin < end ? Band{begin, end < walk.width ? end : walk.width} : none;
}

/// Row y of the output, or a number of rows that are as one.
void walk_rows(Walk* walk, int32_t y, int32_t rows) {
  const ConvGeometry& g = walk->params->geometry;
  walk->row = walk->out + row_offset(g.out, static_cast<uint32_t>(y));
  walk->y = y * g.stride_height - g.pad_top;
  walk->width = g.out_width * rows;
  walk->row_begin = 0;
  look_at_rows(walk);
  const Band inside = columns_inside(*walk, rows);
  const int32_t pairs = (inside.end - inside.begin) >> 1, done = inside.begin + 2 * pairs;
  walk->at = {inside.begin, inside.begin + 1, static_cast<uint32_t>(pairs)};
  if (pairs != 0) run_in_place(walk);
  if (inside.begin == 0 && done + 1 == walk->width && inside.end == walk->width) {
    // With others to gather, the last one is gathered too and makes a pair.
    walk->at = {done, done, 1};
    run_in_place(walk);
  } else {
    run_gathered(walk, {inside.begin, done});
  }
}

/// Whether rows of positions can be one long row: that its windows are all gathered, or all read where they lie.
bool are_as_one(const Conv2dParams& p) {
  const ConvGeometry& g = p.geometry;
  const bool dense = g.out.reciprocal == 0 && g.out.row_bytes == static_cast<uint32_t>(p.out_pixel) * g.out_width;
  return (p.gather != 0 && dense) || is_dense_pointwise(p);
}

/// The runs clamp to all codes; a narrower range is a second look at the row.
void clamp_row(const Conv2dParams& p, int8_t* out) {
  const bool dense = p.out_pixel == p.out_channels;
  const int32_t bytes = dense ? p.out_channels * p.geometry.out_width : p.out_channels;
  RUSH_ROLLED for (int32_t left = dense ? 1 : p.geometry.out_width; left != 0; --left, out += p.out_pixel) {
    clamp_bytes(out, p.codes, bytes);
  }
}

RUSH_SHARED void walk_band(Walk* walk, Band band) {
  const Conv2dParams& p = *walk->params;
  const int32_t rows = are_as_one(p) ? band.end - band.begin : 1;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; y += rows) walk_rows(walk, y, rows);
  if (p.codes.min == -128 && p.codes.max == 127) return;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    clamp_row(p, walk->out + row_offset(p.geometry.out, static_cast<uint32_t>(y)));
  }
}

}  // namespace

void conv2d_tiles_s8_mve(const void* params, void* const* operands, Band band) {
  Walk* const walk = set_up(*static_cast<const Conv2dParams*>(params), operands);
  set_code_of_one(&walk->run);
  walk_band(walk, band);
}

void conv2d_rows_s8_mve(const void* params, void* const* operands, Band band) {
  Walk* const walk = set_up(*static_cast<const Conv2dParams*>(params), operands);
  set_code_of_rows(&walk->run);
  walk_band(walk, band);
}

}  // namespace rush
