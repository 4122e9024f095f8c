// SPDX-License-Identifier: Apache-2.0
//
// rushlight quantize, rushlight evaluate: what needs PyTorch or joblib is in the Python package, reached from the same
// entry. All arguments, --help too, are handed on.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/commands.h"
#include "compiler/ir/diagnostic.h"

namespace rush {
namespace {

namespace fs = std::filesystem;

/// RUSHLIGHT_PYTHON, else the Python that rushlight is installed beside, else the PATH's.
std::string find_python() {
  if (const char* named = std::getenv("RUSHLIGHT_PYTHON")) return named;
  std::error_code failure;
  const fs::path beside = fs::read_symlink("/proc/self/exe", failure).parent_path() / "python3";
  return !failure && fs::exists(beside) ? beside.string() : "python3";
}

// The package's own absence is the user's error, with the fix; what it raises is its own matter.
constexpr const char* kStart = R"(import sys
try:
    from rushlight.__main__ import main
except ModuleNotFoundError as missing:
    sys.exit(print(f"error: this command needs Python's {missing.name}, which {sys.executable} does not have\n"
                   "  fix: install rushlight for this Python, or set RUSHLIGHT_PYTHON to one that has it",
                   file=sys.stderr) or 2)
sys.exit(main(sys.argv[1:])))";

[[noreturn]] void run_python(const std::string& command, const std::vector<std::string>& rest) {
  const std::string python = find_python();
  std::vector<std::string> arguments = {python, "-c", kStart, command};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execvp(python.c_str(), pointers.data());
  throw UserError(fmt::format("`rushlight {}` needs Python: {}: {}", command, python, std::strerror(errno)),
                  "install Python with the rushlight package, or set RUSHLIGHT_PYTHON to one that has it");
}

void add(CLI::App& app, const std::string& name, const std::string& description) {
  CLI::App* command = app.add_subcommand(name, description);
  command->set_help_flag();
  command->prefix_command();
  command->callback([command, name] { run_python(name, command->remaining()); });
}

}  // namespace

void add_python_commands(CLI::App& app) {
  add(app, "quantize", "Quantize a float model to int8 after training; needs PyTorch");
  add(app, "evaluate", "Accuracy of an image over a data set, bit for bit what the device gives");
}

}  // namespace rush
