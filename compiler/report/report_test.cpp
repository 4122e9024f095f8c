// SPDX-License-Identifier: Apache-2.0
#include "compiler/report/report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "compiler/emit/emit.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"
#include "compiler/report/summary.h"
#include "ops/clamp/clamp_op.h"
#include "ops/concat/concat_op.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/pad/pad_op.h"
#include "tests/support/graph_builder.h"

namespace rush {
namespace {

/// Two maps, one padded, side by side, clamped, once more in float.
Program small_program() {
  GraphBuilder b(1);
  const Quant quant = {.scale = {0.5}, .zero_point = {3}, .axis = -1, .min = -128, .max = 127};
  const TensorId x = b.input({DType::kInt8, {1, 4, 4, 2}, quant});
  const TensorId y = b.input({DType::kInt8, {1, 6, 4, 3}, quant});
  const TensorId padded = b.node(Pad{{0, 0, 1, 1, 0, 0, 0, 0}, 0}, {x}, quant);
  const TensorId both = b.node(Concat{3}, {padded, y}, quant);
  const TensorId real = b.node(Dequantize{}, {b.node(Clamp{.min = 0}, {both}, quant)});
  b.output(b.node(Clamp{.min = -1, .max = 1}, {real}));
  Program program = lower_graph(b.graph(), Isa::kDsp, "cortex-m4");
  program.steps[0].macs = 1234567;
  make_chain(program, 0, 4);
  plan_memory(program);
  return program;
}

std::vector<uint8_t> image_of(const Program& program) { return emit_image(program); }

/// The text up to the first empty line.
std::string table_of(const std::string& text) { return text.substr(0, text.find("\n\n") + 1); }

/// Without the column of estimates, which change whenever the cost model is fitted.
std::string without_cycles(const std::string& table) {
  const std::string title = "  cycles ~";
  const size_t column = table.find(title);
  std::string text;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) text += line.erase(column, title.size()) + "\n";
  return text;
}

TEST(Report, ShowsEveryLayer) {
  const Program program = small_program();
  EXPECT_EQ(without_cycles(table_of(report_text(program, image_of(program)))),
            "layer        kernel                 output                          MACs  weight bytes\n"
            "pad2         pad_s8_dsp             int8 [1,6,4,2], ring of 1  1,234,567             -\n"
            "concat3      copy_dsp x2            int8 [1,6,4,5], ring of 1          -             -\n"
            "clamp4       clamp_s8_dsp           int8 [1,6,4,5]                     -             -\n"
            "dequantize5  dequantize_s8_f32_dsp  float32 [1,6,4,5]                  -             -\n"
            "clamp6       clamp_f32_scalar       float32 [1,6,4,5]                  -             -\n");
}

TEST(Report, AddsUpMemory) {
  const Program program = small_program();
  const std::vector<uint8_t> image = image_of(program);
  const std::string text = report_text(program, image);
  EXPECT_NE(text.find("In float (0 MACs): dequantize5, clamp6\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Target   cortex-m4, 1,234,567 MACs\n"), std::string::npos) << text;
  const ProgramSummary summary = summarize(program, image);
  EXPECT_EQ(summary.plan.arena_bytes, program.regions[0].bytes);
  EXPECT_EQ(summary.image_bytes, image.size());
  EXPECT_EQ(summary.stack_bytes, stack_bound(program));
  EXPECT_EQ(summary.constant_bytes, 0u);
}

TEST(Report, JsonHasTheSameFigures) {
  const Program program = small_program();
  const std::vector<uint8_t> image = image_of(program);
  const auto json = nlohmann::json::parse(report_json(program, image));
  EXPECT_EQ(json["target"], "cortex-m4");
  EXPECT_EQ(json["isa"], "dsp");
  EXPECT_EQ(json["arena_bytes"], program.regions[0].bytes);
  EXPECT_EQ(json["image_bytes"], image.size());
  EXPECT_EQ(json["macs"], 1234567);
  EXPECT_EQ(json["opt"], "balanced");
  int64_t cycles = 0;
  for (const auto& layer : json["layers"]) cycles += layer["estimated_cycles"].get<int64_t>();
  EXPECT_GT(cycles, 0);
  EXPECT_NEAR(json["estimated_cycles"].get<double>(), static_cast<double>(cycles), 5);
  ASSERT_EQ(json["layers"].size(), 5u);
  EXPECT_EQ(json["layers"][0]["ring_rows"], 1);
  EXPECT_EQ(json["layers"][0]["becomes"], "data movement");
  EXPECT_EQ(json["layers"][0]["source"], "test.py:1");
  EXPECT_EQ(json["layers"][1]["inputs"], nlohmann::json({"int8 [1,6,4,2]", "int8 [1,6,4,3]"}));
  EXPECT_EQ(json["layers"][2]["becomes"], "integer kernel");
  EXPECT_EQ(json["layers"][4]["becomes"], "float kernel");
  EXPECT_EQ(json["entries"][0]["inputs"][1]["shape"], nlohmann::json({1, 6, 4, 3}));
  const auto& first = json["buffers"][0];
  EXPECT_EQ(first["type"], "int8 [1,4,4,2]");
  EXPECT_EQ(first["region"], "arena");
  EXPECT_EQ(first["first_step"], -1);
  EXPECT_EQ(first["bytes"], 32);
}

}  // namespace
}  // namespace rush
