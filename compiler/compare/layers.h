// SPDX-License-Identifier: Apache-2.0
//
// Which values of the stages are the same value of the user's model. Values are matched by the names of their tensors,
// which the passes keep (compiler/passes/rewrite.h): the codes that a quantize of the torch stage makes are the output
// of the fused integer operator, "<name>.nhwc" in that axis order. The float model is another export, so its values are
// found by layer: the k-th operator of a kind in it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compare/compare.h"

namespace rush {

template <class T>
using ByName = std::map<std::string, T, std::less<>>;

struct LayerMap {
  std::vector<LayerComparison> layers;  ///< nothing measured yet
  ByName<TensorType> torch_types;
  ByName<TensorType> quantized_types;
  ByName<std::string> float_names;  ///< torch stage's tensor -> float model's
};

LayerMap map_layers(const Compilation& made, const std::optional<Graph>& float_model);

/// The torch stage's name of a tensor.
std::string torch_name(const std::string& name);

/// Torch's value in the axis order of the tensor of this name, or nothing where no order is known.
std::optional<HostTensor> aligned(const HostTensor& value, const std::string& name, const Shape& shape);

/// The other way round: the value of the tensor of this name in torch's axis order.
HostTensor as_exported(const HostTensor& value, const std::string& name);

}  // namespace rush
