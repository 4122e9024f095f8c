// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and matrix products with a weight. 1-D convolutions become 2-D ones of height 1.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/import/aten_map.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/linear/linear_op.h"
#include "ops/permute/permute_op.h"

namespace rush {
namespace {

/// Attributes of one spatial axis.
struct ConvAxis {
  int64_t stride, dilation, before, after;
};

void check_rank(Call& call, const char* name, TensorId id, size_t spatial) {
  if (call.rank(id) != spatial + 2)
    call.fail(fmt::format("{} {} has rank {}, expected {}", name, to_string(call.type(id)), call.rank(id), spatial + 2),
              "keep the batch dimension: x.unsqueeze(0)");
}

std::vector<ConvAxis> steps_of(Call& call, size_t spatial) {
  const auto stride = call.expanded("stride", spatial, 1), dilation = call.expanded("dilation", spatial, 1);
  std::vector<ConvAxis> axes;
  for (size_t i = 0; i < spatial; ++i) {
    if (stride[i] < 1 || dilation[i] < 1)
      call.fail(fmt::format("stride {} and dilation {} must be positive", to_string(stride), to_string(dilation)));
    axes.push_back({stride[i], dilation[i], 0, 0});
  }
  return axes;
}

std::vector<ConvAxis> with_padding(Call& call, std::vector<ConvAxis> axes) {
  const auto padding = call.expanded("padding", axes.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (padding[i] < 0) call.fail(fmt::format("padding {} is negative", to_string(padding)));
    axes[i].before = axes[i].after = padding[i];
  }
  return axes;
}

/// 'same': the odd one goes to the end.
std::vector<ConvAxis> with_named_padding(Call& call, std::vector<ConvAxis> axes, const Shape& weight) {
  const std::string mode = call.text("padding", "valid");
  if (mode == "valid") return axes;
  if (mode != "same") call.unsupported("padding \"" + printable(mode) + "\"");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].stride != 1) call.fail("padding 'same' needs stride 1");
    const int64_t total = axes[i].dilation * (weight[i + 2] - 1);
    axes[i].before = total / 2;
    axes[i].after = total - total / 2;
  }
  return axes;
}

Conv2d attributes_of(Call& call, std::vector<ConvAxis> axes) {
  if (axes.size() == 1) axes.insert(axes.begin(), ConvAxis{1, 1, 0, 0});
  const ConvAxis &h = axes[0], &w = axes[1];
  const int64_t groups = call.integer("groups", 1);
  if (groups < 1) call.fail(fmt::format("groups {} must be positive", groups));
  return {.stride = {h.stride, w.stride},
          .padding = {h.before, h.after, w.before, w.after},
          .dilation = {h.dilation, w.dilation},
          .groups = groups};
}

enum class Padding { kNumbers, kName };

void translate_convolution(Call& call, size_t spatial, Padding padding) {
  const TensorId x = call.tensor("input"), weight = call.tensor("weight"), bias = call.optional_tensor("bias");
  check_rank(call, "input", x, spatial);
  check_rank(call, "weight", weight, spatial);
  const std::vector<ConvAxis> steps = steps_of(call, spatial);
  const Conv2d conv =
      attributes_of(call, padding == Padding::kNumbers ? with_padding(call, steps)
                                                       : with_named_padding(call, steps, call.shape(weight)));
  if (spatial == 1)
    call.finish_map(call.step(conv, {call.to_map(x), call.to_map(weight), bias}));
  else
    call.finish(conv, {x, weight, bias});
}

void translate_conv1d(Call& call) { translate_convolution(call, 1, Padding::kNumbers); }
void translate_conv1d_padding(Call& call) { translate_convolution(call, 1, Padding::kName); }
void translate_conv2d(Call& call) { translate_convolution(call, 2, Padding::kNumbers); }
void translate_conv2d_padding(Call& call) { translate_convolution(call, 2, Padding::kName); }

/// Core ATen's one operator for all of them.
void translate_any_convolution(Call& call) {
  if (call.flag("transposed", false)) call.unsupported("a transposed convolution");
  call.ignore({"output_padding"});
  const size_t rank = call.rank(call.tensor("input"));
  if (rank != 3 && rank != 4) call.unsupported(fmt::format("a convolution of rank {}", rank));
  translate_convolution(call, rank - 2, Padding::kNumbers);
}

void check_matrix(Call& call, const char* name, TensorId id) {
  if (call.rank(id) != 2) call.fail(fmt::format("{} {} is not a matrix", name, to_string(call.type(id))));
}

void translate_linear(Call& call) {
  const TensorId weight = call.tensor("weight");
  check_matrix(call, "weight", weight);
  call.finish(Linear{}, {call.tensor("input"), weight, call.optional_tensor("bias")});
}

/// A matrix [K,O] as the weight [O,K]: mostly it was a transposed weight before.
TensorId transposed(Call& call, TensorId matrix) {
  const Node* from = call.writer().producer(matrix);
  const Permute* permute = from ? from->as<Permute>() : nullptr;
  if (permute && permute->axes == std::vector<int64_t>{1, 0}) return from->inputs[0];
  if (call.constant(matrix)) return call.transposed_constant(matrix);
  return call.step(Permute{{1, 0}}, {matrix});
}

void translate_product(Call& call, const char* x_name, TensorId bias) {
  const TensorId x = call.tensor(x_name), weight = call.tensor("mat2");
  check_matrix(call, x_name, x);
  check_matrix(call, "mat2", weight);
  call.finish(Linear{}, {x, transposed(call, weight), bias});
}

void translate_mm(Call& call) { translate_product(call, "self", {}); }

void translate_addmm(Call& call) {
  if (call.real("beta", 1) != 1 || call.real("alpha", 1) != 1) call.unsupported("addmm with alpha or beta");
  const TensorId bias = call.tensor("self");
  if (call.rank(bias) != 1) call.unsupported("addmm with a bias " + to_string(call.type(bias)));
  translate_product(call, "mat1", bias);
}

constexpr auto kOperators = std::to_array<AtenOperator>({
    {"aten.conv1d.default", translate_conv1d, &conv2d_op},
    {"aten.conv1d.padding", translate_conv1d_padding, &conv2d_op},
    {"aten.conv2d.default", translate_conv2d, &conv2d_op},
    {"aten.conv2d.padding", translate_conv2d_padding, &conv2d_op},
    {"aten.convolution.default", translate_any_convolution, &conv2d_op},
    {"aten.linear.default", translate_linear, &linear_op},
    {"aten.addmm.default", translate_addmm, &linear_op},
    {"aten.mm.default", translate_mm, &linear_op},
});

}  // namespace

std::span<const AtenOperator> convolution_operators() { return kOperators; }

}  // namespace rush
