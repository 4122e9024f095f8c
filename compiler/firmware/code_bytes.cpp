// SPDX-License-Identifier: Apache-2.0
#include "compiler/firmware/code_bytes.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "compiler/firmware/stack_bound.h"
#include "ops/op_def.h"

namespace rush::firmware {
namespace {

bool is_kernel(const MapSection& section) {
  return std::filesystem::path(section.object).filename().string().starts_with("kernel.");
}

/// Itanium ABI: a function of namespace rush, or of a nameless one in it, whatever its parameters.
bool is_called(const Function& function, const std::string& name) {
  const std::string mangled = fmt::format("{}{}E", name.size(), name);
  return function.name.starts_with("_ZN4rush" + mangled) ||
         function.name.starts_with("_ZN4rush12_GLOBAL__N_1" + mangled);
}

class Reach {
 public:
  Reach(const std::vector<MapSection>& map, const Disassembly& code) : code_(code), frames_(read_frames(code)) {
    for (const MapSection& section : map) {
      if (section.output != ".text" || !is_kernel(section)) continue;
      if (section.input.starts_with(".rodata")) constants_[section.object] += section.bytes;
      if (const Function* function = code.function_at(section.address)) section_of_[function->name] = &section;
    }
  }

  /// The function of namespace rush with this name, or an empty string.
  std::string find(const std::string& name) const {
    for (const Function& function : code_.functions) {
      if (is_called(function, name)) return function.name;
    }
    return {};
  }

  uint32_t bytes(const std::vector<std::string>& roots) const {
    std::set<std::string> seen;
    std::set<std::string> objects;
    uint32_t sum = 0;
    std::vector<std::string> open = roots;
    while (!open.empty()) {
      const std::string name = open.back();
      open.pop_back();
      const auto section = section_of_.find(name);
      if (section == section_of_.end() || !seen.insert(name).second) continue;
      sum += section->second->bytes;
      objects.insert(section->second->object);
      if (const auto frame = frames_.find(name); frame != frames_.end())
        open.insert(open.end(), frame->second.calls.begin(), frame->second.calls.end());
    }
    for (const std::string& object : objects) {
      if (const auto found = constants_.find(object); found != constants_.end()) sum += found->second;
    }
    return sum;
  }

 private:
  const Disassembly& code_;
  std::map<std::string, Frame> frames_;
  std::map<std::string, const MapSection*> section_of_;
  std::map<std::string, uint32_t> constants_;  ///< by object
};

}  // namespace

std::map<std::string, uint32_t> family_code_bytes(const std::vector<MapSection>& map, const Disassembly& code,
                                                  Isa isa) {
  const Reach reach(map, code);
  std::map<std::string, uint32_t> bytes;
  for (const KernelFamily& family : all_kernel_families()) {
    const std::string name(family.name);
    bytes[name] = reach.bytes({reach.find(fmt::format("{}_{}", name, family.variant[static_cast<size_t>(isa)])),
                               reach.find(name + "_extents")});
  }
  return bytes;
}

}  // namespace rush::firmware
