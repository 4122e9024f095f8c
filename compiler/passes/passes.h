// SPDX-License-Identifier: Apache-2.0
//
// The passes: each a pure function from graph to graph, each drawn in its own file. pass_list.h has their order.
#pragma once

#include "compiler/ir/graph.h"
#include "compiler/passes/rewrite.h"

namespace rush {

/// x -> dropout | clone | a reshape, permute or pad that changes nothing  becomes  x.  Bit-exact.
Graph remove_identities(Graph graph);

/// Casts to the type that x has, and there and back through a wider type, disappear.  Bit-exact.
Graph remove_casts(Graph graph);

/// uint8 codes become int8 codes, 128 lower, as do their zero points.  Bit-exact.
Graph shift_uint8(Graph graph);

/// What depends on constants only is computed now; dequantized constants stay as they are.  Bit-exact.
Graph fold_constants(Graph graph);

/// dequantize(constant) that a float operator reads becomes a float constant.  Bit-exact.
Graph fold_float_weights(Graph graph);

/// conv2d | linear -> batch_norm  becomes  conv2d | linear.  Not bit-exact: rounds each weight once.
Graph fold_batch_norm(Graph graph);

/// conv2d | linear | add | rescale -> clamp  becomes  the operator with a narrower output range.  Bit-exact.
Graph fold_clamp(Graph graph);

/// Equal operators on equal inputs become one.  Bit-exact.
Graph share_nodes(Graph graph);

/// reshape | permute | pad | ... -> quantize  becomes  quantize -> the same on codes.  Bit-exact.
Graph hoist_quantize(Graph graph);

/// dequantize -> reshape | permute | pad | ...  becomes  the same on codes -> dequantize.  Bit-exact.
Graph sink_dequantize(Graph graph);

/// dequantize -> quantize  becomes  nothing, or a rescale where their parameters differ.
Graph cancel_quantization(Graph graph);

/// dequantize -> operator -> quantize  becomes  the operator on codes.  At most one code off.
Graph fold_quantization(Graph graph);

/// pad -> conv2d | avg_pool2d | max_pool2d  becomes  the operator with more padding.  Bit-exact.
Graph fold_pad(Graph graph);

/// input -> quantize and dequantize -> output become a note on the port.  Bit-exact.
Graph strip_border(Graph graph);

/// NCHW conv2d and pools become NHWC ones between permutes.  Bit-exact on codes.
Graph assign_layout(Graph graph);

/// Permutes cancel, become reshapes or go into the weights of a linear, where they can.  Bit-exact on codes.
Graph remove_transposes(Graph graph);

}  // namespace rush
