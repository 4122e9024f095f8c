// SPDX-License-Identifier: Apache-2.0
//
// Plays the cases that the unit tests recorded (tests/support/device_suite.h) on an emulated board and names each case
// that does not give the same bits there.
//
//   rushlight_play SUITE_DIRECTORY TARGET BOARD [gcc|clang]
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "boards/records.h"
#include "compiler/firmware/run_firmware.h"
#include "compiler/ir/exit_code.h"
#include "ops/op_def.h"

namespace rush {
namespace {

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError("cannot read " + path, "record the suite first: RUSH_DEVICE_SUITE=DIR rushlight_tests");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<uint8_t> take(const std::string& blob, size_t& at, uint32_t bytes) {
  internal_check(at + padded(bytes) <= blob.size(), "suite is truncated");
  std::vector<uint8_t> taken(blob.begin() + static_cast<ptrdiff_t>(at),
                             blob.begin() + static_cast<ptrdiff_t>(at + bytes));
  at += padded(bytes);
  return taken;
}

std::vector<firmware::Record> parse_suite(const std::string& blob) {
  std::vector<firmware::Record> records;
  for (size_t at = 0; at < blob.size();) {
    RecordHeader header;
    internal_check(at + sizeof header <= blob.size(), "suite is truncated");
    std::memcpy(&header, blob.data() + at, sizeof header);
    at += sizeof header;
    firmware::Record record{.image = take(blob, at, header.image_bytes), .entry = header.entry};
    record.input = take(blob, at, header.input_bytes);
    record.expected = take(blob, at, header.output_bytes);
    record.band_by_band = (header.flags & kBandByBand) != 0;
    record.expected_status = header.expected_status;
    internal_check(header.region_count <= std::size(header.region_bytes), "suite is damaged");
    record.memory = {header.chain_steps, {header.region_bytes, header.region_bytes + header.region_count}};
    records.push_back(std::move(record));
  }
  return records;
}

std::vector<std::string> read_names(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) names.push_back(line);
  return names;
}

int play_suite(const std::string& directory, const firmware::PlayRequest& request) {
  const std::string base = directory + "/" + std::string(isa_name(request.target.isa));
  const std::vector<firmware::Record> records = parse_suite(read_whole(base + ".suite"));
  const std::vector<std::string> names = read_names(base + ".txt");
  internal_check(names.size() == records.size(), "suite and names do not fit together");
  const std::vector<firmware::RecordResult> results = firmware::play(request, records);
  size_t failed = 0, unfit = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const RecordOutcome& outcome = results[i].outcome;
    if (outcome.status == kDoesNotFit) {
      ++unfit;
    } else if (!results[i].ok) {
      ++failed;
      fmt::print("{}: status {}, {} bytes differ from byte {} on, guards {}\n", names[i], outcome.status,
                 outcome.differing_bytes, outcome.first_difference, outcome.guards_intact ? "intact" : "overwritten");
    }
  }
  fmt::print("{} on {}: {} runs, {} failed, {} do not fit the board\n", request.target.name, request.board.name,
             results.size(), failed, unfit);
  return failed || unfit == results.size() ? 1 : 0;
}

}  // namespace
}  // namespace rush

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: rushlight_play SUITE_DIRECTORY TARGET BOARD [gcc|clang]\n");
    return 2;
  }
  return rush::exit_code_of([&] {
    return rush::play_suite(argv[1], {rush::load_target(argv[2]), rush::load_board(argv[3]),
                                      rush::firmware::compiler_named(argc > 4 ? argv[4] : "gcc")});
  });
}
