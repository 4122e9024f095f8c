// SPDX-License-Identifier: Apache-2.0
//
// Eight outputs at a time by VMLADAVA, all of one position before the next one: weights are what there is most of.
#include <arm_mve.h>
#include <stddef.h>

#include "../conv2d/conv2d_channels_mve.h"
#include "../conv2d/conv2d_clamp_mve.h"
#include "../conv2d/conv2d_rolled.h"
#include "linear_tiles.h"

namespace rush {
namespace {

/// One position, as linear_tiles_mve_asm.S reads it.
struct LinearRun {
  uint32_t rest;   ///< the code behind the first chunk, where it is not seven chunks
  uint32_t count;  ///< how often eight chunks come after the others; bit 31: there is other code behind the first
  const int8_t* weights_now;  ///< where something is to do at the end of a block: behind the first one's weights
  const int8_t* x;
  const int8_t* weights_end;
  const int8_t* weights;
  const void* channels;  ///< ChannelBlocks, or biases
  int8_t* out;
  int32_t zero_point;
  uint32_t last[2];  ///< of the last eight outputs, how many of the first four and of the others there are
  uint32_t tile;     ///< the code for eight outputs
  int32_t scale;     ///< of all outputs, where `channels` are biases
  uint32_t chunks;
};

#ifdef RUSH_ASM
static_assert(offsetof(LinearRun, scale) == 48, "as in assembly");

extern "C" void rush_linear_run_mve(const LinearRun* run);
extern "C" void rush_linear_one_scale_run_mve(const LinearRun* run);
extern "C" const uint16_t rush_linear_run_mve_entries[5], rush_linear_one_scale_run_mve_entries[5];

/// What computes a run, and where it may go on, from its beginning.
struct Run {
  static void compute(const LinearRun* run) { rush_linear_run_mve(run); }
  static uintptr_t begin() { return reinterpret_cast<uintptr_t>(&rush_linear_run_mve); }
  static const uint16_t* entries() { return rush_linear_run_mve_entries; }
};

struct OneScaleRun {
  static void compute(const LinearRun* run) { rush_linear_one_scale_run_mve(run); }
  static uintptr_t begin() { return reinterpret_cast<uintptr_t>(&rush_linear_one_scale_run_mve); }
  static const uint16_t* entries() { return rush_linear_one_scale_run_mve_entries; }
};

/// Chooses the code for the chunks.
template <class Code>
void set_code(LinearRun* run) {
  const uint32_t begin = static_cast<uint32_t>(Code::begin());
  const uint16_t* const entry = Code::entries();
  const uint32_t rest = run->chunks - 1, few = rest & 7u, kChunkCode = 68, kOther = 0x80000000u;
  run->tile = begin + entry[run->chunks == 8 ? 4 : 3];
  run->count = (rest >> 3) | (few == 7 ? 0 : kOther);
  run->rest = begin + entry[2] - few * kChunkCode;
  if (few != 0) return;
  run->rest = begin + entry[rest == 0 ? 0 : 1];
  if (rest != 0) --run->count;
}
#else
template <class Code>
void set_code(LinearRun*) {}

/// Four of eight sums.
int32x4_t block_sums(const LinearRun& run, const int8_t* w) {
  int32_t a = 0, b = 0, c = 0, d = 0;
  const int8_t* x = run.x;
  RUSH_ROLLED for (uint32_t left = run.chunks; left != 0; --left) {
    const int8x16_t v = vldrbq_s8(x);
    a = vmladavaq_s8(a, v, vldrbq_s8(w));
    b = vmladavaq_s8(b, v, vldrbq_s8(w + 16));
    c = vmladavaq_s8(c, v, vldrbq_s8(w + 32));
    d = vmladavaq_s8(d, v, vldrbq_s8(w + 48));
    x += kLinearChunk;
    w += kLinearBlock * kLinearChunk;
  }
  const int32_t sums[] = {a, b, c, d};
  return vldrwq_s32(sums);
}

struct Run {
  static ChannelBlock channels(const LinearRun& run, uint32_t block) {
    return static_cast<const ChannelBlock*>(run.channels)[block];
  }
  static void compute(const LinearRun* run);
};

struct OneScaleRun {
  static ChannelBlock channels(const LinearRun& run, uint32_t block) {
    ChannelBlock channels;
    vstrwq_s32(channels.bias, vldrwq_s32(static_cast<const int32_t*>(run.channels) + 4 * block));
    vstrwq_s32(channels.scale, vdupq_n_s32(run.scale));
    return channels;
  }
  static void compute(const LinearRun* run);
};

/// A run, when it cannot be in assembly.
template <class Code>
void compute_run(const LinearRun* run) {
  const OutputCodes codes = {static_cast<int8_t>(run->zero_point), -128, 127, 0};
  uint32_t block = 0;
  int8_t* out = run->out;
  const uint32_t bytes = run->chunks * kLinearBlock * kLinearChunk;
  RUSH_ROLLED for (const int8_t* w = run->weights; w != run->weights_end; w += bytes) {
    RUSH_ROLLED for (uint32_t half = 0; half < 2; ++half, out += 4) {
      const uint32_t live = w + bytes == run->weights_end ? run->last[half] : 4;
      vstrbq_p_s32(out, output_codes(Code::channels(*run, block++), codes, block_sums(*run, w + 64 * half)),
                   vctp32q(live));
    }
  }
}

void Run::compute(const LinearRun* run) { compute_run<Run>(run); }
void OneScaleRun::compute(const LinearRun* run) { compute_run<OneScaleRun>(run); }
#endif

/// Scratch takes the place of inputs that are not whole chunks: what lies behind them must not be read.
const int8_t* whole_chunks(const LinearParams& p, const int8_t* x, void* scratch) {
  if (p.in_features % kLinearChunk == 0) return x;
  int8_t* const copy = static_cast<int8_t*>(scratch);
  RUSH_ROLLED for (uint32_t i = 0; i < p.in_features; i += kLinearChunk) {
    vstrbq_s8(copy + i, vldrbq_z_s8(x + i, vctp8q(p.in_features - i)));
  }
  return copy;
}

/// `scale`: of all outputs, where the code wants one.
template <class Code>
void compute_layer(const LinearParams& p, void* const* operands, Band band, int32_t scale) {
  LinearRun run;
  run.chunks = linear_chunks(p);
  set_code<Code>(&run);
  const uint32_t block_bytes = run.chunks * kLinearBlock * kLinearChunk;
  run.weights = static_cast<const int8_t*>(operands[2]);
  run.weights_now = run.weights + block_bytes;
  run.weights_end = run.weights + linear_blocks(p) * block_bytes;
  run.channels = operands[3];
  run.zero_point = p.codes.zero_point;
  run.scale = scale;
  const uint32_t last = p.out_features - kLinearBlock * (linear_blocks(p) - 1);
  run.last[0] = last < 4 ? last : 4;
  run.last[1] = last - run.last[0];
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    const int8_t* x = static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y));
    run.out = static_cast<int8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y));
    RUSH_ROLLED for (uint32_t left = p.positions; left != 0; --left) {
      run.x = whole_chunks(p, x, operands[4]);
      Code::compute(&run);
      if (is_narrow(p.codes)) clamp_codes(run.out, p.codes, p.out_features);
      x += p.in_features;
      run.out += p.out_features;
    }
  }
}

}  // namespace

void linear_tiles_s8_mve(const void* params, void* const* operands, Band band) {
  compute_layer<Run>(*static_cast<const LinearParams*>(params), operands, band, 0);
}

void linear_one_scale_s8_mve(const void* params, void* const* operands, Band band) {
  const LinearOneScaleParams& p = *static_cast<const LinearOneScaleParams*>(params);
  compute_layer<OneScaleRun>(p.layer, operands, band, p.scale);
}

}  // namespace rush
