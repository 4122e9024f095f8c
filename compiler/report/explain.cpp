// SPDX-License-Identifier: Apache-2.0
#include "compiler/report/explain.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/emit/account.h"
#include "ops/advice.h"
#include "ops/op_def.h"

namespace rush {
namespace {

/// Parts of the time from which on something is worth saying, and worth a warning.
constexpr double kNoteShare = 0.01, kWarningShare = 0.05;

BufferId root_of(const Program& program, BufferId id) {
  while (const auto parent = program[id].view_of) id = *parent;
  return id;
}

bool converts(const ProgramStep& step) { return step.family->op == "quantize" || step.family->op == "dequantize"; }

bool computes_in_float(const ProgramStep& step) { return step.family->name.ends_with("_f32") && !converts(step); }

bool is_float_buffer(const Buffer& buffer) { return buffer.type && buffer.type->dtype == DType::kFloat32; }

std::string layer_name(const ProgramStep& step) { return step.origin.layer.empty() ? step.name : step.origin.layer; }

double cycles_of(const Program& program, const ProgramStep& step) {
  return kernel_cycles({program.isa, program.target}, step.family->name, step.params.data());
}

/// Steps that hand each other float maps.
struct Island {
  std::vector<std::string> layers;  ///< those that compute in float
  int first_step = -1;              ///< of them
  double cycles = 0;                ///< with the conversions
};

/// "a, b, c and 9 more".
std::string names_of(const Island& island) {
  constexpr size_t kMost = 3;
  const auto end = island.layers.begin() + static_cast<ptrdiff_t>(std::min(kMost, island.layers.size()));
  std::string names = fmt::format("{}", fmt::join(island.layers.begin(), end, ", "));
  if (island.layers.size() > kMost) names += fmt::format(" and {} more", island.layers.size() - kMost);
  return names;
}

class Islands {
 public:
  explicit Islands(const Program& program) : program_(program), group_(program.steps.size()) {
    std::iota(group_.begin(), group_.end(), size_t{0});
  }

  std::vector<Island> find() {
    for (size_t i = 0; i < program_.steps.size(); ++i) join(i);
    std::map<size_t, Island> islands;
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      const ProgramStep& step = program_.steps[i];
      if (computes_in_float(step) || converts(step)) add(step, static_cast<int>(i), islands[group_of(i)]);
    }
    std::vector<Island> found;
    for (auto& [group, island] : islands) {
      if (island.first_step >= 0) found.push_back(std::move(island));
    }
    return found;
  }

 private:
  size_t group_of(size_t i) const {
    while (group_[i] != i) i = group_[i];
    return i;
  }

  /// With the steps before that touch the same float map.
  void join(size_t i) {
    for (const OperandRef& operand : program_.steps[i].operands) {
      if (!operand.buffer.valid() || !is_float_buffer(program_[operand.buffer])) continue;
      const auto [first, is_new] = toucher_.try_emplace(root_of(program_, operand.buffer), i);
      if (!is_new) group_[group_of(i)] = group_of(first->second);
    }
  }

  void add(const ProgramStep& step, int index, Island& island) const {
    island.cycles += cycles_of(program_, step);
    if (!computes_in_float(step)) return;
    if (island.first_step < 0) island.first_step = index;
    if (island.layers.empty() || island.layers.back() != layer_name(step)) island.layers.push_back(layer_name(step));
  }

  const Program& program_;
  std::vector<size_t> group_;
  std::map<BufferId, size_t> toucher_;
};

class Explainer {
 public:
  Explainer(const Program& program, std::span<const uint8_t> image)
      : program_(program), summary_(summarize(program, image)), account_(account_for(ImageReader(image))) {}

  Explanation explain() {
    explanation_ = {.target = program_.target, .cycles = summary_.cycles, .layers = {}};
    for (const LayerRow& row : summary_.layers) explain_layer(row);
    explain_islands();
    return std::move(explanation_);
  }

 private:
  double share_of(double cycles) const { return summary_.cycles > 0 ? cycles / summary_.cycles : 0; }

  const ProgramStep& step_of(const LayerRow& row) const {
    return program_.steps.at(static_cast<size_t>(row.first_step));
  }

  void explain_layer(const LayerRow& row) {
    const ProgramStep& step = step_of(row);
    explanation_.layers.push_back(
        {row, kernel_reason(program_.isa, step.family->name, step.params.data()), share_of(row.cycles), {}});
    ExplainedLayer& layer = explanation_.layers.back();
    if (layer.share < kNoteShare) return;
    if (step.family->op == "permute") explain_transpose(step, layer);
    if (step.family->op == "pad") explain_pad(layer);
    if (step.family->op == "identity") explain_copy(layer);
    explain_sizes(step, layer);
    explain_padding(step, layer);
  }

  static void add(ExplainedLayer& layer, std::string what, std::string fix) {
    layer.advice.push_back({layer.share >= kWarningShare, std::move(what), std::move(fix)});
  }

  /// Whether somebody reads the step's output under another shape.
  bool output_is_viewed(const ProgramStep& step) const {
    const auto is_view = [&](const OperandRef& operand) {
      return operand.buffer.valid() && operand.buffer != step.operands[1].buffer &&
             root_of(program_, operand.buffer) == root_of(program_, step.operands[1].buffer);
    };
    return std::ranges::any_of(program_.steps, [&](const ProgramStep& other) {
      return &other != &step && std::ranges::any_of(other.operands, is_view);
    });
  }

  void explain_transpose(const ProgramStep& step, ExplainedLayer& layer) const {
    const uint32_t bytes = program_[step.operands[1].buffer].bytes;
    if (output_is_viewed(step))
      return add(layer,
                 fmt::format("transposes {} bytes, because a view behind it reads them in PyTorch's order", bytes),
                 "pool to 1x1 before the view, or let an nn.Linear follow it: its weights take the order");
    add(layer, fmt::format("transposes {} bytes", bytes),
        "leave out the permute, or undo it by another one: two that cancel cost nothing");
  }

  static void explain_pad(ExplainedLayer& layer) {
    add(layer, "pads a map that another layer reads",
        "give the padding to the convolution or pooling behind it, or pad with 0");
  }

  static void explain_copy(ExplainedLayer& layer) {
    add(layer, "copies bytes from one place to another",
        "have the layers before a torch.cat used by nothing else, or add where the model concatenates");
  }

  void explain_sizes(const ProgramStep& step, ExplainedLayer& layer) const {
    for (const SizeAdvice& a : advise_sizes({program_.isa, program_.target}, step.family->name, step.params.data()))
      add(layer, fmt::format("{} {} do not fill the kernel's vectors", a.now, a.what),
          fmt::format("{} do {:.2f} times the work in {:.2f} times the time", a.better, a.work, a.time));
  }

  /// Of the weights, in flash. Depthwise windows are what they are.
  void explain_padding(const ProgramStep& step, ExplainedLayer& layer) const {
    const auto found = std::ranges::find(account_.layers, layer.row.layer, &LayerAccount::layer);
    if (found == account_.layers.end() || step.family->op == "depthwise_conv2d") return;
    if (found->padding_bytes == 0 || found->padding_bytes * 10 < found->constant_bytes) return;
    layer.advice.push_back(
        {false, fmt::format("{} bytes of flash pad the weights to the kernel's blocks", found->padding_bytes),
         "windows of 16 or a multiple (taps times input channels), and outputs in fours, need none"});
  }

  void explain_islands() {
    for (const Island& island : Islands(program_).find()) {
      const double share = share_of(island.cycles);
      const auto layer = std::ranges::find_if(explanation_.layers, [&](const ExplainedLayer& l) {
        return l.row.first_step <= island.first_step && island.first_step < l.row.first_step + l.row.step_count;
      });
      internal_check(layer != explanation_.layers.end(), "explain: a float step of no layer");
      layer->advice.push_back(
          {true,
           fmt::format("computes in float: {} take {:.0f} % of the time, conversions included", names_of(island),
                       100 * share),
           "quantize it, docs/operators.md lists what has int8 kernels; or keep it, if its accuracy "
           "is worth the time"});
    }
  }

  const Program& program_;
  const ProgramSummary summary_;
  const ImageAccount account_;
  Explanation explanation_;
};

std::string place_of(const LayerRow& row) { return row.source.empty() ? "" : fmt::format(" ({})", row.source); }

std::string text_of(const Advice& advice) {
  return fmt::format("    {}: {}\n      {}\n", advice.is_warning ? "warning" : "note", advice.what, advice.fix);
}

}  // namespace

int Explanation::warnings() const {
  int count = 0;
  for (const ExplainedLayer& layer : layers)
    count += static_cast<int>(std::ranges::count(layer.advice, true, &Advice::is_warning));
  return count;
}

Explanation explain(const Program& program, std::span<const uint8_t> image) {
  return Explainer(program, image).explain();
}

void add_alternative(Explanation& explanation, const Program& program, const Program& other) {
  constexpr double kLeastGain = 1.05;
  for (ExplainedLayer& layer : explanation.layers) {
    const ProgramStep& step = program.steps.at(static_cast<size_t>(layer.row.first_step));
    const auto same = std::ranges::find(other.steps, step.name, &ProgramStep::name);
    if (same == other.steps.end() || same->family == step.family) continue;
    const double gain = cycles_of(program, step) / cycles_of(other, *same);
    if (gain < kLeastGain || layer.share < kNoteShare) continue;
    layer.advice.push_back({false, fmt::format("--opt {} runs it by {}", opt_name(other.opt), same->family->name),
                            fmt::format("{:.2f} times as fast, for more flash", gain)});
  }
}

std::string explanation_text(const Explanation& explanation) {
  std::string text;
  for (const ExplainedLayer& layer : explanation.layers) {
    text += fmt::format("{}{}\n  {}: {}; {:.1f} % of the time", layer.row.layer, place_of(layer.row), layer.row.kernel,
                        layer.reason, 100 * layer.share);
    if (layer.row.constant_bytes > 0) text += fmt::format(", {} bytes of weights", layer.row.constant_bytes);
    text += '\n';
    for (const Advice& advice : layer.advice) text += text_of(advice);
  }
  return text + fmt::format("\n{}: {} layers, {:.0f} cycles by estimate, {} warning{}", explanation.target,
                            explanation.layers.size(), explanation.cycles, explanation.warnings(),
                            explanation.warnings() == 1 ? "" : "s");
}

nlohmann::ordered_json advice_json(const std::vector<Advice>& advice) {
  auto out = nlohmann::ordered_json::array();
  for (const Advice& a : advice) out.push_back({{"warning", a.is_warning}, {"what", a.what}, {"fix", a.fix}});
  return out;
}

std::string explanation_json(const Explanation& explanation) {
  using Json = nlohmann::ordered_json;
  Json out = {{"target", explanation.target},
              {"estimated_cycles", std::llround(explanation.cycles)},
              {"warnings", explanation.warnings()}};
  out["layers"] = Json::array();
  for (const ExplainedLayer& layer : explanation.layers) {
    Json row = {{"layer", layer.row.layer},   {"source", layer.row.source}, {"op", layer.row.op},
                {"kernel", layer.row.kernel}, {"reason", layer.reason},     {"share", layer.share}};
    row["advice"] = advice_json(layer.advice);
    out["layers"].push_back(std::move(row));
  }
  return out.dump(2);
}

}  // namespace rush
