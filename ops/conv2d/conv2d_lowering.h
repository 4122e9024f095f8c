// SPDX-License-Identifier: Apache-2.0
//
// What lowering a convolution and a depthwise one share: sizes as the kernels want them, and a step for each image.
#pragma once

#include <optional>
#include <string>

#include "ops/conv2d/conv2d.h"
#include "ops/conv2d/conv2d_ref.h"
#include "ops/op_def.h"

namespace rush {

/// Why no kernel takes maps or windows of this size.
std::optional<std::string> unfit_sizes(const ConvShape& shape);

/// Whole maps of elements of `element_bytes`.
ConvGeometry conv_geometry(const ConvShape& shape, uint32_t element_bytes);

/// A 1x1 convolution at every position of a map; but for zero point and codes.
struct PointwiseShape {
  uint16_t rows;
  uint16_t positions;  ///< in a row
  uint16_t in_channels;
  uint16_t out_channels;
};
Conv2dParams pointwise_params(const PointwiseShape& shape);

/// Image n of a batch of elements of `element_bytes`.
struct BatchImage {
  int64_t n;
  uint32_t element_bytes;
};

/// A step of one image without its family, parameters and constants: operands 0 and 1, rows, how it depends on the
/// input's rows (unless others write the same map) and its multiply-accumulates. Its params struct begins with a
/// ConvGeometry.
ProgramStep image_step(const NodeTypes& types, Lowering& lowering, const ConvShape& shape, const BatchImage& image);

}  // namespace rush
