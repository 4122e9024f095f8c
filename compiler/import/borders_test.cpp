// SPDX-License-Identifier: Apache-2.0
//
// Inputs, outputs, batch and state: what the user exported, and what the graph makes of it.
#include "compiler/import/borders.h"

#include <gtest/gtest.h>

#include "tests/support/import_check.h"

namespace rush {
namespace {

using testing::HasSubstr;
using Order = std::vector<int>;

// Strides as PyTorch 2.13 gives them for contiguous and channels_last tensors of these sizes.
TEST(Borders, MemoryOrderFromStrides) {
  EXPECT_EQ(dim_order_of({1, 3, 8, 8}, {192, 64, 8, 1}, true), (Order{0, 1, 2, 3}));
  EXPECT_EQ(dim_order_of({1, 3, 8, 8}, {192, 1, 24, 3}, false), (Order{0, 2, 3, 1}));
  EXPECT_EQ(dim_order_of({1, 40, 30, 1}, {1200, 1, 40, 40}, false), (Order{0, 2, 3, 1}));
  EXPECT_EQ(dim_order_of({1, 40, 30, 1}, {1200, 30, 1, 1}, true), (Order{0, 1, 2, 3}));
  EXPECT_EQ(dim_order_of({1, 7, 6, 5}, {210, 6, 1, 42}, true), (Order{0, 3, 1, 2}));
  EXPECT_EQ(dim_order_of({2, 3, 4}, {12, 1, 3}, true), (Order{0, 2, 1}));
}

TEST(Borders, AmbiguousMemoryOrderFollowsThePreference) {
  const std::vector<std::pair<Shape, Shape>> both = {{{1, 1, 49, 10}, {490, 490, 10, 1}},
                                                     {{1, 1, 49, 10}, {490, 1, 10, 1}},
                                                     {{1, 16, 1, 1}, {16, 1, 16, 16}},
                                                     {{1, 16, 1, 1}, {16, 1, 1, 1}}};
  for (const auto& [sizes, strides] : both) {
    EXPECT_EQ(dim_order_of(sizes, strides, true), (Order{0, 2, 3, 1}));
    EXPECT_EQ(dim_order_of(sizes, strides, false), (Order{0, 1, 2, 3}));
  }
}

TEST(Borders, StridesOfNoDenseTensorMeanRowMajor) {
  EXPECT_EQ(dim_order_of({2, 3}, {0, 1}, true), (Order{0, 1}));
  EXPECT_EQ(dim_order_of({2, 3}, {6, 2}, true), (Order{0, 1}));
}

TEST(Borders, ChannelsLastPortsKeepTheirMemory) {
  const Graph graph = import_of(Pt2Writer()
                                    .input("x", {1, 2, 3, 4}, {24, 1, 8, 2})
                                    .node("y", "aten.relu.default", {{"self", as_tensor("x")}})
                                    .record("y", {1, 2, 3, 4}, {24, 1, 8, 2})
                                    .output("y"));
  expect_graph(graph, R"(
input %x: float32[1,3,4,2] {exported=float32[1,2,3,4], order=[0,2,3,1]}
%x_permute: float32[1,2,3,4] = permute(%x) {axes=[0,3,1,2]} "y"
%y: float32[1,2,3,4] = clamp(%x_permute) {min=0} "y"
%y_permute: float32[1,3,4,2] = permute(%y) {axes=[0,2,3,1]} "y"
output %y_permute {name="y", exported=float32[1,2,3,4], order=[0,2,3,1]}
)");
}

TEST(Borders, AnOutputThatNothingComputesIsACopy) {
  expect_graph(import_of(Pt2Writer().input("x", {2}).output("x").output("x")), R"(
input %x: float32[2]
%x_output: float32[2] = identity(%x) {what="output"}
%x_output.2: float32[2] = identity(%x) {what="output"}
output %x_output {name="x"}
output %x_output.2 {name="x.2"}
)");
}

Pt2Writer batched() {
  return Pt2Writer()
      .input("x", {2, 3, 4}, {}, "s77")
      .node("y", "aten.view.default", {{"self", as_tensor("x")}, {"size", as_ints({-1, 12})}})
      .output("y");
}

TEST(Borders, SymbolicBatchIsBound) {
  EXPECT_EQ(import_of(batched()).outputs[0].exported_shape, (Shape{1, 12}));
  const Graph graph = import_of(batched(), {.batch = 5});
  EXPECT_EQ(graph.inputs[0].exported_shape, (Shape{5, 3, 4}));
  EXPECT_EQ(graph.outputs[0].exported_shape, (Shape{5, 12}));
}

TEST(Borders, BatchOutsideTheExportedRange) {
  EXPECT_EQ(import_error(batched(), {.batch = 65}),
            "error: input \"x\": batch 65 is outside the exported range (1 .. 64)\n"
            "  fix: give a batch in that range: --batch N");
  EXPECT_THAT(import_error(batched(), {.batch = 0}), HasSubstr("batch 0 is not positive"));
  EXPECT_EQ(import_error(Pt2Writer().input("x", {2, 2}).output("x"), {.batch = 2}), "no error");
  EXPECT_THAT(import_error(Pt2Writer().input("x", {1, 2}).output("x"), {.batch = 2}),
              HasSubstr("--batch 2: the model was exported with a fixed batch"));
}

// torch.export's own form: the size is read in the graph, and sizes computed from it are given by name.
TEST(Borders, SizesComputedFromTheBatch) {
  const std::string symbol = R"({"as_sym_int":{"as_name":"n"}})";
  const std::string doubled = R"({"as_sym_ints":[{"as_name":"twice"},{"as_int":-1}]})";
  Pt2Writer writer;
  writer.input("x", {2, 6}, {}, "s0")
      .node("n", "aten.sym_size.int", {{"self", as_tensor("x")}, {"dim", as_int(0)}})
      .node("twice", "mul", {{"a", symbol}, {"b", as_int(2)}})
      .node("y", "aten.reshape.default", {{"self", as_tensor("x")}, {"shape", doubled}})
      .output("y");
  std::string json = writer.model_json();
  auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(json.find(from), std::string::npos) << from;
    json.replace(json.find(from), from.size(), to);
  };
  replace("\"outputs\":[" + as_tensor("n") + "]", "\"outputs\":[" + symbol + "]");
  replace("\"outputs\":[" + as_tensor("twice") + "]", R"("outputs":[{"as_sym_int":{"as_name":"twice"}}])");
  replace("torch.ops.mul", "_operator.mul");
  ZipEntries entries = writer.entries();
  entries[2].second = json;
  const std::vector<uint8_t> archive = zip_stored(entries);
  EXPECT_EQ(import_pt2(archive, "m", {.batch = 4}).outputs[0].exported_shape, (Shape{8, 3}));
}

TEST(Borders, BufferMutationIsState) {
  const Graph graph =
      import_of(Pt2Writer()
                    .buffer("acc", make_tensor<float>(DType::kFloat32, {1, 2}, {0.5f, -1}))
                    .input("x", {1, 2})
                    .node("y", "aten.add.Tensor", {{"self", as_tensor("b_acc")}, {"other", as_tensor("x")}})
                    .record("y", {1, 2})
                    .buffer_mutation("acc", "y")
                    .output("y"));
  ASSERT_EQ(graph.states.size(), 1u);
  const State& state = graph.states[0];
  EXPECT_EQ(state.name, "acc");
  EXPECT_EQ(*state.initial, make_tensor<float>(DType::kFloat32, {1, 2}, {0.5f, -1}));
  EXPECT_EQ(graph.nodes.at(0).inputs[0], state.current);
  EXPECT_EQ(state.next, graph.outputs[0].tensor);
  EXPECT_FALSE(graph[state.current].is_constant());
}

// The training dialect writes the buffer with copy_ instead of naming it in the signature.
TEST(Borders, CopyIntoABufferIsState) {
  const Graph graph =
      import_of(Pt2Writer()
                    .buffer("acc", HostTensor(DType::kFloat32, {1, 2}))
                    .input("x", {1, 2})
                    .node("sum", "aten.add.Tensor", {{"self", as_tensor("b_acc")}, {"other", as_tensor("x")}})
                    .node("copy_", "aten.copy_.default", {{"self", as_tensor("b_acc")}, {"src", as_tensor("sum")}})
                    .node("y", "aten.relu.default", {{"self", as_tensor("b_acc")}})
                    .output("y"));
  ASSERT_EQ(graph.states.size(), 1u);
  const Node* next = graph.producer(graph.states[0].next);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->name, "copy_");
  EXPECT_EQ(graph.producer(graph.outputs[0].tensor)->inputs[0], next->out()) << "the buffer is read after the write";
}

TEST(Borders, InPlaceOperatorsRebindTheirInput) {
  const Graph graph =
      import_of(Pt2Writer()
                    .input("x", {2})
                    .node("h", "aten.add.Tensor", {{"self", as_tensor("x")}, {"other", as_int(1)}})
                    .node("relu_", "aten.relu_.default", {{"self", as_tensor("h")}})
                    .node("y", "aten.add.Tensor", {{"self", as_tensor("h")}, {"other", as_tensor("relu_")}})
                    .output("y"));
  const Node& sum = graph.nodes.at(2);
  EXPECT_EQ(sum.inputs[0], sum.inputs[1]) << "h was overwritten by relu_";
}

TEST(Borders, AViewOfWhatWasChangedInPlaceIsRefused) {
  EXPECT_EQ(import_error(Pt2Writer()
                             .input("x", {2, 3})
                             .node("h", "aten.add.Tensor", {{"self", as_tensor("x")}, {"other", as_int(1)}})
                             .node("v", "aten.view.default", {{"self", as_tensor("h")}, {"size", as_ints({6})}})
                             .node("r", "aten.relu_.default", {{"self", as_tensor("v")}})
                             .node("y", "aten.relu.default", {{"self", as_tensor("h")}})
                             .output("y")),
            "error: relu \"y\": reads \"h\", which shares its memory with a tensor that relu_ changed in place\n"
            "  fix: use the out-of-place form of the operator (inplace=False)");
}

TEST(Borders, ParametersAreNotChanged) {
  EXPECT_THAT(import_error(Pt2Writer()
                               .parameter("w", HostTensor(DType::kFloat32, {2}))
                               .input("x", {2})
                               .node("y", "aten.add_.Tensor", {{"self", as_tensor("p_w")}, {"other", as_tensor("x")}})
                               .output("y")),
              HasSubstr("changes \"w\" in place, which is not a buffer"));
}

TEST(Borders, OnlyUsedNodesStay) {
  const Graph graph =
      import_of(Pt2Writer()
                    .parameter("unused", HostTensor(DType::kFloat32, {2}))
                    .input("x", {2})
                    .node("a", "aten.relu.default", {{"self", as_tensor("x")}})
                    .node("b", "aten.add.Tensor", {{"self", as_tensor("a")}, {"other", as_tensor("p_unused")}})
                    .output("a"));
  EXPECT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.tensors.size(), 2u);
}

}  // namespace
}  // namespace rush
