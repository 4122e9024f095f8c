// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/scope.h"

namespace rush {

Value tensor_value(TensorId id) { return {.kind = Value::Kind::kTensor, .tensor = id}; }

Value integer_value(int64_t integer) { return {.kind = Value::Kind::kInteger, .integer = integer}; }

Value unusable_value(std::string reason) { return {.kind = Value::Kind::kUnusable, .reason = std::move(reason)}; }

bool Scope::define(const std::string& name, Value value) {
  const bool fresh = entries_.emplace(name, Entry{std::move(value), storages_.size()}).second;
  if (fresh) storages_.push_back({name});
  return fresh;
}

const Value* Scope::find(const std::string& name) const {
  const auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : &it->second.value;
}

void Scope::alias(const std::string& name, const std::string& base) {
  const auto from = entries_.find(base), to = entries_.find(name);
  if (from == entries_.end() || to == entries_.end()) return;
  to->second.storage = from->second.storage;
  storages_[from->second.storage].push_back(name);
}

void Scope::overwrite(const std::string& name, TensorId id, const std::string& by) {
  const auto it = entries_.find(name);
  if (it == entries_.end()) return;
  const TensorId old = it->second.value.tensor;
  for (const std::string& other : storages_[it->second.storage]) {
    Value& value = entries_.at(other).value;
    if (value.kind != Value::Kind::kTensor || value.tensor == id) continue;
    value = value.tensor == old ? tensor_value(id)
                                : unusable_value("shares its memory with a tensor that " + by + " changed in place");
  }
}

}  // namespace rush
