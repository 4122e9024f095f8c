// SPDX-License-Identifier: Apache-2.0
//
// The five models in the folder beside the repository, where there is one: what the passes leave of them, and how
// near the quantized stage is to PyTorch's own outputs on the recorded samples.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "compiler/execute/execute.h"
#include "compiler/execute/ports.h"
#include "compiler/import/import.h"
#include "compiler/import/npy.h"
#include "compiler/passes/pass_list.h"
#include "ops/permute/permute_op.h"

namespace rush {
namespace {

const std::filesystem::path kModels = RUSH_SOURCE_DIR "/../shared/models";

struct Model {
  std::string file;     ///< without ".pt2"
  std::string samples;  ///< data/<samples>_x.npy
  std::string outputs;  ///< data/<outputs>.npy
  double least_sqnr_db;
  int permutes;        ///< that the exported border forces
  int other_top1 = 0;  ///< samples whose largest output may be another
};

void PrintTo(const Model& model, std::ostream* out) { *out << model.file; }

class Models : public testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(kModels)) GTEST_SKIP() << "no folder of models";
  }
};

Graph quantized_graph(const std::string& file) {
  Graph graph = import_pt2(kModels / (file + ".pt2"), {});
  for (const Pass& pass : kPasses) {
    graph = pass.run(std::move(graph));
    verify(graph);
  }
  return graph;
}

HostTensor sample(const HostTensor& stacked, const Shape& shape, int64_t index) {
  HostTensor out(stacked.dtype(), shape);
  std::memcpy(out.raw(), stacked.raw() + static_cast<size_t>(index) * out.bytes(), out.bytes());
  return out;
}

int64_t largest_index(const HostTensor& tensor) {
  return std::max_element(tensor.as<float>(), tensor.as<float>() + tensor.size()) - tensor.as<float>();
}

struct Agreement {
  double signal = 0;
  double noise = 0;
  int64_t other_top1 = 0;

  void add(const HostTensor& got, const HostTensor& expected) {
    for (int64_t i = 0; i < got.size(); ++i) {
      signal += expected.number(i) * expected.number(i);
      noise += (got.number(i) - expected.number(i)) * (got.number(i) - expected.number(i));
    }
    other_top1 += largest_index(got) != largest_index(expected);
  }
  double sqnr_db() const { return 10 * std::log10(signal / noise); }
};

Agreement compare_outputs(const Graph& graph, const Model& model) {
  const HostTensor x = read_npy(kModels / "data" / (model.samples + "_x.npy"));
  const HostTensor y = read_npy(kModels / "data" / (model.outputs + ".npy"));
  const PortFormat in = port_format(graph, graph.inputs.at(0)), out = port_format(graph, graph.outputs.at(0));
  Agreement agreement;
  // What float rounding does, a few samples tell.
  const int64_t count = in.border ? x.shape().at(0) : std::min<int64_t>(x.shape().at(0), 10);
  for (int64_t i = 0; i < count; ++i) {
    const auto got = run_graph(graph, {to_memory(in, sample(x, in.exported_shape, i))});
    agreement.add(from_memory(out, got.at(0)), sample(y, out.exported_shape, i));
  }
  return agreement;
}

TEST_P(Models, AreIntegerAndInPlaceAndNearPyTorch) {
  const Graph graph = quantized_graph(GetParam().file);
  const bool integer = graph.inputs.at(0).border.has_value();
  EXPECT_EQ(integer, GetParam().file.find("int8") != std::string::npos);
  int permutes = 0;
  for (const Node& node : graph.nodes) {
    permutes += node.is<Permute>();
    EXPECT_EQ(graph.type(node.out()).dtype, integer ? DType::kInt8 : DType::kFloat32) << node.name;
  }
  EXPECT_EQ(permutes, GetParam().permutes);
  const Agreement agreement = compare_outputs(graph, GetParam());
  EXPECT_GE(agreement.sqnr_db(), GetParam().least_sqnr_db);
  EXPECT_LE(agreement.other_top1, GetParam().other_top1);
}

INSTANTIATE_TEST_SUITE_P(
    All, Models,
    testing::Values(Model{"autoencoder_int8_pt2e", "autoencoder", "autoencoder_out_pt2e", 60, 0},
                    Model{"ds_cnn_int8_pt2e", "ds_cnn", "ds_cnn_out_pt2e", 42, 0},
                    Model{"ds_cnn_bn_int8_pt2e", "ds_cnn", "ds_cnn_bn_out_pt2e", 42, 0},
                    Model{"sww_int8_pt2e", "sww", "sww_out_pt2e", 42, 0},
                    Model{"mobilenet_v1_025_int8_pt2e", "mobilenet_v1_025", "mobilenet_v1_025_out_pt2e", 40, 0},
                    Model{"resnet8_int8_pt2e", "resnet8", "resnet8_out_pt2e", 28, 0, 2},
                    Model{"autoencoder_f32", "autoencoder", "autoencoder_out_f32", 90, 0},
                    Model{"ds_cnn_f32", "ds_cnn", "ds_cnn_out_f32", 90, 0},
                    Model{"ds_cnn_f32_batch", "ds_cnn", "ds_cnn_out_f32", 90, 0},
                    Model{"ds_cnn_bn_f32", "ds_cnn", "ds_cnn_bn_out_f32", 90, 0},
                    Model{"ds_cnn_bn_f32_core", "ds_cnn", "ds_cnn_bn_out_f32", 90, 0},
                    Model{"sww_f32", "sww", "sww_out_f32", 90, 1},
                    Model{"mobilenet_v1_025_f32", "mobilenet_v1_025", "mobilenet_v1_025_out_f32", 90, 1},
                    Model{"resnet8_f32", "resnet8", "resnet8_out_f32", 90, 1},
                    Model{"resnet8_f32_cl", "resnet8", "resnet8_out_f32", 90, 0}),
    [](const auto& info) { return info.param.file; });

}  // namespace
}  // namespace rush
