// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/aten_map.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

namespace rush {
namespace {

using Table = std::unordered_map<std::string_view, const AtenOperator*>;

constexpr std::array<std::string_view, 4> kAssertionPrefixes = {
    "torch.ops.aten._assert_", "torch.ops.aten.sym_constrain", "torch.ops.aten._functional_assert", "torch._check"};

constexpr std::array<std::string_view, 6> kComparisons = {"_operator.ge", "_operator.gt", "_operator.le",
                                                          "_operator.lt", "_operator.eq", "_operator.ne"};

constexpr std::array<std::string_view, 5> kControlFlow = {"cond", "while_loop", "map", "scan", "associative_scan"};

std::array<std::span<const AtenOperator>, 6> families() {
  return {convolution_operators(), pooling_operators(),   shape_operators(),
          elementwise_operators(), quantizer_operators(), symbolic_operators()};
}

Table make_table() {
  Table table;
  for (const auto operators : families()) {
    for (const AtenOperator& row : operators) table.emplace(row.target, &row);
  }
  return table;
}

}  // namespace

std::vector<AtenOperator> aten_operators() {
  std::vector<AtenOperator> rows;
  for (const auto operators : families())
    std::ranges::copy_if(operators, std::back_inserter(rows),
                         [](const AtenOperator& row) { return row.op != nullptr; });
  return rows;
}

const AtenOperator* find_aten_operator(std::string_view target) {
  static const Table table = make_table();
  constexpr std::string_view kPrefix = "torch.ops.";
  if (target.starts_with(kPrefix)) target.remove_prefix(kPrefix.size());
  const auto row = table.find(target);
  return row == table.end() ? nullptr : row->second;
}

bool is_assertion(std::string_view target) {
  return std::ranges::count(kComparisons, target) != 0 ||
         std::ranges::any_of(kAssertionPrefixes, [&](std::string_view prefix) { return target.starts_with(prefix); });
}

bool is_control_flow(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.higher_order.";
  if (!target.starts_with(kPrefix)) return false;
  const std::string_view name = target.substr(kPrefix.size());
  return std::ranges::any_of(kControlFlow, [&](std::string_view flow) { return name.starts_with(flow); });
}

}  // namespace rush
