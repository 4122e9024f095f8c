// SPDX-License-Identifier: Apache-2.0
//
// 2-D convolution (cross-correlation, as PyTorch's), with its output clamp.
//
// Inputs: x, weight, bias (may be missing). layout "nchw": x [N,C,H,W], weight [O,C/groups,kH,kW]; "nhwc": x [N,H,W,C],
// weight [O,kH,kW,C/groups]. Taps outside the map count as real 0 (the input's zero point).
// Quantized: x and output int8 per tensor, weight int8 symmetric per tensor or per channel (axis 0), bias int32 with
// scale scale_x * scale_w[o]. A 1-D convolution is a 2-D one of height 1.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rush {

struct Conv2d {
  static constexpr std::string_view kName = "conv2d";
  std::vector<int64_t> stride{1, 1};
  std::vector<int64_t> padding{0, 0, 0, 0};  ///< top, bottom, left, right
  std::vector<int64_t> dilation{1, 1};
  int64_t groups = 1;
  std::string layout = "nchw";
  double min = -INFINITY;  ///< fused clamp of the real output
  double max = INFINITY;

  bool operator==(const Conv2d&) const = default;
  template <class V>
  void visit(V& v) {
    v("stride", stride);
    v("padding", padding);
    v("dilation", dilation);
    v("groups", groups);
    v("layout", layout);
    v("min", min);
    v("max", max);
  }
};

}  // namespace rush
