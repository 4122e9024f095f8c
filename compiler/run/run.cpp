// SPDX-License-Identifier: Apache-2.0
#include "compiler/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>

#include "compiler/emit/image_reader.h"
#include "compiler/execute/execute.h"
#include "compiler/host/host_program.h"

namespace rush {
namespace {

bool has_states(const ImageReader& reader) {
  return std::ranges::any_of(reader.regions(), [](const ImageRegion& region) {
    return region.kind == static_cast<uint8_t>(RegionKind::kState);
  });
}

/// Runs all samples, with a worker for each thread; in order by one worker where runs depend on each other.
template <class MakeWorker>
std::vector<Sample> run_all(const std::vector<Sample>& samples, bool in_order, const MakeWorker& make_worker) {
  std::vector<Sample> results(samples.size());
  if (in_order) {
    const auto worker = make_worker();
    for (size_t i = 0; i < samples.size(); ++i) results[i] = worker(samples[i]);
    return results;
  }
  for_each_in_parallel(samples.size(),
                       [&] { return [&, worker = make_worker()](size_t i) { results[i] = worker(samples[i]); }; });
  return results;
}

bool fits(const Shape& stacked, const Shape& element) {
  return stacked.size() == element.size() + 1 && std::equal(element.begin(), element.end(), stacked.begin() + 1);
}

std::string stacked_text(const Shape& element) {
  std::string text = "(N";
  for (const int64_t dim : element) text += fmt::format(", {}", dim);
  return text + ")";
}

/// How many samples an input holds.
int64_t sample_count(const PortFormat& port, const HostTensor& stacked) {
  const Shape& whole = port.exported_shape;
  const bool batch_of_one = !whole.empty() && whole[0] == 1;
  const Shape without_batch(whole.begin() + (batch_of_one ? 1 : 0), whole.end());
  if (fits(stacked.shape(), whole) || (batch_of_one && fits(stacked.shape(), without_batch))) return stacked.shape()[0];
  std::string accepted = stacked_text(whole);
  if (batch_of_one) accepted += " or " + stacked_text(without_batch);
  throw UserError(fmt::format("input \"{}\" has shape {}, but this model takes {} with N samples", port.name,
                              to_string(stacked.shape()), accepted),
                  "stack the samples on axis 0, in the exported model's axis order (numpy.stack)");
}

HostTensor slice(const HostTensor& stacked, int64_t index, const Shape& shape) {
  HostTensor out(stacked.dtype(), shape);
  std::copy_n(stacked.raw() + static_cast<size_t>(index) * out.bytes(), out.bytes(), out.raw());
  return out;
}

}  // namespace

void for_each_in_parallel(size_t count, const std::function<std::function<void(size_t)>()>& make_worker) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto loop = [&] {
    try {
      const auto worker = make_worker();
      for (size_t i = next++; i < count; i = next++) worker(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> threads;
  const size_t wanted = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  for (size_t i = 1; i < wanted; ++i) threads.emplace_back(loop);
  loop();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

Runner graph_runner(const Graph& graph) {
  Runner runner;
  for (const Port& port : graph.inputs) runner.inputs.push_back(port_format(graph, port));
  for (const Port& port : graph.outputs) runner.outputs.push_back(port_format(graph, port));
  runner.run = [&graph](const std::vector<Sample>& samples) {
    return run_all(samples, !graph.states.empty(), [&graph] {
      return
          [executor = std::make_shared<GraphExecutor>(graph)](const Sample& sample) { return executor->run(sample); };
    });
  };
  return runner;
}

Runner program_runner(std::span<const uint8_t> image, const std::string& name) {
  Runner runner;
  const ImageReader reader(image, name);
  for (const ImagePort& port : reader.inputs(0)) runner.inputs.push_back(port_format(port));
  for (const ImagePort& port : reader.outputs(0)) runner.outputs.push_back(port_format(port));
  runner.run = [image, name](const std::vector<Sample>& samples) {
    const HostProgram first(image, name);
    return run_all(samples, has_states(first.image()), [&] {
      return [program = std::make_shared<HostProgram>(first.another())](const Sample& sample) {
        return program->run(0, sample);
      };
    });
  };
  return runner;
}

Runner in_turn(std::vector<std::pair<std::string, Runner>> programs) {
  Runner all;
  for (const auto& [name, program] : programs) {
    for (PortFormat port : program.inputs) {
      port.name = name + "." + port.name;
      all.inputs.push_back(std::move(port));
    }
    for (PortFormat port : program.outputs) {
      port.name = name + "." + port.name;
      all.outputs.push_back(std::move(port));
    }
  }
  all.run = [programs = std::move(programs)](const std::vector<Sample>& samples) {
    std::vector<Sample> results(samples.size());
    size_t first = 0;
    for (const auto& [name, program] : programs) {
      std::vector<Sample> own(samples.size());
      for (size_t i = 0; i < samples.size(); ++i) {
        const auto begin = samples[i].begin() + static_cast<ptrdiff_t>(first);
        own[i].assign(begin, begin + std::ssize(program.inputs));
      }
      first += program.inputs.size();
      std::vector<Sample> outputs = program.run(own);
      for (size_t i = 0; i < samples.size(); ++i) std::ranges::move(outputs[i], std::back_inserter(results[i]));
    }
    return results;
  };
  return all;
}

std::vector<Sample> unstack_inputs(const std::vector<PortFormat>& ports, const std::vector<HostTensor>& stacked) {
  if (ports.size() != stacked.size()) {
    throw UserError(fmt::format("the model has {} inputs, but {} were given", ports.size(), stacked.size()),
                    "give --input once for each input, in the exported order");
  }
  std::vector<Sample> samples;
  for (size_t p = 0; p < ports.size(); ++p) {
    const auto count = static_cast<size_t>(sample_count(ports[p], stacked[p]));
    if (p == 0) samples.resize(count, Sample(ports.size()));
    if (count != samples.size()) {
      throw UserError(fmt::format("input \"{}\" holds {} samples, but input \"{}\" holds {}", ports[p].name, count,
                                  ports[0].name, samples.size()),
                      "give every input the same number of samples");
    }
    for_each_in_parallel(count, [&] {
      return [&](size_t i) {
        samples[i][p] = to_memory(ports[p], slice(stacked[p], static_cast<int64_t>(i), ports[p].exported_shape));
      };
    });
  }
  return samples;
}

std::vector<HostTensor> stack_outputs(const std::vector<PortFormat>& ports, const std::vector<Sample>& samples,
                                      bool raw) {
  std::vector<HostTensor> stacked;
  for (size_t p = 0; p < ports.size(); ++p) {
    Shape shape = ports[p].exported_shape;
    shape.insert(shape.begin(), static_cast<int64_t>(samples.size()));
    std::optional<HostTensor> out;
    for (size_t i = 0; i < samples.size(); ++i) {
      const HostTensor one = from_memory(ports[p], samples[i][p], raw);
      if (!out) out.emplace(one.dtype(), shape);
      std::copy_n(one.raw(), one.bytes(), out->raw() + i * one.bytes());
    }
    stacked.push_back(out ? std::move(*out) : HostTensor(raw ? ports[p].type.dtype : ports[p].exported_dtype, shape));
  }
  return stacked;
}

}  // namespace rush
