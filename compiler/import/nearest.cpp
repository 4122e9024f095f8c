// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/nearest.h"

#include <algorithm>
#include <array>

#include "compiler/import/aten_map.h"

namespace rush {
namespace {

/// `target` is what `words` need; a row of which it is not supported (any more, or yet) says nothing.
struct Nearest {
  std::string_view name;
  std::string_view target;
  std::string_view words;
};

constexpr std::string_view kRelu = "aten.relu.default", kConv = "aten.conv2d.default", kLinear = "aten.linear.default",
                           kBatchNorm = "aten.batch_norm.default", kMaxPool = "aten.max_pool2d.default",
                           kMean = "aten.mean.dim", kAdd = "aten.add.Tensor";

constexpr std::array kNearest = std::to_array<Nearest>({
    {"log_softmax", "aten.softmax.int", "nn.Softmax, or the logits: their order is the same"},
    {"argmax", "aten.softmax.int", "the logits as output, and the largest found by the caller"},
    {"topk", "aten.softmax.int", "the logits as output, and the largest found by the caller"},
    {"layer_norm", kBatchNorm, "nn.BatchNorm2d, which folds into the layer before"},
    {"group_norm", kBatchNorm, "nn.BatchNorm2d, which folds into the layer before"},
    {"instance_norm", kBatchNorm, "nn.BatchNorm2d, which folds into the layer before"},
    {"conv_transpose2d", kConv, "nn.Conv2d: work at the smaller size, or enlarge on the caller's side"},
    {"conv3d", kConv, "nn.Conv2d over frames stacked as channels"},
    {"upsample_nearest2d", kConv, "the smaller map as output, enlarged by the caller"},
    {"upsample_bilinear2d", kConv, "the smaller map as output, enlarged by the caller"},
    {"matmul", kLinear, "nn.Linear, where one side is a constant"},
    {"bmm", kLinear, "nn.Linear, where one side is a constant"},
    {"einsum", kLinear, "nn.Linear, where one side is a constant"},
    {"scaled_dot_product_attention", kConv, "convolutions with a wide or dilated window"},
    {"lstm", kConv, "dilated nn.Conv1d over time"},
    {"gru", kConv, "dilated nn.Conv1d over time"},
    {"rnn_tanh", kConv, "dilated nn.Conv1d over time"},
    {"mul", kBatchNorm, "nn.BatchNorm2d with frozen statistics, where one side is a constant for each channel"},
    {"div", kBatchNorm, "nn.BatchNorm2d with frozen statistics, where one side is a constant for each channel"},
    {"neg", "aten.rsub.Scalar", "0 - x, or the sign in the weights of the layer before"},
    {"abs", kRelu, "nn.ReLU of x and of -x, added"},
    {"maximum", kAdd, "an addition followed by nn.ReLU, trained in its place"},
    {"minimum", kAdd, "an addition followed by nn.Hardtanh, trained in its place"},
    {"sum", kMean, "mean, which differs by a constant factor"},
    {"amax", kMaxPool, "nn.MaxPool2d over the whole map"},
    {"max", kMaxPool, "nn.MaxPool2d over the whole map"},
    {"adaptive_max_pool2d", kMaxPool, "nn.MaxPool2d with a fixed window"},
    {"lp_pool2d", "aten.avg_pool2d.default", "nn.AvgPool2d"},
    {"stack", "aten.cat.default", "torch.cat along an axis that exists"},
});

/// "torch.ops.aten.silu_.default" -> "silu".
std::string_view base_name(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  if (target.starts_with(kPrefix)) target.remove_prefix(kPrefix.size());
  target.remove_prefix(std::min(target.size(), target.find('.') + 1));
  target = target.substr(0, target.find('.'));
  if (target.ends_with('_')) target.remove_suffix(1);
  return target;
}

}  // namespace

std::string nearest_operator(std::string_view target) {
  const auto row = std::ranges::find(kNearest, base_name(target), &Nearest::name);
  if (row == kNearest.end() || find_aten_operator(row->target) == nullptr) return "";
  return std::string(row->words);
}

}  // namespace rush
