// SPDX-License-Identifier: Apache-2.0
//
// Reads the text form that print.cpp describes, a line at a time with one cursor. Lines that begin with '#' and
// empty lines are skipped.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "compiler/ir/graph.h"
#include "ops/op_def.h"

namespace rush {
namespace {

/// A line and how far it has been read.
class Cursor {
 public:
  Cursor(std::string_view line, int number) : rest_(line), number_(number) { skip_spaces(); }

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("line {}: {}", number_, what), "write the line as `print` would");
  }

  bool done() const { return rest_.empty(); }
  bool at(std::string_view token) const { return rest_.starts_with(token); }

  bool accept(std::string_view token) {
    if (!at(token)) return false;
    rest_.remove_prefix(token.size());
    skip_spaces();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("expected '{}' before '{}'", token, excerpt()));
  }

  /// [A-Za-z0-9_.]+, or a quoted string.
  std::string word() {
    if (at("\"")) return quoted();
    size_t length = 0;
    while (length < rest_.size() && is_word(rest_[length])) ++length;
    if (length == 0) fail(fmt::format("expected a name before '{}'", excerpt()));
    return take(length);
  }

  std::string quoted() {
    if (!at("\"")) fail(fmt::format("expected '\"' before '{}'", excerpt()));
    std::string out;
    size_t i = 1;
    for (; i < rest_.size() && rest_[i] != '"'; ++i) out += rest_[i] == '\\' ? escaped(i) : rest_[i];
    if (i >= rest_.size()) fail("a string does not end");
    take(i + 1);
    return out;
  }

  std::string until(char end) {
    const size_t length = rest_.find(end);
    if (length == std::string_view::npos) fail(fmt::format("expected '{}'", end));
    return take(length);
  }

  template <class T>
  T number() {
    T value{};
    const char* begin = rest_.data();
    const auto [end, error] = std::from_chars(begin, begin + rest_.size(), value);
    if (error != std::errc()) fail(fmt::format("expected a number before '{}'", excerpt()));
    take(static_cast<size_t>(end - begin));
    return value;
  }

  uint16_t bits() {
    if (!rest_.starts_with("0x")) fail(fmt::format("expected 0x... before '{}'", excerpt()));
    uint16_t value = 0;
    const char* begin = rest_.data() + 2;
    const auto [end, error] = std::from_chars(begin, rest_.data() + rest_.size(), value, 16);
    if (error != std::errc()) fail("expected 16 bits in hexadecimal");
    take(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  template <class T>
  std::vector<T> list() {
    std::vector<T> values;
    expect("[");
    while (!accept("]")) {
      if (!values.empty()) expect(",");
      values.push_back(number<T>());
    }
    return values;
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  }

  std::string excerpt() const { return rest_.empty() ? "the end of the line" : std::string(rest_.substr(0, 20)); }

  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r')) rest_.remove_prefix(1);
  }

  std::string take(size_t length) {
    std::string text(rest_.substr(0, length));
    rest_.remove_prefix(length);
    skip_spaces();
    return text;
  }

  /// The character that the escape at rest_[i] stands for; moves i to the escape's last character.
  char escaped(size_t& i) const {
    if (i + 1 >= rest_.size()) fail("a string does not end");
    if (rest_[++i] != 'x') return rest_[i];
    unsigned value = 0;
    if (i + 2 >= rest_.size() ||
        std::from_chars(rest_.data() + i + 1, rest_.data() + i + 3, value, 16).ptr != rest_.data() + i + 3)
      fail("\\x needs two hexadecimal digits");
    i += 2;
    return static_cast<char>(value);
  }

  std::string_view rest_;
  int number_;
};

/// Reads one attribute's value into the field of that name.
class AttributeParser final : public FieldVisitor {
 public:
  AttributeParser(std::string name, Cursor& in) : name_(std::move(name)), in_(in) {}
  bool found() const { return found_; }

  void operator()(std::string_view name, int64_t& value) override {
    if (matches(name)) value = in_.number<int64_t>();
  }
  void operator()(std::string_view name, double& value) override {
    if (matches(name)) value = in_.number<double>();
  }
  void operator()(std::string_view name, bool& value) override {
    if (!matches(name)) return;
    value = in_.accept("true");
    if (!value) in_.expect("false");
  }
  void operator()(std::string_view name, std::string& value) override {
    if (matches(name)) value = in_.quoted();
  }
  void operator()(std::string_view name, std::vector<int64_t>& value) override {
    if (matches(name)) value = in_.list<int64_t>();
  }

 private:
  bool matches(std::string_view name) {
    const bool same = name == name_;
    found_ |= same;
    return same;
  }

  std::string name_;
  Cursor& in_;
  bool found_ = false;
};

Op parse_attributes(Op op, Cursor& in) {
  if (!in.accept("{")) return op;
  while (!in.accept("}")) {
    const std::string name = in.word();
    in.expect("=");
    AttributeParser parser(name, in);
    op = op.visited(parser);
    if (!parser.found()) in.fail(fmt::format("{} has no attribute '{}'", op.name(), name));
    if (!in.at("}")) in.expect(",");
  }
  return op;
}

DType parse_element_type(Cursor& in) {
  const std::string name = in.word();
  const auto dtype = parse_dtype(name);
  if (!dtype) in.fail("unknown element type '" + name + "'");
  return *dtype;
}

Quant parse_quant(Cursor& in) {
  Quant quant;
  in.expect("q");
  if (in.accept("[")) {
    quant.axis = in.number<int>();
    in.expect("]");
  }
  in.expect("(");
  do {
    quant.scale.push_back(in.number<double>());
    in.expect(",");
    quant.zero_point.push_back(in.number<int64_t>());
  } while (in.accept(";"));
  if (in.accept("in")) {
    quant.min = in.number<int64_t>();
    in.expect("..");
    quant.max = in.number<int64_t>();
  }
  in.expect(")");
  return quant;
}

TensorType parse_type(Cursor& in) {
  TensorType type;
  type.dtype = parse_element_type(in);
  type.shape = in.list<int64_t>();
  for (int64_t dim : type.shape)
    if (dim < 0) in.fail("negative dimension");
  if (in.at("q(") || in.at("q[")) type.quant = parse_quant(in);
  return type;
}

void parse_element(HostTensor& data, int64_t i, Cursor& in) {
  switch (data.dtype()) {
    case DType::kFloat32:
      data.as<float>()[i] = in.number<float>();
      return;
    case DType::kFloat64:
      data.as<double>()[i] = in.number<double>();
      return;
    case DType::kFloat16:
    case DType::kBFloat16:
      data.as<uint16_t>()[i] = in.bits();
      return;
    case DType::kInt64:
      data.as<int64_t>()[i] = in.number<int64_t>();
      return;
    default:
      data.set_number(i, static_cast<double>(in.number<int64_t>()));
  }
}

HostTensor parse_values(const TensorType& type, Cursor& in) {
  if (in.at("hash")) in.fail("the constant is given by its hash only; print it in full");
  HostTensor data(type.dtype, type.shape);
  if (in.accept("splat")) {
    in.expect("(");
    HostTensor one(type.dtype, {1});
    parse_element(one, 0, in);
    in.expect(")");
    for (size_t at = 0; at < data.bytes(); at += one.bytes()) std::memcpy(data.raw() + at, one.raw(), one.bytes());
    return data;
  }
  in.expect("[");
  for (int64_t i = 0; i < data.size(); ++i) {
    if (i > 0) in.expect(",");
    parse_element(data, i, in);
  }
  in.expect("]");
  return data;
}

class Parser {
 public:
  Graph run(std::string_view text) {
    int number = 0;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      Cursor in(text.substr(0, end), ++number);
      if (!in.done() && !in.at("#")) line(in);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    for (const auto& [index, name, in] : pending_) graph_.states[index].next = find(name, in);
    return std::move(graph_);
  }

 private:
  struct Pending {
    size_t state;
    std::string name;
    Cursor in;
  };

  void line(Cursor& in) {
    if (in.accept("input "))
      input(in);
    else if (in.accept("output "))
      output(in);
    else if (in.accept("state "))
      state(in);
    else if (in.accept("const "))
      constant(in);
    else
      node(in);
    if (!in.done()) in.fail("something follows the end of the statement");
  }

  TensorId find(const std::string& name, const Cursor& in) const {
    const auto it = ids_.find(name);
    if (it == ids_.end()) in.fail("'" + name + "' is not defined above");
    return it->second;
  }

  TensorId define(Cursor& in, std::string_view sigil) {
    in.expect(sigil);
    std::string name = in.word();
    in.expect(":");
    TensorType type = parse_type(in);
    const TensorId id = graph_.add_tensor(name, std::move(type));
    if (!ids_.emplace(name, id).second) in.fail("'" + name + "' is defined twice");
    return id;
  }

  TensorId reference(Cursor& in) const {
    if (!in.accept("@")) in.expect("%");
    return find(in.word(), in);
  }

  static void port_extra(Port& port, Cursor& in) {
    const std::string key = in.word();
    in.expect("=");
    if (key == "name") {
      port.name = in.quoted();
    } else if (key == "exported") {
      port.exported_dtype = parse_element_type(in);
      port.exported_shape = in.list<int64_t>();
    } else if (key == "order") {
      port.dim_order = in.list<int>();
    } else if (key == "border") {
      port.border = parse_quant(in);
    } else {
      in.fail("a port has no '" + key + "'");
    }
  }

  Port port(TensorId id, Cursor& in) const {
    const Tensor& tensor = graph_[id];
    Port port{tensor.name, id, tensor.type.dtype, tensor.type.shape, {}, {}};
    port.dim_order.resize(tensor.type.shape.size());
    std::iota(port.dim_order.begin(), port.dim_order.end(), 0);
    if (!in.accept("{")) return port;
    while (!in.accept("}")) {
      port_extra(port, in);
      if (!in.at("}")) in.expect(",");
    }
    return port;
  }

  void input(Cursor& in) {
    const TensorId id = define(in, "%");
    graph_.inputs.push_back(port(id, in));
  }

  void output(Cursor& in) {
    const TensorId id = reference(in);
    graph_.outputs.push_back(port(id, in));
  }

  void state(Cursor& in) {
    const TensorId id = define(in, "%");
    State state{graph_[id].name, id, {}, nullptr};
    if (in.accept("=")) state.initial = std::make_shared<const HostTensor>(parse_values(graph_.type(id), in));
    in.expect("next");
    if (!in.accept("@")) in.expect("%");
    pending_.push_back({graph_.states.size(), in.word(), in});
    if (in.accept("as ")) state.name = in.word();
    graph_.states.push_back(std::move(state));
  }

  void constant(Cursor& in) {
    const TensorId id = define(in, "@");
    in.expect("=");
    graph_[id].data = std::make_shared<const HostTensor>(parse_values(graph_.type(id), in));
  }

  Op op(Cursor& in) const {
    const std::string name = in.word();
    const OpDef* def = find_op(name);
    if (!def) in.fail("unknown operator '" + name + "'");
    return def->make();
  }

  std::vector<TensorId> arguments(Cursor& in) const {
    std::vector<TensorId> ids;
    in.expect("(");
    while (!in.accept(")")) {
      if (!ids.empty()) in.expect(",");
      ids.push_back(in.accept("_") ? TensorId{} : reference(in));
    }
    return ids;
  }

  void node(Cursor& in) {
    Node node;
    // The outputs become known only after the arguments, so that no node can read itself.
    std::vector<std::pair<std::string, TensorType>> outputs;
    do {
      in.expect("%");
      std::string name = in.word();
      in.expect(":");
      outputs.emplace_back(std::move(name), parse_type(in));
    } while (in.accept(","));
    in.expect("=");
    node.op = op(in);
    node.inputs = arguments(in);
    node.op = parse_attributes(node.op, in);
    origin(node.origin, in);
    node.name = in.accept("as ") ? in.word() : outputs[0].first;
    for (auto& [name, type] : outputs) {
      node.outputs.push_back(graph_.add_tensor(name, std::move(type)));
      if (!ids_.emplace(name, node.outputs.back()).second) in.fail("'" + name + "' is defined twice");
    }
    graph_.nodes.push_back(std::move(node));
  }

  static void origin(Origin& origin, Cursor& in) {
    if (in.at("\"")) origin.layer = in.quoted();
    if (!in.accept("(")) return;
    origin.source = in.at("\"") ? in.quoted() : in.until(')');
    in.expect(")");
  }

  Graph graph_;
  std::map<std::string, TensorId> ids_;
  std::vector<Pending> pending_;
};

}  // namespace

Graph parse(std::string_view text) { return Parser().run(text); }

}  // namespace rush
