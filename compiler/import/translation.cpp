// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/translation.h"

#include <algorithm>

namespace rush {
namespace {

bool is_spatial(const pt2::NodeRecord& node) {
  return node.target.find("conv") != std::string::npos || node.target.find("pool") != std::string::npos;
}

}  // namespace

Translation::Translation(const pt2::Model& m, Weights& w)
    : model(m), weights(w), spatial(std::ranges::any_of(m.nodes, is_spatial)) {
  for (const pt2::InputSpec& spec : model.inputs) {
    if (spec.kind != pt2::InputSpec::Kind::kUser && !spec.graph_name.empty()) inputs.emplace(spec.graph_name, &spec);
  }
}

const Value* Translation::find(const std::string& name) {
  if (const Value* value = scope.find(name)) return value;
  const auto weight = inputs.find(name);
  if (weight == inputs.end()) return nullptr;
  Value value;
  try {
    value = tensor_value(writer.add_constant(weight->second->name, weights.load(*weight->second)));
  } catch (const UserError& error) {
    errors.insert(errors.end(), error.diagnostics().begin(), error.diagnostics().end());
  }
  scope.define(name, value);
  return scope.find(name);
}

std::optional<int64_t> Translation::resolve(const pt2::Extent& extent) const {
  if (extent.symbol.empty()) return extent.value;
  const auto symbol = extent.plain ? symbols.find(extent.symbol) : symbols.end();
  return symbol == symbols.end() ? std::nullopt : std::optional(symbol->second);
}

std::optional<Shape> Translation::recorded_shape(const std::string& name) const {
  const auto meta = model.values.find(name);
  if (meta == model.values.end()) return std::nullopt;
  Shape shape;
  for (const pt2::Extent& extent : meta->second.sizes) {
    const std::optional<int64_t> size = resolve(extent);
    if (!size) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

void Translation::define_failed(const pt2::NodeRecord& node) {
  for (const pt2::Argument& output : node.outputs) {
    for (const std::string& name : output.tensors) {
      const std::optional<Shape> shape = recorded_shape(name);
      const auto dtype = shape ? pt2::dtype_of(model.values.at(name).dtype) : std::nullopt;
      const bool usable = dtype && checked_count(*shape);
      scope.define(name, usable ? tensor_value(writer.add_tensor(name, {*dtype, *shape, {}})) : Value{});
    }
  }
}

}  // namespace rush
