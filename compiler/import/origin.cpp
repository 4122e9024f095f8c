// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "compiler/import/names.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/quantize/quantize_op.h"

namespace rush {
namespace {

constexpr std::array<std::string_view, 4> kRootNames = {"L['self'].", "L__self___", "L__self__.", "L__self__"};

constexpr std::array<std::string_view, 4> kForeignPaths = {"-packages/torch/", "-packages/torchao/",
                                                           "-packages\\torch\\", "-packages\\torchao\\"};

std::string_view without_root(std::string_view path) {
  if (path == "L['self']") return {};
  for (std::string_view root : kRootNames) {
    if (path.starts_with(root)) return path.substr(root.size());
  }
  return path;
}

std::string_view trimmed(std::string_view line) {
  const size_t start = line.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view() : line.substr(start);
}

struct Frame {
  std::string_view file;
  std::string_view line;
};

/// From `File "code/model.py", line 41, in forward`.
bool parse_frame(std::string_view text, Frame& frame) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ";
  text = trimmed(text);
  if (!text.starts_with(kFile)) return false;
  const size_t end = text.find(kLine);
  if (end == std::string_view::npos) return false;
  frame.file = text.substr(kFile.size(), end - kFile.size());
  const std::string_view rest = text.substr(end + kLine.size());
  frame.line = rest.substr(0, rest.find_first_not_of("0123456789"));
  return !frame.line.empty();
}

/// PyTorch's own files, and "<eval_with_key>.42".
bool is_foreign(std::string_view file) {
  return file.starts_with("<") || std::ranges::any_of(kForeignPaths, [&](std::string_view path) {
           return file.find(path) != std::string_view::npos;
         });
}

bool has_no_layer(const Node& node) { return node.is<Quantize>() || node.is<Dequantize>() || node.origin == Origin{}; }

using TensorOrigins = std::vector<const Origin*>;

const Origin*& at(TensorOrigins& origins, TensorId id) { return origins[static_cast<size_t>(id.index)]; }

void borrow_from_producers(Graph& graph, TensorOrigins& origins) {
  for (Node& node : graph.nodes) {
    if (has_no_layer(node)) {
      const Origin* from = at(origins, node.inputs[0]);
      if (!from) continue;
      node.origin = *from;
    }
    at(origins, node.out()) = &node.origin;
  }
}

/// Walks backwards, so that of several readers the first one counts.
void borrow_from_consumers(Graph& graph, TensorOrigins origins) {
  const TensorOrigins known = origins;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const Origin* reader = at(origins, node->out());
    if (has_no_layer(*node) && reader) node->origin = *reader;
    for (TensorId input : node->inputs) {
      if (input.valid() && !known[static_cast<size_t>(input.index)]) at(origins, input) = &node->origin;
    }
  }
}

}  // namespace

std::string module_path(std::string_view module_stack) {
  const size_t last = module_stack.rfind(';');
  std::string_view entry = last == std::string_view::npos ? module_stack : module_stack.substr(last + 1);
  const size_t first_comma = entry.find(','), last_comma = entry.rfind(',');
  if (first_comma == std::string_view::npos || first_comma == last_comma) return {};
  return layer_name(without_root(entry.substr(first_comma + 1, last_comma - first_comma - 1)));
}

std::string user_line(std::string_view stack_trace) {
  std::string found;
  while (!stack_trace.empty()) {
    const size_t end = std::min(stack_trace.find('\n'), stack_trace.size());
    Frame frame;
    if (parse_frame(stack_trace.substr(0, end), frame) && !is_foreign(frame.file))
      found = fmt::format("{}:{}", layer_name(frame.file.substr(frame.file.find_last_of("/\\") + 1)), frame.line);
    stack_trace.remove_prefix(std::min(end + 1, stack_trace.size()));
  }
  return found;
}

Origin origin_of(const pt2::NodeRecord& node) {
  std::string layer = module_path(node.module_stack);
  return {layer.empty() ? layer_name(node.name) : std::move(layer), user_line(node.stack_trace)};
}

void borrow_origins(Graph& graph) {
  TensorOrigins origins(graph.tensors.size(), nullptr);
  borrow_from_producers(graph, origins);
  borrow_from_consumers(graph, origins);
}

}  // namespace rush
