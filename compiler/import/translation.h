// SPDX-License-Identifier: Apache-2.0
//
// The state of an import: the exported model on one side, the graph under construction on the other, and what the
// exported names stand for in between. Errors are collected, so that the user sees all of them at once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/import/graph_writer.h"
#include "compiler/import/line_maps.h"
#include "compiler/import/pt2_schema.h"
#include "compiler/import/scope.h"
#include "compiler/import/weights.h"

namespace rush {

struct Translation {
  Translation(const pt2::Model& model, Weights& weights);

  /// What a name stands for, loading a weight on its first use; null if nothing defines it (yet).
  const Value* find(const std::string& name);
  /// A size or stride under the bound batch; nothing if it depends on another symbol or is a compound expression.
  std::optional<int64_t> resolve(const pt2::Extent& extent) const;
  /// The file's shape of a value; nothing if unknown or not resolvable.
  std::optional<Shape> recorded_shape(const std::string& name) const;
  /// Keeps the names of a reported node usable, by what the file says of them, so that later nodes are checked too.
  void define_failed(const pt2::NodeRecord& node);
  /// A buffer whose value survives the run: reading gives the value before, writing sets the one after.
  bool is_state(const std::string& name) const { return states.contains(name); }

  const pt2::Model& model;
  Weights& weights;
  GraphWriter writer;
  LineMaps maps{writer};
  Scope scope;
  std::map<std::string, int64_t> symbols;                         ///< the bound batch
  std::unordered_map<std::string, const pt2::InputSpec*> inputs;  ///< weights by graph name
  std::map<std::string, size_t> states;     ///< mutated buffers by graph name: index in the graph's states
  std::map<TensorId, TensorId> transposes;  ///< constant matrices that are needed the other way round
  bool spatial = false;                     ///< the model has convolutions or pools
  UniqueNames output_names;
  std::vector<Diagnostic> errors;
};

}  // namespace rush
