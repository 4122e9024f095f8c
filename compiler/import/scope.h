// SPDX-License-Identifier: Apache-2.0
//
// What the names of an exported graph stand for while it is translated. The graph may still hold in-place
// operators and views; the scope gives them value semantics: after relu_(x) the name x stands for the result, and
// another view of x's memory, whose value has changed behind its name, may not be read any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"

namespace rush {

struct Value {
  enum class Kind { kTensor, kInteger, kUnusable, kFailed } kind = Kind::kFailed;
  TensorId tensor;
  int64_t integer = 0;
  std::string reason;  ///< kUnusable: why it may not be read. kFailed: its node has been reported already
};

Value tensor_value(TensorId id);
Value integer_value(int64_t integer);
Value unusable_value(std::string reason);

class Scope {
 public:
  /// False if the name is taken.
  bool define(const std::string& name, Value value);
  const Value* find(const std::string& name) const;
  /// The two names share memory.
  void alias(const std::string& name, const std::string& base);
  /// `name` was overwritten with `id` by the operator `by`.
  void overwrite(const std::string& name, TensorId id, const std::string& by);

 private:
  struct Entry {
    Value value;
    size_t storage;
  };
  std::unordered_map<std::string, Entry> entries_;
  std::vector<std::vector<std::string>> storages_;  ///< the names in each storage
};

}  // namespace rush
