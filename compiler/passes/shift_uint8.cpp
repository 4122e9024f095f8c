// SPDX-License-Identifier: Apache-2.0
//
//   x -> quantize -> uint8 q(s, 120 in 0..255)    becomes    x -> quantize -> int8 q(s, -8)
//
// (code - zero point) does not change when both fall by 128, so every operator on real values means the same.
// Bit-exact. Integer inputs and outputs of the model are shifted where they cross the border (execute/ports.h).
#include "compiler/passes/passes.h"
#include "ops/cast/cast_op.h"

namespace rush {
namespace {

bool is_uint8_code(const Tensor& tensor) { return tensor.type.dtype == DType::kUInt8 && tensor.type.quant; }

/// A cast reads the codes as numbers, which must then stay what they are.
void refuse_casts(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!node.is<Cast>() || !is_uint8_code(graph[node.inputs[0]])) continue;
    throw UserError(Diagnostic{.what = "uint8 codes are converted to numbers of another type",
                               .op = "cast",
                               .origin = node.origin,
                               .details = {"input " + to_string(graph.type(node.inputs[0]))},
                               .fix = "quantize activations to int8"});
  }
}

void shift(Quant& quant) {
  for (int64_t& zero_point : quant.zero_point) zero_point -= 128;
  quant.min -= 128;
  quant.max -= 128;
}

HostTensor shifted(const HostTensor& codes) {
  HostTensor out(DType::kInt8, codes.shape());
  for (size_t i = 0; i < codes.bytes(); ++i) out.raw()[i] = codes.raw()[i] ^ 0x80;
  return out;
}

}  // namespace

Graph shift_uint8(Graph graph) {
  refuse_casts(graph);
  for (Tensor& tensor : graph.tensors) {
    if (!is_uint8_code(tensor)) continue;
    tensor.type.dtype = DType::kInt8;
    shift(*tensor.type.quant);
    if (tensor.data) tensor.data = std::make_shared<const HostTensor>(shifted(*tensor.data));
  }
  for (State& state : graph.states)
    if (state.initial && state.initial->dtype() == DType::kUInt8 && graph.type(state.current).dtype == DType::kInt8)
      state.initial = std::make_shared<const HostTensor>(shifted(*state.initial));
  return graph;
}

}  // namespace rush
