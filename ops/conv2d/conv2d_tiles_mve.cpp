// SPDX-License-Identifier: Apache-2.0
//
// Convolution by tiles of two positions and four channels. A run is a number of positions whose windows are equally far
// apart: what conv2d_tiles_mve_asm.S computes without coming back, four channels of all positions after the other.
//
// 1x1 kernels read the map where it lies. For others, rows are copied into a ring in scratch, with the
// columns on both sides of the map; windows read them there, or are gathered from there where their rows are short.
#include <arm_mve.h>
#include <stddef.h>

#include "conv2d_channels_mve.h"
#include "conv2d_clamp_mve.h"
#include "conv2d_tiles.h"

// Once a window or run: one copy in flash is fast enough.
#define RUSH_SHARED __attribute__((noinline))

namespace rush {
namespace {

/// Behind a segment of a window: how far the inputs are from there to the next segment, or behind the last one to the
/// next position's first, and the code that goes on.
struct RunSegment {
  int32_t step;
  uint32_t code;
};

/// As conv2d_tiles_mve_asm.S reads it.
struct ConvRun {
  const int8_t* x[2];
  int8_t* out[2];    ///< of the positions before
  int32_t step;      ///< from the end of a window of one segment to the next position's
  int32_t out_step;  ///< from position to position
  const int8_t* weights;
  const ChannelBlock* channels;
  uint32_t block_bytes;
  uint32_t blocks;
  uint32_t last;      ///< channels of a block: less than four only in a run of one block and one tile
  const int8_t* end;  ///< where the first positions' inputs end
  uint32_t pairs;     ///< code of a loop over pairs of chunks
  uint32_t count;     ///< of them
  uint32_t first;     ///< code of a block's first tile
  uint32_t tile;      ///< code of the others
  uint32_t rest;      ///< code behind the two chunks that the others begin with
  uint32_t then;      ///< code behind the loop
  RunSegment segment[kTileSegments];

  // What follows is not copied, and but for the zero point not read.
  int32_t zero_point;
  uint32_t chunks;  ///< of a segment
  uint32_t segments;
  uint32_t tiles;    ///< of each block
  int32_t position;  ///< from position to position in the input
};

#ifdef RUSH_ASM
static_assert(offsetof(ConvRun, zero_point) == 112, "as in assembly");

extern "C" void rush_conv2d_run_mve(const ConvRun* run);
extern "C" void rush_conv2d_rows_mve(void);
extern "C" void rush_copy_mve(int8_t* to, const int8_t* from, uint32_t bytes);
extern "C" void rush_fill_mve(int8_t* to, int8_t value, int32_t bytes);
extern "C" const uint16_t rush_conv2d_run_entries[7];
extern "C" const uint16_t rush_conv2d_rows_entries[7];

enum : uint32_t {
  kChunkCode = 56,  ///< bytes of code for a chunk
  kMostStraight = 6
};

/// Pairs of chunks that are more than the straight code has.
inline uint32_t pairs_beyond(uint32_t chunks) {
  return chunks <= kMostStraight ? 0 : (chunks - kMostStraight + 1) >> 1;
}

/// Chooses the code for a window of one segment.
void set_code_of_one(ConvRun* run) {
  const uint32_t begin = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&rush_conv2d_run_mve));
  const uint16_t* const entry = rush_conv2d_run_entries;
  const uint32_t chunks = run->chunks, last = begin + entry[3] + kChunkCode;
  if (chunks == 1) {
    run->first = begin + entry[1];
    return;
  }
  run->first = chunks <= kMostStraight ? last - kChunkCode * chunks : begin + entry[5];
  run->count = pairs_beyond(chunks - 2);
  run->then = last - kChunkCode * (chunks - 2 - 2 * run->count);
  run->rest = run->count != 0 ? begin + entry[4] : chunks == 2 ? begin + entry[2] : run->then;
}

/// The same for several.
void set_code_of_rows(ConvRun* run) {
  const uint32_t begin = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&rush_conv2d_rows_mve));
  const uint16_t* const entry = rush_conv2d_rows_entries;
  const uint32_t chunks = run->chunks, last = begin + entry[2] + kChunkCode;
  run->pairs = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&rush_conv2d_run_mve)) + rush_conv2d_run_entries[6];
  run->first = begin + entry[0];
  run->tile = begin + entry[chunks == 3 && run->segments == 3 ? 6 : 1];
  run->count = pairs_beyond(chunks);
  run->then = last - kChunkCode * (chunks - 2 * run->count);
  const uint32_t whole = run->count == 0 ? run->then : begin + entry[3];
  run->rest = chunks - 2 <= kMostStraight ? last - kChunkCode * (chunks - 2) : begin + entry[4];
  RUSH_ROLLED for (uint32_t i = 0; i < run->segments; ++i) run->segment[i].code = whole;
  run->segment[run->segments - 1].code = begin + entry[5];
}
#else
void set_code_of_one(ConvRun*) {}
void set_code_of_rows(ConvRun*) {}

/// Four sums of a position.
int32x4_t tile_sums(const ConvRun& run, const int8_t* x, const int8_t* w) {
  int32_t a = 0, b = 0, c = 0, d = 0;
  RUSH_ROLLED for (uint32_t s = 0; s < run.segments; ++s) {
    if (s != 0) x += run.segment[s - 1].step;
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
  const OutputCodes codes = {static_cast<int8_t>(run->zero_point), -128, 127, 0};
  const mve_pred16_t live = vctp32q(run->last);
  RUSH_ROLLED for (uint32_t b = 0; b < run->blocks; ++b) {
    RUSH_ROLLED for (uint32_t i = 0; i < 2; ++i) {
      const int8_t* x = run->x[i];
      int8_t* out = run->out[i] + 4 * b;
      RUSH_ROLLED for (uint32_t left = run->tiles; left != 0; --left) {
        out += run->out_step;
        const int32x4_t sums = tile_sums(*run, x, run->weights + b * run->block_bytes);
        vstrbq_p_s32(out, output_codes(run->channels[b], codes, sums), live);
        x += run->position;
      }
    }
  }
}

RUSH_SHARED void rush_copy_mve(int8_t* to, const int8_t* from, uint32_t bytes) {
  const mve_pred16_t live = vctp8q(bytes & 15u);
  vstrbq_p_s8(to, vldrbq_z_s8(from, live), live);
  uint32_t left = bytes >> 4;
  if (left == 0) return;
  to += bytes & 15u;
  from += bytes & 15u;
  RUSH_ROLLED do {
    vstrbq_s8(to, vldrbq_s8(from));
    to += 16;
    from += 16;
  }
  while (--left != 0);
}

RUSH_SHARED void rush_fill_mve(int8_t* to, int8_t value, int32_t bytes) {
  RUSH_ROLLED do {
    vstrbq_p_s8(to, vdupq_n_s8(value), vctp8q(static_cast<uint32_t>(bytes)));
    to += 16;
    bytes -= 16;
  }
  while (bytes > 0);
}
#endif

/// A kernel call's state; in scratch, since stacks are small.
struct Walk {
  ConvRun run;
  const Conv2dParams* params;
  void* const* operands;
  int8_t* ring;  ///< rows of the input
  uint32_t window_bytes;
  uint32_t pitch;       ///< of rows in the ring
  uint32_t ring_bytes;  ///< of all of them
  uint32_t place;       ///< of the next row to be loaded
  int32_t loaded;       ///< its number
};

static_assert(sizeof(Walk) <= kTileWalkBytes, "scratch begins with a walk");

/// The parts that stay the same.
RUSH_SHARED Walk* set_up(const Conv2dParams& p, void* const* operands) {
  Walk* const walk = static_cast<Walk*>(operands[4]);
  const ConvSegments segments = conv2d_segments(p);
  ConvRun* const run = &walk->run;
  run->chunks = tile_chunks(segments);
  run->segments = segments.count;
  run->out_step = p.out_pixel;
  run->zero_point = p.codes.zero_point;
  walk->params = &p;
  walk->operands = operands;
  walk->ring = static_cast<int8_t*>(operands[4]) + kTileWalkBytes;
  walk->window_bytes = tile_window_bytes(segments);
  run->block_bytes = 4 * walk->window_bytes;
  return walk;
}

/// Neighbouring positions, the first one's window at x and the next ones' `step` bytes apart.
struct Positions {
  const int8_t* x;
  int32_t step;
  int8_t* out;
  int32_t count;
};

/// Two positions at a time, half of all of them apart: of an odd number, the one in the middle is computed twice.
RUSH_SHARED void run_positions(Walk* walk, const Positions& at) {
  ConvRun* const run = &walk->run;
  const uint32_t channels = walk->params->out_channels;
  const int32_t tiles = (at.count + 1) >> 1, apart = at.count - tiles;
  // Several segments lead to the next position by themselves, and to what is loaded ahead.
  run->step = run->segments == 1 ? at.step - static_cast<int32_t>(walk->window_bytes) : -kTileChunk;
  run->position = at.step;
  run->x[0] = at.x;
  run->x[1] = at.x + apart * at.step;
  run->out[0] = at.out - run->out_step;
  run->out[1] = run->out[0] + apart * run->out_step;
  run->weights = static_cast<const int8_t*>(walk->operands[2]);
  run->channels = static_cast<const ChannelBlock*>(walk->operands[3]);
  run->tiles = static_cast<uint32_t>(tiles);
  run->end = at.x + tiles * at.step - run->step;
  run->blocks = channels >> 2;
  run->last = 4;
  if (run->blocks != 0) rush_conv2d_run_mve(run);
  run->last = channels & 3u;
  if (run->last == 0) return;
  run->weights += run->blocks * run->block_bytes;
  run->channels += run->blocks;
  RUSH_ROLLED for (int8_t*& out : run->out) out += 4 * run->blocks;
  run->end = at.x + at.step - run->step;
  run->blocks = run->tiles = 1;
  RUSH_ROLLED for (int32_t left = tiles; left != 0; --left) {
    rush_conv2d_run_mve(run);
    RUSH_ROLLED for (uint32_t i = 0; i < 2; ++i) {
      run->x[i] += at.step;
      run->out[i] += run->out_step;
    }
    run->end += at.step;
  }
}

/// Copies a row of pixels of which only the first channels are wanted.
RUSH_SHARED void copy_pixels(const Conv2dParams& p, int8_t* to, const int8_t* from) {
  const bool dense = p.in_pixel == p.in_channels;
  const uint32_t bytes = dense ? static_cast<uint32_t>(p.geometry.in_width) * p.in_channels : p.in_channels;
  RUSH_ROLLED for (int32_t left = dense ? 1 : p.geometry.in_width; left != 0; --left) {
    rush_copy_mve(to, from, bytes);
    to += p.in_channels;
    from += p.in_pixel;
  }
}

/// Begins with the row of the input that is above all windows of output row y, and with borders in place.
RUSH_SHARED void start_ring(Walk* walk, int32_t y) {
  const Conv2dParams& p = *walk->params;
  walk->pitch = tile_ring_pixels(p) * p.in_channels + kTileChunk;
  walk->ring_bytes = walk->pitch * tile_ring_rows(p.geometry);
  walk->place = 0;
  walk->loaded = y * p.geometry.stride_height - p.geometry.pad_top;
  rush_fill_mve(walk->ring, p.zero_point, static_cast<int32_t>(walk->ring_bytes));
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
      copy_pixels(
          p, to, static_cast<const int8_t*>(walk->operands[0]) + row_offset(g.in, static_cast<uint32_t>(walk->loaded)));
    } else {
      rush_fill_mve(to, p.zero_point, g.in_width * p.in_channels);
    }
    walk->place += walk->pitch;
    if (walk->place == walk->ring_bytes) walk->place = 0;
  }
}

RUSH_SHARED int8_t* output_row(const Walk& walk, int32_t y) {
  return static_cast<int8_t*>(walk.operands[1]) + row_offset(walk.params->geometry.out, static_cast<uint32_t>(y));
}

/// 1x1 kernels that read the map. Rows that lie one behind the other are one row.
RUSH_SHARED void walk_map(Walk* walk, Band band) {
  const Conv2dParams& p = *walk->params;
  const ConvGeometry& g = p.geometry;
  const int32_t step = g.stride_width * p.in_pixel, bytes = static_cast<int32_t>(walk->window_bytes);
  const bool dense = (g.stride_height | g.stride_width) == 1 &&
                     g.in.row_bytes == static_cast<uint32_t>(step) * g.out_width &&
                     g.out.row_bytes == static_cast<uint32_t>(p.out_pixel) * g.out_width;
  int32_t rows = 1;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; y += rows) {
    if (dense) rows = rows_as_one(g, {y, band.end});
    const int32_t slot = row_slot(g.in, y * g.stride_height), width = g.out_width * rows;
    const int8_t* const in =
        static_cast<const int8_t*>(walk->operands[0]) + slot * static_cast<int32_t>(g.in.row_bytes);
    // Positions whose chunks reach beyond the row are read from copies, unless a row follows.
    int32_t end = (g.in_width * rows - 1) * p.in_pixel + p.in_channels, direct = width;
    if (dense && slot + rows < g.in.ring_rows && g.in.row_bytes >= kTileChunk) end += kTileChunk;
    while (direct != 0 && (direct - 1) * step + bytes > end) --direct;
    if (direct != width) direct &= ~1;  // a tile takes two
    int8_t* const out = output_row(*walk, y);
    if (direct != 0) run_positions(walk, {in, step, out, direct});
    if (direct == width) continue;
    RUSH_ROLLED for (int32_t x = direct; x < width; ++x) {
      rush_copy_mve(walk->ring + (x - direct) * bytes, in + x * step, p.in_channels);
    }
    run_positions(walk, {walk->ring, bytes, out + direct * p.out_pixel, width - direct});
  }
}

/// The way from each segment of a window in the ring to the next one, and to the next position's.
RUSH_SHARED void set_segments(Walk* walk, int32_t step) {
  RowCursor row = {walk->place, walk->pitch, walk->ring_bytes};
  RunSegment* segment = walk->run.segment;
  RUSH_ROLLED for (uint32_t left = walk->run.segments; left != 0; --left, ++segment) {
    const uint32_t end = row.offset + walk->run.chunks * kTileChunk;
    row.next();
    segment->step = static_cast<int32_t>(row.offset - end);
    if (left == 1) segment->step += step;
  }
}

/// Windows that are read in the ring.
RUSH_SHARED void walk_ring(Walk* walk, Band band) {
  const Conv2dParams& p = *walk->params;
  const ConvGeometry& g = p.geometry;
  const int32_t step = g.out_width == 1 ? 0 : g.stride_width * p.in_channels;  // never beyond the last position
  start_ring(walk, band.begin);
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    load_rows(walk, y);
    set_segments(walk, step);
    run_positions(walk, {walk->ring + walk->place, step, output_row(*walk, y), g.out_width});
  }
}

/// Part of a row of neighbouring windows, in the ring or where they are gathered.
struct Taps {
  const int8_t* from;
  int8_t* to;
  uint32_t bytes;
  uint32_t windows;
};

/// Up to fifteen bytes too many are read.
RUSH_SHARED void gather_taps(const Walk& walk, const Taps& taps) {
  const int32_t step = walk.params->geometry.stride_width * walk.params->in_channels;
  const uint32_t window_bytes = walk.window_bytes;
  RUSH_ROLLED for (uint32_t i = 0; i < taps.bytes; i += 16) {
    const mve_pred16_t live = vctp8q(taps.bytes - i);
    const int8_t* from = taps.from + i;
    int8_t* to = taps.to + i;
    uint32_t left = taps.windows;
    RUSH_ROLLED do {
      vstrbq_p_s8(to, vldrbq_s8(from), live);
      from += step;
      to += window_bytes;
    }
    while (--left != 0);
  }
}

/// The windows from position x on.
RUSH_SHARED void gather(const Walk& walk, int32_t x, int32_t count, int8_t* to) {
  const Conv2dParams& p = *walk.params;
  const ConvGeometry& g = p.geometry;
  const uint32_t together = g.dilation_width == 1 ? g.kernel_width : 1, bytes = together * p.in_channels;
  RowCursor row = {walk.place, g.dilation_height * walk.pitch, walk.ring_bytes};
  RUSH_ROLLED for (uint32_t rows = g.kernel_height; rows != 0; --rows) {
    const int8_t* from = walk.ring + row.offset + x * g.stride_width * p.in_channels;
    RUSH_ROLLED for (uint32_t taps = g.kernel_width; taps != 0; taps -= together) {
      gather_taps(walk, {from, to, bytes, static_cast<uint32_t>(count)});
      from += g.dilation_width * p.in_channels;
      to += bytes;
    }
    row.next();
  }
}

/// Windows that are gathered from the ring, many at a time where they are small.
RUSH_SHARED void walk_gathered(Walk* walk, Band band) {
  const Conv2dParams& p = *walk->params;
  const ConvGeometry& g = p.geometry;
  const int32_t most = static_cast<int32_t>(tile_windows(walk->window_bytes));
  const int32_t bytes = static_cast<int32_t>(walk->window_bytes);
  const bool dense = g.out.row_bytes == static_cast<uint32_t>(p.out_pixel) * g.out_width;
  start_ring(walk, band.begin);
  int8_t* const windows = walk->ring + walk->ring_bytes;
  // Where rows lie side by side, windows of the one before may wait for others.
  int32_t waiting = 0;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    load_rows(walk, y);
    RUSH_ROLLED for (int32_t x = 0; x < g.out_width;) {
      const int32_t count = clamp_to(g.out_width - x, 1, most - waiting);
      gather(*walk, x, count, windows + waiting * bytes);
      x += count;
      waiting += count;
      const bool row_ends = x == g.out_width && (!dense || y + 1 == band.end || row_offset(g.out, y + 1) == 0);
      if (waiting < most && !row_ends) continue;
      run_positions(walk, {windows, bytes, output_row(*walk, y) + (x - waiting) * p.out_pixel, waiting});
      waiting = 0;
    }
  }
}

void clamp_outputs(const Conv2dParams& p, void* const* operands, Band band) {
  if (is_narrow(p.codes))
    clamp_band(p.geometry, {static_cast<int8_t*>(operands[1]), p.out_pixel, p.out_channels, p.codes}, band);
}

}  // namespace

void conv2d_tiles_s8_mve(const void* params, void* const* operands, Band band) {
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  Walk* const walk = set_up(p, operands);
  set_code_of_one(&walk->run);
  if (p.gather != 0) {
    walk_gathered(walk, band);
  } else if (tiles_read_map(p)) {
    walk_map(walk, band);
  } else {
    walk_ring(walk, band);
  }
  clamp_outputs(p, operands, band);
}

void conv2d_rows_s8_mve(const void* params, void* const* operands, Band band) {
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  Walk* const walk = set_up(p, operands);
  set_code_of_rows(&walk->run);
  walk_ring(walk, band);
  clamp_outputs(p, operands, band);
}

}  // namespace rush
