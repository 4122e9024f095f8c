// SPDX-License-Identifier: Apache-2.0
//
// The exported models beside the repository, where they are: node counts, weights as torch.export.load reads them,
// layers and lines. Every shape in these files was recorded by PyTorch, and the importer agrees with all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "compiler/import/import.h"
#include "ops/batch_norm/batch_norm_op.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/pad/pad_op.h"
#include "ops/softmax/softmax_op.h"

namespace rush {
namespace {

const std::filesystem::path kModels = RUSH_SOURCE_DIR "/../shared/models";

using Counts = std::map<std::string, int>;

Counts counts_of(const Graph& graph) {
  Counts counts;
  for (const Node& node : graph.nodes) ++counts[std::string(node.op.name())];
  return counts;
}

Graph import_model(const std::string& name, int64_t batch = 1) {
  Graph graph = import_pt2(kModels / (name + ".pt2"), {.batch = batch});
  verify(graph);
  return graph;
}

const Node& node_called(const Graph& graph, std::string_view name) {
  const auto it = std::ranges::find(graph.nodes, name, &Node::name);
  if (it == graph.nodes.end()) throw InternalError("no node " + std::string(name));
  return *it;
}

const HostTensor& constant_called(const Graph& graph, std::string_view name) {
  const auto it = std::ranges::find(graph.tensors, name, &Tensor::name);
  if (it == graph.tensors.end()) throw InternalError("no tensor " + std::string(name));
  return *it->data;
}

class ImportModels : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(kModels)) GTEST_SKIP() << "no folder of models";
  }
};

TEST_F(ImportModels, DsCnnFloat) {
  const Graph graph = import_model("ds_cnn_f32");
  EXPECT_EQ(counts_of(graph), (Counts{{"permute", 1},
                                      {"pad", 1},
                                      {"conv2d", 9},
                                      {"clamp", 9},
                                      {"identity", 2},
                                      {"avg_pool2d", 1},
                                      {"reshape", 1},
                                      {"linear", 1},
                                      {"softmax", 1}}));
  EXPECT_EQ(node_called(graph, "pad").op, Op(Pad{{0, 0, 0, 0, 4, 5, 1, 1}, 0}));
  EXPECT_EQ(node_called(graph, "conv2d_1").op, Op(Conv2d{.padding = {1, 1, 1, 1}, .groups = 64}));
  EXPECT_EQ(node_called(graph, "conv2d_1").origin, (Origin{"blocks.0.depthwise.0.0", "mlperf_tiny.py:86"}));
  EXPECT_EQ(node_called(graph, "dropout").origin, (Origin{"stem_drop", "mlperf_tiny.py:114"}));
}

TEST_F(ImportModels, DsCnnWithBatchNormInBothDialects) {
  const Graph training = import_model("ds_cnn_bn_f32"), core = import_model("ds_cnn_bn_f32_core");
  EXPECT_EQ(counts_of(training), counts_of(core));
  EXPECT_EQ(counts_of(core)["batch_norm"], 9);
  EXPECT_EQ(node_called(core, "_native_batch_norm_legit_no_training").op, Op(BatchNorm{.eps = 0.001}));
  for (size_t i = 0; i < training.nodes.size(); ++i) {
    EXPECT_EQ(training.nodes[i].op.name(), core.nodes[i].op.name());
    EXPECT_EQ(training.type(training.nodes[i].out()), core.type(core.nodes[i].out()));
  }
  const HostTensor& weight = constant_called(core, "fc.weight");
  EXPECT_EQ(weight.shape(), (Shape{12, 64}));
  EXPECT_FLOAT_EQ(weight.as<float>()[0], -0.14081678f);
  EXPECT_FLOAT_EQ(weight.as<float>()[3], -0.36806452f);
}

TEST_F(ImportModels, DsCnnBatch) {
  const Graph one = import_model("ds_cnn_f32_batch"), four = import_model("ds_cnn_f32_batch", 4);
  EXPECT_EQ(one.outputs[0].exported_shape, (Shape{1, 12}));
  EXPECT_EQ(four.inputs[0].exported_shape, (Shape{4, 1, 49, 10}));
  EXPECT_EQ(four.outputs[0].exported_shape, (Shape{4, 12}));
  EXPECT_EQ(four.type(node_called(four, "conv2d_8").out()).shape, (Shape{4, 64, 25, 5}));
  EXPECT_THROW(import_model("ds_cnn_f32_batch", 65), UserError);
  EXPECT_THROW(import_model("ds_cnn_f32", 4), UserError);
}

TEST_F(ImportModels, DsCnnInt8) {
  const Graph graph = import_model("ds_cnn_int8_pt2e");
  const Counts counts = counts_of(graph);
  EXPECT_EQ(counts.at("quantize"), 18);
  EXPECT_EQ(counts.at("dequantize"), 38);
  EXPECT_EQ(graph.inputs[0].dim_order, (std::vector<int>{0, 2, 3, 1}));
  const Tensor& weight = graph[node_called(graph, "dequantize_per_channel").inputs[0]];
  EXPECT_EQ(weight.type.shape, (Shape{64, 1, 10, 4}));
  const std::vector<int8_t> first(weight.data->as<int8_t>(), weight.data->as<int8_t>() + 6);
  EXPECT_EQ(first, (std::vector<int8_t>{-6, 19, -11, 18, 83, 21}));
  EXPECT_EQ(weight.type.quant->axis, 0);
  EXPECT_EQ(weight.type.quant->scale.size(), 64u);
  EXPECT_EQ(weight.type.quant->scale[0], 0.001326621975749731);
  EXPECT_EQ(weight.type.quant->scale[1], 0.0007371711544692516);
  const Tensor& bias = graph[node_called(graph, "dequantize_per_channel_1").inputs[0]];
  EXPECT_EQ(bias.type.dtype, DType::kInt32);
  EXPECT_EQ(bias.data->as<int32_t>()[1], -436);
  const TensorType& input = graph.type(node_called(graph, "quantize_per_tensor").out());
  EXPECT_EQ(input,
            (TensorType{DType::kInt8, {1, 1, 49, 10}, Quant{.scale = {0.5642419457435608}, .zero_point = {91}}}));
}

TEST_F(ImportModels, QuantizerNodesNameTheLayer) {
  const Graph graph = import_model("ds_cnn_int8_pt2e");
  const Origin stem{"stem.0.1", "mlperf_tiny.py:116"};
  EXPECT_EQ(node_called(graph, "conv2d").origin, stem);
  EXPECT_EQ(node_called(graph, "dequantize_per_channel").origin, stem);
  EXPECT_EQ(node_called(graph, "quantize_per_tensor_2").origin, (Origin{"stem.1", "mlperf_tiny.py:116"}));
  for (const Node& node : graph.nodes) {
    EXPECT_FALSE(node.origin.layer.empty()) << node.name;
    EXPECT_TRUE(node.origin.source.starts_with("mlperf_tiny.py:")) << node.name;
  }
}

// Weights of the channels-last export lie as OHWI and read as OIHW.
TEST_F(ImportModels, ResNet8ReadsTheSameWeightsInBothLayouts) {
  for (const char* name : {"resnet8_f32", "resnet8_f32_cl"}) {
    const Graph graph = import_model(name);
    const HostTensor& weight = constant_called(graph, "stem.0.0.weight");
    ASSERT_EQ(weight.shape(), (Shape{16, 3, 3, 3}));
    EXPECT_FLOAT_EQ(weight.as<float>()[0], 0.12583756f);
    EXPECT_FLOAT_EQ(weight.as<float>()[9], 0.16551627f);
    EXPECT_FLOAT_EQ(weight.as<float>()[18], -0.23513484f);
    EXPECT_FLOAT_EQ(weight.as<float>()[((15 * 3 + 2) * 3 + 2) * 3], -0.35556903f);
  }
  EXPECT_EQ(import_model("resnet8_f32").inputs[0].dim_order, (std::vector<int>{0, 1, 2, 3}));
  const Graph channels_last = import_model("resnet8_f32_cl");
  EXPECT_EQ(channels_last.type(channels_last.inputs[0].tensor).shape, (Shape{1, 32, 32, 3}));
}

TEST_F(ImportModels, MobileNetInt8) {
  const Graph graph = import_model("mobilenet_v1_025_int8_pt2e");
  EXPECT_EQ(counts_of(graph)["conv2d"], 27);
  const HostTensor& weight = constant_called(graph, "_frozen_param0");
  ASSERT_EQ(weight.shape(), (Shape{8, 3, 3, 3}));
  auto at = [&](int64_t o, int64_t i, int64_t h, int64_t w) {
    return weight.as<int8_t>()[((o * 3 + i) * 3 + h) * 3 + w];
  };
  EXPECT_EQ(at(7, 0, 1, 2), -96);
  EXPECT_EQ(at(7, 1, 1, 2), -33);
  EXPECT_EQ(at(7, 2, 1, 2), -72);
  EXPECT_EQ(at(0, 1, 0, 0), -93);
}

TEST_F(ImportModels, AllOthers) {
  EXPECT_EQ(counts_of(import_model("autoencoder_f32"))["linear"], 10);
  EXPECT_EQ(counts_of(import_model("autoencoder_int8_pt2e"))["linear"], 10);
  EXPECT_EQ(counts_of(import_model("mobilenet_v1_025_f32"))["conv2d"], 27);
  EXPECT_EQ(counts_of(import_model("resnet8_int8_pt2e"))["add"], 3);
  EXPECT_EQ(counts_of(import_model("ds_cnn_bn_int8_pt2e"))["batch_norm"], 0);
  EXPECT_EQ(import_model("sww_f32").inputs[0].exported_shape, (Shape{1, 40, 30, 1}));
  EXPECT_EQ(import_model("sww_int8_pt2e").inputs[0].dim_order, (std::vector<int>{0, 2, 3, 1}));
}

}  // namespace
}  // namespace rush
