// SPDX-License-Identifier: Apache-2.0
//
// Small .pt2 archives put together by hand, for tests of the importer and as seeds of its fuzz target: the JSON as
// torch.export.save writes it, in a zip of stored entries.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/tensor.h"

namespace rush {

using ZipEntries = std::vector<std::pair<std::string, std::string>>;

/// A zip archive with these entries, not compressed.
std::vector<uint8_t> zip_stored(const ZipEntries& entries);

// Arguments as the file spells them.
std::string as_tensor(const std::string& name);
std::string as_tensors(const std::vector<std::string>& names);
std::string as_int(int64_t value);
std::string as_ints(const std::vector<int64_t>& values);
std::string as_float(double value);
std::string as_bool(bool value);
std::string as_string(const std::string& value);
std::string as_dtype(int code);  ///< serde's: 2 int8, 4 int32, 7 float32

/// An argument's name and its JSON.
using Pt2Argument = std::pair<std::string, std::string>;

class Pt2Writer {
 public:
  /// A float32 input. Strides are row-major unless given; a symbol makes dimension 0 symbolic.
  Pt2Writer& input(const std::string& name, const Shape& sizes, const Shape& strides = {},
                   const std::string& symbol = {});
  /// Their names in the graph are p_<name> and b_<name>, with dots as underscores.
  Pt2Writer& parameter(const std::string& name, const HostTensor& data);
  Pt2Writer& buffer(const std::string& name, const HostTensor& data);
  /// `target` without "torch.ops."; its result is called `name`.
  Pt2Writer& node(const std::string& name, const std::string& target, const std::vector<Pt2Argument>& arguments);
  /// What the file records for a result.
  Pt2Writer& record(const std::string& name, const Shape& sizes, const Shape& strides = {});
  /// Of the last node.
  Pt2Writer& metadata(const std::string& module_stack, const std::string& stack_trace);
  Pt2Writer& output(const std::string& name);
  Pt2Writer& buffer_mutation(const std::string& buffer, const std::string& value);

  std::string model_json() const;
  ZipEntries entries() const;
  std::vector<uint8_t> archive() const { return zip_stored(entries()); }

 private:
  struct Node {
    std::string name, target, inputs, module_stack, stack_trace;
  };
  Pt2Writer& weight(const std::string& spec, const std::string& graph_name, const std::string& name,
                    const HostTensor& data);

  std::vector<Node> nodes_;
  std::vector<std::string> inputs_, outputs_, values_, weights_;
  std::string symbols_;
  ZipEntries payloads_;
};

}  // namespace rush
