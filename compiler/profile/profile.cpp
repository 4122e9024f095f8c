// SPDX-License-Identifier: Apache-2.0
#include "compiler/profile/profile.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include <fmt/format.h>

#include "compiler/firmware/process.h"
#include "compiler/firmware/run_firmware.h"
#include "compiler/ir/diagnostic.h"

namespace rush {
namespace {

using Json = nlohmann::ordered_json;

LayerProfile described(const Json& layer) {
  return {.layer = layer.at("layer"),
          .source = layer.at("source"),
          .node = layer.at("node"),
          .op = layer.at("op"),
          .kernel = layer.at("kernel"),
          .first_step = layer.at("first_step"),
          .step_count = layer.at("step_count"),
          .outputs = layer.at("outputs"),
          .regions = layer.at("regions"),
          .macs = layer.at("macs"),
          .bytes_moved = layer.at("bytes_moved"),
          .estimated_cycles = layer.at("estimated_cycles")};
}

/// The layers of report.json that ran: `add` gives a row what one of its steps took, false if it did not run.
std::vector<LayerProfile> layers_that_ran(const std::filesystem::path& directory,
                                          const std::function<bool(size_t step, LayerProfile& row)>& add) {
  const Json report = Json::parse(firmware::read_file(directory / "report.json"), nullptr, false);
  std::vector<LayerProfile> rows;
  try {
    for (const Json& layer : report.at("layers")) {
      LayerProfile row = described(layer);
      bool ran = false;
      for (size_t step = row.first_step; step < row.first_step + row.step_count; ++step) ran = add(step, row) || ran;
      if (ran) rows.push_back(std::move(row));
    }
  } catch (const Json::exception&) {
    throw UserError((directory / "report.json").string() + " does not describe the layers",
                    "compile the model again: rushlight compile MODEL.pt2 -o DIR");
  }
  return rows;
}

uint32_t image_crc(const std::filesystem::path& directory) {
  const std::string image = firmware::read_file(directory / "model.rush");
  ImageHeader header{};
  internal_check(image.size() >= sizeof header, "model.rush has no header");
  std::memcpy(&header, image.data(), sizeof header);
  return header.crc;
}

template <class T, class Of>
T sum(const std::vector<LayerProfile>& layers, Of of) {
  return std::transform_reduce(layers.begin(), layers.end(), T{}, std::plus<>(), of);
}

}  // namespace

double ModelProfile::cycles() const {
  return sum<double>(layers, [](const LayerProfile& l) { return l.cycles; });
}

double ModelProfile::milliseconds() const {
  return sum<double>(layers, [](const LayerProfile& l) { return l.milliseconds; });
}

uint64_t ModelProfile::macs() const {
  return sum<uint64_t>(layers, [](const LayerProfile& l) { return l.macs; });
}

ModelProfile profile_on_board(const firmware::BuildRequest& request) {
  const std::vector<firmware::StepCost> steps = firmware::cost_of_steps(request);
  const auto add = [&](size_t step, LayerProfile& row) {
    if (step >= steps.size() || steps[step].bands == 0) return false;
    row.instructions = row.instructions.value_or(0) + steps[step].cost.instructions;
    row.cycles += steps[step].cost.cycles;
    row.milliseconds += steps[step].cost.cycles / (request.target.mhz * 1000);
    row.bands += steps[step].bands;
    return true;
  };
  return {.target = request.target.name,
          .measured_on = request.board.name,
          .mhz = request.target.mhz,
          .most_macs_per_cycle = request.target.macs_per_cycle,
          .layers = layers_that_ran(request.directory, add)};
}

ModelProfile profile_from_log(const std::filesystem::path& directory, const Target& target, const ProfileLog& log) {
  if (const uint32_t crc = image_crc(directory); log.image_crc != crc) {
    throw UserError(fmt::format("the log is of an image with CRC {:08x}, {} has {:08x}", log.image_crc,
                                (directory / "model.rush").string(), crc),
                    "name the folder of the model that the device runs");
  }
  const auto add = [&](size_t step, LayerProfile& row) {
    const auto found = log.steps.find(static_cast<uint32_t>(step));
    if (found == log.steps.end()) return false;
    const double ticks = static_cast<double>(found->second.ticks) / log.runs;
    row.cycles += ticks * log.core_hz / log.timer_hz;
    row.milliseconds += ticks * 1000 / log.timer_hz;
    row.bands += found->second.bands / log.runs;
    return true;
  };
  return {.target = target.name,
          .measured_on = "device",
          .mhz = log.core_hz / 1e6,
          .most_macs_per_cycle = target.macs_per_cycle,
          .layers = layers_that_ran(directory, add)};
}

}  // namespace rush
