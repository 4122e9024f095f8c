// SPDX-License-Identifier: Apache-2.0
#include "ops/wide_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace rush {

#if defined(__x86_64__)
#define RUSH_WIDE_KERNEL(name, family) \
  Kernel family##_wide;                \
  std::vector<uint8_t> name##_wide_weights(const void* params, std::span<const uint8_t> canonical);
RUSH_WIDE_KERNEL(conv2d, conv2d_s8)
RUSH_WIDE_KERNEL(depthwise_conv2d, depthwise_conv2d_s8)
RUSH_WIDE_KERNEL(linear, linear_s8)
Kernel linear_one_scale_s8_wide;

namespace {

const WideKernel kKernels[] = {{"conv2d_s8", conv2d_s8_wide, conv2d_wide_weights},
                               {"conv2d_tiles_s8", conv2d_s8_wide, conv2d_wide_weights},
                               {"conv2d_rows_s8", conv2d_s8_wide, conv2d_wide_weights},
                               {"conv2d_two_positions_s8", conv2d_s8_wide, conv2d_wide_weights},
                               // Their parameters begin as conv2d_s8's and depthwise_conv2d_s8's.
                               {"conv2d_pairs_s8", conv2d_s8_wide, conv2d_wide_weights},
                               {"depthwise_rows_s8", depthwise_conv2d_s8_wide, depthwise_conv2d_wide_weights},
                               {"depthwise_conv2d_s8", depthwise_conv2d_s8_wide, depthwise_conv2d_wide_weights},
                               {"depthwise_words_s8", depthwise_conv2d_s8_wide, depthwise_conv2d_wide_weights},
                               {"depthwise_patch_s8", depthwise_conv2d_s8_wide, depthwise_conv2d_wide_weights},
                               {"depthwise_compact_s8", depthwise_conv2d_s8_wide, depthwise_conv2d_wide_weights},
                               {"depthwise_column_s8", depthwise_conv2d_s8_wide, depthwise_conv2d_wide_weights},
                               {"linear_s8", linear_s8_wide, linear_wide_weights},
                               {"linear_tiles_s8", linear_s8_wide, linear_wide_weights},
                               {"linear_one_scale_s8", linear_one_scale_s8_wide, linear_wide_weights}};

}  // namespace

const WideKernel* find_wide_kernel(std::string_view family) {
  static const char* const wanted = std::getenv("RUSHLIGHT_WIDE_KERNELS");
  static const bool machine_can = __builtin_cpu_supports("avx2") != 0 && (!wanted || std::string_view(wanted) != "0");
  const auto it = std::ranges::find(kKernels, family, &WideKernel::family);
  return machine_can && it != std::end(kKernels) ? it : nullptr;
}
#else
const WideKernel* find_wide_kernel(std::string_view) { return nullptr; }
#endif

}  // namespace rush
