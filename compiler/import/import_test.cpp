// SPDX-License-Identifier: Apache-2.0
//
// Faults of whole files and of quantization parameters; that all of a model's errors come at once.
#include "compiler/import/import.h"

#include <gtest/gtest.h>

#include "tests/support/import_check.h"

namespace rush {
namespace {

using testing::HasSubstr;

TEST(Import, ReportsAllErrorsAtOnce) {
  const std::string message = import_error(
      Pt2Writer()
          .input("x", {1, 4})
          .node("a", "aten.sin.default", {{"self", as_tensor("x")}})
          .record("a", {1, 4})
          .metadata("L__self__,,net.N;L__self__wave,wave,net.Wave", "  File \"/home/me/net.py\", line 12, in forward\n")
          .node("b", "aten.softmax.int", {{"self", as_tensor("a")}, {"dim", as_int(5)}})
          .record("b", {1, 4})
          .node("c", "higher_order.cond", {{"pred", as_tensor("b")}})
          .record("c", {1, 4})
          .node("d", "aten.relu.default", {{"self", as_tensor("c")}})
          .record("d", {1, 4})
          .output("d"));
  EXPECT_EQ(message,
            "error: sin \"wave\" (net.py:12): operator torch.ops.aten.sin.default is not supported\n"
            "  fix: replace this layer by supported ones\n"
            "error: softmax \"b\": dim 5 is out of range for a tensor of rank 2\n"
            "  fix: export the model again\n"
            "error: cond \"c\": control flow (torch.ops.higher_order.cond) cannot be compiled ahead of time\n"
            "  fix: make the choice before the export, or compute both sides");
}

TEST(Import, NamesTheNearestOperator) {
  EXPECT_EQ(import_error(Pt2Writer()
                             .input("x", {1, 4})
                             .node("y", "aten.matmul.default", {{"self", as_tensor("x")}, {"other", as_tensor("x")}})
                             .record("y", {1, 4})
                             .metadata("L__self__,,net.N;L__self__mix,mix,net.Mix",
                                       "  File \"/home/me/net.py\", line 20, in forward\n")
                             .output("y")),
            "error: matmul \"mix\" (net.py:20): operator torch.ops.aten.matmul.default is not supported\n"
            "  fix: nearest is nn.Linear, where one side is a constant");
}

TEST(Import, RecordedShapesAreNotBelieved) {
  EXPECT_EQ(import_error(Pt2Writer()
                             .input("x", {1, 4})
                             .node("y", "aten.relu.default", {{"self", as_tensor("x")}})
                             .record("y", {1, 40})
                             .output("y")),
            "error: relu \"y\": its result has shape [1,4], but the file records [1,40]\n"
            "  fix: export the model again: this file was altered");
}

TEST(Import, NamesOfTheGraphAreHarmless) {
  const Graph graph = import_of(Pt2Writer()
                                    .input("*/ x", {2})
                                    .node("a\"\n#", "aten.relu.default", {{"self", as_tensor("*/ x")}})
                                    .output("a\"\n#"));
  EXPECT_EQ(graph.inputs[0].name, "___x");
  EXPECT_EQ(graph.nodes[0].name, "a___");
  EXPECT_EQ(graph.nodes[0].origin.layer, "a___");
}

TEST(Import, SaysWhatElseAFileMayBe) {
  EXPECT_EQ(import_error(std::vector<uint8_t>{}),
            "error: model.pt2: empty file\n"
            "  fix: export the model again: torch.export.save(torch.export.export(...), \"model.pt2\")");
  EXPECT_THAT(import_error({'h', 'e', 'l', 'l', 'o'}), HasSubstr("this is not a .pt2 file: no zip end record"));
  EXPECT_THAT(import_error({0x80, 2, '}', 'q'}), HasSubstr("this is a pickle (torch.save)"));
  EXPECT_THAT(import_error({'P', 'K', 3, 4, 0, 0, 0}), HasSubstr("the file is truncated"));
  EXPECT_THAT(import_error(zip_stored({})), HasSubstr("it has no models/model.json"));
  EXPECT_THAT(import_error(zip_stored({{"m/data.pkl", "x"}, {"m/version", "3"}})), HasSubstr("torch.save file"));
  EXPECT_THAT(import_error(zip_stored({{"m/data.pkl", "x"}, {"m/constants.pkl", "x"}, {"m/code/a.py", ""}})),
              HasSubstr("this is a TorchScript file (torch.jit.save)"));
}

std::string error_of_json(const std::string& json) {
  return import_error(
      zip_stored({{"m/models/model.json", json}, {"m/data/weights/model_weights_config.json", "{\"config\":{}}"}}));
}

TEST(Import, SaysWhatIsWrongWithTheJson) {
  EXPECT_EQ(error_of_json("{\"schema_version\": "),
            "error: models/model.json: invalid JSON at byte 20\n  fix: export the model again with torch.export.save");
  EXPECT_THAT(error_of_json("\"\xff\""), HasSubstr("invalid JSON at byte 2: the text is not UTF-8"));
  EXPECT_THAT(error_of_json(std::string(100000, '[')), HasSubstr("nesting deeper than 200"));
  EXPECT_THAT(error_of_json("[]"), HasSubstr("expected an object with \"schema_version\""));
  EXPECT_THAT(error_of_json(R"({"schema_version":{"major":99}})"), HasSubstr("schema_version 99 is unknown"));
  EXPECT_THAT(error_of_json(R"({"schema_version":{"major":8}})"), HasSubstr("\"graph_module\" is missing"));
  EXPECT_THAT(import_error(Pt2Writer().input("x", {2})), HasSubstr("the model has no outputs"));
}

TEST(Import, EveryMissingKeyIsRefused) {
  const ZipEntries entries = Pt2Writer()
                                 .parameter("w", HostTensor(DType::kFloat32, {2}))
                                 .input("x", {2})
                                 .node("y", "aten.add.Tensor", {{"self", as_tensor("x")}, {"other", as_tensor("p_w")}})
                                 .output("y")
                                 .entries();
  for (const std::string key : {"major", "nodes", "inputs", "outputs", "target", "arg", "name", "as_tensor", "sizes",
                                "strides", "dtype", "input_specs", "output_specs", "parameter_name", "tensor_values"}) {
    ZipEntries damaged = entries;
    std::string& json = damaged[2].second;
    const size_t at = json.find("\"" + key + "\"");
    ASSERT_NE(at, std::string::npos) << key;
    json[at + 1] = '?';
    EXPECT_THAT(import_error(zip_stored(damaged)), HasSubstr("error: ")) << key;
  }
}

TEST(Import, UseBeforeDefinition) {
  EXPECT_EQ(
      import_error(Pt2Writer().input("x", {2}).node("y", "aten.relu.default", {{"self", as_tensor("y")}}).output("y")),
      "error: relu \"y\": takes \"y\", which is used before its definition (a cycle, or a damaged file)\n"
      "  fix: export the model again");
}

struct QuantArguments {
  std::string scale = as_float(0.5), zero = as_int(0), min = as_int(-128), max = as_int(127);
};

std::string quantize_error(const QuantArguments& q, int dtype = 2) {
  return import_error(Pt2Writer()
                          .input("x", {2})
                          .node("y", "quantized_decomposed.quantize_per_tensor.default",
                                {{"input", as_tensor("x")},
                                 {"scale", q.scale},
                                 {"zero_point", q.zero},
                                 {"quant_min", q.min},
                                 {"quant_max", q.max},
                                 {"dtype", as_dtype(dtype)}})
                          .output("y"));
}

TEST(Import, QuantizationParametersAreChecked) {
  EXPECT_EQ(quantize_error({}), "no error");
  EXPECT_EQ(quantize_error({.scale = as_float(-0.02)}),
            "error: quantize_per_tensor \"y\": the scale is negative (-0.02)\n  fix: quantize the model again");
  EXPECT_THAT(quantize_error({.scale = as_int(0)}), HasSubstr("the scale is zero"));
  EXPECT_THAT(quantize_error({.scale = "{\"as_float\":\"Infinity\"}"}), HasSubstr("the scale is infinite"));
  EXPECT_THAT(quantize_error({.scale = "{\"as_float\":\"NaN\"}"}), HasSubstr("\"scale\" is not a number (NaN)"));
  EXPECT_THAT(quantize_error({.scale = as_float(1e-40)}), HasSubstr("too small for float32"));
  EXPECT_THAT(quantize_error({.zero = as_int(128)}), HasSubstr("the zero_point is 128, outside -128 .. 127"));
  EXPECT_THAT(quantize_error({.min = as_int(200)}), HasSubstr("quant_min 200 is not below quant_max 127"));
  EXPECT_THAT(quantize_error({.max = as_int(128)}), HasSubstr("quant_max 128 lies outside int8"));
  EXPECT_THAT(quantize_error({}, 1), HasSubstr("quant_min -128 or quant_max 127 lies outside uint8"));
  EXPECT_THAT(quantize_error({}, 5), HasSubstr("int64 quantization is not supported"));
}

// Buffers may hold the parameters (the .tensor overloads), and a constant may be dequantized in two ways.
TEST(Import, QuantizationParametersFromBuffers) {
  auto dequantize = [](const std::string& scale) {
    return std::vector<Pt2Argument>{{"input", as_tensor("b_w")},         {"scale", as_tensor(scale)},
                                    {"zero_point", as_tensor("b_zero")}, {"quant_min", as_int(-128)},
                                    {"quant_max", as_int(127)},          {"dtype", as_dtype(2)}};
  };
  const Graph graph = import_of(Pt2Writer()
                                    .buffer("w", make_tensor<int8_t>(DType::kInt8, {2}, {3, -4}))
                                    .buffer("s", make_tensor<float>(DType::kFloat32, {}, {0.25f}))
                                    .buffer("t", make_tensor<float>(DType::kFloat32, {1}, {0.5f}))
                                    .buffer("zero", make_tensor<int64_t>(DType::kInt64, {}, {1}))
                                    .input("x", {2})
                                    .node("a", "quantized_decomposed.dequantize_per_tensor.tensor", dequantize("b_s"))
                                    .node("b", "quantized_decomposed.dequantize_per_tensor.tensor", dequantize("b_t"))
                                    .node("c", "quantized_decomposed.dequantize_per_tensor.tensor", dequantize("b_s"))
                                    .node("y", "aten.add.Tensor", {{"self", as_tensor("a")}, {"other", as_tensor("b")}})
                                    .node("z", "aten.add.Tensor", {{"self", as_tensor("c")}, {"other", as_tensor("y")}})
                                    .output("z"));
  expect_graph(graph, R"(
input %x: float32[2]
const @w: int8[2] q(0.25,1) = [3, -4]
const @w.2: int8[2] q(0.5,1) = [3, -4]
%a: float32[2] = dequantize(@w) "y"
%b: float32[2] = dequantize(@w.2) "y"
%c: float32[2] = dequantize(@w) "z"
%y: float32[2] = add(%a, %b) "y"
%z: float32[2] = add(%c, %y) "z"
output %z
)");
}

}  // namespace
}  // namespace rush
