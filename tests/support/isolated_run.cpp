// SPDX-License-Identifier: Apache-2.0
#include "tests/support/isolated_run.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "compiler/host/aligned_bytes.h"
#include "ops/op_def.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)
#define ASAN_UNPOISON_MEMORY_REGION(address, size)
#endif

namespace rush {
namespace {

constexpr size_t kGuard = 64;

uint8_t guard_byte(size_t i) { return static_cast<uint8_t>(0xC3u ^ (i * 29u)); }

/// Bytes between two guards. `skew` moves them off the 16-byte boundary.
class GuardedBytes {
 public:
  GuardedBytes(size_t size, size_t skew) : size_(size), front_(kGuard + skew), memory_(front_ + size + kGuard) {
    for (size_t i = 0; i < memory_.size(); ++i) memory_.data()[i] = guard_byte(i);
    ASAN_POISON_MEMORY_REGION(memory_.data(), front_);
    ASAN_POISON_MEMORY_REGION(data() + size_, kGuard);
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes(GuardedBytes&&) = delete;
  ~GuardedBytes() { ASAN_UNPOISON_MEMORY_REGION(memory_.data(), memory_.size()); }

  uint8_t* data() { return memory_.data() + front_; }
  size_t size() const { return size_; }

  bool guards_intact() {
    ASAN_UNPOISON_MEMORY_REGION(memory_.data(), memory_.size());
    for (size_t i = 0; i < memory_.size(); ++i) {
      const bool is_guard = i < front_ || i >= front_ + size_;
      if (is_guard && memory_.data()[i] != guard_byte(i)) return false;
    }
    return true;
  }

 private:
  size_t size_;
  size_t front_;
  AlignedBytes memory_;
};

class IsolatedRunner {
 public:
  IsolatedRunner(const Program& program, Random& random) : program_(program), random_(random) {
    for (const Buffer& buffer : program.buffers) {
      memory_.push_back(buffer.data);
      memory_.back().resize(buffer.bytes, 0xA5);
    }
  }

  void run(const std::vector<HostTensor>& inputs) {
    const Entry& entry = program_.entries.at(0);
    for (size_t i = 0; i < entry.inputs.size(); ++i)
      std::copy_n(inputs.at(i).raw(), inputs.at(i).bytes(), bytes_of({entry.inputs[i].buffer}));
    for (int i = 0; i < entry.chain_count; ++i)
      run_chain(program_.chains.at(static_cast<size_t>(entry.first_chain + i)));
    std::vector<HostTensor>& outputs = result_.outputs.emplace_back();
    for (const ProgramPort& port : entry.outputs) {
      outputs.emplace_back(port.type.dtype, port.type.shape);
      std::copy_n(bytes_of({port.buffer}), outputs.back().bytes(), outputs.back().raw());
    }
  }

  IsolatedRuns take_result() { return std::move(result_); }

 private:
  /// Through views to the bytes of the buffer that owns them.
  uint8_t* bytes_of(OperandRef ref) {
    while (const auto parent = program_[ref.buffer].view_of) {
      ref.offset += program_[ref.buffer].view_offset;
      ref.buffer = *parent;
    }
    return memory_.at(static_cast<size_t>(ref.buffer.index)).data() + ref.offset;
  }

  void run_chain(const Chain& chain) {
    for (int s = chain.first_step; s < chain.first_step + chain.step_count; ++s)
      run_step(program_.steps.at(static_cast<size_t>(s)));
  }

  void fault(const ProgramStep& step, const std::string& what) {
    result_.faults.push_back(fmt::format("step \"{}\" ({}) {}", step.name, step.family->name, what));
  }

  void run_step(const ProgramStep& step) {
    const KernelContract& contract = *step.family->host->contract;
    const AlignedBytes params(step.params);
    Extents extents = {};
    if (!contract.extents(params.data(), &extents)) return fault(step, "has parameters that its extents() refuses");
    std::vector<std::unique_ptr<GuardedBytes>> operands;
    for (size_t i = 0; i < step.operands.size(); ++i) operands.push_back(copy_in(step, i, extents.bytes[i]));
    run_bands(step, params.data(), operands);
    for (size_t i = 0; i < step.operands.size(); ++i) copy_out(step, i, *operands[i]);
  }

  std::unique_ptr<GuardedBytes> copy_in(const ProgramStep& step, size_t i, uint32_t bytes) {
    const bool is_word_aligned = (step.family->host->contract->word_aligned >> i & 1) != 0;
    auto copy = std::make_unique<GuardedBytes>(bytes, is_word_aligned ? 4 : 1);
    if (bytes > 0) std::copy_n(bytes_of(step.operands[i]), bytes, copy->data());
    return copy;
  }

  void run_bands(const ProgramStep& step, const void* params,
                 const std::vector<std::unique_ptr<GuardedBytes>>& operands) {
    std::vector<void*> addresses;
    for (const auto& operand : operands) addresses.push_back(operand->data());
    for (int32_t y = 0; y < step.rows;) {
      const auto end = static_cast<int32_t>(random_.integer(y + 1, step.rows));
      step.family->host->run(params, addresses.data(), {y, end});
      y = end;
    }
  }

  void copy_out(const ProgramStep& step, size_t i, GuardedBytes& operand) {
    if (!operand.guards_intact()) fault(step, fmt::format("wrote beside operand {}", i));
    if (operand.size() == 0) return;
    uint8_t* to = bytes_of(step.operands[i]);
    const bool is_written = (step.family->host->contract->written >> i & 1) != 0;
    if (!is_written && !std::equal(operand.data(), operand.data() + operand.size(), to))
      fault(step, fmt::format("changed operand {}, which it only reads", i));
    if (is_written) std::copy_n(operand.data(), operand.size(), to);
  }

  const Program& program_;
  Random& random_;
  std::vector<std::vector<uint8_t>> memory_;  ///< of each buffer that is no view
  IsolatedRuns result_;
};

}  // namespace

IsolatedRuns run_isolated(const Program& program, const std::vector<std::vector<HostTensor>>& inputs, Random& random) {
  IsolatedRunner runner(program, random);
  for (const std::vector<HostTensor>& each : inputs) runner.run(each);
  return runner.take_result();
}

}  // namespace rush
