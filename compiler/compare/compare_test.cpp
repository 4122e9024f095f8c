// SPDX-License-Identifier: Apache-2.0
#include "compiler/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/compare/values.h"
#include "compiler/emit/emit.h"
#include "compiler/host/host_program.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"
#include "ops/clamp/clamp_op.h"
#include "ops/concat/concat_op.h"
#include "ops/pad/pad_op.h"
#include "tests/support/graph_builder.h"

namespace rush {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two maps, one padded, side by side, clamped: maps that are written in parts, whole or in rings.
Graph small_graph() {
  GraphBuilder b(1);
  const Quant quant = {.scale = {0.5}, .zero_point = {3}, .axis = -1, .min = -128, .max = 127};
  const TensorId x = b.input({DType::kInt8, {1, 4, 4, 2}, quant});
  const TensorId y = b.input({DType::kInt8, {1, 6, 4, 3}, quant});
  const TensorId padded = b.node(Pad{{0, 0, 1, 1, 0, 0, 0, 0}, 0}, {x}, quant);
  const TensorId both = b.node(Concat{3}, {padded, y}, quant);
  b.output(b.node(Clamp{.min = 0}, {both}, quant));
  return b.graph();
}

HostTensor ramp(const Shape& shape) {
  HostTensor tensor(DType::kInt8, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_number(i, static_cast<double>((i * 37) % 251 - 125));
  return tensor;
}

Values program_values(const Program& program, const std::vector<HostTensor>& inputs) {
  HostProgram host(emit_image(program));
  ProgramValues values(program);
  host.run(0, inputs, [&](const BandView& view) {
    for (size_t k = 0; k < view.operands.size(); ++k) {
      if (fills(*view.family.host, k))
        values.add(view.step, k, view.band, {static_cast<const uint8_t*>(view.operands[k]), view.extents.bytes[k]});
    }
  });
  return values.take();
}

class ValuesOfAProgram : public ::testing::TestWithParam<bool> {};

TEST_P(ValuesOfAProgram, AreThoseOfTheGraph) {
  const Graph graph = small_graph();
  const std::vector<HostTensor> inputs = {ramp({1, 4, 4, 2}), ramp({1, 6, 4, 3})};
  GraphExecutor executor(graph);
  Sample outputs;
  const Values expected = values_of(graph, executor, inputs, outputs);
  Program program = lower_graph(graph, Isa::kScalar, "test");
  if (GetParam()) make_chain(program, 0, static_cast<int>(program.steps.size()));
  plan_memory(program);
  const Values got = program_values(program, inputs);
  size_t compared = 0;
  for (const auto& [name, value] : expected) {
    const auto found = got.find(name);
    if (found == got.end()) continue;
    EXPECT_EQ(found->second, value) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 3u);
}

INSTANTIATE_TEST_SUITE_P(WholeAndInRings, ValuesOfAProgram, ::testing::Bool());

HostTensor codes(std::vector<int8_t> values) {
  return make_tensor(DType::kInt8, {static_cast<int64_t>(values.size())}, values);
}

TEST(Agreement, FindsTheFirstDifference) {
  Agreement one, other;
  one.add(codes({1, 2, 3}), codes({1, 2, 4}), 7);
  other.add(codes({1, 2, 3}), codes({1, 9, 9}), 4);
  one.add(other);
  EXPECT_EQ(one.compared, 6);
  EXPECT_EQ(one.different, 3);
  EXPECT_EQ(one.first_sample, 4);
  EXPECT_EQ(one.first_index, 1);
}

LayerComparison layer(const std::string& name) {
  LayerComparison layer{.tensor = name};
  layer.origin.layer = name;
  layer.step = 0.5;
  return layer;
}

TEST(Comparison, NamesTheFirstLayerOfEachStage) {
  Comparison comparison{.samples = 1, .layers = {layer("a"), layer("b"), layer("c")}};
  comparison.layers[1].from_float.add(1, 0.5);  // 6 dB
  comparison.layers[1].from_torch.add(1, 1.5);  // one step
  comparison.layers[2].from_torch.add(1, 2.5);  // three
  comparison.layers[2].board.add(codes({1}), codes({2}), 0);
  std::vector<std::string> found;
  for (const Divergence& divergence : comparison.divergences())
    found.push_back(divergence.stage + " " + comparison.layers[divergence.layer].origin.layer + ": " + divergence.what);
  EXPECT_THAT(found, ElementsAre("torch b: 6.0 dB from the float model", "quantized c: 3.0 LSB from the torch stage",
                                 "board c: 1 of 1 values differ, first at index 0 of sample 0"));
  EXPECT_TRUE(comparison.program_is_exact());
  EXPECT_FALSE(comparison.board_is_exact());
}

const DeployedRecord kRecord{.image_crc = 0xc0ffee01,
                             .image_bytes = 1000,
                             .inputs = {1, 2},
                             .outputs = {3, 0xfffffff4},
                             .layers = {{"conv.nhwc", 5}, {"fc", 6}}};

TEST(DeployedRecord, IsReadAsWritten) {
  const DeployedRecord read = parse_record(record_json(kRecord), "r.json");
  EXPECT_THAT(differences(kRecord, read), IsEmpty());
  EXPECT_EQ(read.outputs, kRecord.outputs);
  EXPECT_EQ(read.layers, kRecord.layers);
}

TEST(DeployedRecord, SaysWhatDiffers) {
  DeployedRecord now = kRecord;
  now.image_bytes = 1004;
  now.outputs[1] = 5;
  now.layers[1].second = 7;
  EXPECT_THAT(differences(kRecord, now),
              ElementsAre("the image is another one: c0ffee01 with 1000 bytes was recorded, now c0ffee01 with 1004",
                          "the outputs of 1 of 2 samples differ, first sample 1: fffffff4 was recorded, now 00000005",
                          "the first layer that differs computes \"fc\""));
  now = kRecord;
  now.inputs.pop_back();
  EXPECT_THAT(differences(kRecord, now), ElementsAre("2 samples were recorded, 1 are given"));
}

TEST(DeployedRecord, RefusesOtherFiles) {
  for (const char* text :
       {"", "{}", "[]", R"({"rushlight_record": 2})", R"({"rushlight_record": 1, "image_crc": 5})"}) {
    try {
      parse_record(text, "r.json");
      ADD_FAILURE() << text;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("r.json is no record of this version"));
    }
  }
}

}  // namespace
}  // namespace rush
