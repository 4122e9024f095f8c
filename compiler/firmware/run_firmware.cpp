// SPDX-License-Identifier: Apache-2.0
//
// Files in, emulator, files out. The firmware sees fixed names in a directory of its own, since its command line can
// hold no spaces.
#include "compiler/firmware/run_firmware.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "compiler/firmware/emulator.h"
#include "compiler/firmware/process.h"
#include "compiler/host/host_program.h"
#include "compiler/ir/diagnostic.h"

namespace rush::firmware {
namespace fs = std::filesystem;
namespace {

/// As boards/harness.cpp writes it.
struct HarnessReport {
  uint32_t status = 0;
  uint32_t inferences = 0;
  uint32_t stack_bytes = 0;
  uint32_t guards_intact = 0;
  uint32_t io_failed = 0;
};

std::string as_text(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

std::vector<uint8_t> as_bytes(const std::string& text) { return {text.begin(), text.end()}; }

[[noreturn]] void crashed(const Board& board, const Finished& finished) {
  throw InternalError(fmt::format("the firmware on {} ended with {} and no report; {}", board.name, finished.exit_code,
                                  finished.output.empty() ? "it stopped in a fault" : finished.output));
}

HarnessReport read_report(const fs::path& path, const Board& board, const Finished& finished) {
  HarnessReport report;
  if (!fs::exists(path)) crashed(board, finished);
  const std::string bytes = read_file(path);
  if (bytes.size() != sizeof report) crashed(board, finished);
  std::memcpy(&report, bytes.data(), sizeof report);
  return report;
}

void require_sound(const HarnessReport& report, const Board& board) {
  internal_check(report.status == RUSH_OK,
                 fmt::format("on {} the runtime returned status {}", board.name, report.status));
  internal_check(report.io_failed == 0,
                 fmt::format("the firmware on {} could not read or write its files", board.name));
  internal_check(report.guards_intact == 1, fmt::format("on {} the model wrote beside its memory", board.name));
}

template <class T>
void append_object(std::string& to, const T& object) {
  to.append(reinterpret_cast<const char*>(&object), sizeof object);
}

void append_padded(std::string& to, const std::vector<uint8_t>& bytes) {
  to.append(bytes.begin(), bytes.end());
  to.append(padded(static_cast<uint32_t>(bytes.size())) - bytes.size(), '\0');
}

Record::Memory memory_of(const Record& record) {
  if (record.memory) return *record.memory;
  if (record.image.empty()) return {};
  const ImageFacts facts = read_image_facts(record.image, "a record's image");
  Record::Memory memory{facts.max_chain_steps, {}};
  for (const RegionFacts& region : facts.regions) memory.region_bytes.push_back(region.bytes);
  return memory;
}

RecordHeader header_of(const Record& record) {
  const Record::Memory memory = memory_of(record);
  RecordHeader header{};
  header.magic = kRecordMagic;
  header.flags = (record.image.empty() ? kSameInstance : 0u) | (record.band_by_band ? kBandByBand : 0u);
  header.image_bytes = static_cast<uint32_t>(record.image.size());
  header.input_bytes = static_cast<uint32_t>(record.input.size());
  header.output_bytes = static_cast<uint32_t>(record.expected.size());
  header.entry = record.entry;
  header.expected_status = record.expected_status;
  header.chain_steps = memory.chain_steps;
  header.region_count = static_cast<uint32_t>(memory.region_bytes.size());
  internal_check(header.region_count <= std::size(header.region_bytes), "a record has too many regions");
  std::ranges::copy(memory.region_bytes, header.region_bytes);
  return header;
}

std::string packed(const Record& record) {
  std::string blob;
  append_object(blob, header_of(record));
  append_padded(blob, record.image);
  append_padded(blob, record.input);
  append_padded(blob, record.expected);
  return blob;
}

/// Records that go into one start of the emulator: [first, first + count).
struct Batch {
  size_t first = 0;
  size_t count = 0;
  std::string blob;
};

bool begins_instance(const Record& record) { return !record.image.empty(); }

/// Cuts the records where a new instance begins and the board's memory for records would overflow.
std::vector<Batch> batches(const std::vector<Record>& records, uint64_t capacity) {
  std::vector<Batch> all;
  for (size_t i = 0; i < records.size();) {
    Batch group{i, 0, ""};
    do group.blob += packed(records[i++]);
    while (i < records.size() && !begins_instance(records[i]));
    group.count = i - group.first;
    if (!all.empty() && all.back().blob.size() + group.blob.size() + sizeof(RecordHeader) <= capacity) {
      all.back().blob += group.blob;
      all.back().count += group.count;
    } else {
      all.push_back(std::move(group));
    }
  }
  return all;
}

std::vector<RecordOutcome> read_outcomes(const fs::path& path, size_t expected, const Board& board,
                                         const Finished& finished) {
  const std::string bytes = fs::exists(path) ? read_file(path) : "";
  std::vector<RecordOutcome> outcomes(bytes.size() / sizeof(RecordOutcome));
  std::memcpy(outcomes.data(), bytes.data(), outcomes.size() * sizeof(RecordOutcome));
  if (outcomes.size() == expected) return outcomes;
  throw InternalError(fmt::format("the player on {} stopped at record {} of {}; {}", board.name, outcomes.size(),
                                  expected, finished.output.empty() ? "it stopped in a fault" : finished.output));
}

bool holds(const Record& record, const RecordOutcome& outcome) {
  return outcome.status == record.expected_status && outcome.differing_bytes == 0 && outcome.guards_intact == 1;
}

/// One start of the emulator. `start` gets the emulation and returns what it finished with.
template <class Start>
std::vector<RecordOutcome> play_batch(const PlayRequest& request, const Batch& batch, Start start) {
  if (batch.blob.size() + sizeof(RecordHeader) > request.board.records_bytes) {
    RecordOutcome outcome{};
    outcome.status = kDoesNotFit;
    outcome.guards_intact = 1;
    return std::vector<RecordOutcome>(batch.count, outcome);
  }
  const TemporaryDirectory scratch;
  RecordHeader end{};
  end.magic = kRecordsEnd;
  std::string blob = batch.blob;
  append_object(blob, end);
  write_file(scratch.path() / "records.bin", blob);
  Emulation emulation{.elf = build_player(request.target, request.board, request.compiler).elf,
                      .directory = scratch.path(),
                      .arguments = {"player"},
                      .records = scratch.path() / "records.bin",
                      .plugin = {}};
  const Finished finished = start(emulation);
  return read_outcomes(scratch.path() / "outcomes.bin", batch.count, request.board, finished);
}

}  // namespace

BoardRun run_on_board(const BuildRequest& request, const std::vector<uint8_t>& inputs, const RunLimits& limits) {
  const Built built = build_firmware(request);
  const TemporaryDirectory scratch;
  write_file(scratch.path() / "input.bin", as_text(inputs));
  const Finished finished = emulate(request.board, {.elf = built.elf,
                                                    .directory = scratch.path(),
                                                    .arguments = {"rushlight", "input.bin", "output.bin", "report.bin"},
                                                    .records = {},
                                                    .plugin = {},
                                                    .timeout_seconds = limits.timeout_seconds});
  const HarnessReport report = read_report(scratch.path() / "report.bin", request.board, finished);
  require_sound(report, request.board);
  return {as_bytes(read_file(scratch.path() / "output.bin")), report.inferences, report.stack_bytes};
}

Cost cost_of_inference(const BuildRequest& request) {
  const Built built = build_firmware(request);
  const Disassembly code = disassemble(built.elf, request.target.isa);
  const Counted counted = emulate_counted(
      request.board, {.elf = built.elf, .directory = {}, .arguments = {}, .records = {}, .plugin = {}}, code);
  if (counted.finished.exit_code != 0 || counted.trace.regions.size() != 1) crashed(request.board, counted.finished);
  Cost cost{profile_region(counted.trace.regions[0], counted.trace, code, request.target.pipeline), 0};
  cost.milliseconds = cost.profile.cycles / (request.target.mhz * 1000);
  return cost;
}

namespace {

/// Only the caller knows when the rows of a line-fed input come, so its run has no steps to go by.
void require_whole_inputs(const BuildRequest& request) {
  const std::string bytes = read_file(request.directory / "model.rush");
  const ImageReader image({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                          (request.directory / "model.rush").string());
  for (const rush_io& io : image.io()) {
    if ((io.flags & RUSH_IO_LINE_FED) == 0) continue;
    throw UserError(
        fmt::format("{} takes its input row by row, which cannot be watched step by step", request.directory.string()),
        "compile the model without --line-input to look into it");
  }
}

/// The steps whose bands an inference runs, in order: the order depends on no value, so the host knows it.
std::vector<size_t> step_order(const fs::path& image_file) {
  const std::string bytes = read_file(image_file);
  HostProgram program({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, image_file.string());
  std::vector<HostTensor> zeros;
  for (const ImagePort& port : program.image().inputs(0)) zeros.emplace_back(port.dtype, port.memory_shape());
  std::vector<size_t> order;
  (void)program.run(0, zeros, [&](const BandView& band) { order.push_back(band.step); });
  return order;
}

}  // namespace

std::vector<StepCost> cost_of_steps(const BuildRequest& request) {
  require_whole_inputs(request);
  const Built built = build_firmware(request);
  const std::vector<size_t> order = step_order(request.directory / "model.rush");
  const Disassembly code = disassemble(built.elf, request.target.isa);
  const Counted counted = emulate_counted(
      request.board,
      {.elf = built.elf, .directory = {}, .arguments = {"rushlight", "steps"}, .records = {}, .plugin = {}}, code);
  if (counted.finished.exit_code != 0 || counted.trace.regions.size() != order.size())
    crashed(request.board, counted.finished);
  std::vector<StepCost> steps(order.empty() ? 0 : *std::ranges::max_element(order) + 1);
  for (size_t i = 0; i < order.size(); ++i) {
    const Profile profile = profile_region(counted.trace.regions[i], counted.trace, code, request.target.pipeline);
    StepCost& step = steps[order[i]];
    step.cost.instructions += profile.instructions;
    step.cost.cycles += profile.cycles;
    ++step.bands;
  }
  return steps;
}

std::string profile_log_of(const BuildRequest& request) {
  require_whole_inputs(request);
  const TemporaryDirectory scratch;
  const Finished finished = emulate(request.board, {.elf = build_inspector(request).elf,
                                                    .directory = scratch.path(),
                                                    .arguments = {"rushlight", "profile", "profile.log"},
                                                    .records = {},
                                                    .plugin = {},
                                                    .counts_time = true});
  if (!finished.ok()) crashed(request.board, finished);
  return read_file(scratch.path() / "profile.log");
}

std::vector<uint8_t> band_outputs(const BuildRequest& request, const std::vector<uint8_t>& inputs) {
  require_whole_inputs(request);
  const TemporaryDirectory scratch;
  write_file(scratch.path() / "input.bin", as_text(inputs));
  const Finished finished = emulate(request.board, {.elf = build_inspector(request).elf,
                                                    .directory = scratch.path(),
                                                    .arguments = {"rushlight", "outputs", "input.bin", "bands.bin"},
                                                    .records = {},
                                                    .plugin = {}});
  if (!finished.ok()) crashed(request.board, finished);
  return as_bytes(read_file(scratch.path() / "bands.bin"));
}

std::vector<RecordResult> play(const PlayRequest& request, const std::vector<Record>& records) {
  std::vector<RecordResult> results;
  for (const Batch& batch : batches(records, request.board.records_bytes)) {
    const auto outcomes = play_batch(request, batch, [&](const Emulation& e) { return emulate(request.board, e); });
    for (size_t i = 0; i < outcomes.size(); ++i) {
      results.push_back({outcomes[i], holds(records[batch.first + i], outcomes[i])});
    }
  }
  return results;
}

std::vector<Profile> cost_of_records(const PlayRequest& request, const std::vector<Record>& records) {
  const Disassembly code =
      disassemble(build_player(request.target, request.board, request.compiler).elf, request.target.isa);
  std::vector<Profile> profiles;
  for (const Batch& batch : batches(records, request.board.records_bytes)) {
    Trace trace;
    const auto outcomes = play_batch(request, batch, [&](const Emulation& e) {
      Counted counted = emulate_counted(request.board, e, code);
      trace = std::move(counted.trace);
      return counted.finished;
    });
    size_t region = 0;
    for (const RecordOutcome& outcome : outcomes) {
      const bool ran = outcome.stack_bytes > 0 && region < trace.regions.size();
      profiles.push_back(ran ? profile_region(trace.regions[region++], trace, code, request.target.pipeline)
                             : Profile{});
    }
  }
  return profiles;
}

}  // namespace rush::firmware
