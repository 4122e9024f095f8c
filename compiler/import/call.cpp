// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/import/origin.h"

namespace rush {
namespace {

using pt2::Argument;
using pt2::ArgumentKind;

// Sizes, strides and axes are far below; products of a few stay far from overflow.
constexpr int64_t kLargestInteger = int64_t{1} << 32;

bool is_in_place(std::string_view op) { return op.ends_with('_') && !op.ends_with("__"); }

const std::string& first_tensor(const pt2::NodeRecord& node) {
  static const std::string none;
  for (const auto& [name, argument] : node.inputs) {
    if (argument.kind == ArgumentKind::kTensor) return argument.tensors[0];
  }
  return none;
}

std::string kind_text(const Argument& argument) {
  switch (argument.kind) {
    case ArgumentKind::kString:
      return "the string \"" + printable(argument.text) + "\"";
    case ArgumentKind::kNone:
      return "None";
    default:
      return printable(argument.key);
  }
}

}  // namespace

std::string operator_name(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  if (target.starts_with(kPrefix)) target.remove_prefix(kPrefix.size());
  target.remove_prefix(target.find('.') == std::string_view::npos ? 0 : target.find('.') + 1);
  return printable(target.substr(0, target.find('.')));
}

Call::Call(Translation& translation, const pt2::NodeRecord& node)
    : translation_(translation), node_(node), origin_(origin_of(node)) {}

// --- faults ---

Diagnostic Call::diagnostic(std::string what, std::string fix) const {
  return {std::move(what), operator_name(node_.target), origin_, {}, std::move(fix)};
}

void Call::fail(std::string what, std::string fix) const {
  throw UserError(diagnostic(std::move(what), std::move(fix)));
}

void Call::unsupported(const std::string& what) const {
  fail(what + " is not supported", "replace this layer by supported ones");
}

void Call::fail_kind(std::string_view name, const Argument& argument, const char* expected) const {
  fail(fmt::format("argument \"{}\" is {}, expected {}", printable(name), kind_text(argument), expected),
       "export the model again");
}

/// Also loads the weights among the arguments; what is wrong with one is reported with the line of its first user.
bool Call::reads_failed() const {
  bool failed = false;
  const size_t reported = translation_.errors.size();
  for (const auto& [name, argument] : node_.inputs) {
    for (const std::string& tensor : argument.tensors) {
      const Value* value = tensor.empty() ? nullptr : translation_.find(tensor);
      failed |= value && value->kind == Value::Kind::kFailed;
    }
  }
  for (size_t i = reported; i < translation_.errors.size(); ++i) translation_.errors[i].origin.source = origin_.source;
  return failed;
}

// --- arguments ---

const Argument* Call::find(std::string_view name) {
  for (const auto& [key, argument] : node_.inputs) {
    if (key != name) continue;
    used_.emplace(name);
    return argument.kind == ArgumentKind::kNone ? nullptr : &argument;
  }
  return nullptr;
}

const Argument& Call::get(std::string_view name, ArgumentKind kind, const char* expected) {
  const Argument* argument = find(name);
  if (!argument) fail(fmt::format("argument \"{}\" is missing", name), "export the model again");
  if (argument->kind != kind) fail_kind(name, *argument, expected);
  return *argument;
}

bool Call::has(std::string_view name) { return find(name) != nullptr; }

bool Call::is_number(std::string_view name) {
  const Argument* argument = find(name);
  return argument && (argument->kind == ArgumentKind::kInt || argument->kind == ArgumentKind::kFloat);
}

TensorId Call::read(const std::string& name) const {
  const Value* value = translation_.find(name);
  if (!value)
    fail(fmt::format("takes \"{}\", which is used before its definition (a cycle, or a damaged file)", printable(name)),
         "export the model again");
  if (value->kind == Value::Kind::kUnusable)
    fail(fmt::format("reads \"{}\", which {}", printable(name), value->reason),
         "use the out-of-place form of the operator (inplace=False)");
  if (value->kind != Value::Kind::kTensor) fail(fmt::format("\"{}\" is not a tensor", printable(name)));
  return value->tensor;
}

TensorId Call::tensor(std::string_view name) { return read(get(name, ArgumentKind::kTensor, "a tensor").tensors[0]); }

TensorId Call::optional_tensor(std::string_view name) { return has(name) ? tensor(name) : TensorId{}; }

std::vector<TensorId> Call::tensors(std::string_view name) {
  std::vector<TensorId> ids;
  for (const std::string& tensor : get(name, ArgumentKind::kTensors, "a list of tensors").tensors)
    ids.push_back(read(tensor));
  return ids;
}

int64_t Call::number(std::string_view name, const pt2::IntArgument& argument) const {
  int64_t value = argument.value;
  if (!argument.name.empty()) {
    const Value* symbol = translation_.find(argument.name);
    if (!symbol || symbol->kind != Value::Kind::kInteger)
      fail(fmt::format("argument \"{}\" depends on \"{}\", which is not known at compile time", printable(name),
                       printable(argument.name)),
           "export the model with static shapes (only the batch may be dynamic)");
    value = symbol->integer;
  }
  if (value < -kLargestInteger || value > kLargestInteger)
    fail(fmt::format("argument \"{}\" is out of range: {}", printable(name), value));
  return value;
}

int64_t Call::integer(std::string_view name, std::optional<int64_t> absent) {
  if (absent && !has(name)) return *absent;
  return number(name, get(name, ArgumentKind::kInt, "an integer").ints[0]);
}

std::vector<int64_t> Call::integers(std::string_view name, std::optional<std::vector<int64_t>> absent) {
  const Argument* argument = find(name);
  if (!argument && absent) return *absent;
  if (argument && argument->kind == ArgumentKind::kInt) return {number(name, argument->ints[0])};
  std::vector<int64_t> values;
  for (const pt2::IntArgument& item : get(name, ArgumentKind::kInts, "integers").ints)
    values.push_back(number(name, item));
  return values;
}

std::vector<int64_t> Call::expanded(std::string_view name, size_t count, std::optional<int64_t> absent) {
  std::vector<int64_t> values = absent && !has(name) ? std::vector<int64_t>{*absent} : integers(name);
  if (values.size() == 1) values.assign(count, values[0]);
  if (values.size() != count)
    fail(fmt::format("argument \"{}\" has {} values, expected {}", printable(name), values.size(), count));
  return values;
}

int64_t Call::axis(std::string_view name, size_t rank, std::optional<int64_t> absent) {
  const int64_t given = integer(name, absent), limit = std::max<int64_t>(static_cast<int64_t>(rank), 1);
  if (given < -limit || given >= limit)
    fail(fmt::format("{} {} is out of range for a tensor of rank {}", name, given, rank), "export the model again");
  return given < 0 ? given + limit : given;
}

std::vector<int64_t> Call::axes(std::string_view name, size_t rank) {
  std::vector<int64_t> out;
  const auto limit = static_cast<int64_t>(rank);
  for (int64_t given : integers(name, std::vector<int64_t>{})) {
    if (given < -limit || given >= limit)
      fail(fmt::format("{} {} is out of range for a tensor of rank {}", name, given, rank), "export the model again");
    out.push_back(given < 0 ? given + limit : given);
  }
  return out;
}

double Call::real(std::string_view name, std::optional<double> absent) {
  const Argument* argument = find(name);
  if (!argument && absent) return *absent;
  if (argument && argument->kind == ArgumentKind::kInt) return static_cast<double>(number(name, argument->ints[0]));
  const double value = get(name, ArgumentKind::kFloat, "a number").reals[0];
  if (std::isnan(value)) fail(fmt::format("argument \"{}\" is not a number (NaN)", name));
  return value;
}

bool Call::flag(std::string_view name, bool absent) {
  return has(name) ? get(name, ArgumentKind::kBool, "true or false").flag : absent;
}

std::string Call::text(std::string_view name, std::string_view absent) {
  return has(name) ? get(name, ArgumentKind::kString, "a string").text : std::string(absent);
}

DType Call::dtype(std::string_view name) {
  const int64_t code = get(name, ArgumentKind::kDType, "an element type").ints[0].value;
  const std::optional<DType> dtype = pt2::dtype_of(code);
  if (!dtype) unsupported(pt2::dtype_text(code));
  return *dtype;
}

const HostTensor* Call::constant(TensorId id) const { return translation_.writer.graph()[id].data.get(); }

double Call::constant_number(std::string_view name) {
  if (!has(name) || is_number(name)) return real(name);
  const HostTensor* value = constant(tensor(name));
  if (!value || value->size() != 1)
    fail(fmt::format("{} is not a constant number", name), "quantize statically: calibrate, then convert");
  return value->number(0);
}

TensorId Call::transposed_constant(TensorId id) {
  TensorId& transposed = translation_.transposes[id];
  if (!transposed.valid())
    transposed = writer().add_constant(writer().graph()[id].name + "_t",
                                       std::make_shared<HostTensor>(permuted(*constant(id), {1, 0})));
  return transposed;
}

void Call::ignore(std::initializer_list<std::string_view> names) { used_.insert(names.begin(), names.end()); }

void Call::check_all_used() const {
  for (const auto& [name, argument] : node_.inputs) {
    if (argument.kind != ArgumentKind::kNone && !used_.contains(name))
      fail(fmt::format("argument \"{}\" is not supported", printable(name)), "leave it at its default");
  }
}

// --- results ---

TensorId Call::step(Op op, std::vector<TensorId> inputs) {
  return step(NewNode{{}, std::move(op), std::move(inputs), {}});
}

TensorId Call::step(NewNode node) {
  node.name = node_.name;
  node.origin = origin_;
  return writer().append(std::move(node));
}

void Call::check_recorded(const std::string& name, TensorId id) const {
  const std::optional<Shape> recorded = translation_.recorded_shape(name);
  const TensorType& derived = type(id);
  if (recorded && *recorded != derived.shape)
    fail(
        fmt::format("its result has shape {}, but the file records {}", to_string(derived.shape), to_string(*recorded)),
        "export the model again: this file was altered");
  const auto meta = translation_.model.values.find(name);
  if (meta == translation_.model.values.end()) return;
  if (pt2::dtype_of(meta->second.dtype) != derived.dtype)
    fail(fmt::format("its result is {}, but the file records {}", dtype_name(derived.dtype),
                     pt2::dtype_text(meta->second.dtype)),
         "export the model again: this file was altered");
}

void Call::result(TensorId id) {
  if (node_.outputs.empty() || node_.outputs[0].kind != ArgumentKind::kTensor)
    fail("has no tensor as its result", "export the model again");
  const std::string& name = node_.outputs[0].tensors[0];
  if (!translation_.scope.define(name, tensor_value(id)))
    fail(fmt::format("defines \"{}\" a second time", printable(name)), "export the model again");
  for (size_t i = 1; i < node_.outputs.size(); ++i) {
    for (const std::string& other : node_.outputs[i].tensors)
      translation_.scope.define(other, unusable_value(fmt::format("is result {} of {}, which is not computed", i,
                                                                  operator_name(node_.target))));
  }
  if (is_in_place(operator_name(node_.target))) write_back(id);
  check_recorded(name, id);
}

void Call::write_back(TensorId id) {
  const std::string& target = first_tensor(node_);
  if (translation_.inputs.contains(target) && !translation_.is_state(target))
    fail(fmt::format("changes \"{}\" in place, which is not a buffer", printable(translation_.inputs.at(target)->name)),
         "register it as a buffer: self.register_buffer(...)");
  translation_.scope.overwrite(target, node_.outputs[0].tensors[0], id, operator_name(node_.target));
}

void Call::finish_view(Op op, std::string_view argument) {
  finish(std::move(op), {tensor(argument)});
  shares_memory_with(argument);
}

void Call::shares_memory_with(std::string_view argument) {
  translation_.scope.alias(node_.outputs[0].tensors[0], get(argument, ArgumentKind::kTensor, "a tensor").tensors[0]);
}

void Call::finish_map(TensorId map) { result(translation_.maps.to_line(map)); }

/// The inputs with every 1-D map in map form, or nothing if none has one or the shapes would not broadcast alike.
std::vector<TensorId> Call::on_maps(const std::vector<TensorId>& inputs) {
  bool any = false;
  for (TensorId id : inputs) {
    if (id.valid() && (rank(id) == 2 || rank(id) > 3)) return {};
    any |= id.valid() && rank(id) == 3 && has_map(id);
  }
  if (!any) return {};
  std::vector<TensorId> maps = inputs;
  for (TensorId& id : maps) {
    if (id.valid() && rank(id) == 3) id = to_map(id);
  }
  return maps;
}

void Call::finish_elementwise(NewNode node) {
  std::vector<TensorId> maps = on_maps(node.inputs);
  if (maps.empty()) return result(step(std::move(node)));
  node.inputs = std::move(maps);
  finish_map(step(std::move(node)));
}

void Call::finish_elementwise(Op op, std::vector<TensorId> inputs) {
  finish_elementwise(NewNode{{}, std::move(op), std::move(inputs), {}});
}

void Call::define_integer(int64_t value) {
  if (node_.outputs.empty() || node_.outputs[0].ints.empty()) return;
  translation_.scope.define(node_.outputs[0].ints[0].name, integer_value(value));
}

TensorId Call::add_scalar(std::string_view suffix, double value) {
  auto scalar = std::make_shared<HostTensor>(DType::kFloat32, Shape{});
  scalar->set_number(0, value);
  if (!std::isfinite(scalar->number(0))) fail(fmt::format("the constant {} is not finite", value));
  return writer().add_constant(node_.name + "_" + std::string(suffix), std::move(scalar));
}

}  // namespace rush
