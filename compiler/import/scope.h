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
  /// The operator `by` overwrote what `name` stands for with `id`, and calls it `result` as well.
  void overwrite(const std::string& name, const std::string& result, TensorId id, const std::string& by);

 private:
  /// A tensor in memory under one or more names; tensors in one storage are views of each other.
  struct Cell {
    Value value;
    size_t storage;
  };
  std::unordered_map<std::string, size_t> cell_of_;
  std::vector<Cell> cells_;
  std::vector<std::vector<size_t>> storages_;  ///< the cells in each
};

}  // namespace rush
