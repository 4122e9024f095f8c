// SPDX-License-Identifier: Apache-2.0
#include "compiler/explorer/explorer.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "compiler/emit/image_reader.h"
#include "ops/cost.h"
#include "ops/op_def.h"

namespace rush {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kTorch = "torch", *kQuantized = "quantized", *kProgram = "program";

/// "blocks.0.conv" becomes the nested groups blocks, 0, conv.
std::string namespace_of(const Origin& origin) {
  std::string path = origin.layer;
  for (char& c : path) {
    if (c == '.') c = '/';
  }
  return path;
}

Json attribute(const std::string& key, const std::string& value) { return {{"key", key}, {"value", value}}; }

Json node_json(const std::string& id, const std::string& label, const Origin& origin) {
  Json node = {{"id", id},
               {"label", label},
               {"namespace", namespace_of(origin)},
               {"attrs", Json::array()},
               {"incomingEdges", Json::array()},
               {"outputsMetadata", Json::array()}};
  if (!origin.layer.empty()) node["attrs"].push_back(attribute("layer", origin.layer));
  if (!origin.source.empty()) node["attrs"].push_back(attribute("source", origin.source));
  return node;
}

Json edge_json(const std::string& from, size_t output, size_t input) {
  return {{"sourceNodeId", from},
          {"sourceNodeOutputId", std::to_string(output)},
          {"targetNodeInputId", std::to_string(input)}};
}

Json output_json(size_t index, const std::string& type) {
  return {{"id", std::to_string(index)}, {"attrs", Json::array({attribute("tensor_shape", type)})}};
}

/// A stage's graph of operators.
class GraphView {
 public:
  explicit GraphView(const Graph& graph) : graph_(graph) {}

  Json nodes() {
    Json all = Json::array();
    for (const Port& port : graph_.inputs) {
      all.push_back(node_json("input:" + port.name, "input " + port.name, {}));
      all.back()["outputsMetadata"].push_back(output_json(0, to_string(graph_.type(port.tensor))));
      made_by_[port.tensor] = {"input:" + port.name, 0};
    }
    for (const Node& node : graph_.nodes) all.push_back(operator_json(node));
    for (const Port& port : graph_.outputs) {
      all.push_back(node_json("output:" + port.name, "output " + port.name, {}));
      add_edge(all.back(), port.tensor, 0);
    }
    return all;
  }

 private:
  Json operator_json(const Node& node) {
    Json json = node_json(node.name, std::string(node.op.name()), node.origin);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (!id.valid()) continue;
      if (graph_[id].is_constant()) {
        json["attrs"].push_back(attribute(graph_[id].name, to_string(graph_.type(id))));
      } else {
        add_edge(json, id, i);
      }
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      json["outputsMetadata"].push_back(output_json(i, to_string(graph_.type(node.outputs[i]))));
      made_by_[node.outputs[i]] = {node.name, i};
    }
    return json;
  }

  void add_edge(Json& json, TensorId tensor, size_t input) const {
    const auto from = made_by_.find(tensor);
    if (from != made_by_.end())
      json["incomingEdges"].push_back(edge_json(from->second.first, from->second.second, input));
  }

  const Graph& graph_;
  std::map<TensorId, std::pair<std::string, size_t>> made_by_;
};

/// An image's steps. A step reads from the last one that wrote any of the bytes.
class ImageView {
 public:
  explicit ImageView(const ImageReader& image) : image_(image) {}

  static std::string id(size_t step) { return fmt::format("step{}", step); }

  Json nodes() {
    Json all = Json::array();
    for (size_t i = 0; i < image_.steps().size(); ++i) all.push_back(step_json(i));
    return all;
  }

  Extents extents(size_t step) const {
    Extents extents{};
    const ImageStep& s = image_.steps()[step];
    image_.family(s).host->contract->extents(image_.params(s), &extents);
    return extents;
  }

  std::string region(uint32_t operand) const {
    const uint32_t index = operand >> kOperandRegionShift;
    return index == 0 ? "flash" : image_.string(image_.regions()[index - 1].name);
  }

  /// Bytes and region of what the step writes for others.
  struct Output {
    uint64_t bytes = 0;
    std::string region;
  };
  Output output(size_t step) const {
    const ImageStep& s = image_.steps()[step];
    const KernelFamily& family = image_.family(s);
    const Extents e = extents(step);
    Output output;
    for (size_t k = 0; k < image_.operands(s).size(); ++k) {
      if (!fills(*family.host, k) || static_cast<int>(k) == family.host->scratch_operand) continue;
      output.bytes += e.bytes[k];
      output.region = region(image_.operands(s)[k]);
    }
    return output;
  }

 private:
  struct Written {
    uint32_t begin;
    uint32_t end;
    std::string node;
  };

  Json step_json(size_t index) {
    const ImageStep& step = image_.steps()[index];
    const KernelFamily& family = image_.family(step);
    const std::string kernel = fmt::format("{}_{}", family.name, family.variant[image_.header().isa]);
    Json json = node_json(id(index), std::string(family.op), image_.origin(index));
    json["attrs"].push_back(attribute("kernel", kernel));
    json["attrs"].push_back(attribute("rows", std::to_string(step.rows)));
    const Extents bytes = extents(index);
    const std::span<const uint32_t> operands = image_.operands(step);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (fills(*family.host, k)) continue;
      add_edges(json, operands[k], bytes.bytes[k], k);
    }
    size_t outputs = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!fills(*family.host, k) || static_cast<int>(k) == family.host->scratch_operand) continue;
      json["outputsMetadata"].push_back(
          output_json(outputs++, fmt::format("{} bytes in {}", bytes.bytes[k], region(operands[k]))));
      written_.push_back({operands[k], operands[k] + bytes.bytes[k], id(index)});
    }
    return json;
  }

  void add_edges(Json& json, uint32_t begin, uint32_t bytes, size_t input) const {
    for (size_t i = written_.size(); i-- > 0;) {
      if (written_[i].begin >= begin + bytes || begin >= written_[i].end) continue;
      json["incomingEdges"].push_back(edge_json(written_[i].node, 0, input));
      return;
    }
  }

  const ImageReader& image_;
  std::vector<Written> written_;  ///< in order; operands hold their region in the upper bits
};

/// One overlay: what each node of each graph has of something.
struct Overlay {
  Json graphs = Json::object();

  void set(const char* graph, const std::string& node, Json value) {
    graphs[graph]["results"][node] = {{"value", std::move(value)}};
  }
  void set_gradient(const char* low, const char* high) {
    for (auto& [id, data] : graphs.items())
      data["gradient"] = {{{"stop", 0}, {"bgColor", low}}, {{"stop", 1}, {"bgColor", high}}};
  }
};

std::string kind_of(const KernelFamily& family) {
  if (family.op == "identity" || family.op == "permute" || family.op == "pad") return "data movement";
  return family.name.ends_with("_f32") ? "float kernel" : "integer kernel";
}

/// Red for what runs in float although the rest does not, grey for what only moves bytes.
const char* colour_of(const std::string& kind) {
  if (kind == "float kernel") return "#f4b6b0";
  return kind == "data movement" ? "#dddddd" : "#cfe8cf";
}

/// Cycles by step; a profile has them by layer, and shares them among its steps as the estimate does.
std::vector<double> cycles_of(const ImageReader& image, const ExplorerFacts& facts) {
  std::vector<double> cycles;
  for (const ImageStep& step : image.steps())
    cycles.push_back(kernel_cycles({image.isa(), facts.target}, image.family(step).name, image.params(step)));
  return cycles;
}

void use_profile(const ImageReader& image, const ModelProfile& profile, std::vector<double>& cycles) {
  for (const LayerProfile& layer : profile.layers) {
    double estimated = 0;
    for (size_t i = layer.first_step; i < layer.first_step + layer.step_count; ++i) estimated += cycles.at(i);
    for (size_t i = layer.first_step; i < layer.first_step + layer.step_count; ++i)
      cycles.at(i) *= estimated > 0 ? layer.cycles / estimated : 0;
  }
  internal_check(cycles.size() == image.steps().size(), "explorer: cycles for other steps");
}

/// Overlays of the program, and of the quantized stage where `node_of_step` names its nodes.
ExplorerFiles overlays(const ImageReader& image, const std::vector<std::string>& node_of_step,
                       const ExplorerFacts& facts) {
  const ImageView view(image);
  std::vector<double> cycles = cycles_of(image, facts);
  if (facts.profile) use_profile(image, *facts.profile, cycles);
  Overlay time, memory, regions, kinds, quality;
  std::map<std::string, double> node_cycles;
  for (size_t i = 0; i < image.steps().size(); ++i) {
    const std::string id = ImageView::id(i), kind = kind_of(image.family(image.steps()[i]));
    const ImageView::Output output = view.output(i);
    time.set(kProgram, id, std::round(cycles[i]));
    memory.set(kProgram, id, output.bytes);
    regions.set(kProgram, id, output.region);
    kinds.set(kProgram, id, kind);
    kinds.graphs[kProgram]["results"][id]["bgColor"] = colour_of(kind);
    if (!node_of_step.empty()) node_cycles[node_of_step[i]] += cycles[i];
  }
  for (const auto& [node, sum] : node_cycles) time.set(kQuantized, node, std::round(sum));
  if (facts.comparison) {
    for (const LayerComparison& layer : facts.comparison->layers) {
      const double decibels = layer.from_float.count > 0 ? layer.from_float.sqnr_db() : layer.from_torch.sqnr_db();
      if (std::isinf(decibels)) continue;  // exact: nothing to colour
      const double value = std::round(decibels * 10) / 10;
      quality.set(kQuantized, layer.node, value);
      for (size_t i = 0; i < node_of_step.size(); ++i) {
        if (node_of_step[i] == layer.node) quality.set(kProgram, ImageView::id(i), value);
      }
    }
  }
  time.set_gradient("#ffffff", "#f28e2b");
  memory.set_gradient("#ffffff", "#76b7b2");
  quality.set_gradient("#e15759", "#ffffff");
  ExplorerFiles files = {{"cycles.json", time.graphs.dump()},
                         {"output_bytes.json", memory.graphs.dump()},
                         {"region.json", regions.graphs.dump()},
                         {"kernel_kind.json", kinds.graphs.dump()}};
  if (facts.comparison) files["sqnr_db.json"] = quality.graphs.dump();
  return files;
}

Json graph_json(const char* id, Json nodes) { return {{"id", id}, {"nodes", std::move(nodes)}}; }

}  // namespace

ExplorerFiles explore(const Compilation& made, const ExplorerFacts& facts) {
  const ImageReader image(made.image);
  std::vector<std::string> node_of_step;
  for (const ProgramStep& step : made.program.steps) node_of_step.push_back(step.name);
  ExplorerFiles files = overlays(image, node_of_step, facts);
  files["graphs.json"] = Json::array({graph_json(kTorch, GraphView(made.torch).nodes()),
                                      graph_json(kQuantized, GraphView(made.quantized).nodes()),
                                      graph_json(kProgram, ImageView(image).nodes())})
                             .dump();
  return files;
}

ExplorerFiles explore_image(std::span<const uint8_t> bytes, const std::string& name, const ExplorerFacts& facts) {
  const ImageReader image(bytes, name);
  ExplorerFiles files = overlays(image, {}, facts);
  files["graphs.json"] = Json::array({graph_json(kProgram, ImageView(image).nodes())}).dump();
  return files;
}

}  // namespace rush
