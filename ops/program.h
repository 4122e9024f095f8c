// SPDX-License-Identifier: Apache-2.0
//
// The program: kernel calls over buffers, between lowering and the image. Lowering adds buffers and steps, the
// planner gives every buffer a region and an offset, the emitter writes it down.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "rushlight/image.h"
#include "rushlight/kernel.h"

namespace rush {

struct KernelFamily;

/// What kernels are chosen and compiled for: kSpeed compiles all of them for speed, kSize stores and links less at a
/// little more time (ops/choose_kernel.h).
enum class Opt { kBalanced, kSpeed, kSize };

/// "balanced", "speed", "size".
std::string_view opt_name(Opt opt);
std::optional<Opt> parse_opt(std::string_view name);

struct BufferId {
  int32_t index = -1;
  bool valid() const { return index >= 0; }
  auto operator<=>(const BufferId&) const = default;
};

enum class BufferKind { kConstant, kArena, kState };

struct Buffer {
  std::string name;
  BufferKind kind = BufferKind::kArena;
  uint32_t bytes = 0;
  uint32_t alignment = 1;          ///< 1, 4, 8 or 16
  std::vector<uint8_t> data;       ///< constants; initial value of a state
  std::optional<TensorType> type;  ///< of the tensor that it holds, for reports; scratch and packed constants have none
  std::optional<BufferId> view_of;  ///< shares the bytes of another buffer
  uint32_t view_offset = 0;
  bool across_bands = false;  ///< scratch that a step keeps from band to band
  uint8_t region = 0;         ///< set by the planner; of a constant 0, in the image, or a region that it is copied to
  uint32_t offset = 0;
};

struct OperandRef {
  BufferId buffer;
  uint32_t offset = 0;
};

/// An output that may lie where an input of the same step lies, byte for byte or further back.
struct InPlace {
  int input_operand;
  int output_operand;
};

/// How an output row depends on the rows of one input operand: rows [0, y) of the output need
/// min(input rows, y * stride + lead) rows of the input. Steps that can run in bands give one for each map they read.
struct RowDependency {
  int operand;
  int stride;
  int lead;
  /// Input rows from the first to the last that one output row reads, padding included: (kernel - 1) * dilation + 1.
  /// So output row y reads no row before (y + 1) * stride + lead - span. A step without it cannot join a chain.
  int span = 0;
};

/// Output position i of a map (pixels, row after row) reads input position i and nothing else, as in a 1x1 convolution.
/// If both maps are whole, a kernel may take the rows of a band as one long row: it goes through positions in order,
/// HostKernel::positions_at_once of them together.
struct Positions {
  uint32_t in_row;  ///< positions
  uint32_t in_bytes;
  uint32_t out_bytes;
};

struct ProgramStep {
  const KernelFamily* family = nullptr;
  std::vector<uint8_t> params;
  std::vector<OperandRef> operands;
  uint16_t rows = 1;
  std::vector<InPlace> in_place;
  /// Byte offset in `params` of a flag: scratch keeps what the first band puts there for those behind it. -1: none.
  int keeps_field = -1;
  std::vector<RowDependency> row_dependencies;
  /// Byte offset in `params` of the Rows of each map operand (-1: not a map), so that a chain can make rings of them.
  std::vector<int> rows_field;
  /// The same layer by a kernel that takes its input row by row (and then has the input's rows), for chains.
  std::shared_ptr<ProgramStep> row_by_row;
  std::optional<Positions> positions;  ///< of operand 0 and the written map
  uint64_t macs = 0;                   ///< multiply-accumulates of the whole step
  std::string name;
  Origin origin;
};

/// Step `producer` (index in the program) of one of a banded step's inputs.
struct ChainLink {
  uint8_t band_rows = 1;
  uint8_t first_rows = 1;  ///< of the first band, so that bands end where those that read them do
  std::vector<std::pair<int, RowDependency>> producers;
};

/// Steps [first, first + count) run band by band; a chain of one step runs as a whole.
struct Chain {
  int first_step = 0;
  int step_count = 1;
  std::vector<ChainLink> links;  ///< empty for a chain of one step
};

struct ProgramPort {
  std::string name;
  BufferId buffer;
  TensorType type;  ///< of the codes in memory, shape in memory order
  DType exported_dtype = DType::kFloat32;
  Shape exported_shape;
  std::vector<int> dim_order;
  std::optional<Quant> border;  ///< per tensor
  bool kept = false;            ///< an input that still has its value at the end of a run
  bool line_fed = false;        ///< an input that the caller gives row by row
};

struct Entry {
  std::string name;
  int first_chain = 0;
  int chain_count = 0;
  std::vector<ProgramPort> inputs;
  std::vector<ProgramPort> outputs;
};

struct RegionUse {
  std::string name;
  RegionKind kind = RegionKind::kArena;
  uint32_t bytes = 0;
  std::string memory = {};  ///< of the chip, if its memories are known
};

/// A memory of the chip, as its target describes it.
struct ChipMemory {
  std::string name;
  bool is_flash = false;     ///< holds the image; nothing can be written there
  uint64_t bytes = 0;        ///< that a model may use
  double read_cycles = 0;    ///< for 32 bytes, on top of what tightly coupled memory takes
  double write_cycles = 0;   ///< the same
  bool cached = false;       ///< behind the data cache
  std::string section = {};  ///< that a firmware's linker script puts there
};

/// One of the ways in which a program could run.
struct TradePoint {
  uint64_t ram_bytes = 0;  ///< arena, states, stack and context
  uint64_t cycles = 0;     ///< modelled
  int streamed_steps = 0;  ///< that run band by band
};

struct Program {
  Isa isa = Isa::kScalar;
  std::string target;
  std::string core;  ///< that the target has: the cost model's name of it
  std::vector<ChipMemory> memories = {};
  uint64_t cache_bytes = 0;  ///< of the data cache
  Opt opt = Opt::kBalanced;
  double mhz = 0;  ///< clock that estimates are given for; 0: not known
  std::vector<Buffer> buffers;
  std::vector<ProgramStep> steps;
  std::vector<Chain> chains;       ///< cover the steps in order
  std::vector<Entry> entries;      ///< entry 0 is the inference
  std::vector<RegionUse> regions;  ///< region 1, 2, ...; set by the planner
  std::vector<std::string> labels;
  std::vector<TradePoint> trade_curve;  ///< from the fastest to that of least RAM, where it was asked for

  const Buffer& operator[](BufferId id) const { return buffers.at(static_cast<size_t>(id.index)); }
  Buffer& operator[](BufferId id) { return buffers.at(static_cast<size_t>(id.index)); }
};

/// What an operator's lower() writes into. Tensors of the graph become buffers on first mention.
class Lowering {
 public:
  Lowering(const Graph& graph, Program& program) : graph_(graph), program_(program) {}

  Isa isa() const { return program_.isa; }
  Opt opt() const { return program_.opt; }
  const Graph& graph() const { return graph_; }
  Program& program() { return program_; }
  const Program& program() const { return program_; }

  /// The buffer of a tensor (constants: their bytes as they are in the graph).
  BufferId buffer(TensorId tensor);
  /// A constant made by lowering; equal bytes with equal alignment share one buffer.
  BufferId constant(std::string name, std::vector<uint8_t> bytes, uint32_t alignment);
  /// A constant packed for this target by the family's packing; `params` must be final.
  BufferId packed(std::string name, const KernelFamily& family, const void* params, std::span<const uint8_t> canonical);
  /// Memory that lives for one step.
  BufferId scratch(std::string name, uint32_t bytes, uint32_t alignment);
  /// Makes `alias` share the bytes of `of` (reshape).
  void make_view(TensorId alias, TensorId of);
  /// Adds a step; its name and origin are those of the node being lowered.
  void emit(ProgramStep step);

  void begin_node(const Node& node) { node_ = &node; }

 private:
  const Graph& graph_;
  Program& program_;
  const Node* node_ = nullptr;
  std::map<TensorId, BufferId> buffers_;
};

/// Copies a params struct into bytes.
template <class Params>
std::vector<uint8_t> params_bytes(const Params& params) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&params);
  return {bytes, bytes + sizeof(Params)};
}

/// Whole-map rows for a map of `height` rows of `row_bytes`.
inline Rows whole_map(uint32_t row_bytes, uint32_t height) { return {row_bytes, static_cast<uint16_t>(height), 0}; }

/// Operand constants' requantization for one output channel: real = acc * scale.
struct Multiplier {
  int32_t multiplier;  ///< [2^30, 2^31)
  int32_t shift;       ///< [-30, 31]; requantize_any's
};

/// The multiplier and shift nearest to a real scale > 0; scales too small become shift 31, scales >= 2^29 are
/// refused (nullopt).
std::optional<Multiplier> quantize_multiplier(double scale);

}  // namespace rush
