// SPDX-License-Identifier: Apache-2.0
//
//   input x: float32 -> ...    becomes    input bytes: uint8 -> dequantize -> normalize -> x -> ...
//
// so that a sensor's bytes are the model's input. Where the model quantizes x to the very codes that the bytes are
// (a camera's 0..255 divided by 255, calibrated on all of that range), nothing is left of the normalization;
// otherwise it becomes one 1x1 convolution on codes, which keeps the channels apart.
#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace rush {

/// x = (byte * scale - mean) / std, as torchvision's ToTensor and Normalize. Means and standard deviations are one
/// for all channels (axis 1 of the exported input) or one for each.
struct ByteInput {
  double scale = 1.0 / 255;
  std::vector<double> mean = {0};
  std::vector<double> std = {1};
};

/// Changes the first input of a graph as imported. Throws a UserError where the input is not float32 or has another
/// number of channels.
Graph take_bytes(Graph graph, const ByteInput& bytes);

}  // namespace rush
