// SPDX-License-Identifier: Apache-2.0
//
// The only file that sees the JSON library. Parsing is strict about types, lenient about unknown keys: minor
// schema versions add keys. Nesting is bounded before the parser sees the text, sizes by the caller.
#include "compiler/import/pt2_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace rush::pt2 {
namespace {

using Json = nlohmann::json;

constexpr int kMaxNesting = 200;  // graphs of torch.cond in one another come to 12 a level
constexpr int64_t kSchemaMajor = 8;
constexpr const char* kExportAgain = "export the model again with torch.export.save";

struct Malformed {
  std::string what;
};

struct DTypeCode {
  int64_t code;
  std::string_view name;
  std::optional<DType> dtype;
};

// torch/_export/serde/schema.py, class ScalarType.
constexpr std::array<DTypeCode, 19> kDTypeCodes = {{
    {1, "uint8", DType::kUInt8},
    {2, "int8", DType::kInt8},
    {3, "int16", DType::kInt16},
    {4, "int32", DType::kInt32},
    {5, "int64", DType::kInt64},
    {6, "float16", DType::kFloat16},
    {7, "float32", DType::kFloat32},
    {8, "float64", DType::kFloat64},
    {9, "complex32", {}},
    {10, "complex64", {}},
    {11, "complex128", {}},
    {12, "bool", DType::kBool},
    {13, "bfloat16", DType::kBFloat16},
    {28, "uint16", {}},
    {29, "float8_e4m3fn", {}},
    {30, "float8_e5m2", {}},
    {33, "float8_e8m0fnu", {}},
    {34, "uint32", {}},
    {35, "uint64", {}},
}};

const DTypeCode* find_code(int64_t code) {
  for (const DTypeCode& row : kDTypeCodes) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

// --- JSON values, checked ---

const Json& member(const Json& object, const char* key) {
  if (!object.is_object()) throw Malformed{fmt::format("expected an object with \"{}\"", key)};
  const auto it = object.find(key);
  if (it == object.end()) throw Malformed{fmt::format("\"{}\" is missing", key)};
  return *it;
}

const Json* optional_member(const Json& object, const char* key) {
  if (!object.is_object()) throw Malformed{fmt::format("expected an object with \"{}\"", key)};
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

const Json& list_in(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_array()) throw Malformed{fmt::format("\"{}\" is not a list", key)};
  return value;
}

const Json& object_in(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_object()) throw Malformed{fmt::format("\"{}\" is not an object", key)};
  return value;
}

const std::string& text_of(const Json& value, const char* what) {
  if (!value.is_string()) throw Malformed{fmt::format("\"{}\" is not a string", what)};
  return value.get_ref<const std::string&>();
}

int64_t integer_of(const Json& value, const char* what) {
  const bool too_large =
      value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()};
  if (!value.is_number_integer() || too_large) throw Malformed{fmt::format("\"{}\" is not an integer", what)};
  return value.get<int64_t>();
}

bool flag_of(const Json& value, const char* what) {
  if (!value.is_boolean()) throw Malformed{fmt::format("\"{}\" is not true or false", what)};
  return value.get<bool>();
}

/// Non-finite numbers are strings, since JSON has none.
double real_of(const Json& value, const char* what) {
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  throw Malformed{fmt::format("\"{}\" is not a number", what)};
}

/// The one key and value of a union.
std::pair<std::string, const Json*> union_of(const Json& value, const char* what) {
  if (!value.is_object() || value.size() != 1) throw Malformed{fmt::format("{} is not a union of one key", what)};
  return {value.begin().key(), &value.begin().value()};
}

/// Runs `read` and puts `where` in front of what is wrong.
template <class F>
auto in_context(const std::string& where, F read) -> decltype(read()) {
  try {
    return read();
  } catch (const Malformed& error) {
    throw Malformed{where + ": " + error.what};
  }
}

// --- tensors ---

constexpr std::string_view kSymbolPrefix = "Symbol('";

/// "Symbol('s77', positive=True, integer=True)" is the variable s77; anything else is an expression.
Extent parse_expression(const Json& value) {
  const std::string& text = text_of(member(value, "expr_str"), "expr_str");
  Extent extent;
  if (const Json* hint = optional_member(value, "hint"); hint && hint->is_object() && hint->contains("as_int"))
    extent.value = integer_of((*hint)["as_int"], "hint");
  const size_t quote = text.find('\'', kSymbolPrefix.size());
  extent.plain = text.starts_with(kSymbolPrefix) && quote != std::string::npos && text.ends_with(')') &&
                 text.find('(', quote) == std::string::npos;
  extent.symbol = extent.plain ? text.substr(kSymbolPrefix.size(), quote - kSymbolPrefix.size()) : text;
  return extent;
}

Extent parse_extent(const Json& value) {
  const auto [key, inner] = union_of(value, "a size");
  if (key == "as_int") return {integer_of(*inner, "as_int"), {}, true};
  if (key == "as_expr") return parse_expression(*inner);
  throw Malformed{fmt::format("a size is given as \"{}\"", key)};
}

std::vector<Extent> parse_extents(const Json& list) {
  std::vector<Extent> extents;
  extents.reserve(list.size());
  for (const Json& item : list) extents.push_back(parse_extent(item));
  return extents;
}

TensorMeta parse_meta(const Json& value) {
  return {.dtype = integer_of(member(value, "dtype"), "dtype"),
          .layout = integer_of(member(value, "layout"), "layout"),
          .sizes = parse_extents(list_in(value, "sizes")),
          .strides = parse_extents(list_in(value, "strides")),
          .storage_offset = parse_extent(member(value, "storage_offset"))};
}

// --- arguments ---

std::string tensor_name(const Json& value) { return text_of(member(value, "name"), "name"); }

std::string optional_tensor_name(const Json& value) {
  const auto [key, inner] = union_of(value, "a tensor");
  return key == "as_none" ? std::string() : tensor_name(*inner);
}

IntArgument symbolic_int(const Json& value) {
  const auto [key, inner] = union_of(value, "a symbolic integer");
  if (key == "as_name") return {0, text_of(*inner, "as_name")};
  return {integer_of(*inner, "as_int"), {}};
}

const Json& as_list(const Json& value, const std::string& key) {
  if (!value.is_array()) throw Malformed{fmt::format("\"{}\" is not a list", key)};
  return value;
}

template <class T, class F>
std::vector<T> map_list(const Json& value, const std::string& key, F read) {
  std::vector<T> out;
  for (const Json& item : as_list(value, key)) out.push_back(read(item));
  return out;
}

IntArgument literal_int(const Json& value) { return {integer_of(value, "as_int"), {}}; }
double literal_real(const Json& value) { return real_of(value, "as_float"); }

using ArgumentReader = void (*)(const Json& value, Argument& out);

struct ArgumentForm {
  std::string_view key;
  ArgumentKind kind;
  ArgumentReader read;
};

constexpr std::array<ArgumentForm, 15> kArgumentForms = {{
    {"as_none", ArgumentKind::kNone, [](const Json&, Argument&) {}},
    {"as_tensor", ArgumentKind::kTensor, [](const Json& v, Argument& a) { a.tensors = {tensor_name(v)}; }},
    {"as_optional_tensor", ArgumentKind::kTensor,
     [](const Json& v, Argument& a) { a.tensors = {optional_tensor_name(v)}; }},
    {"as_tensors", ArgumentKind::kTensors,
     [](const Json& v, Argument& a) { a.tensors = map_list<std::string>(v, a.key, tensor_name); }},
    {"as_optional_tensors", ArgumentKind::kTensors,
     [](const Json& v, Argument& a) { a.tensors = map_list<std::string>(v, a.key, optional_tensor_name); }},
    {"as_int", ArgumentKind::kInt, [](const Json& v, Argument& a) { a.ints = {literal_int(v)}; }},
    {"as_sym_int", ArgumentKind::kInt, [](const Json& v, Argument& a) { a.ints = {symbolic_int(v)}; }},
    {"as_ints", ArgumentKind::kInts,
     [](const Json& v, Argument& a) { a.ints = map_list<IntArgument>(v, a.key, literal_int); }},
    {"as_sym_ints", ArgumentKind::kInts,
     [](const Json& v, Argument& a) { a.ints = map_list<IntArgument>(v, a.key, symbolic_int); }},
    {"as_float", ArgumentKind::kFloat, [](const Json& v, Argument& a) { a.reals = {literal_real(v)}; }},
    {"as_floats", ArgumentKind::kFloats,
     [](const Json& v, Argument& a) { a.reals = map_list<double>(v, a.key, literal_real); }},
    {"as_bool", ArgumentKind::kBool, [](const Json& v, Argument& a) { a.flag = flag_of(v, "as_bool"); }},
    {"as_string", ArgumentKind::kString, [](const Json& v, Argument& a) { a.text = text_of(v, "as_string"); }},
    {"as_scalar_type", ArgumentKind::kDType,
     [](const Json& v, Argument& a) { a.ints = {{integer_of(v, "as_scalar_type"), {}}}; }},
    {"as_sym_bool", ArgumentKind::kOther, [](const Json&, Argument&) {}},
}};

Argument parse_argument(const Json& value) {
  const auto [key, inner] = union_of(value, "an argument");
  Argument argument{.kind = ArgumentKind::kOther, .key = key};
  for (const ArgumentForm& form : kArgumentForms) {
    if (form.key != key) continue;
    argument.kind = form.kind;
    form.read(*inner, argument);
  }
  if (argument.kind == ArgumentKind::kTensor && argument.tensors[0].empty()) argument.kind = ArgumentKind::kNone;
  return argument;
}

// --- graph ---

std::string metadata_text(const Json& node, const char* key) {
  const Json* metadata = optional_member(node, "metadata");
  const Json* value = metadata ? optional_member(*metadata, key) : nullptr;
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

/// Older files name a node by its first output only.
std::string node_name(const Json& node) {
  const Json* name = optional_member(node, "name");
  return name ? text_of(*name, "name") : std::string();
}

void read_arguments(const Json& node, NodeRecord& record) {
  for (const Json& input : list_in(node, "inputs")) {
    const std::string& name = text_of(member(input, "name"), "name");
    record.inputs.emplace_back(
        name, in_context("argument \"" + name + "\"", [&] { return parse_argument(member(input, "arg")); }));
  }
  for (const Json& output : list_in(node, "outputs")) record.outputs.push_back(parse_argument(output));
}

NodeRecord parse_node(const Json& node) {
  NodeRecord record{.name = node_name(node), .target = text_of(member(node, "target"), "target")};
  in_context(fmt::format("node \"{}\" ({})", record.name, record.target), [&] { read_arguments(node, record); });
  record.stack_trace = metadata_text(node, "stack_trace");
  record.module_stack = metadata_text(node, "nn_module_stack");
  if (record.name.empty() && !record.outputs.empty() && !record.outputs[0].tensors.empty())
    record.name = record.outputs[0].tensors[0];
  return record;
}

InputSpec parse_weight_spec(const Json& value, InputSpec::Kind kind, const char* name_key) {
  InputSpec spec{.kind = kind, .graph_name = tensor_name(member(value, "arg"))};
  spec.name = text_of(member(value, name_key), name_key);
  if (const Json* persistent = optional_member(value, "persistent"))
    spec.persistent = flag_of(*persistent, "persistent");
  return spec;
}

InputSpec parse_user_input(const Json& value) {
  const Argument argument = parse_argument(member(value, "arg"));
  InputSpec spec{.kind = InputSpec::Kind::kUser};
  if (argument.kind == ArgumentKind::kTensor) spec.graph_name = argument.tensors[0];
  return spec;
}

InputSpec parse_input_of(const std::string& key, const Json& value) {
  if (key == "parameter") return parse_weight_spec(value, InputSpec::Kind::kParameter, "parameter_name");
  if (key == "buffer") return parse_weight_spec(value, InputSpec::Kind::kBuffer, "buffer_name");
  if (key == "tensor_constant") return parse_weight_spec(value, InputSpec::Kind::kConstant, "tensor_constant_name");
  if (key == "user_input") return parse_user_input(value);
  return {};
}

InputSpec parse_input_spec(const Json& value) {
  const auto [key, inner] = union_of(value, "an input");
  InputSpec spec = parse_input_of(key, *inner);
  spec.key = key;
  return spec;
}

Argument tensor_argument(const Json& value) {
  return {.kind = ArgumentKind::kTensor, .key = "as_tensor", .tensors = {tensor_name(value)}};
}

OutputSpec parse_output_spec(const Json& value) {
  const auto [key, inner] = union_of(value, "an output");
  OutputSpec spec;
  spec.key = key;
  if (key == "user_output") {
    spec.kind = OutputSpec::Kind::kUser;
    spec.argument = parse_argument(member(*inner, "arg"));
  } else if (key == "buffer_mutation") {
    spec.kind = OutputSpec::Kind::kBufferMutation;
    spec.argument = tensor_argument(member(*inner, "arg"));
    spec.name = text_of(member(*inner, "buffer_name"), "buffer_name");
  } else if (key == "user_input_mutation") {
    spec.kind = OutputSpec::Kind::kInputMutation;
  }
  return spec;
}

std::optional<int64_t> bound(const Json& range, const char* key) {
  const Json* value = optional_member(range, key);
  return value ? std::optional(integer_of(*value, key)) : std::nullopt;
}

void check_version(const Json& root) {
  const Json& version = object_in(root, "schema_version");
  const int64_t major = integer_of(member(version, "major"), "major");
  if (major == kSchemaMajor) return;
  throw Malformed{fmt::format("schema_version {} is unknown, this release reads {}", major, kSchemaMajor)};
}

void read_symbols(const Json& root, Model& model) {
  const Json* ranges = optional_member(root, "range_constraints");
  if (!ranges) return;
  if (!ranges->is_object()) throw Malformed{"\"range_constraints\" is not an object"};
  for (const auto& [symbol, range] : ranges->items())
    model.symbols[symbol] = {bound(range, "min_val"), bound(range, "max_val")};
}

void read_values(const Json& graph, Model& model) {
  const Json& values = object_in(graph, "tensor_values");
  model.values.reserve(values.size());
  for (const auto& [name, meta] : values.items())
    model.values.emplace(name, in_context("tensor \"" + name + "\"", [&, &m = meta] { return parse_meta(m); }));
}

Model read_model(const Json& root) {
  check_version(root);
  const Json& module = member(root, "graph_module");
  const Json& graph = member(module, "graph");
  const Json& signature = member(module, "signature");
  Model model;
  for (const Json& spec : list_in(signature, "input_specs")) model.inputs.push_back(parse_input_spec(spec));
  for (const Json& spec : list_in(signature, "output_specs")) model.outputs.push_back(parse_output_spec(spec));
  for (const Json& node : list_in(graph, "nodes")) model.nodes.push_back(parse_node(node));
  read_values(graph, model);
  read_symbols(root, model);
  return model;
}

Payload parse_payload(const Json& value) {
  const Json* pickled = optional_member(value, "use_pickle");
  return {.path = text_of(member(value, "path_name"), "path_name"),
          .pickled = pickled && flag_of(*pickled, "use_pickle"),
          .meta = parse_meta(member(value, "tensor_meta"))};
}

Payloads read_payloads(const Json& root) {
  Payloads payloads;
  for (const auto& [name, value] : object_in(root, "config").items())
    payloads.emplace(name, in_context("\"" + name + "\"", [&v = value] { return parse_payload(v); }));
  return payloads;
}

// --- text ---

/// The deepest nesting of brackets outside strings.
int nesting_of(std::span<const uint8_t> text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const uint8_t c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

Json parse_json(std::span<const uint8_t> text) {
  if (nesting_of(text) > kMaxNesting) throw Malformed{fmt::format("invalid JSON: nesting deeper than {}", kMaxNesting)};
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    const bool utf8 = std::string_view(error.what()).find("UTF-8") != std::string_view::npos;
    throw Malformed{fmt::format("invalid JSON at byte {}{}", error.byte, utf8 ? ": the text is not UTF-8" : "")};
  }
}

template <class F>
auto read_entry(std::span<const uint8_t> text, const std::string& entry, F read) {
  try {
    return read(parse_json(text));
  } catch (const Malformed& error) {
    throw UserError(entry + ": " + error.what, kExportAgain);
  }
}

}  // namespace

std::optional<DType> dtype_of(int64_t code) {
  const DTypeCode* row = find_code(code);
  return row ? row->dtype : std::nullopt;
}

std::string dtype_text(int64_t code) {
  const DTypeCode* row = find_code(code);
  return row ? std::string(row->name) : fmt::format("dtype {}", code);
}

Model parse_model(std::span<const uint8_t> text, const std::string& entry) {
  return read_entry(text, entry, read_model);
}

Payloads parse_payloads(std::span<const uint8_t> text, const std::string& entry) {
  return read_entry(text, entry, read_payloads);
}

}  // namespace rush::pt2
