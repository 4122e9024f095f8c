// SPDX-License-Identifier: Apache-2.0
//
//   codes -> dequantize -> add | avg_pool2d | mean | softmax | concat -> quantize    becomes    the operator on codes
//   codes -> dequantize -> conv2d | linear(dequantize(w), b) -> quantize             becomes    the operator on codes
//                                                                                               with an int32 bias
//
// The operator's kernel folds the scales into a multiplier and a shift. Not bit-exact: exact integers instead of
// float32, so where PyTorch's float rounding tips a tie the code differs by one.
//
// Biases come as int32 codes of their own scale or as float; here all become int32 codes of scale_x * scale_w. A
// layer whose sum could leave 32 bits is refused: PyTorch would compute it, silently clipping it would not.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "compiler/passes/passes.h"
#include "ops/concat/concat_op.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/op_def.h"
#include "ops/quantization.h"
#include "ops/quantize/quantize_op.h"

namespace rush {
namespace {

/// The int8 codes, per tensor, that a real tensor is dequantized from; or an invalid id.
TensorId codes_of(const Rewriter& rewriter, TensorId real) {
  const Node* from = rewriter.producer<Dequantize>(real);
  return from && is_quantized_int8(rewriter.type(from->inputs[0])) ? from->inputs[0] : TensorId{};
}

/// A concat whose inputs have scales of their own rescales them as it copies.
bool works_on_codes(const Node& node) {
  const QuantRule rule = find_op(node.op.name())->quant;
  return rule == QuantRule::kRescaled || rule == QuantRule::kProbability || node.is<Concat>();
}

/// The one reader of the float operator is this quantize to int8.
const Node* quantized_operator(const Rewriter& rewriter, const Node& node) {
  if (!node.is<Quantize>() || !is_quantized_int8(rewriter.type(node.out()))) return nullptr;
  const Node* op = rewriter.producer(node.inputs[0]);
  return op && rewriter.uses(op->out()) == 1 ? op : nullptr;
}

std::optional<TensorId> fold_unweighted(Rewriter& rewriter, const Node& node) {
  const Node* op = quantized_operator(rewriter, node);
  if (!op || !works_on_codes(*op)) return std::nullopt;
  std::vector<TensorId> codes;
  for (TensorId id : op->inputs) codes.push_back(codes_of(rewriter, id));
  if (!std::ranges::all_of(codes, &TensorId::valid)) return std::nullopt;
  return rewriter.replace(*op, {rewriter.name(node.out()), op->op, codes, rewriter.type(node.out())});
}

/// A convolution or linear layer between dequantize and quantize.
struct Layer {
  const Node& node;
  TensorId x;
  TensorId weight;  ///< constant codes
  TensorId bias;    ///< as in the float graph; may be missing
};

class LayerFolder {
 public:
  explicit LayerFolder(std::vector<Diagnostic>& errors) : errors_(errors) {}

  std::optional<TensorId> operator()(Rewriter& rewriter, const Node& node) const {
    const auto layer = find_layer(rewriter, node);
    if (!layer || !accepts(rewriter, *layer)) return std::nullopt;
    const auto codes = integer_bias(rewriter, *layer);
    if (!codes) return std::nullopt;
    std::vector<TensorId> inputs{layer->x, layer->weight};
    if (layer->bias.valid())
      inputs.push_back(
          rewriter.add_constant(rewriter.name(layer->bias) + ".int32", *codes, bias_quant(rewriter, *layer)));
    return rewriter.replace(layer->node,
                            {rewriter.name(node.out()), layer->node.op, inputs, rewriter.type(node.out())});
  }

 private:
  static std::optional<Layer> find_layer(const Rewriter& rewriter, const Node& node) {
    const Node* op = quantized_operator(rewriter, node);
    if (!op || find_op(op->op.name())->quant != QuantRule::kWeighted) return std::nullopt;
    const TensorId x = codes_of(rewriter, op->inputs[0]);
    const Node* weight = rewriter.producer<Dequantize>(op->inputs[1]);
    if (!x.valid() || !weight || !rewriter.is_constant(weight->inputs[0]) ||
        rewriter.type(weight->inputs[0]).dtype != DType::kInt8)
      return std::nullopt;
    return Layer{*op, x, weight->inputs[0], op->inputs.size() > 2 ? op->inputs[2] : TensorId{}};
  }

  void refuse(const Rewriter& rewriter, const Layer& layer, std::string what, std::string fix) const {
    const auto known = [&](const Diagnostic& d) { return d.what == what && d.origin == layer.node.origin; };
    if (std::ranges::any_of(errors_, known)) return;
    errors_.push_back({.what = std::move(what),
                       .op = std::string(layer.node.op.name()),
                       .origin = layer.node.origin,
                       .details = {fmt::format("input {}, weight {}", to_string(rewriter.type(layer.x)),
                                               to_string(rewriter.type(layer.weight)))},
                       .fix = std::move(fix)});
  }

  bool accepts(const Rewriter& rewriter, const Layer& layer) const {
    const Quant quant = *rewriter.type(layer.weight).quant;
    if (quant.axis > 0) {
      refuse(rewriter, layer, fmt::format("the weight is quantized along axis {}", quant.axis),
             "quantize weights per tensor, or per output channel (axis 0)");
      return false;
    }
    if (std::ranges::any_of(quant.zero_point, [](int64_t z) { return z != 0; })) {
      refuse(rewriter, layer, "the weight's zero point is not 0", "quantize weights symmetrically");
      return false;
    }
    return true;
  }

  static Quant bias_quant(const Rewriter& rewriter, const Layer& layer) {
    Quant quant = *rewriter.type(layer.weight).quant;
    const double x_scale = rewriter.type(layer.x).quant->scale[0];
    for (double& scale : quant.scale) scale *= x_scale;
    quant.min = INT32_MIN;
    quant.max = INT32_MAX;
    return quant;
  }

  /// The bias as real numbers (zeros if there is none), or nothing where it is computed at run time.
  static std::optional<std::vector<double>> real_bias(const Rewriter& rewriter, const Layer& layer) {
    const TensorId bias = layer.bias;
    if (!bias.valid()) return std::vector<double>(static_cast<size_t>(rewriter.shape(layer.weight)[0]), 0.0);
    const Node* from = rewriter.producer<Dequantize>(bias);
    const Tensor& tensor = rewriter.graph()[from ? from->inputs[0] : bias];
    if (!tensor.is_constant()) return std::nullopt;
    std::vector<double> real;
    for (int64_t i = 0; i < tensor.data->size(); ++i) {
      const double value = tensor.data->number(i);
      const auto channel = static_cast<size_t>(from && !tensor.type.quant->per_tensor() ? i : 0);
      real.push_back(!from ? value
                           : (value - static_cast<double>(tensor.type.quant->zero_point.at(channel))) *
                                 tensor.type.quant->scale.at(channel));
    }
    return real;
  }

  /// The largest magnitude that the weighted sum of a channel can have, without the bias.
  static int64_t largest_sum(const Rewriter& rewriter, const Layer& layer, int64_t channel) {
    const Quant x = *rewriter.type(layer.x).quant;
    const int64_t reach = std::max(std::abs(x.min - x.zero_point[0]), std::abs(x.max - x.zero_point[0]));
    const HostTensor& weight = *rewriter.graph()[layer.weight].data;
    const int64_t row = weight.size() / weight.shape()[0];
    int64_t sum = 0;
    for (int64_t i = 0; i < row; ++i) sum += std::abs(int64_t{weight.as<int8_t>()[channel * row + i]});
    return sum * reach;
  }

  std::optional<HostTensor> integer_bias(const Rewriter& rewriter, const Layer& layer) const {
    const auto real = real_bias(rewriter, layer);
    if (!real) return std::nullopt;
    const Quant quant = bias_quant(rewriter, layer);
    HostTensor codes(DType::kInt32, {static_cast<int64_t>(real->size())});
    for (size_t o = 0; o < real->size(); ++o) {
      const double scale = quant.scale[quant.per_tensor() ? 0 : o];
      const double code = std::nearbyint((*real)[o] / scale);
      if (!fits(rewriter, layer, static_cast<int64_t>(o), code)) {
        refuse_bias(rewriter, layer, {o, (*real)[o], scale, code});
        return std::nullopt;
      }
      codes.as<int32_t>()[o] = static_cast<int32_t>(code);
    }
    return codes;
  }

  static bool fits(const Rewriter& rewriter, const Layer& layer, int64_t channel, double code) {
    return std::abs(code) + static_cast<double>(largest_sum(rewriter, layer, channel)) <= INT32_MAX;
  }

  struct BadBias {
    size_t channel;
    double real;
    double scale;
    double code;
  };

  void refuse_bias(const Rewriter& rewriter, const Layer& layer, const BadBias& bad) const {
    refuse(
        rewriter, layer,
        fmt::format("the bias {:.6g} of output channel {} is {:.6g} in steps of input scale x weight scale = {:.6g}, "
                    "which does not fit a 32-bit sum",
                    bad.real, bad.channel, bad.code, bad.scale),
        "calibrate so that the weight scale is larger, or leave this layer in float");
  }

  std::vector<Diagnostic>& errors_;
};

}  // namespace

Graph fold_quantization(Graph graph) {
  std::vector<Diagnostic> errors;
  graph = rewrite(std::move(graph), {fold_unweighted, LayerFolder(errors)});
  if (!errors.empty()) throw UserError(std::move(errors));
  return graph;
}

}  // namespace rush
