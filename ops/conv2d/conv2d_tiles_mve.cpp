// SPDX-License-Identifier: Apache-2.0
//
// Convolution by tiles of two positions and four channels. A run is a number of pairs of positions whose windows are
// equally far apart, with all their channels: what conv2d_tiles_mve_asm.S computes without coming back.
//
// 1x1 kernels read the map where it lies. For others, rows are copied into a ring in scratch, with the columns on both
// sides of the map; windows read them there, or are gathered from there where their rows are short.
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

RUSH_SHARED void copy_bytes(int8_t* to, const int8_t* from, int32_t bytes) {
  RUSH_ROLLED for (; bytes >= 16; bytes -= 16) {
    vstrbq_s8(to, vldrbq_s8(from));
    to += 16;
    from += 16;
  }
  const mve_pred16_t live = vctp8q(static_cast<uint32_t>(bytes));
  vstrbq_p_s8(to, vldrbq_z_s8(from, live), live);
}

RUSH_SHARED void fill_bytes(int8_t* to, int8_t value, int32_t bytes) {
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

/// Copies a row of pixels of which only the first channels are wanted.
RUSH_SHARED void copy_pixels(const Conv2dParams& p, int8_t* to, const int8_t* from) {
  const bool dense = p.in_pixel == p.in_channels;
  const int32_t bytes = dense ? p.geometry.in_width * p.in_channels : p.in_channels;
  RUSH_ROLLED for (int32_t left = dense ? 1 : p.geometry.in_width; left != 0; --left) {
    copy_bytes(to, from, bytes);
    to += p.in_channels;
    from += p.in_pixel;
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
  int8_t* row;   ///< of the output, where positions are counted from
  int8_t* ring;  ///< rows of the input
  int8_t* windows;
  uint32_t window_bytes;
  uint32_t pitch;       ///< of rows in the ring
  uint32_t ring_bytes;  ///< of all of them
  uint32_t place;       ///< of the next row to be loaded
  int32_t loaded;       ///< its number
  PairedPositions at;
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
  walk->ring = walk->windows = static_cast<int8_t*>(operands[4]) + kTileWalkBytes;
  walk->window_bytes = window_bytes;
  return walk;
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

/// Positions [begin, end) of one segment each, the first one's at x and the next ones' `step` bytes apart. A single one
/// is computed twice.
RUSH_SHARED void run_positions(Walk* walk, Band positions, const int8_t* x, int32_t step) {
  RunSegment* const segment = walk->run.segment;
  int32_t count = positions.end - positions.begin;
  walk->at = {positions.begin, positions.begin + 1, static_cast<uint32_t>(count >> 1)};
  segment->x[0] = x;
  segment->x[1] = x + step;
  start(walk, 2 * step);
  if ((count & 1) == 0) return;
  walk->at = {positions.end - 1, positions.end - 1, 1};
  segment->x[0] = segment->x[1] = x + (count - 1) * step;
  start(walk, 0);
}

/// 1x1 kernels.
RUSH_SHARED void walk_points(Walk* walk, Band band) {
  const Conv2dParams& p = *walk->params;
  const ConvGeometry& g = p.geometry;
  const bool dense = is_dense_pointwise(p);
  const int32_t rows = dense ? band.end - band.begin : 1, width = g.out_width * rows;
  const int32_t step = g.stride_width * p.in_pixel, chunks = static_cast<int32_t>(walk->window_bytes);
  // Positions whose chunks reach beyond the row: where it may be the last one, they are read from a copy.
  const int32_t end = (g.in_width * rows - 1) * p.in_pixel + p.in_channels;
  const int32_t beyond = (width - 1) * step + chunks - end;
  int32_t careful = beyond <= 0 ? 0 : clamp_to((beyond + step - 1) / step, 0, width);
  if (dense && band.end < g.in_height && g.in.row_bytes >= kTileChunk) careful = 0;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; y += rows) {
    const int8_t* const in = walk->in + row_offset(g.in, static_cast<uint32_t>(y * g.stride_height));
    walk->row = walk->out + row_offset(g.out, static_cast<uint32_t>(y));
    run_positions(walk, {0, width - careful}, in, step);
    RUSH_ROLLED for (int32_t x = width - careful; x < width; ++x) {
      copy_bytes(walk->windows, in + x * step, p.in_channels);
      run_positions(walk, {x, x + 1}, walk->windows, 0);
    }
  }
}

/// Begins with the row of the input that is above all windows of output row y, and with borders in place.
RUSH_SHARED void start_ring(Walk* walk, int32_t y) {
  const Conv2dParams& p = *walk->params;
  walk->pitch = tile_ring_pixels(p) * p.in_channels + kTileChunk;
  walk->ring_bytes = walk->pitch * tile_ring_rows(p.geometry);
  walk->windows = walk->ring + walk->ring_bytes;
  walk->place = 0;
  walk->loaded = y * p.geometry.stride_height - p.geometry.pad_top;
  fill_bytes(walk->ring, p.zero_point, static_cast<int32_t>(walk->ring_bytes));
}

/// Loads rows of the input until those of output row y are there; the first of them lies at `place`.
RUSH_SHARED void load_rows(Walk* walk, int32_t y) {
  const Conv2dParams& p = *walk->params;
  const ConvGeometry& g = p.geometry;
  const int32_t top = y * g.stride_height - g.pad_top, bottom = top + (g.kernel_height - 1) * g.dilation_height;
  if (walk->loaded < top) walk->loaded = top;
  RUSH_ROLLED for (; walk->loaded <= bottom; ++walk->loaded) {
    int8_t* const to = walk->ring + walk->place + g.pad_left * p.in_channels;
    if (walk->loaded >= 0 && walk->loaded < g.in_height) {
      copy_pixels(p, to, walk->in + row_offset(g.in, static_cast<uint32_t>(walk->loaded)));
    } else {
      fill_bytes(to, p.zero_point, g.in_width * p.in_channels);
    }
    walk->place += walk->pitch;
    if (walk->place == walk->ring_bytes) walk->place = 0;
  }
  walk->row = walk->out + row_offset(g.out, static_cast<uint32_t>(y));
}

/// Runs over pairs of a row whose windows' rows are in the ring.
RUSH_SHARED void run_rows(Walk* walk, const PairedPositions& at) {
  const Conv2dParams& p = *walk->params;
  const int32_t step = p.geometry.stride_width * p.in_channels;
  RowCursor row = {walk->place, walk->pitch, walk->ring_bytes};
  RUSH_ROLLED for (uint32_t i = 0; i < walk->run.segments; ++i) {
    RunSegment* const segment = &walk->run.segment[i];
    segment->x[0] = walk->ring + row.offset + at.first * step;
    segment->x[1] = walk->ring + row.offset + at.second * step;
    row.next();
  }
  walk->at = at;
  start(walk, 2 * step);
}

/// Windows that read rows in the ring.
RUSH_SHARED void walk_rows(Walk* walk, Band band) {
  const int32_t last = walk->params->geometry.out_width - 1;
  start_ring(walk, band.begin);
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    load_rows(walk, y);
    run_rows(walk, {0, 1, static_cast<uint32_t>(last + 1) >> 1});
    if ((last & 1) == 0) run_rows(walk, {last, last, 1});
  }
}

/// Neighbouring taps of all rows of a window: bytes from rows in a ring to rows side by side.
struct TapRows {
  const int8_t* ring;
  RowCursor row;
  uint32_t rows;
  uint32_t bytes;
  uint32_t pitch;
};

/// Up to fifteen bytes too many are written.
RUSH_SHARED void gather_taps(const TapRows& taps, int8_t* to) {
  const int8_t* const ring = taps.ring;
  const uint32_t bytes = taps.bytes, pitch = taps.pitch;
  RowCursor row = taps.row;
  RUSH_ROLLED for (uint32_t rows = taps.rows; rows != 0; --rows) {
    const int8_t* from = ring + row.offset;
    vstrbq_s8(to, vldrbq_s8(from));
    RUSH_ROLLED for (uint32_t i = 16; i < bytes; i += 16) vstrbq_s8(to + i, vldrbq_s8(from + i));
    to += pitch;
    row.next();
  }
}

/// The window of position x, from the ring.
RUSH_SHARED void gather(const Walk& walk, int32_t x, int8_t* to) {
  const Conv2dParams& p = *walk.params;
  const ConvGeometry& g = p.geometry;
  const uint32_t row_bytes = g.kernel_width * p.in_channels;
  const int8_t* const ring = walk.ring + x * g.stride_width * p.in_channels;
  RowCursor row = {walk.place, g.dilation_height * walk.pitch, walk.ring_bytes};
  if (g.dilation_width == 1) {
    gather_taps({ring, row, g.kernel_height, row_bytes, row_bytes}, to);
    return;
  }
  RUSH_ROLLED for (uint32_t rows = g.kernel_height; rows != 0; --rows, row.next()) {
    RUSH_ROLLED for (uint32_t tap = 0; tap < g.kernel_width; ++tap, to += p.in_channels) {
      gather_taps({ring + tap * g.dilation_width * p.in_channels, row, 1, p.in_channels, 0}, to);
    }
  }
}

/// Windows that are gathered from the ring, many at a time where they are small.
RUSH_SHARED void walk_gathered(Walk* walk, Band band) {
  const Conv2dParams& p = *walk->params;
  const ConvGeometry& g = p.geometry;
  const int32_t most = static_cast<int32_t>(tile_windows(walk->window_bytes)),
                bytes = static_cast<int32_t>(walk->window_bytes);
  const bool dense = g.out.reciprocal == 0 && g.out.row_bytes == static_cast<uint32_t>(p.out_pixel) * g.out_width;
  start_ring(walk, band.begin);
  // Positions of a row; where rows lie side by side, windows of the one before may wait for others.
  int32_t x = 0, waiting = 0;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; x = 0) {
    load_rows(walk, y++);
    RUSH_ROLLED for (; x < g.out_width; ++x) {
      gather(*walk, x, walk->windows + waiting++ * bytes);
      const bool row_ends = x + 1 == g.out_width && (!dense || y == band.end);
      if (waiting < most && !row_ends) continue;
      run_positions(walk, {x + 1 - waiting, x + 1}, walk->windows, bytes);
      waiting = 0;
    }
  }
}

void clamp_row(const Conv2dParams& p, int8_t* out) {
  const bool dense = p.out_pixel == p.out_channels;
  const int32_t bytes = dense ? p.out_channels * p.geometry.out_width : p.out_channels;
  RUSH_ROLLED for (int32_t left = dense ? 1 : p.geometry.out_width; left != 0; --left, out += p.out_pixel) {
    clamp_bytes(out, p.codes, bytes);
  }
}

/// The runs clamp to all codes; a narrower range is a second look at the band.
RUSH_SHARED void clamp_band(const Walk& walk, Band band) {
  const Conv2dParams& p = *walk.params;
  if (p.codes.min == -128 && p.codes.max == 127) return;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    clamp_row(p, walk.out + row_offset(p.geometry.out, static_cast<uint32_t>(y)));
  }
}

}  // namespace

void conv2d_tiles_s8_mve(const void* params, void* const* operands, Band band) {
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  Walk* const walk = set_up(p, operands);
  set_code_of_one(&walk->run);
  if (p.gather == 0) {
    walk_points(walk, band);
  } else {
    walk_gathered(walk, band);
  }
  clamp_band(*walk, band);
}

void conv2d_rows_s8_mve(const void* params, void* const* operands, Band band) {
  Walk* const walk = set_up(*static_cast<const Conv2dParams*>(params), operands);
  if (walk->run.segments == 1) {
    set_code_of_one(&walk->run);
  } else {
    set_code_of_rows(&walk->run);
  }
  walk_rows(walk, band);
  clamp_band(*walk, band);
}

}  // namespace rush
