// SPDX-License-Identifier: Apache-2.0
//
// The portable variants.
#include "exponential.h"
#include "softmax.h"

namespace rush {

void softmax_s8_scalar(const void* params, void* const* operands, Band band) {
  const SoftmaxParams& p = *static_cast<const SoftmaxParams*>(params);
  const SoftmaxTable& table = *static_cast<const SoftmaxTable*>(operands[1]);
  each_vector<int8_t>(p.walk, operands[0], operands[2], band,
                      [&](const int8_t* in, int8_t* out) { softmax_vector(p, table, in, out); });
}

void softmax_dense_s8_scalar(const void* params, void* const* operands, Band band) {
  softmax_s8_scalar(params, operands, band);
}

namespace {

void softmax_floats(const SoftmaxWalk& walk, const float* in, float* out) {
  const uint32_t end = walk.count * walk.inner, step = walk.inner;
  float max = *in;
  for (uint32_t i = step; i < end; i += step) max = in[i] > max ? in[i] : max;
  float sum = 0;
  for (uint32_t i = 0; i < end; i += step) {
    out[i] = exponential(in[i] - max);
    sum += out[i];
  }
  const float reciprocal = 1.0f / sum;
  for (uint32_t i = 0; i < end; i += step) out[i] *= reciprocal;
}

}  // namespace

void softmax_f32_scalar(const void* params, void* const* operands, Band band) {
  const SoftmaxF32Params& p = *static_cast<const SoftmaxF32Params*>(params);
  each_vector<float>(p.walk, operands[0], operands[1], band,
                     [&](const float* in, float* out) { softmax_floats(p.walk, in, out); });
}

}  // namespace rush
