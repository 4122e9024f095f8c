// SPDX-License-Identifier: Apache-2.0
//
// The text form, one thing a line:
//
//   input %x: float32[1,3,8,8]
//   state %ring: int8[1,4] q(0.1,0) = [0, 1, 2, 3] next %new
//   const @w: int8[2,4] q[0](0.5,0; 0.25,0 in -127..127) = [1, 2, 3, 4, 5, 6, 7, 8]
//   %y: int8[1,2] q(0.023,-128) = linear(%ring, @w, _) {min=0} "head.fc" (model.py:41) as linear_3
//   output %y {exported=float32[1,2], border=q(0.023,-128)}
//
// Left out is what is usual: attributes at their default, the node's name where it is its output's, a port's name
// where it is its tensor's. Numbers are the shortest that read back exactly.
#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ir/graph.h"
#include "ops/op_def.h"

namespace rush {
namespace {

bool is_plain(const std::string& name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  return !name.empty() && std::ranges::all_of(name, plain);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + "\"";
}

std::string word(const std::string& name) { return is_plain(name) ? name : quoted(name); }

uint64_t fnv1a(const uint8_t* bytes, size_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

/// Writes the attributes that differ from the operator's defaults.
class AttributePrinter final : public FieldVisitor {
 public:
  void operator()(std::string_view name, int64_t& value) override { add(name, fmt::format("{}", value)); }
  void operator()(std::string_view name, double& value) override { add(name, fmt::format("{}", value)); }
  void operator()(std::string_view name, bool& value) override { add(name, value ? "true" : "false"); }
  void operator()(std::string_view name, std::string& value) override { add(name, quoted(value)); }
  void operator()(std::string_view name, std::vector<int64_t>& value) override {
    add(name, fmt::format("[{}]", fmt::join(value, ",")));
  }
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  void add(std::string_view name, std::string value) { fields_.emplace_back(name, std::move(value)); }
  std::vector<std::pair<std::string, std::string>> fields_;
};

std::vector<std::pair<std::string, std::string>> fields_of(const Op& op) {
  AttributePrinter printer;
  op.visited(printer);
  return printer.fields();
}

std::string braces(const std::vector<std::string>& items) {
  return items.empty() ? "" : fmt::format(" {{{}}}", fmt::join(items, ", "));
}

std::string attributes(const Op& op) {
  const OpDef* def = find_op(op.name());
  const auto fields = fields_of(op), defaults = def ? fields_of(def->make()) : decltype(fields)();
  std::vector<std::string> items;
  for (const auto& field : fields)
    if (std::ranges::find(defaults, field) == defaults.end()) items.push_back(field.first + "=" + field.second);
  return braces(items);
}

class Printer {
 public:
  Printer(const Graph& graph, const PrintOptions& options) : graph_(graph), options_(options) {}

  std::string text() {
    for (const Port& port : graph_.inputs) input(port);
    for (const State& s : graph_.states) state(s);
    for (size_t i = 0; i < graph_.tensors.size(); ++i)
      if (graph_.tensors[i].is_constant()) constant(graph_.tensors[i]);
    for (const Node& n : graph_.nodes) node(n);
    for (const Port& port : graph_.outputs) output(port);
    return std::move(out_);
  }

 private:
  std::string name(TensorId id) const {
    if (!id.valid()) return "_";
    return (graph_[id].is_constant() ? "@" : "%") + word(graph_[id].name);
  }

  std::string quant(const Quant& q) const {
    std::string items;
    if (static_cast<int64_t>(q.scale.size()) > options_.max_constant_elements) {
      items = fmt::format("{} scales", q.scale.size());
    } else {
      for (size_t i = 0; i < q.scale.size(); ++i)
        items += fmt::format("{}{},{}", i ? "; " : "", q.scale[i], q.zero_point[i]);
    }
    if (q.min != -128 || q.max != 127) items += fmt::format(" in {}..{}", q.min, q.max);
    return q.per_tensor() ? fmt::format("q({})", items) : fmt::format("q[{}]({})", q.axis, items);
  }

  std::string type(const TensorType& t) const {
    std::string text = fmt::format("{}{}", dtype_name(t.dtype), to_string(t.shape));
    if (t.quant) text += " " + quant(*t.quant);
    return text;
  }

  static std::string element(const HostTensor& data, int64_t i) {
    switch (data.dtype()) {
      case DType::kFloat32:
        return fmt::format("{}", data.as<float>()[i]);
      case DType::kFloat64:
        return fmt::format("{}", data.as<double>()[i]);
      case DType::kFloat16:
      case DType::kBFloat16:
        return fmt::format("0x{:04x}", data.as<uint16_t>()[i]);
      case DType::kInt64:
        return fmt::format("{}", data.as<int64_t>()[i]);
      default:
        return fmt::format("{}", static_cast<int64_t>(data.number(i)));
    }
  }

  static bool is_splat(const HostTensor& data) {
    const size_t width = dtype_bytes(data.dtype());
    for (int64_t i = 1; i < data.size(); ++i)
      if (std::memcmp(data.raw(), data.raw() + static_cast<size_t>(i) * width, width) != 0) return false;
    return data.size() > 4;
  }

  std::string values(const HostTensor& data) const {
    if (is_splat(data)) return fmt::format("splat({})", element(data, 0));
    if (data.size() > options_.max_constant_elements)
      return fmt::format("hash {:016x}", fnv1a(data.raw(), data.bytes()));
    std::string text;
    for (int64_t i = 0; i < data.size(); ++i) text += (i ? ", " : "") + element(data, i);
    return "[" + text + "]";
  }

  /// What of a port is not as usual.
  std::string port_extras(const Port& port) const {
    const Tensor& tensor = graph_[port.tensor];
    std::vector<int> identity(port.dim_order.size());
    std::iota(identity.begin(), identity.end(), 0);
    std::vector<std::string> items;
    if (port.name != tensor.name) items.push_back("name=" + quoted(port.name));
    if (port.exported_dtype != tensor.type.dtype || port.exported_shape != tensor.type.shape)
      items.push_back(fmt::format("exported={}{}", dtype_name(port.exported_dtype), to_string(port.exported_shape)));
    if (port.dim_order != identity) items.push_back(fmt::format("order=[{}]", fmt::join(port.dim_order, ",")));
    if (port.border) items.push_back("border=" + quant(*port.border));
    return braces(items);
  }

  void input(const Port& port) {
    out_ += fmt::format("input {}: {}{}\n", name(port.tensor), type(graph_.type(port.tensor)), port_extras(port));
  }

  void output(const Port& port) { out_ += fmt::format("output {}{}\n", name(port.tensor), port_extras(port)); }

  void state(const State& s) {
    const std::string initial = s.initial ? " = " + values(*s.initial) : "";
    const std::string alias = s.name == graph_[s.current].name ? "" : " as " + word(s.name);
    out_ += fmt::format("state {}: {}{} next {}{}\n", name(s.current), type(graph_.type(s.current)), initial,
                        name(s.next), alias);
  }

  void constant(const Tensor& tensor) {
    out_ += fmt::format("const @{}: {} = {}\n", word(tensor.name), type(tensor.type), values(*tensor.data));
  }

  void node(const Node& n) {
    for (size_t i = 0; i < n.outputs.size(); ++i)
      out_ += fmt::format("{}{}: {}", i ? ", " : "", name(n.outputs[i]), type(graph_.type(n.outputs[i])));
    std::vector<std::string> inputs;
    for (TensorId id : n.inputs) inputs.push_back(name(id));
    out_ += fmt::format(" = {}({}){}", n.op.name(), fmt::join(inputs, ", "), attributes(n.op));
    if (!n.origin.layer.empty()) out_ += " " + quoted(n.origin.layer);
    if (!n.origin.source.empty())
      out_ += " (" + (is_plain_source(n.origin.source) ? n.origin.source : quoted(n.origin.source)) + ")";
    if (n.name != graph_[n.out()].name) out_ += " as " + word(n.name);
    out_ += "\n";
  }

  static bool is_plain_source(const std::string& source) {
    return source.find_first_of("()\"\\\n\r") == std::string::npos;
  }

  const Graph& graph_;
  const PrintOptions& options_;
  std::string out_;
};

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) { return Printer(graph, options).text(); }

}  // namespace rush
