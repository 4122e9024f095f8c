// SPDX-License-Identifier: Apache-2.0
//
// One exported node while it is translated: its arguments by schema name, with the schema's defaults for what the
// file leaves out, and the nodes that take its place. Every argument must be asked for: one that nobody reads would
// be silently ignored, so it is an error.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/translation.h"

namespace rush {

/// "torch.ops.aten.conv2d.default" -> "conv2d".
std::string operator_name(std::string_view target);

class Call {
 public:
  Call(Translation& translation, const pt2::NodeRecord& node);

  // --- arguments: UserError if missing without a default, of the wrong kind or out of range ---
  bool has(std::string_view name);  ///< given and not None
  bool is_number(std::string_view name);
  TensorId tensor(std::string_view name);
  TensorId optional_tensor(std::string_view name);  ///< invalid if None
  std::vector<TensorId> tensors(std::string_view name);
  int64_t integer(std::string_view name, std::optional<int64_t> absent = {});
  std::vector<int64_t> integers(std::string_view name, std::optional<std::vector<int64_t>> absent = {});
  /// `count` integers; one stands for all.
  std::vector<int64_t> expanded(std::string_view name, size_t count, std::optional<int64_t> absent = {});
  /// An axis, made non-negative.
  int64_t axis(std::string_view name, size_t rank, std::optional<int64_t> absent = {});
  std::vector<int64_t> axes(std::string_view name, size_t rank);
  double real(std::string_view name, std::optional<double> absent = {});
  bool flag(std::string_view name, bool absent);
  std::string text(std::string_view name, std::string_view absent);
  DType dtype(std::string_view name);
  /// The value of an argument that is a literal or a constant tensor of one element.
  double constant_number(std::string_view name);
  const HostTensor* constant(TensorId id) const;  ///< null if it is computed
  /// Arguments that do not change the result here.
  void ignore(std::initializer_list<std::string_view> names);
  void check_all_used() const;

  // --- results ---
  /// A node on the way; the last one is given to result().
  TensorId step(Op op, std::vector<TensorId> inputs);
  TensorId step(NewNode node);
  void result(TensorId id);
  void finish(Op op, std::vector<TensorId> inputs) { result(step(std::move(op), std::move(inputs))); }
  void finish_view(Op op, std::string_view argument);
  /// After the result: PyTorch may have made it a view of the argument.
  void shares_memory_with(std::string_view argument);
  /// Applies to each element alike: stays a map where an input is a 1-D map.
  void finish_elementwise(NewNode node);
  void finish_elementwise(Op op, std::vector<TensorId> inputs);
  /// The result, in map form, of an operator on 1-D maps.
  void finish_map(TensorId map);
  void define_integer(int64_t value);

  // --- types ---
  const TensorType& type(TensorId id) const { return translation_.writer.graph().type(id); }
  const Shape& shape(TensorId id) const { return type(id).shape; }
  size_t rank(TensorId id) const { return shape(id).size(); }
  GraphWriter& writer() { return translation_.writer; }
  TensorId to_map(TensorId line) { return translation_.maps.to_map(line, origin_); }
  bool has_map(TensorId line) const { return translation_.maps.has_map(line); }
  TensorId transposed_constant(TensorId id);
  TensorId add_scalar(std::string_view suffix, double value);

  [[noreturn]] void fail(std::string what, std::string fix = {}) const;
  [[noreturn]] void unsupported(const std::string& what) const;
  Diagnostic diagnostic(std::string what, std::string fix) const;
  bool reads_failed() const;
  const std::string& node_name() const { return node_.name; }

 private:
  const pt2::Argument* find(std::string_view name);
  const pt2::Argument& get(std::string_view name, pt2::ArgumentKind kind, const char* expected);
  int64_t number(std::string_view name, const pt2::IntArgument& argument) const;
  TensorId read(const std::string& tensor_name) const;
  [[noreturn]] void fail_kind(std::string_view name, const pt2::Argument& argument, const char* expected) const;
  std::vector<TensorId> on_maps(const std::vector<TensorId>& inputs);
  void check_recorded(const std::string& name, TensorId id) const;
  void write_back(TensorId id);

  Translation& translation_;
  const pt2::NodeRecord& node_;
  Origin origin_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace rush
