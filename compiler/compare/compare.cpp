// SPDX-License-Identifier: Apache-2.0
//
// Values are matched by the names of their tensors, which the passes keep (compiler/passes/rewrite.h): the codes that
// a quantize of the torch stage makes are the output of the fused integer operator, "<name>.nhwc" in that axis order.
#include "compiler/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>

#include "compiler/execute/execute.h"
#include "compiler/host/host_program.h"

namespace rush {
namespace {

using Values = std::map<std::string, HostTensor, std::less<>>;

/// The layers to compare, before any sample.
struct Plan {
  std::vector<LayerComparison> layers;
  std::map<std::string, size_t, std::less<>> layer_of;  ///< tensor name -> layer
  std::map<std::string, TensorType, std::less<>> torch_types;
  std::map<std::string, TensorType, std::less<>> quantized_types;
  std::map<size_t, std::pair<int, BufferId>> last_writer;  ///< step -> operand and buffer that it completes
};

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

constexpr std::string_view kNhwc = ".nhwc";

/// The torch stage's name of a tensor.
std::string torch_name(const std::string& name) {
  return name.ends_with(kNhwc) ? name.substr(0, name.size() - kNhwc.size()) : name;
}

/// Torch's value in the axis order of the tensor of this name, or nothing where no order is known.
std::optional<HostTensor> aligned(const HostTensor& value, const std::string& name, const Shape& shape) {
  if (name.ends_with(kNhwc) && value.shape().size() == 4) return permuted(value, {0, 2, 3, 1});
  if (value.shape() == shape) return value;
  if (without_ones(value.shape()) == without_ones(shape)) return value.reshaped(shape);
  return std::nullopt;
}

double real_value(const HostTensor& tensor, int64_t i, const TensorType& type) {
  if (!type.quant || !type.quant->per_tensor()) return tensor.number(i);
  return (tensor.number(i) - static_cast<double>(type.quant->zero_point[0])) * type.quant->scale[0];
}

double step_of(const TensorType& type) { return type.quant && type.quant->per_tensor() ? type.quant->scale[0] : 0; }

std::map<std::string, TensorType, std::less<>> types_by_name(const Graph& graph) {
  std::map<std::string, TensorType, std::less<>> types;
  for (const Tensor& tensor : graph.tensors) types[tensor.name] = tensor.type;
  return types;
}

/// Each buffer's last writing step: only then is all of it there (a concat is written piece by piece).
void find_last_writers(const Program& program, Plan& plan) {
  std::map<BufferId, std::pair<size_t, int>> writers;
  const Entry& entry = program.entries.front();
  for (int c = entry.first_chain; c < entry.first_chain + entry.chain_count; ++c) {
    const Chain& chain = program.chains[static_cast<size_t>(c)];
    for (int s = chain.first_step; s < chain.first_step + chain.step_count; ++s) {
      const ProgramStep& step = program.steps[static_cast<size_t>(s)];
      for (size_t k = 0; k < step.operands.size(); ++k) {
        if (step.family->host->contract->written >> k & 1)
          writers[step.operands[k].buffer] = {static_cast<size_t>(s), static_cast<int>(k)};
      }
    }
  }
  for (const auto& [buffer, writer] : writers) plan.last_writer[writer.first] = {writer.second, buffer};
}

Plan make_plan(const Compilation& made) {
  Plan plan{.torch_types = types_by_name(made.torch), .quantized_types = types_by_name(made.quantized)};
  for (const Node& node : made.quantized.nodes) {
    for (const TensorId id : node.outputs) {
      const Tensor& tensor = made.quantized[id];
      if (!plan.torch_types.contains(torch_name(tensor.name))) continue;
      plan.layer_of[tensor.name] = plan.layers.size();
      plan.layers.push_back({.tensor = tensor.name,
                             .op = std::string(node.op.name()),
                             .origin = node.origin,
                             .shape = tensor.type.shape,
                             .step = step_of(tensor.type)});
    }
  }
  find_last_writers(made.program, plan);
  return plan;
}

Values values_of(const Graph& graph, GraphExecutor& executor, const Sample& inputs, Sample& outputs) {
  Values values;
  outputs = executor.run(inputs, [&](const Node& node, size_t output, const HostTensor& value) {
    values[graph[node.outputs[output]].name] = value;
  });
  return values;
}

void compare_with_torch(const Plan& plan, const Values& torch, const Values& quantized,
                        std::vector<LayerComparison>& layers) {
  for (LayerComparison& layer : layers) {
    const auto reference = torch.find(torch_name(layer.tensor)), value = quantized.find(layer.tensor);
    if (reference == torch.end() || value == quantized.end()) continue;
    const auto expected = aligned(reference->second, layer.tensor, value->second.shape());
    if (!expected || expected->size() != value->second.size()) continue;
    for (int64_t i = 0; i < expected->size(); ++i) {
      layer.from_torch.add(real_value(*expected, i, plan.torch_types.at(torch_name(layer.tensor))),
                           real_value(value->second, i, plan.quantized_types.at(layer.tensor)));
    }
  }
}

/// Compares what a step has just completed with the quantized stage's bytes.
void compare_step(const Plan& plan, const Program& program, const BandView& view, const Values& quantized,
                  std::vector<LayerComparison>& layers) {
  const auto writer = plan.last_writer.find(view.step);
  if (writer == plan.last_writer.end() || !view.is_last()) return;
  const auto& [operand, id] = writer->second;
  const Buffer& buffer = program[id];
  const auto layer = plan.layer_of.find(buffer.name);
  const auto expected = quantized.find(buffer.name);
  if (layer == plan.layer_of.end() || expected == quantized.end() || expected->second.bytes() != buffer.bytes) return;
  const uint32_t offset = program.steps[view.step].operands[static_cast<size_t>(operand)].offset;
  const uint8_t* bytes = static_cast<const uint8_t*>(view.operands[static_cast<size_t>(operand)]) - offset;
  const size_t width = dtype_bytes(expected->second.dtype());
  LayerComparison& row = layers[layer->second];
  for (size_t i = 0; i < buffer.bytes; i += width) {
    row.program_codes_different += std::memcmp(bytes + i, expected->second.raw() + i, width) != 0;
    ++row.program_codes_compared;
  }
}

/// One thread's executors of the three stages.
struct Stages {
  explicit Stages(const Compilation& made) : torch(made.torch), quantized(made.quantized), program(made.image) {}
  GraphExecutor torch;
  GraphExecutor quantized;
  HostProgram program;
};

struct SampleResult {
  std::vector<LayerComparison> layers;
  Sample torch_outputs;
  Sample program_outputs;
};

SampleResult compare_sample(const Compilation& made, const Plan& plan, Stages& stages,
                            const std::pair<const Sample*, const Sample*>& inputs) {
  SampleResult result{.layers = plan.layers, .torch_outputs = {}, .program_outputs = {}};
  Sample quantized_outputs;
  const Values torch = values_of(made.torch, stages.torch, *inputs.first, result.torch_outputs);
  const Values quantized = values_of(made.quantized, stages.quantized, *inputs.second, quantized_outputs);
  compare_with_torch(plan, torch, quantized, result.layers);
  result.program_outputs = stages.program.run(0, *inputs.second, [&](const BandView& view) {
    compare_step(plan, made.program, view, quantized, result.layers);
  });
  return result;
}

void merge(std::vector<LayerComparison>& into, const std::vector<LayerComparison>& from) {
  for (size_t i = 0; i < into.size(); ++i) {
    into[i].from_torch.add(from[i].from_torch);
    into[i].program_codes_compared += from[i].program_codes_compared;
    into[i].program_codes_different += from[i].program_codes_different;
  }
}

Distance distance_between(const HostTensor& reference, const HostTensor& value) {
  Distance distance;
  for (int64_t i = 0; i < value.size(); ++i) distance.add(reference.number(i), value.number(i));
  return distance;
}

OutputComparison compare_output(const PortFormat& port, const HostTensor& torch, const HostTensor& program,
                                const HostTensor* expected) {
  OutputComparison row{.name = port.name,
                       .step = port.border ? port.border->scale[0] : 0,
                       .torch_to_program = distance_between(torch, program),
                       .expected_to_program = {}};
  if (!expected) return row;
  if (expected->size() != program.size()) {
    throw UserError(fmt::format("--expected has shape {}, but the outputs \"{}\" have {}", to_string(expected->shape()),
                                port.name, to_string(program.shape())),
                    "give outputs of the same samples, stacked on axis 0");
  }
  row.expected_to_program = distance_between(*expected, program);
  return row;
}

std::string decibels(double value) { return std::isinf(value) ? "exact" : fmt::format("{:.1f}", value); }

}  // namespace

void Distance::add(double reference, double value) {
  // Equal infinities (and equal NaN) are no difference; anything else that is not finite is an infinite one.
  const bool same = reference == value || (std::isnan(reference) && std::isnan(value));
  const double difference = same ? 0 : std::abs(reference - value);
  signal += reference * reference;
  noise += difference * difference;
  max_error = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(max_error, difference);
  ++count;
}

void Distance::add(const Distance& other) {
  signal += other.signal;
  noise += other.noise;
  max_error = std::max(max_error, other.max_error);
  count += other.count;
}

double Distance::sqnr_db() const {
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

bool Comparison::program_is_exact() const {
  return std::ranges::all_of(layers, [](const LayerComparison& layer) { return layer.program_codes_different == 0; });
}

Comparison compare_stages(const Compilation& made, const std::vector<HostTensor>& inputs,
                          const std::vector<HostTensor>& expected) {
  const Plan plan = make_plan(made);
  const Runner torch = graph_runner(made.torch), program = program_runner(made.image);
  const std::vector<Sample> torch_inputs = unstack_inputs(torch.inputs, inputs),
                            memory_inputs = unstack_inputs(program.inputs, inputs);
  Comparison comparison{.samples = memory_inputs.size(), .layers = plan.layers, .outputs = {}};
  std::vector<Sample> torch_outputs(memory_inputs.size()), program_outputs(memory_inputs.size());
  std::mutex mutex;
  const auto make_worker = [&] {
    return [&, stages = std::make_shared<Stages>(made)](size_t i) {
      SampleResult result = compare_sample(made, plan, *stages, {&torch_inputs[i], &memory_inputs[i]});
      torch_outputs[i] = std::move(result.torch_outputs);
      program_outputs[i] = std::move(result.program_outputs);
      const std::lock_guard lock(mutex);
      merge(comparison.layers, result.layers);
    };
  };
  // A model with states runs its samples in order.
  if (made.quantized.states.empty()) {
    for_each_in_parallel(memory_inputs.size(), make_worker);
  } else {
    const auto worker = make_worker();
    for (size_t i = 0; i < memory_inputs.size(); ++i) worker(i);
  }
  std::erase_if(comparison.layers, [](const LayerComparison& layer) { return layer.from_torch.count == 0; });
  const std::vector<HostTensor> reference = stack_outputs(torch.outputs, torch_outputs, false),
                                got = stack_outputs(program.outputs, program_outputs, false);
  for (size_t i = 0; i < got.size(); ++i) {
    comparison.outputs.push_back(
        compare_output(program.outputs[i], reference[i], got[i], i < expected.size() ? &expected[i] : nullptr));
  }
  return comparison;
}

std::string comparison_text(const Comparison& comparison) {
  std::string text = fmt::format("{:<32} {:<12} {:<16} {:>8} {:>8} {:>10}\n", "layer", "operator", "shape", "SQNR dB",
                                 "max LSB", "program");
  for (const LayerComparison& layer : comparison.layers) {
    const std::string program = layer.program_codes_different  ? fmt::format("{} differ", layer.program_codes_different)
                                : layer.program_codes_compared ? "same bits"
                                                               : "-";
    text += fmt::format("{:<32} {:<12} {:<16} {:>8} {:>8} {:>10}\n", layer.origin.layer, layer.op,
                        to_string(layer.shape), decibels(layer.from_torch.sqnr_db()),
                        layer.step > 0 ? fmt::format("{:.1f}", layer.max_error_lsb()) : "float", program);
  }
  for (const OutputComparison& output : comparison.outputs) {
    const auto row = [&](const char* from, const Distance& d) {
      return fmt::format("output \"{}\", {} to program: {} dB, largest difference {:.6g}{}\n", output.name, from,
                         decibels(d.sqnr_db()), d.max_error,
                         output.step > 0 ? fmt::format(" ({:.1f} steps)", d.max_error / output.step) : "");
    };
    text += row("torch", output.torch_to_program);
    if (output.expected_to_program) text += row("expected", *output.expected_to_program);
  }
  return text + fmt::format("{} samples", comparison.samples);
}

}  // namespace rush
