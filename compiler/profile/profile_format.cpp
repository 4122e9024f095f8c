// SPDX-License-Identifier: Apache-2.0
//
// A profile as a table and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/profile/profile.h"

namespace rush {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kWidestLayer = 32, kWidestKernel = 26;

/// The end of a long name tells more than its beginning.
std::string shortened(const std::string& name, size_t most) {
  return name.size() <= most ? name : "..." + name.substr(name.size() - most + 3);
}

std::string rate(uint64_t macs, double cycles) {
  return macs > 0 && cycles > 0 ? fmt::format("{:.2f}", static_cast<double>(macs) / cycles) : "-";
}

std::string share(double part, double whole) {
  return part > 0 && whole > 0 ? fmt::format("{:.0f}%", 100 * part / whole) : "-";
}

std::string row_text(const LayerProfile& row, const ModelProfile& all) {
  return fmt::format("{:<32}  {:<26} {:>10} {:>11} {:>11.0f} {:>8.3f} {:>5} {:>9} {:>6} {:>9} {:>5}  {}\n",
                     shortened(row.layer, kWidestLayer), shortened(row.kernel, kWidestKernel), row.macs,
                     row.instructions ? fmt::to_string(*row.instructions) : "-", row.cycles, row.milliseconds,
                     share(row.cycles, all.cycles()), rate(row.macs, row.cycles),
                     row.macs > 0 ? share(row.macs_per_cycle(), all.most_macs_per_cycle) : "-", row.bytes_moved,
                     row.bands, fmt::join(row.regions, ","));
}

Json layer_json(const LayerProfile& row, const ModelProfile& all) {
  Json json = {{"layer", row.layer},
               {"source", row.source},
               {"node", row.node},
               {"op", row.op},
               {"kernel", row.kernel},
               {"outputs", row.outputs},
               {"regions", row.regions},
               {"macs", row.macs},
               {"bytes_moved", row.bytes_moved},
               {"bands", row.bands},
               {"cycles", row.cycles},
               {"milliseconds", row.milliseconds},
               {"estimated_cycles", row.estimated_cycles}};
  if (row.instructions) json["instructions"] = *row.instructions;
  if (row.macs > 0) {
    json["macs_per_cycle"] = row.macs_per_cycle();
    json["part_of_limit"] = row.macs_per_cycle() / all.most_macs_per_cycle;
  }
  return json;
}

}  // namespace

std::string profile_text(const ModelProfile& profile) {
  std::string text =
      fmt::format("{:<32}  {:<26} {:>10} {:>11} {:>11} {:>8} {:>5} {:>9} {:>6} {:>9} {:>5}  {}\n", "layer", "kernel",
                  "MACs", "instr.", "cycles", "ms", "time", "MAC/cycle", "limit", "bytes", "bands", "region");
  for (const LayerProfile& row : profile.layers) text += row_text(row, profile);
  const bool on_device = profile.measured_on == "device";
  text +=
      fmt::format("\n{}: {:.0f} cycles {}, {:.3f} ms at {:g} MHz, {} MAC/cycle of at most {:g} on {}\n",
                  profile.measured_on, profile.cycles(), on_device ? "measured" : "modelled", profile.milliseconds(),
                  profile.mhz, rate(profile.macs(), profile.cycles()), profile.most_macs_per_cycle, profile.target);
  return text + "bytes: maps and weights that a layer reads and writes, each once";
}

std::string profile_json(const ModelProfile& profile) {
  Json json = {{"target", profile.target},
               {"measured_on", profile.measured_on},
               {"mhz", profile.mhz},
               {"cycles", profile.cycles()},
               {"milliseconds", profile.milliseconds()},
               {"macs", profile.macs()},
               {"most_macs_per_cycle", profile.most_macs_per_cycle},
               {"layers", Json::array()}};
  for (const LayerProfile& row : profile.layers) json["layers"].push_back(layer_json(row, profile));
  return json.dump(2);
}

}  // namespace rush
