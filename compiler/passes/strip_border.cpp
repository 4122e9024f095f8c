// SPDX-License-Identifier: Apache-2.0
//
//   input x: float32 -> quantize -> codes     becomes    input codes: int8, quantized at the border
//   codes -> dequantize -> output y: float32  becomes    output codes: int8, dequantized at the border
//
// The device then reads and writes codes, and whoever fills them does the quantization. An input is left alone
// unless all that read it quantize it alike. Bit-exact.
#include <algorithm>

#include "compiler/passes/passes.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/quantization.h"
#include "ops/quantize/quantize_op.h"

namespace rush {
namespace {

/// The codes that every reader of the input makes of it, or an invalid id.
TensorId input_codes(const Graph& graph, TensorId input) {
  TensorId codes;
  int readers = 0;
  for (const Node& node : graph.nodes) {
    if (std::ranges::find(node.inputs, input) == node.inputs.end()) continue;
    ++readers;
    const bool first = !codes.valid();
    if (first) codes = node.out();
    if (!node.is<Quantize>() || !is_quantized_int8(graph.type(node.out())) ||
        graph.type(node.out()) != graph.type(codes))
      return {};
  }
  return readers == graph.uses(input) ? codes : TensorId{};
}

void replace_uses(Graph& graph, TensorId old, TensorId by) {
  for (Node& node : graph.nodes) std::ranges::replace(node.inputs, old, by);
  for (Port& port : graph.outputs)
    if (port.tensor == old) port.tensor = by;
  for (State& state : graph.states)
    if (state.next == old) state.next = by;
}

void strip_input(Graph& graph, Port& port) {
  const TensorId input = port.tensor, codes = input_codes(graph, input);
  if (!codes.valid()) return;
  for (const Node& node : graph.nodes)
    if (std::ranges::find(node.inputs, input) != node.inputs.end()) replace_uses(graph, node.out(), codes);
  std::erase_if(graph.nodes,
                [&](const Node& node) { return std::ranges::find(node.inputs, input) != node.inputs.end(); });
  port.tensor = codes;
  port.border = graph.type(codes).quant;
}

void strip_output(const Graph& graph, Port& port) {
  const Node* from = graph.producer(port.tensor);
  if (!from || !from->is<Dequantize>() || !is_quantized_int8(graph.type(from->inputs[0]))) return;
  port.tensor = from->inputs[0];
  port.border = graph.type(port.tensor).quant;
}

}  // namespace

Graph strip_border(Graph graph) {
  for (Port& port : graph.outputs) strip_output(graph, port);
  graph = remove_dead_code(std::move(graph));
  for (Port& port : graph.inputs) strip_input(graph, port);
  return remove_dead_code(std::move(graph));
}

}  // namespace rush
