// SPDX-License-Identifier: Apache-2.0
//
// The JSON of a .pt2 archive as plain structs, nothing interpreted yet: torch's own definitions are in
// torch/_export/serde/schema.py (major version 8). Everything here has been checked for its JSON type only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/tensor.h"

namespace rush::pt2 {

/// A size, stride or offset: a number, or a symbol ("s77") or other expression whose value is only a hint.
struct Extent {
  int64_t value = 0;
  std::string symbol;  ///< empty: a number
  bool plain = true;   ///< the symbol is one variable, not an expression
};

/// What the file says about a tensor. The dtype is serde's enumeration, not c10::ScalarType.
struct TensorMeta {
  int64_t dtype = 0;
  int64_t layout = 0;
  std::vector<Extent> sizes;
  std::vector<Extent> strides;
  Extent storage_offset;
};

constexpr int64_t kLayoutStrided = 7;

/// The element type of a serde dtype code, or nothing where we have none (complex, float8, ...).
std::optional<DType> dtype_of(int64_t code);
/// "complex64", "float8_e4m3fn", ...; "dtype 77" if unknown.
std::string dtype_text(int64_t code);

/// A literal, or the name of a symbolic integer.
struct IntArgument {
  int64_t value = 0;
  std::string name;
};

enum class ArgumentKind { kNone, kTensor, kTensors, kInt, kInts, kFloat, kFloats, kBool, kString, kDType, kOther };

/// One argument or result. Only the member that belongs to the kind is meaningful.
struct Argument {
  ArgumentKind kind = ArgumentKind::kNone;
  std::string key;                   ///< "as_tensor", "as_graph", ...
  std::vector<std::string> tensors;  ///< kTensor, kTensors; empty name: None
  std::vector<IntArgument> ints;     ///< kInt, kInts, kDType
  std::vector<double> reals;         ///< kFloat, kFloats
  std::string text;                  ///< kString
  bool flag = false;                 ///< kBool
};

struct NodeRecord {
  std::string name;
  std::string target;  ///< "torch.ops.aten.conv2d.default"
  std::vector<std::pair<std::string, Argument>> inputs;
  std::vector<Argument> outputs;
  std::string stack_trace;
  std::string module_stack;
};

struct InputSpec {
  enum class Kind { kParameter, kBuffer, kConstant, kUser, kOther } kind = Kind::kOther;
  std::string graph_name;  ///< "p_conv_weight"; empty for a user input that is no tensor
  std::string name;        ///< "conv.weight", the name in the payload configuration
  bool persistent = true;  ///< of a buffer
  std::string key;         ///< "parameter", "custom_obj", ...
};

struct OutputSpec {
  enum class Kind { kUser, kBufferMutation, kInputMutation, kOther } kind = Kind::kOther;
  Argument argument;
  std::string name;  ///< of the mutated buffer
  std::string key;
};

struct SymbolRange {
  std::optional<int64_t> min, max;
};

struct Model {
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<NodeRecord> nodes;
  std::unordered_map<std::string, TensorMeta> values;
  std::map<std::string, SymbolRange> symbols;
};

/// Where a weight, buffer or constant lies in the archive.
struct Payload {
  std::string path;  ///< "weight_0"
  bool pickled = false;
  TensorMeta meta;
};
using Payloads = std::map<std::string, Payload, std::less<>>;

/// Both throw UserError naming `entry` where the text is not valid UTF-8, not JSON, nested too deeply or not of
/// the expected form; parse_model also where the schema version is another.
Model parse_model(std::span<const uint8_t> text, const std::string& entry);
Payloads parse_payloads(std::span<const uint8_t> text, const std::string& entry);

}  // namespace rush::pt2
