// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/scope.h"

namespace rush {

Value tensor_value(TensorId id) { return {.kind = Value::Kind::kTensor, .tensor = id}; }

Value integer_value(int64_t integer) { return {.kind = Value::Kind::kInteger, .integer = integer}; }

Value unusable_value(std::string reason) { return {.kind = Value::Kind::kUnusable, .reason = std::move(reason)}; }

bool Scope::define(const std::string& name, Value value) {
  if (!cell_of_.emplace(name, cells_.size()).second) return false;
  storages_.push_back({cells_.size()});
  cells_.push_back({std::move(value), storages_.size() - 1});
  return true;
}

const Value* Scope::find(const std::string& name) const {
  const auto it = cell_of_.find(name);
  return it == cell_of_.end() ? nullptr : &cells_[it->second].value;
}

void Scope::alias(const std::string& name, const std::string& base) {
  const auto from = cell_of_.find(base), to = cell_of_.find(name);
  if (from == cell_of_.end() || to == cell_of_.end()) return;
  cells_[to->second].storage = cells_[from->second].storage;
  storages_[cells_[from->second].storage].push_back(to->second);
}

void Scope::overwrite(const std::string& name, const std::string& result, TensorId id, const std::string& by) {
  const auto target = cell_of_.find(name);
  if (target == cell_of_.end()) return;
  const size_t cell = target->second;
  std::vector<size_t>& views = storages_[cells_[cell].storage];
  for (size_t view : views)
    cells_[view].value = unusable_value("shares its memory with a tensor that " + by + " changed in place");
  views = {cell};
  cells_[cell].value = tensor_value(id);
  cell_of_[result] = cell;
}

}  // namespace rush
