// SPDX-License-Identifier: Apache-2.0
//
//   x -> conv2d (nchw, weight OIHW)    becomes    x -> permute to NHWC -> conv2d (nhwc, weight OHWI) -> permute to NCHW
//
// And the same for pools. The kernels read rows of NHWC maps; remove_transposes() then takes out the permutes in
// between. Bit-exact on codes; in float the sums' order is the kernel's.
#include "compiler/passes/passes.h"
#include "compiler/passes/permutation.h"
#include "ops/avg_pool2d/avg_pool2d_op.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/max_pool2d/max_pool2d_op.h"
#include "ops/permute/permute_op.h"

namespace rush {
namespace {

const Axes kToNhwc{0, 2, 3, 1};
const Axes kToNchw{0, 3, 1, 2};

template <class T>
std::optional<Op> nhwc_as(const Op& op) {
  const T* from = op.as<T>();
  if (!from || from->layout != "nchw") return std::nullopt;
  T out = *from;
  out.layout = "nhwc";
  return Op(out);
}

std::optional<Op> nhwc(const Op& op) {
  if (auto out = nhwc_as<Conv2d>(op)) return out;
  if (auto out = nhwc_as<AvgPool2d>(op)) return out;
  return nhwc_as<MaxPool2d>(op);
}

TensorId to_nhwc(Rewriter& rewriter, const Node& near, TensorId id) {
  return rewriter.insert(
      near, {rewriter.name(id) + ".nhwc", Permute{kToNhwc}, {id}, permuted_type(rewriter.type(id), kToNhwc)});
}

std::optional<TensorId> change_layout(Rewriter& rewriter, const Node& node) {
  const auto op = nhwc(node.op);
  if (!op) return std::nullopt;
  std::vector<TensorId> inputs = node.inputs;
  inputs[0] = to_nhwc(rewriter, node, inputs[0]);
  if (node.is<Conv2d>()) inputs[1] = to_nhwc(rewriter, node, inputs[1]);
  const TensorType type = rewriter.type(node.out());
  const std::string name = rewriter.name(node.out());
  const TensorId out = rewriter.replace(node, {name + ".nhwc", *op, inputs, permuted_type(type, kToNhwc)});
  return rewriter.insert(node, {name, Permute{kToNchw}, {out}, type});
}

}  // namespace

Graph assign_layout(Graph graph) { return rewrite(std::move(graph), {change_layout}); }

}  // namespace rush
