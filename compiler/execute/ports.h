// SPDX-License-Identifier: Apache-2.0
//
// Between the tensors of the user's exported model and those in the graph's or the program's memory: axis order,
// and the quantize and dequantize that were taken out of the graph at its border.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "ops/program.h"

namespace rush {

/// What both a graph's and a program's port say.
struct PortFormat {
  std::string name;
  TensorType type;  ///< in memory
  DType exported_dtype = DType::kFloat32;
  Shape exported_shape;
  std::vector<int> dim_order;
  std::optional<Quant> border;
};

PortFormat port_format(const Graph& graph, const Port& port);
PortFormat port_format(const ProgramPort& port);

/// `exported` has the exported shape and element type; where the border is quantized, int8 codes are accepted as
/// well and used as they are. Throws a UserError that names the port where the tensor does not fit.
HostTensor to_memory(const PortFormat& port, const HostTensor& exported);

/// The exported shape and element type again; `raw`: the integers before the border's dequantize.
HostTensor from_memory(const PortFormat& port, const HostTensor& memory, bool raw = false);

}  // namespace rush
