// SPDX-License-Identifier: Apache-2.0
//
// One-operator programs of many shapes on one core: what each executes, what it costs by the cycle model, and what
// ops/cost.h says that it costs. Every run's output is compared with the reference.
//
//   rushlight_kernels TARGET [gcc|clang]
//
// Prints JSON: the bytes of each kernel source, and one object for each shape. Shapes marked "shown" are in the bench's
// table; the others are there so that the cost model is fitted to more than what it is shown on.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "compiler/emit/emit.h"
#include "compiler/execute/execute.h"
#include "compiler/firmware/code_bytes.h"
#include "compiler/firmware/emulator.h"
#include "compiler/firmware/linker_map.h"
#include "compiler/firmware/process.h"
#include "compiler/firmware/run_firmware.h"
#include "compiler/firmware/size.h"
#include "compiler/ir/exit_code.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"
#include "ops/add/add_op.h"
#include "ops/avg_pool2d/avg_pool2d_op.h"
#include "ops/clamp/clamp_op.h"
#include "ops/concat/concat_op.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/cost.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/linear/linear_op.h"
#include "ops/max_pool2d/max_pool2d_op.h"
#include "ops/mean/mean_op.h"
#include "ops/op_def.h"
#include "ops/pad/pad_op.h"
#include "ops/permute/permute_op.h"
#include "ops/quantize/quantize_op.h"
#include "ops/rescale/rescale_op.h"
#include "ops/softmax/softmax_op.h"
#include "tests/support/graph_builder.h"

namespace rush {
namespace {

using Json = nlohmann::ordered_json;

struct KernelShape {
  std::string name;
  Graph graph;
  bool shown;
  Opt opt;
};

/// Makes shapes; names say operator and sizes.
class Shapes {
 public:
  std::vector<KernelShape> take() { return std::move(shapes_); }
  void show(bool shown) { shown_ = shown; }
  void lower_for(Opt opt) { opt_ = opt; }

  /// x [1, height, width, in], SAME padding unless the kernel is 1x1, or none.
  struct Conv {
    int64_t height, width, in, out, kernel_height = 1, kernel_width = 1, stride = 1, dilation = 1;
    /// Output steps so small that sums are shifted left: what some kernels leave to a more general one.
    bool fine = false;
    bool padded = true;
  };
  void conv(const Conv& c) {
    GraphBuilder b(1);
    const TensorId x = b.input(b.int8_type({1, c.height, c.width, c.in}));
    const TensorId w = b.weights({c.out, c.kernel_height, c.kernel_width, c.in});
    Quant quant = output_quant(b, x, terms(c, c.in));
    if (c.fine) quant.scale[0] /= kFine;
    add(b, b.node(conv_op(c, 1), {x, w, b.bias(x, w, terms(c, c.in))}, quant),
        fmt::format("conv {}x{}{} {}->{} on {}x{}", c.kernel_height, c.kernel_width, variant_text(c), c.in, c.out,
                    c.height, c.width));
  }

  void depthwise(const Conv& c) {
    GraphBuilder b(2);
    const TensorId x = b.input(b.int8_type({1, c.height, c.width, c.in}));
    const TensorId w = b.weights({c.in, c.kernel_height, c.kernel_width, 1});
    Quant quant = output_quant(b, x, terms(c, 1));
    if (c.fine) quant.scale[0] /= kFine;
    add(b, b.node(conv_op(c, c.in), {x, w, b.bias(x, w, terms(c, 1))}, quant),
        fmt::format("depthwise {}x{}{} {} on {}x{}", c.kernel_height, c.kernel_width, variant_text(c), c.in, c.height,
                    c.width));
  }

  void float_conv(const Conv& c) {
    GraphBuilder b(5);
    const TensorId x = b.input(GraphBuilder::float_type({1, c.height, c.width, c.in}));
    const TensorId w = b.constant(GraphBuilder::float_type({c.out, c.kernel_height, c.kernel_width, c.in}));
    add(b, b.node(conv_op(c, 1), {x, w}),
        fmt::format("float conv {}x{} {}->{} on {}x{}", c.kernel_height, c.kernel_width, c.in, c.out, c.height,
                    c.width));
  }

  void float_linear(int64_t in, int64_t out) {
    GraphBuilder b(6);
    const TensorId x = b.input(GraphBuilder::float_type({1, in}));
    add(b, b.node(Linear{}, {x, b.constant(GraphBuilder::float_type({out, in}))}),
        fmt::format("float linear {}->{}", in, out));
  }

  void linear(int64_t positions, int64_t in, int64_t out, bool fine = false, bool one_scale = false) {
    GraphBuilder b(3);
    const TensorId x = b.input(b.int8_type({positions, in}));
    const TensorType per_tensor{DType::kInt8, {out, in}, Quant{.scale = {0.008}, .zero_point = {0}}};
    const TensorId w = one_scale ? b.constant(per_tensor) : b.weights({out, in});
    Quant quant = output_quant(b, x, in);
    if (fine) quant.scale[0] /= kFine;
    add(b, b.node(Linear{}, {x, w, b.bias(x, w, in)}, quant),
        fmt::format("linear {}->{}{}{}{}", in, out, positions > 1 ? fmt::format(" x{}", positions) : "",
                    fine ? " fine" : "", one_scale ? ", one scale" : ""));
  }

  /// One node over `inputs` inputs of a shape. `make_quant` gives the output's quant from the input's.
  enum class Codes { kNew, kSame, kFloat };
  struct Plain {
    std::string name;
    Op op;
    Shape shape;
    Codes out = Codes::kNew;
    int inputs = 1;
    bool float_input = false;
  };
  void plain(const Plain& p) {
    GraphBuilder b(4);
    std::vector<TensorId> inputs;
    const TensorType type = p.float_input ? GraphBuilder::float_type(p.shape) : b.int8_type(p.shape);
    for (int i = 0; i < p.inputs; ++i)
      inputs.push_back(b.input(i == 0 || p.out == Codes::kSame || p.float_input ? type : b.int8_type(p.shape)));
    std::optional<Quant> quant;
    if (p.out == Codes::kSame) quant = type.quant;
    if (p.out == Codes::kNew) quant = random_quant(b.random());
    add(b, b.node(p.op, inputs, quant), fmt::format("{} {}", p.name, shape_text(p.shape)));
  }

 private:
  static constexpr double kFine = 2000;

  static Conv2d conv_op(const Conv& c, int64_t groups) {
    return {.stride = {c.stride, c.stride},
            .padding = same_padding(c),
            .dilation = {c.kernel_height > 1 ? c.dilation : 1, c.kernel_width > 1 ? c.dilation : 1},
            .groups = groups,
            .layout = "nhwc"};
  }

  static std::vector<int64_t> same_padding(const Conv& c) {
    if (!c.padded) return {0, 0, 0, 0};
    std::vector<int64_t> padding;
    for (const auto& [in, kernel] : {std::pair(c.height, c.kernel_height), std::pair(c.width, c.kernel_width)}) {
      const int64_t out = (in + c.stride - 1) / c.stride, span = (kernel - 1) * c.dilation + 1;
      const int64_t all = std::max<int64_t>(0, (out - 1) * c.stride + span - in);
      padding.insert(padding.end(), {all / 2, all - all / 2});
    }
    return padding;
  }

  static int64_t terms(const Conv& c, int64_t channels) { return c.kernel_height * c.kernel_width * channels; }

  static std::string variant_text(const Conv& c) {
    return (c.stride == 1 ? "" : fmt::format(" s{}", c.stride)) +
           (c.dilation == 1 ? "" : fmt::format(" d{}", c.dilation)) + (c.fine ? " fine" : "") +
           (c.padded ? "" : " valid");
  }

  static std::string shape_text(const Shape& shape) {
    std::string text;
    for (const int64_t dim : shape) text += (text.empty() ? "" : "x") + std::to_string(dim);
    return text;
  }

  /// Sums of random products fill about the codes' range.
  static Quant output_quant(GraphBuilder& b, TensorId x, int64_t terms) {
    Quant quant = random_quant(b.random());
    quant.scale[0] = b.graph().type(x).quant->scale[0] * 0.6 * std::sqrt(static_cast<double>(terms));
    return quant;
  }

  void add(GraphBuilder& b, TensorId out, std::string name) {
    b.output(out);
    shapes_.push_back({std::move(name), b.graph(), shown_, opt_});
  }

  std::vector<KernelShape> shapes_;
  bool shown_ = true;
  Opt opt_ = Opt::kBalanced;
};

void add_shown(Shapes& s) {
  s.conv({25, 5, 64, 64});
  s.conv({48, 48, 8, 16});
  s.conv({12, 12, 64, 128});
  s.conv({3, 3, 256, 256});
  s.conv({32, 32, 16, 16, 3, 3});
  s.conv({16, 16, 32, 32, 3, 3});
  s.conv({32, 32, 16, 32, 3, 3, 2});
  s.conv({49, 10, 1, 64, 10, 4, 2});
  s.conv({96, 96, 3, 8, 3, 3, 2});
  s.conv({32, 32, 3, 16, 3, 3});
  s.depthwise({25, 5, 64, 64, 3, 3});
  s.depthwise({48, 48, 8, 8, 3, 3});
  s.depthwise({48, 48, 16, 16, 3, 3, 2});
  s.depthwise({6, 6, 256, 256, 3, 3});
  s.depthwise({1, 40, 64, 64, 1, 5});
  s.linear(1, 640, 128);
  s.linear(1, 64, 12);
  s.plain({"add", Add{}, {1, 32, 32, 16}, Shapes::Codes::kNew, 2});
  s.plain({"avg pool 2x2", AvgPool2d{.kernel = {2, 2}, .stride = {2, 2}, .layout = "nhwc"}, {1, 16, 16, 32}});
  s.plain({"max pool 2x2",
           MaxPool2d{.kernel = {2, 2}, .stride = {2, 2}, .layout = "nhwc"},
           {1, 16, 16, 32},
           Shapes::Codes::kSame});
  s.plain({"mean", Mean{{1, 2}, false}, {1, 25, 5, 64}});
  s.plain({"softmax", Softmax{1}, {1, 12}});
  s.plain({"softmax", Softmax{1}, {1, 1000}});
  s.plain({"pad", Pad{{0, 0, 1, 1, 1, 1, 0, 0}, 0}, {1, 32, 32, 16}, Shapes::Codes::kSame});
  s.plain({"permute", Permute{{0, 2, 3, 1}}, {1, 16, 32, 32}, Shapes::Codes::kSame});
  s.plain({"concat", Concat{3}, {1, 16, 16, 32}, Shapes::Codes::kSame, 2});
  s.plain({"rescale", Rescale{}, {1, 32, 32, 16}});
  s.plain({"clamp", Clamp{.min = 0}, {1, 32, 32, 16}, Shapes::Codes::kSame});
  s.plain({"quantize", Quantize{}, {1, 49, 10, 1}, Shapes::Codes::kNew, 1, true});
  s.plain({"dequantize", Dequantize{}, {1, 1000}, Shapes::Codes::kFloat});
}

void add_more_convolutions(Shapes& s) {
  for (const auto& [size, in, out] : {std::array<int64_t, 3>{4, 24, 40},
                                      {7, 16, 8},
                                      {9, 128, 32},
                                      {5, 17, 33},
                                      {2, 8, 4},
                                      {24, 32, 32},
                                      {1, 256, 100},
                                      {6, 4, 64}})
    s.conv({size, size + 1, in, out});
  for (const auto& [size, in, out] :
       {std::array<int64_t, 3>{8, 8, 8}, {5, 24, 12}, {13, 1, 8}, {7, 64, 64}, {20, 3, 20}, {3, 17, 5}})
    s.conv({size, size, in, out, 3, 3});
  s.conv({10, 10, 12, 24, 5, 5});
  s.conv({9, 14, 16, 16, 3, 3, 2});
  s.conv({1, 60, 40, 32, 1, 5});
  s.conv({24, 24, 16, 32, 1, 1, 2});
  s.conv({20, 6, 2, 16, 7, 3, 2});
}

void add_more(Shapes& s) {
  add_more_convolutions(s);
  for (const auto& [height, width, channels] : {std::array<int64_t, 3>{7, 7, 32},
                                                {12, 12, 24},
                                                {3, 3, 128},
                                                {10, 17, 5},
                                                {24, 24, 40},
                                                {1, 1, 64},
                                                {9, 9, 7},
                                                {12, 5, 1},
                                                {6, 8, 18},
                                                {15, 4, 3}})
    s.depthwise({height, width, channels, channels, 3, 3});
  s.depthwise({12, 12, 64, 64, 3, 3, 2});
  s.lower_for(Opt::kSize);
  for (const auto& [height, width, channels] : {std::array<int64_t, 3>{25, 5, 64},
                                                {2, 5, 64},
                                                {48, 48, 8},
                                                {6, 6, 128},
                                                {3, 3, 256},
                                                {7, 7, 32},
                                                {1, 1, 64},
                                                {15, 4, 4}})
    s.depthwise({height, width, channels, channels, 3, 3});
  s.depthwise({12, 12, 64, 64, 3, 3, 2});
  s.lower_for(Opt::kBalanced);
  s.depthwise({14, 9, 16, 16, 5, 5});
  s.depthwise({30, 1, 48, 48, 9, 1});
  s.depthwise({40, 1, 32, 32, 3, 1});
  for (const auto& [height, channels, kernel] :
       {std::array<int64_t, 3>{32, 40, 5}, {32, 128, 9}, {27, 128, 13}, {15, 128, 15}, {13, 64, 4}})
    s.depthwise(
        {.height = height, .width = 1, .in = channels, .out = channels, .kernel_height = kernel, .padded = false});
  for (const auto& [positions, in, out] :
       {std::array<int64_t, 3>{1, 128, 128}, {1, 8, 128}, {1, 33, 7}, {4, 64, 16}, {1, 1000, 10}, {10, 40, 40}}) {
    s.linear(positions, in, out);
    s.linear(positions, in, out, false, true);
  }
  for (const Shape& shape : {Shape{1, 4, 4, 8}, Shape{1, 8, 9, 33}, Shape{1, 1, 1, 500}, Shape{1, 25, 20, 24}}) {
    s.plain({"add", Add{}, shape, Shapes::Codes::kNew, 2});
    s.plain({"rescale", Rescale{}, shape});
    s.plain({"clamp", Clamp{.min = 0}, shape, Shapes::Codes::kSame});
    s.plain({"quantize", Quantize{}, shape, Shapes::Codes::kNew, 1, true});
    s.plain({"dequantize", Dequantize{}, shape, Shapes::Codes::kFloat});
    s.plain({"pad", Pad{{0, 0, 1, 2, 2, 0, 0, 0}, 0}, shape, Shapes::Codes::kSame});
    s.plain({"permute", Permute{{0, 3, 1, 2}}, shape, Shapes::Codes::kSame});
    s.plain({"concat", Concat{3}, shape, Shapes::Codes::kSame, 2});
    s.plain({"concat rows", Concat{1}, shape, Shapes::Codes::kSame, 2});
    s.plain({"mean", Mean{{1, 2}, false}, shape});
    s.plain({"mean of columns", Mean{{2}, false}, shape});
    s.plain({"mean of channels", Mean{{3}, false}, shape});
    s.plain({"softmax", Softmax{3}, shape});
  }
  for (const Shape& shape : {Shape{1, 8, 8, 64}, Shape{1, 9, 12, 7}, Shape{1, 4, 6, 24}}) {
    s.plain({"avg pool 3x3", AvgPool2d{.kernel = {3, 3}, .stride = {1, 1}, .layout = "nhwc"}, shape});
    s.plain({"avg pool 4x4", AvgPool2d{.kernel = {4, 4}, .stride = {4, 4}, .layout = "nhwc"}, shape});
    s.plain(
        {"max pool 3x3", MaxPool2d{.kernel = {3, 3}, .stride = {1, 1}, .layout = "nhwc"}, shape, Shapes::Codes::kSame});
    s.plain(
        {"max pool 3x2", MaxPool2d{.kernel = {3, 2}, .stride = {2, 2}, .layout = "nhwc"}, shape, Shapes::Codes::kSame});
  }
}

/// What the general kernels do where a faster one does not apply.
void add_general(Shapes& s) {
  for (const auto& [size, in, out, kernel] : {std::array<int64_t, 4>{9, 16, 24, 1},
                                              {12, 40, 17, 1},
                                              {3, 128, 64, 1},
                                              {12, 8, 16, 3},
                                              {7, 32, 32, 3},
                                              {15, 3, 12, 3},
                                              {5, 17, 9, 2},
                                              {10, 2, 32, 5}})
    s.conv({.height = size,
            .width = size,
            .in = in,
            .out = out,
            .kernel_height = kernel,
            .kernel_width = kernel,
            .fine = true});
  s.conv({.height = 11, .width = 9, .in = 12, .out = 16, .kernel_height = 3, .kernel_width = 3, .dilation = 2});
  for (const auto& [size, channels, kernel] :
       {std::array<int64_t, 3>{12, 16, 3}, {7, 40, 3}, {3, 128, 3}, {20, 5, 3}, {9, 32, 5}, {6, 24, 2}})
    s.depthwise({.height = size,
                 .width = size + 1,
                 .in = channels,
                 .out = channels,
                 .kernel_height = kernel,
                 .kernel_width = kernel,
                 .fine = true});
  s.depthwise({.height = 10, .width = 12, .in = 24, .out = 24, .kernel_height = 3, .kernel_width = 3, .dilation = 2});
  for (const auto& [in, out] : {std::array<int64_t, 2>{64, 32}, {256, 10}, {30, 100}, {12, 7}})
    s.linear(1, in, out, true);
}

void add_floats(Shapes& s) {
  s.float_conv({6, 6, 4, 8, 3, 3});
  s.float_conv({8, 7, 3, 5, 2, 2});
  s.float_conv({5, 5, 16, 12});
  for (const auto& [in, out] : {std::array<int64_t, 2>{64, 12}, {20, 30}, {100, 4}}) s.float_linear(in, out);
  for (const Shape& shape : {Shape{1, 6, 6, 8}, Shape{1, 4, 9, 3}, Shape{1, 10, 2, 20}}) {
    const auto add = [&](const char* name, Op op, int inputs = 1) {
      s.plain({name, std::move(op), shape, Shapes::Codes::kFloat, inputs, true});
    };
    add("float add", Add{}, 2);
    add("float clamp", Clamp{.min = 0});
    add("float avg pool", AvgPool2d{.kernel = {2, 2}, .stride = {2, 2}, .layout = "nhwc"});
    add("float max pool", MaxPool2d{.kernel = {2, 2}, .stride = {2, 2}, .layout = "nhwc"});
    add("float mean", Mean{{1, 2}, false});
    add("float softmax", Softmax{3});
    add("float pad", Pad{{0, 0, 1, 1, 1, 1, 0, 0}, 0});
    add("float permute", Permute{{0, 3, 1, 2}});
  }
}

std::vector<KernelShape> all_shapes() {
  Shapes shapes;
  add_shown(shapes);
  shapes.show(false);
  add_more(shapes);
  add_general(shapes);
  add_floats(shapes);
  return shapes.take();
}

/// A shape's program for a core, and the run that it is measured in.
struct Prepared {
  Program program;
  firmware::Record record;
};

std::vector<uint8_t> bytes_of(const std::vector<HostTensor>& tensors) {
  std::vector<uint8_t> bytes;
  for (const HostTensor& tensor : tensors) bytes.insert(bytes.end(), tensor.raw(), tensor.raw() + tensor.bytes());
  return bytes;
}

Prepared prepare(const KernelShape& shape, const Target& target) {
  const Graph& graph = shape.graph;
  Random random(7);
  std::vector<HostTensor> inputs;
  for (const Port& port : graph.inputs) inputs.push_back(random_tensor(random, graph.type(port.tensor)));
  Prepared made{lower_graph(graph, target.isa, target.name, shape.opt), {}};
  plan_memory(made.program);
  made.record.image = emit_image(made.program, {.full_kernel_table = true});
  made.record.input = bytes_of(inputs);
  made.record.expected = bytes_of(run_graph(graph, inputs));
  return made;
}

Json step_json(const ProgramStep& step, const Target& target) {
  const KernelWork work = kernel_work(target.isa, step.family->name, step.params.data());
  return {{"row", cost_row(target.isa, step.family->name, step.params.data())}, {"work", work}};
}

Json shape_json(const KernelShape& shape, const Prepared& prepared, const firmware::Profile& profile,
                const Target& target) {
  Json steps = Json::array();
  uint64_t macs = 0;
  double estimate = 0;
  for (const ProgramStep& step : prepared.program.steps) {
    macs += step.macs;
    estimate += kernel_cycles({target.isa, target.name}, step.family->name, step.params.data());
    steps.push_back(step_json(step, target));
  }
  return {{"name", shape.name},
          {"shown", shape.shown},
          {"macs", macs},
          {"outputs", element_count(shape.graph.type(shape.graph.outputs[0].tensor).shape)},
          {"instructions", profile.instructions},
          {"cycles", profile.cycles},
          {"estimated_cycles", estimate},
          {"steps", std::move(steps)}};
}

/// Of each kernel source, and of each family.
void add_code(const firmware::PlayRequest& request, Json& out) {
  const std::filesystem::path elf = firmware::build_player(request.target, request.board, request.compiler).elf;
  std::filesystem::path map_file = elf;
  map_file.replace_extension(".map");
  const auto map = firmware::parse_linker_map(firmware::read_file(map_file));
  out["kernel_bytes"] = firmware::measure_map(map).kernels;
  const Isa isa = request.target.isa;
  out["family_bytes"] = firmware::family_code_bytes(map, firmware::disassemble(elf, isa), isa);
}

void require_right(const std::vector<KernelShape>& shapes, const std::vector<firmware::RecordResult>& results) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (results[i].ok) continue;
    throw UserError(fmt::format("{}: status {}, {} bytes differ", shapes[i].name, results[i].outcome.status,
                                results[i].outcome.differing_bytes),
                    "a kernel is wrong, or the board too small");
  }
}

Json measure_code(const firmware::PlayRequest& request) {
  Json out = {{"target", request.target.name}};
  add_code(request, out);
  return out;
}

Json measure(const firmware::PlayRequest& request) {
  const std::vector<KernelShape> shapes = all_shapes();
  std::vector<Prepared> prepared;
  std::vector<firmware::Record> records;
  for (const KernelShape& shape : shapes) {
    prepared.push_back(prepare(shape, request.target));
    records.push_back(prepared.back().record);
  }
  require_right(shapes, firmware::play(request, records));
  const std::vector<firmware::Profile> profiles = firmware::cost_of_records(request, records);
  Json out = {{"target", request.target.name}, {"shapes", Json::array()}};
  add_code(request, out);
  for (size_t i = 0; i < shapes.size(); ++i)
    out["shapes"].push_back(shape_json(shapes[i], prepared[i], profiles[i], request.target));
  return out;
}

}  // namespace
}  // namespace rush

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: rushlight_kernels TARGET [gcc|clang] [code]\n");
    return 2;
  }
  return rush::exit_code_of([&] {
    const rush::Target target = rush::load_target(argv[1]);
    const rush::firmware::PlayRequest request{target, rush::load_board(target.board),
                                              rush::firmware::compiler_named(argc > 2 ? argv[2] : "gcc")};
    const bool only_code = argc > 3 && std::string(argv[3]) == "code";
    fmt::print("{}\n", (only_code ? rush::measure_code(request) : rush::measure(request)).dump(1));
    return 0;
  });
}
