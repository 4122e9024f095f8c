// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/emit/emit.h"
#include "compiler/firmware/process.h"
#include "compiler/import/import.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/pass_list.h"
#include "compiler/plan/choose.h"
#include "compiler/plan/plan.h"

namespace rush {
namespace {

void dump(const Graph& graph, const CompileOptions& options, const std::string& name) {
  if (options.dump_ir.empty()) return;
  std::filesystem::create_directories(options.dump_ir);
  firmware::write_file(options.dump_ir / (name + ".txt"), print(graph));
}

bool stops_at(const CompileOptions& options, std::string_view pass) { return options.stop_after == pass; }

void check_stop_after(const CompileOptions& options) {
  if (options.stop_after.empty()) return;
  if (std::ranges::any_of(kPasses, [&](const Pass& pass) { return pass.name == options.stop_after; })) return;
  std::string known;
  for (const Pass& pass : kPasses) known += fmt::format("{}{}", known.empty() ? "" : ", ", pass.name);
  throw UserError(fmt::format("there is no pass \"{}\"", options.stop_after), "choose one of " + known);
}

/// First (or last) step that belongs to a layer.
int find_step(const Program& program, const std::string& layer, bool last) {
  int found = -1;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const ProgramStep& step = program.steps[i];
    if (step.origin.layer != layer && step.name != layer) continue;
    if (found < 0 || last) found = static_cast<int>(i);
  }
  if (found >= 0) return found;
  throw UserError(fmt::format("--stream: the program has no layer \"{}\"", layer),
                  "`rushlight compile` prints the layers that there are");
}

void check_place(const Target& target, const CompileOptions& options) {
  if (options.place.empty() || !target.memories.empty()) return;
  std::string chips;
  for (const std::string& name : target_names()) {
    if (!load_target(name).memories.empty()) chips += (chips.empty() ? "" : ", ") + name;
  }
  throw UserError(fmt::format("--place: {} is a core, which says nothing of memories", target.name),
                  "choose a chip with --target: " + chips);
}

/// The whole RAM of a core, which says nothing of memories, goes by any one name.
std::optional<uint64_t> most_ram(const Target& target, const CompileOptions& options) {
  if (!target.memories.empty() || options.limits.empty()) return options.most_ram;
  const MemoryLimit& limit = options.limits.front();
  if (options.limits.size() > 1 || options.most_ram)
    throw UserError(fmt::format("--ram {}={}: {} is a core, of whose RAM there is one limit", limit.memory, limit.bytes,
                                target.name),
                    "give one --ram, or choose a chip with --target");
  return limit.bytes;
}

/// A chip of whose memories no more may be used than the user gives.
Target limited(Target target, const CompileOptions& options) {
  if (target.memories.empty()) return target;
  for (const MemoryLimit& limit : options.limits) {
    const auto memory = std::ranges::find(target.memories, limit.memory, &ChipMemory::name);
    if (memory == target.memories.end() || memory->is_flash) {
      std::vector<std::string> names;
      for (const ChipMemory& each : target.memories)
        if (!each.is_flash) names.push_back(each.name);
      throw UserError(
          fmt::format("--ram {}={}: {} has no RAM \"{}\"", limit.memory, limit.bytes, target.name, limit.memory),
          fmt::format("use one of {}", fmt::join(names, ", ")));
    }
    memory->bytes = std::min(memory->bytes, limit.bytes);
  }
  return target;
}

void stream_layers(Program& program, const CompileOptions& options) {
  for (const StreamRequest& request : options.stream) {
    const int first = find_step(program, request.first_layer, false),
              last = find_step(program, request.last_layer, true);
    if (last <= first)
      throw UserError(
          fmt::format("--stream: \"{}\" does not come after \"{}\"", request.last_layer, request.first_layer),
          "name the earlier layer first");
    make_chain(program, first, last - first + 1);
  }
}

/// How much longer than the fastest schedule one of less RAM may take: 5 % in all, of which kernels compiled for size
/// take up to 1.5. An input is fed line by line for its RAM's sake.
double added_time(const CompileOptions& options) {
  if (options.line_input) return 0.05;
  if (options.opt == Opt::kSize) return 0.035;
  return 0;
}

/// A UserError where the program cannot lie in the target's memories.
void check_fits(const Program& program, size_t image_bytes, const Target& target) {
  const uint64_t ram = total_ram(program);
  if (image_bytes > target.flash_bytes) {
    throw UserError(
        fmt::format("the model takes {} bytes of flash, {} has {}", image_bytes, target.name, target.flash_bytes),
        "use a larger chip or a smaller model");
  }
  if (ram > target.ram_bytes) {
    throw UserError(fmt::format("the model takes {} bytes of RAM, {} has {}", ram, target.name, target.ram_bytes),
                    "use a larger chip, a smaller input, or --ram, which streams maps that are too large");
  }
}

}  // namespace

Graph torch_stage(const std::filesystem::path& model, const CompileOptions& options) {
  Graph graph = import_pt2(model, {.batch = options.batch});
  if (options.bytes) graph = take_bytes(std::move(graph), *options.bytes);
  verify(graph);
  dump(graph, options, "00-import");
  return graph;
}

Graph quantized_stage(Graph graph, const CompileOptions& options) {
  check_stop_after(options);
  int number = 0;
  for (const Pass& pass : kPasses) {
    ++number;
    Graph next = pass.run(graph);
    verify(next);
    const bool changed = !options.dump_ir.empty() && print(next) != print(graph);
    graph = std::move(next);
    if (changed) dump(graph, options, fmt::format("{:02}-{}", number, pass.name));
    if (stops_at(options, pass.name)) break;
  }
  return graph;
}

Program program_stage(const Graph& quantized, const Target& target, const CompileOptions& options) {
  check_place(target, options);
  Program program = lower_graph(quantized, target.isa, target.name, options.opt);
  program.core = target.core;
  program.memories = limited(target, options).memories;
  program.cache_bytes = target.cache_bytes;
  program.mhz = target.mhz;
  program.labels = options.labels;
  if (options.keep_input) {
    for (ProgramPort& port : program.entries.at(0).inputs) port.kept = true;
  }
  if (options.line_input) make_line_fed(program, 0);
  stream_layers(program, options);
  ScheduleWish wish{
      .most_ram = most_ram(target, options), .most_added = added_time(options), .with_curve = options.trade_curve};
  if (!target.memories.empty()) {
    plan_in_memories(program, wish, options.place);
    return program;
  }
  Program planned = program;
  plan_program(planned, wish);
  if (!wish.most_ram && total_ram(planned) > target.ram_bytes) {
    wish.most_ram = target.ram_bytes;  // the chip is a budget too
    planned = program;
    plan_program(planned, wish);
  }
  return planned;
}

EmitOptions image_options(const CompileOptions& options) {
  const bool size = options.opt == Opt::kSize;
  return {.full_kernel_table = options.full_kernel_table, .debug = !size, .costs = !size};
}

Compilation compile_model(const std::filesystem::path& model, const CompileOptions& options) {
  const Target target = load_target(options.target);
  Compilation made;
  made.torch = torch_stage(model, options);
  made.quantized = quantized_stage(made.torch, options);
  made.program = program_stage(made.quantized, target, options);
  made.image = emit_image(made.program, image_options(options));
  check_fits(made.program, made.image.size(), target);
  return made;
}

}  // namespace rush
