// SPDX-License-Identifier: Apache-2.0
//
// The emulator's command line, and the counting plugin, which is built on first use into the cache directory.
#include "compiler/firmware/emulator.h"

#include <cstdio>

#include <fmt/format.h>

#include "compiler/ir/diagnostic.h"

namespace rush::firmware {
namespace fs = std::filesystem;
namespace {

std::string semihosting(const std::vector<std::string>& arguments) {
  std::string text = "enable=on,target=native";
  for (const std::string& argument : arguments) text += ",arg=" + argument;
  return text;
}

/// An instruction takes 2^5 ns of the emulated clock, about a tick of the boards' timers.
constexpr int kInstructionTimeShift = 5;

std::vector<std::string> command_line(const Board& board, const Emulation& e) {
  std::vector<std::string> c = {find_tool("qemu-system-arm"),
                                "-M",
                                board.qemu_machine,
                                "-cpu",
                                board.qemu_cpu,
                                "-display",
                                "none",
                                "-monitor",
                                "none",
                                "-serial",
                                "null",
                                "-semihosting-config",
                                semihosting(e.arguments),
                                "-kernel",
                                fs::absolute(e.elf).string()};
  if (!e.records.empty()) {
    const std::string file = fs::absolute(e.records).string();
    c.insert(c.end(), {"-device", fmt::format("loader,file={},addr={:#x},force-raw=on", file, board.records_base)});
  }
  if (!e.plugin.empty()) c.insert(c.end(), {"-plugin", e.plugin});
  if (e.counts_time) c.insert(c.end(), {"-icount", fmt::format("shift={},sleep=off", kInstructionTimeShift)});
  return c;
}

/// Builds the plugin for the QEMU at hand, once.
fs::path counting_plugin() {
  const fs::path source = data_root() / "boards/qemu/count_plugin.c";
  const int api = plugin_api(run_checked({{find_tool("qemu-system-arm"), "--version"}, {}, 60}));
  const fs::path built = cache_directory() / fmt::format("count_plugin_api{}.so", api);
  if (fs::exists(built) && fs::last_write_time(built) > fs::last_write_time(source)) return built;
  const std::string partial = built.string() + fmt::format(".{}.partial", process_id());
  run_checked({{find_tool("cc"), "-O2", "-fPIC", "-shared", "-fvisibility=hidden",
                fmt::format("-DRUSH_PLUGIN_API={}", api), "-o", partial, source.string()},
               {},
               120});
  fs::rename(partial, built);
  return built;
}

uint32_t address_of(const Disassembly& code, const std::string& name) {
  const Function* function = code.find(name);
  if (!function) throw UserError("the firmware has no function " + name, "build it with `rushlight build`");
  return function->begin;
}

}  // namespace

Finished emulate(const Board& board, const Emulation& e) {
  Finished finished = run({command_line(board, e), e.directory, e.timeout_seconds});
  if (!finished.timed_out) return finished;
  throw UserError(fmt::format("the firmware on {} did not end within {:.0f} seconds", board.name, e.timeout_seconds),
                  "give fewer inputs, or a larger --timeout");
}

Counted emulate_counted(const Board& board, const Emulation& e, const Disassembly& code) {
  const TemporaryDirectory scratch;
  const fs::path out = scratch.path() / "trace.txt";
  Emulation counted = e;
  counted.plugin = fmt::format("{},begin={:#x},end={:#x},out={}", counting_plugin().string(),
                               address_of(code, "bench_begin"), address_of(code, "bench_end"), out.string());
  Finished finished = emulate(board, counted);
  if (!fs::exists(out)) {
    throw UserError("QEMU does not accept the counting plugin: " + finished.output,
                    "use a QEMU that is built with plugins, as Debian's is");
  }
  return {std::move(finished), parse_trace(read_file(out))};
}

int plugin_api(const std::string& version_output) {
  int major = 0;
  std::sscanf(version_output.c_str(), "QEMU emulator version %d", &major);
  return major >= 9 ? 2 : 1;
}

// Left to itself objdump takes some Helium loads and multiplies for generic coprocessor instructions.
Disassembly disassemble(const fs::path& elf, Isa isa) {
  std::vector<std::string> arguments = {find_tool("arm-none-eabi-objdump"), "-d", elf.string()};
  if (isa == Isa::kMve) arguments.push_back("-marmv8.1-m.main");
  return parse_disassembly(run_checked({arguments, {}, 300}));
}

}  // namespace rush::firmware
