// SPDX-License-Identifier: Apache-2.0
//
// Each integer operator by itself against PyTorch's float evaluation of the same layer: it is given the codes that the
// torch stage computed, so that no earlier difference counts. The torch stage itself is compared with PyTorch's saved
// outputs elsewhere (tests/system/models.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "compiler/execute/execute.h"
#include "compiler/import/npy.h"
#include "compiler/pipeline.h"
#include "compiler/run/run.h"
#include "ops/op_def.h"

namespace rush {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSamples = 8;

struct Count {
  int64_t codes = 0;
  int64_t different = 0;
  int64_t largest = 0;
};
using Counts = std::map<std::string, Count, std::less<>>;

std::optional<HostTensor> in_order_of(const HostTensor& value, const TensorType& type) {
  if (value.dtype() != type.dtype) return std::nullopt;
  if (value.shape() == type.shape) return value;
  if (value.shape().size() == 4 && type.shape.size() == 4) {
    HostTensor nhwc = permuted(value, {0, 2, 3, 1});
    if (nhwc.shape() == type.shape) return nhwc;
  }
  return std::nullopt;
}

using Values = std::map<std::string, HostTensor, std::less<>>;

std::optional<HostTensor> value_of(const Graph& graph, TensorId id, const Values& torch) {
  const Tensor& tensor = graph[id];
  if (tensor.data) return *tensor.data;
  const auto found = torch.find(tensor.name);
  return found == torch.end() ? std::nullopt : in_order_of(found->second, tensor.type);
}

/// The operator's output for torch's inputs, or nothing where torch does not have one of them.
std::optional<HostTensor> evaluate_alone(const Graph& graph, const Node& node, const Values& torch) {
  std::vector<HostTensor> held;
  held.reserve(node.inputs.size());
  Tensors inputs;
  for (const TensorId id : node.inputs) {
    auto value = id.valid() ? value_of(graph, id, torch) : std::nullopt;
    if (id.valid() && !value) return std::nullopt;
    if (value) held.push_back(std::move(*value));
    inputs.push_back(id.valid() ? &held.back() : nullptr);
  }
  return find_op(node.op.name())->evaluate({graph, node}, inputs).at(0);
}

void count_node(const Graph& graph, const Node& node, const Values& torch, Counts& counts) {
  const auto expected = value_of(graph, node.out(), torch);
  if (!expected || graph.type(node.out()).dtype != DType::kInt8) return;
  const auto got = evaluate_alone(graph, node, torch);
  if (!got) return;
  Count& count = counts[std::string(node.op.name())];
  for (int64_t i = 0; i < got->size(); ++i) {
    const int64_t difference = std::abs(got->as<int8_t>()[i] - expected->as<int8_t>()[i]);
    ++count.codes;
    count.different += difference != 0;
    count.largest = std::max(count.largest, difference);
  }
}

Counts count_model(const fs::path& folder, const std::string& name) {
  const Graph torch = torch_stage(folder / (name + "_int8_pt2e.pt2"), {});
  const Graph quantized = quantized_stage(torch, {});
  const Runner runner = graph_runner(torch);
  const std::vector<Sample> samples = unstack_inputs(runner.inputs, {read_npy(folder / "data" / (name + "_x.npy"))});
  GraphExecutor executor(torch);
  Counts counts;
  for (size_t i = 0; i < std::min(samples.size(), kSamples); ++i) {
    Values values;
    executor.run(samples[i], [&](const Node& node, size_t output, const HostTensor& value) {
      values[torch[node.outputs[output]].name] = value;
    });
    for (const Node& node : quantized.nodes) count_node(quantized, node, values, counts);
  }
  return counts;
}

/// Share of codes that may differ from torch's, by operator; the others must be equal.
double allowed_share(const std::string& op) {
  if (op == "conv2d" || op == "linear") return 0.0001;
  if (op == "avg_pool2d" || op == "mean") return 0.015;
  return 0.01;
}

class PerOperator : public testing::TestWithParam<const char*> {};

TEST_P(PerOperator, IsAtMostOneStepFromTorch) {
  const fs::path folder = fs::path(RUSH_SOURCE_DIR) / "../shared/models";
  if (!fs::exists(folder)) GTEST_SKIP() << "the shared models are not beside the repository";
  const Counts counts = count_model(folder, GetParam());
  EXPECT_TRUE(counts.contains("conv2d") || counts.contains("linear"));
  for (const auto& [op, count] : counts) {
    EXPECT_LE(count.largest, 1) << op;
    EXPECT_LE(static_cast<double>(count.different), allowed_share(op) * static_cast<double>(count.codes))
        << op << ": " << count.different << " of " << count.codes;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PerOperator,
                         testing::Values("ds_cnn", "mobilenet_v1_025", "resnet8", "autoencoder", "sww"));

}  // namespace
}  // namespace rush
