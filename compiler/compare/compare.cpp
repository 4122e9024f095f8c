// SPDX-License-Identifier: Apache-2.0
//
// Every sample runs at every stage; a board runs all of them in one start, and its values are compared afterwards.
#include "compiler/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "compiler/compare/board_values.h"
#include "compiler/compare/layers.h"
#include "compiler/compare/values.h"
#include "compiler/emit/write_model.h"
#include "compiler/firmware/process.h"
#include "compiler/host/host_program.h"
#include "rushlight/crc32.h"

namespace rush {
namespace {

constexpr double kLeastDecibels = 20, kMostSteps = 1.0001;

double real_value(const HostTensor& tensor, int64_t i, const TensorType& type) {
  if (!type.quant || !type.quant->per_tensor()) return tensor.number(i);
  return (tensor.number(i) - static_cast<double>(type.quant->zero_point[0])) * type.quant->scale[0];
}

/// One inference at every stage on the host.
struct SampleResult {
  std::vector<LayerComparison> layers;
  Sample float_outputs;
  Sample torch_outputs;
  Sample program_outputs;
  std::vector<uint32_t> crcs;  ///< of the program's value of each layer
  Values program;              ///< kept where a board is to have the same
  Values first_values;         ///< the program's, of the first sample
};

/// One thread's executors of the stages.
struct Stages {
  explicit Stages(const CompareRequest& request)
      : torch(request.made.torch), quantized(request.made.quantized), program(request.made.image) {
    if (request.float_model) float_executor.emplace(*request.float_model);
  }
  std::optional<GraphExecutor> float_executor;
  GraphExecutor torch;
  GraphExecutor quantized;
  HostProgram program;
};

struct SampleInputs {
  const Sample* float_model = nullptr;
  const Sample* torch = nullptr;
  const Sample* memory = nullptr;
};

class SampleComparer {
 public:
  SampleComparer(const CompareRequest& request, const LayerMap& map) : request_(request), map_(map) {}

  SampleResult compare(Stages& stages, const SampleInputs& inputs, int64_t sample) const {
    SampleResult result{.layers = map_.layers,
                        .float_outputs = {},
                        .torch_outputs = {},
                        .program_outputs = {},
                        .crcs = {},
                        .program = {},
                        .first_values = {}};
    const Compilation& made = request_.made;
    Values float_values;
    if (inputs.float_model != nullptr)
      float_values =
          values_of(*request_.float_model, *stages.float_executor, *inputs.float_model, result.float_outputs);
    Sample quantized_outputs;
    const Values torch = values_of(made.torch, stages.torch, *inputs.torch, result.torch_outputs),
                 quantized = values_of(made.quantized, stages.quantized, *inputs.memory, quantized_outputs);
    Values program = run_program(stages.program, *inputs.memory, result.program_outputs);
    for (LayerComparison& layer : result.layers) {
      with_float(float_values, torch, layer);
      with_torch(torch, quantized, layer);
      with_program(quantized, program, sample, layer);
      result.crcs.push_back(crc_of(program, layer.tensor));
    }
    if (sample == 0) result.first_values = program;
    if (request_.on_board) result.program = std::move(program);
    return result;
  }

 private:
  Values run_program(HostProgram& program, const Sample& inputs, Sample& outputs) const {
    ProgramValues values(request_.made.program);
    outputs = program.run(0, inputs, [&](const BandView& view) {
      for (size_t k = 0; k < view.operands.size(); ++k) {
        if (!fills(*view.family.host, k)) continue;
        values.add(view.step, k, view.band, {static_cast<const uint8_t*>(view.operands[k]), view.extents.bytes[k]});
      }
    });
    return values.take();
  }

  void with_float(const Values& float_values, const Values& torch, LayerComparison& layer) const {
    const std::string name = torch_name(layer.tensor);
    const auto match = map_.float_names.find(name);
    if (match == map_.float_names.end()) return;
    const auto reference = float_values.find(match->second), value = torch.find(name);
    if (reference == float_values.end() || value == torch.end()) return;
    if (reference->second.size() != value->second.size()) return;
    const TensorType& type = map_.torch_types.at(name);
    for (int64_t i = 0; i < value->second.size(); ++i)
      layer.from_float.add(reference->second.number(i), real_value(value->second, i, type));
  }

  void with_torch(const Values& torch, const Values& quantized, LayerComparison& layer) const {
    const auto reference = torch.find(torch_name(layer.tensor)), value = quantized.find(layer.tensor);
    if (reference == torch.end() || value == quantized.end()) return;
    const auto expected = aligned(reference->second, layer.tensor, value->second.shape());
    if (!expected || expected->size() != value->second.size()) return;
    const TensorType &type = map_.torch_types.at(torch_name(layer.tensor)),
                     &own_type = map_.quantized_types.at(layer.tensor);
    for (int64_t i = 0; i < expected->size(); ++i)
      layer.from_torch.add(real_value(*expected, i, type), real_value(value->second, i, own_type));
    count_saturated(value->second, own_type, layer);
  }

  static void count_saturated(const HostTensor& value, const TensorType& type, LayerComparison& layer) {
    if (value.dtype() != DType::kInt8 || !type.quant || !type.quant->per_tensor()) return;
    const double zero = static_cast<double>(type.quant->zero_point[0]);
    layer.codes += value.size();
    for (int64_t i = 0; i < value.size(); ++i) {
      const double code = value.number(i);
      layer.saturated += (code == -128 || code == 127) && code != zero;
    }
  }

  static void with_program(const Values& quantized, const Values& program, int64_t sample, LayerComparison& layer) {
    const auto expected = quantized.find(layer.tensor), got = program.find(layer.tensor);
    if (expected != quantized.end() && got != program.end()) layer.program.add(expected->second, got->second, sample);
  }

  static uint32_t crc_of(const Values& values, const std::string& name) {
    const auto value = values.find(name);
    return value == values.end() ? 0 : crc32(value->second.raw(), value->second.bytes());
  }

  const CompareRequest& request_;
  const LayerMap& map_;
};

void merge(std::vector<LayerComparison>& into, const std::vector<LayerComparison>& from) {
  for (size_t i = 0; i < into.size(); ++i) {
    into[i].from_float.add(from[i].from_float);
    into[i].from_torch.add(from[i].from_torch);
    into[i].saturated += from[i].saturated;
    into[i].codes += from[i].codes;
    into[i].program.add(from[i].program);
  }
}

/// In the order of the samples: what threads finish first must not change a CRC.
void add_crcs(const std::vector<SampleResult>& results, std::vector<LayerComparison>& layers) {
  for (size_t i = 0; i < layers.size(); ++i) {
    for (const SampleResult& result : results)
      layers[i].crc = crc32(&result.crcs[i], sizeof result.crcs[i], layers[i].crc);
  }
}

DeployedRecord record_of(const Compilation& made, const std::vector<Sample>& inputs,
                         const std::vector<SampleResult>& results, const std::vector<LayerComparison>& layers) {
  std::vector<Sample> outputs;
  for (const SampleResult& result : results) outputs.push_back(result.program_outputs);
  DeployedRecord record = make_record(made.image, inputs, outputs);
  for (const LayerComparison& layer : layers) {
    if (layer.program.compared > 0) record.layers.emplace_back(layer.tensor, layer.crc);
  }
  return record;
}

/// Returns what the board computed of the first sample.
Values compare_board(const CompareRequest& request, const std::vector<Sample>& inputs,
                     const std::vector<SampleResult>& results, Comparison& comparison) {
  const CompareBoard& on = *request.on_board;
  const firmware::TemporaryDirectory directory;
  write_model(request.made.program, request.made.image, {.directory = directory.path()});
  const firmware::BuildRequest build{.directory = directory.path(),
                                     .target = load_target(request.made.program.target),
                                     .board = load_board(on.name),
                                     .compiler = firmware::compiler_named(on.compiler),
                                     .opt = request.made.program.opt};
  comparison.board = on.name;
  if (on.with_profile) comparison.profile = profile_on_board(build);
  const std::vector<Values> values = board_values(request.made, build, inputs);
  for (size_t i = 0; i < values.size(); ++i) {
    for (LayerComparison& layer : comparison.layers) {
      const auto expected = results[i].program.find(layer.tensor), got = values[i].find(layer.tensor);
      if (expected != results[i].program.end() && got != values[i].end())
        layer.board.add(expected->second, got->second, static_cast<int64_t>(i));
    }
  }
  return values.empty() ? Values() : values.front();
}

std::vector<LayerOutput> real_outputs(const LayerMap& map, const std::vector<LayerComparison>& layers,
                                      const Values& values) {
  std::vector<LayerOutput> outputs;
  for (const LayerComparison& layer : layers) {
    const auto value = values.find(layer.tensor);
    if (value == values.end()) continue;
    const TensorType& type = map.quantized_types.at(layer.tensor);
    HostTensor real(DType::kFloat32, value->second.shape());
    for (int64_t i = 0; i < real.size(); ++i) real.set_number(i, real_value(value->second, i, type));
    outputs.push_back({layer.node, as_exported(real, layer.tensor)});
  }
  return outputs;
}

Distance distance_between(const HostTensor& reference, const HostTensor& value) {
  Distance distance;
  for (int64_t i = 0; i < value.size(); ++i) distance.add(reference.number(i), value.number(i));
  return distance;
}

Distance distance_to_expected(const PortFormat& port, const HostTensor& expected, const HostTensor& program) {
  if (expected.size() == program.size()) return distance_between(expected, program);
  throw UserError(fmt::format("--expected has shape {}, but the outputs \"{}\" have {}", to_string(expected.shape()),
                              port.name, to_string(program.shape())),
                  "give outputs of the same samples, stacked on axis 0");
}

/// All samples' outputs of a stage, stacked.
template <class Of>
std::vector<HostTensor> stacked(const Runner& runner, const std::vector<SampleResult>& results, Of of) {
  std::vector<Sample> outputs;
  for (const SampleResult& result : results) outputs.push_back(of(result));
  return stack_outputs(runner.outputs, outputs, false);
}

struct Runners {
  explicit Runners(const CompareRequest& request)
      : torch(graph_runner(request.made.torch)), program(program_runner(request.made.image)) {
    if (request.float_model) float_model = graph_runner(*request.float_model);
  }
  std::optional<Runner> float_model;
  Runner torch;
  Runner program;
};

std::vector<OutputComparison> compare_outputs(const CompareRequest& request, const Runners& runners,
                                              const std::vector<SampleResult>& results) {
  const auto torch = stacked(runners.torch, results, [](const SampleResult& r) { return r.torch_outputs; }),
             program = stacked(runners.program, results, [](const SampleResult& r) { return r.program_outputs; });
  std::vector<HostTensor> of_float;
  if (runners.float_model)
    of_float = stacked(*runners.float_model, results, [](const SampleResult& r) { return r.float_outputs; });
  std::vector<OutputComparison> rows;
  for (size_t i = 0; i < program.size(); ++i) {
    const PortFormat& port = runners.program.outputs[i];
    OutputComparison row{.name = port.name,
                         .step = port.border ? port.border->scale[0] : 0,
                         .torch_to_program = distance_between(torch[i], program[i]),
                         .float_to_program = {},
                         .expected_to_program = {}};
    if (i < of_float.size() && of_float[i].size() == program[i].size())
      row.float_to_program = distance_between(of_float[i], program[i]);
    if (i < request.expected.size())
      row.expected_to_program = distance_to_expected(port, request.expected[i], program[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The first layer for which `what` says something.
template <class What>
void add_divergence(const std::vector<LayerComparison>& layers, const char* stage, What what,
                    std::vector<Divergence>& found) {
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string text = what(layers[i]);
    if (text.empty()) continue;
    found.push_back({stage, i, text});
    return;
  }
}

std::string different_bits(const Agreement& agreement) {
  if (agreement.different == 0) return {};
  return fmt::format("{} of {} values differ, first at index {} of sample {}", agreement.different, agreement.compared,
                     agreement.first_index, agreement.first_sample);
}

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

void Agreement::add(const HostTensor& expected, const HostTensor& got, int64_t sample) {
  if (expected.bytes() != got.bytes()) return;
  const size_t width = dtype_bytes(expected.dtype());
  for (size_t i = 0; i < expected.bytes(); i += width) {
    ++compared;
    if (std::memcmp(expected.raw() + i, got.raw() + i, width) == 0) continue;
    if (different++ == 0) {
      first_sample = sample;
      first_index = static_cast<int64_t>(i / width);
    }
  }
}

void Agreement::add(const Agreement& other) {
  compared += other.compared;
  different += other.different;
  if (other.first_sample >= 0 && (first_sample < 0 || other.first_sample < first_sample)) {
    first_sample = other.first_sample;
    first_index = other.first_index;
  }
}

bool Comparison::program_is_exact() const {
  return std::ranges::all_of(layers, [](const LayerComparison& layer) { return layer.program.different == 0; });
}

bool Comparison::board_is_exact() const {
  return std::ranges::all_of(layers, [](const LayerComparison& layer) { return layer.board.different == 0; });
}

std::vector<Divergence> Comparison::divergences() const {
  std::vector<Divergence> found;
  add_divergence(
      layers, "torch",
      [](const LayerComparison& l) {
        const double decibels = l.from_float.sqnr_db();
        return l.from_float.count > 0 && decibels < kLeastDecibels
                   ? fmt::format("{:.1f} dB from the float model", decibels)
                   : std::string();
      },
      found);
  add_divergence(
      layers, "quantized",
      [](const LayerComparison& l) {
        return l.max_error_lsb() > kMostSteps ? fmt::format("{:.1f} LSB from the torch stage", l.max_error_lsb())
                                              : std::string();
      },
      found);
  add_divergence(layers, "program", [](const LayerComparison& l) { return different_bits(l.program); }, found);
  add_divergence(layers, "board", [](const LayerComparison& l) { return different_bits(l.board); }, found);
  return found;
}

Comparison compare_stages(const CompareRequest& request) {
  const LayerMap map = map_layers(request.made, request.float_model);
  const Runners runners(request);
  const std::vector<Sample> torch_inputs = unstack_inputs(runners.torch.inputs, request.inputs),
                            memory_inputs = unstack_inputs(runners.program.inputs, request.inputs);
  std::vector<Sample> float_inputs;
  if (runners.float_model) float_inputs = unstack_inputs(runners.float_model->inputs, request.inputs);
  Comparison comparison{.samples = memory_inputs.size(), .layers = map.layers};
  std::vector<SampleResult> results(memory_inputs.size());
  const SampleComparer comparer(request, map);
  std::mutex mutex;
  const auto make_worker = [&] {
    return [&, stages = std::make_shared<Stages>(request)](size_t i) {
      const SampleInputs inputs{float_inputs.empty() ? nullptr : &float_inputs[i], &torch_inputs[i], &memory_inputs[i]};
      results[i] = comparer.compare(*stages, inputs, static_cast<int64_t>(i));
      const std::lock_guard lock(mutex);
      merge(comparison.layers, results[i].layers);
    };
  };
  // A model with states runs its samples in order.
  if (request.made.quantized.states.empty()) {
    for_each_in_parallel(memory_inputs.size(), make_worker);
  } else {
    const auto worker = make_worker();
    for (size_t i = 0; i < memory_inputs.size(); ++i) worker(i);
  }
  add_crcs(results, comparison.layers);
  comparison.record = record_of(request.made, memory_inputs, results, comparison.layers);
  Values first = results.empty() ? Values() : results.front().first_values;
  if (request.on_board) first = compare_board(request, memory_inputs, results, comparison);
  comparison.first_sample = real_outputs(map, comparison.layers, first);
  std::erase_if(comparison.layers, [](const LayerComparison& layer) { return layer.from_torch.count == 0; });
  comparison.outputs = compare_outputs(request, runners, results);
  return comparison;
}

}  // namespace rush
