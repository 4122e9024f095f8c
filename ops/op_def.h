// SPDX-License-Identifier: Apache-2.0
//
// What the host knows about an operator: one OpDef for each folder of ops/, one KernelFamily for each kernel
// family, both listed in ops.def. Nothing else in the compiler names a single operator, but the importer's
// name map and the passes that rewrite it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "ops/program.h"
#include "rushlight/image.h"
#include "rushlight/kernel.h"

namespace rush {

using Tensors = std::vector<const HostTensor*>;  ///< null where an optional input is missing

/// What a node's operator is asked for when it is evaluated or checked.
struct NodeTypes {
  const Graph& graph;
  const Node& node;
  const TensorType& input(size_t i) const { return graph.type(node.inputs.at(i)); }
  const TensorType& output(size_t i = 0) const { return graph.type(node.outputs.at(i)); }
  bool has_input(size_t i) const { return i < node.inputs.size() && node.inputs[i].valid(); }
};

/// How the scales of an operator's int8 form hang together. The passes fold by it, and the quantizer in Python
/// (quantization_rules) annotates by it, so that they cannot disagree.
enum class QuantRule : uint8_t {
  kFloat,        ///< no int8 form
  kWeighted,     ///< weight symmetric per output channel, int32 bias of the sum's scale; the output has its own
  kRescaled,     ///< every tensor has a scale of its own
  kMoved,        ///< elements are handed on: the output has the scale and zero point that the inputs share
  kProbability,  ///< the output lies in 0..1: scale 1/256, zero point -128
  kAbsorbed,     ///< into the operator before, while that is still float
};

struct OpDef {
  std::string_view name;
  Op (*make)();  ///< default attributes, for the parser

  /// Output types (dtype and shape; a quantized output keeps the quant that the graph gives it) from the
  /// inputs, or a UserError that says which input does not fit.
  std::vector<TensorType> (*infer)(const NodeTypes& types);

  /// The reference: float32 where the output is float, exact integer arithmetic where inputs and output are quantized.
  std::vector<HostTensor> (*evaluate)(const NodeTypes& types, const Tensors& inputs);

  /// Emits the steps of a node, or returns why the target has no kernel for it. Null: the operator exists
  /// only in the torch stage and a pass must have removed it.
  std::optional<std::string> (*lower)(const NodeTypes& types, Lowering& lowering);

  QuantRule quant = QuantRule::kFloat;
  bool takes_clamp = false;  ///< its attributes min and max hold a clamp behind it
};

/// All operators, sorted by name. find_op returns null for an unknown name.
std::span<const OpDef* const> all_ops();
const OpDef* find_op(std::string_view name);

/// One packing of one constant operand: a pure function from packed to canonical order.
struct Packing {
  int operand = -1;  ///< -1: the family packs nothing
  size_t element_bytes = 1;
  /// Packed elements, padding included, and canonical elements.
  size_t (*packed_count)(Isa isa, const void* params) = nullptr;
  size_t (*canonical_count)(const void* params) = nullptr;
  /// Canonical index of packed element i, or -1 for padding (which is zero).
  int64_t (*index)(Isa isa, const void* params, size_t i) = nullptr;
  /// Which bits of packed element i (of one byte) are stored inverted. Null: none.
  uint8_t (*inverted)(Isa isa, const void* params, size_t i) = nullptr;
};

/// The host's side of a kernel family; the folder defines `const HostKernel <family>_host`.
struct HostKernel {
  const KernelContract* contract;
  Kernel* run;  ///< the scalar variant, compiled for the host
  Packing packing;
  int scratch_operand = -1;
  /// Scratch bytes that the scalar variant needs for these params (the host allocates the larger of the two).
  uint32_t (*scalar_scratch)(const void* params) = nullptr;
  uint16_t stack_bytes = 256;  ///< bound of any variant's stack, on any core, with any compiler
  /// Rows, from a band's first on, that a variant may compute together; it has them done before it writes any row
  /// behind them (kernel.h, "Order"), so that the planner may let outputs follow dying inputs. 0: no promise.
  uint8_t rows_at_once = 0;
  /// Where ProgramStep::positions holds: output positions that a variant may have begun to write before it has read
  /// the inputs of the first of them for the last time. 0: all of a band, so that such steps have no order.
  uint16_t positions_at_once = 1;
};

/// Whether a step of the kernel fills an operand. A kernel that writes nothing stands for the caller, who fills it
/// (rush_feed_rows).
inline bool fills(const HostKernel& kernel, size_t operand) {
  return kernel.contract->written == 0 || (kernel.contract->written >> operand & 1) != 0;
}

/// One line of ops.def with its host side. Ids and names never change their meaning.
struct KernelFamily {
  uint16_t id;
  std::string_view name;        ///< "conv2d_s8"; the device's symbols are <name>_<variant>
  std::string_view op;          ///< folder
  std::string_view variant[3];  ///< by Isa: the variant that a target of that class links
  const HostKernel* host;
};

std::span<const KernelFamily> all_kernel_families();
const KernelFamily* find_kernel_family(std::string_view name);
const KernelFamily* find_kernel_family(uint16_t id);

/// "scalar", "dsp", "mve".
std::string_view isa_name(Isa isa);

/// canonical -> packed and back, by the family's index function.
std::vector<uint8_t> pack(const Packing& packing, Isa isa, const void* params, std::span<const uint8_t> canonical);
std::vector<uint8_t> unpack(const Packing& packing, Isa isa, const void* params, std::span<const uint8_t> packed);

// Every folder's definitions, declared here so that they have external linkage.
#define RUSH_OP(name) extern const OpDef name##_op;
#define RUSH_KERNEL(id, family, op, scalar, dsp, mve) extern const HostKernel family##_host;
#include "ops/ops.def"

}  // namespace rush
