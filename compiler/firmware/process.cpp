// SPDX-License-Identifier: Apache-2.0
//
// fork and exec with one pipe for the output; the parent polls it until the child ends or its time is up.
#include "compiler/firmware/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ir/diagnostic.h"

namespace rush::firmware {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

const std::map<std::string, std::string> kPackages = {
    {"arm-none-eabi-g++", "gcc-arm-none-eabi libnewlib-arm-none-eabi"},
    {"arm-none-eabi-gcc", "gcc-arm-none-eabi libnewlib-arm-none-eabi"},
    {"arm-none-eabi-objdump", "binutils-arm-none-eabi"},
    {"cc", "gcc"},
    {"clang++-19", "clang-19"},
    {"qemu-system-arm", "qemu-system-arm"},
};

std::string path_of(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const fs::path candidate = fs::path(directory) / name;
    if (::access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate.string();
  }
  return {};
}

[[noreturn]] void become(const Command& command, char* const* argv, int output) {
  ::setpgid(0, 0);
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) ::_exit(127);
  ::execv(argv[0], argv);
  ::_exit(127);
}

/// Reads until the other end closes. False if the deadline came first.
bool drain(int pipe, Clock::time_point deadline, std::string& output) {
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd events{pipe, POLLIN, 0};
    const int ready = ::poll(&events, 1, static_cast<int>(std::min<int64_t>(left, 1000)));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t n = ::read(pipe, buffer, sizeof buffer);
    if (n <= 0) return true;
    output.append(buffer, static_cast<size_t>(n));
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

Finished run(const Command& command) {
  int ends[2];
  internal_check(::pipe2(ends, O_CLOEXEC) == 0, "no pipe for a child process");
  std::vector<char*> argv;
  for (const std::string& argument : command.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) become(command, argv.data(), ends[1]);  // before anything allocates: a thread may have held the heap
  internal_check(child >= 0, "no child process can be started");
  ::close(ends[1]);
  Finished finished;
  const auto limit = std::chrono::duration<double>(command.timeout_seconds);
  finished.timed_out =
      !drain(ends[0], Clock::now() + std::chrono::duration_cast<Clock::duration>(limit), finished.output);
  if (finished.timed_out) ::kill(-child, SIGKILL);
  ::close(ends[0]);
  finished.exit_code = wait_for(child);
  internal_check(finished.exit_code != 127, "cannot start " + command.arguments.front());
  return finished;
}

std::string run_checked(const Command& command) {
  Finished finished = run(command);
  if (finished.ok()) return std::move(finished.output);
  throw InternalError(fmt::format("{} {}:\n{}", fmt::join(command.arguments, " "),
                                  finished.timed_out ? "did not end" : "failed", finished.output));
}

std::string find_tool(const std::string& name) {
  const std::string path = path_of(name);
  if (!path.empty()) return path;
  const auto package = kPackages.find(name);
  throw UserError(fmt::format("{} is not installed", name),
                  fmt::format("apt-get install {}", package == kPackages.end() ? name : package->second));
}

bool has_tool(const std::string& name) { return !path_of(name).empty(); }

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "rushlight-XXXXXX").string();
  internal_check(::mkdtemp(name.data()) != nullptr, "no temporary directory");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError("cannot read " + path.string(), "check that the file exists and can be read");
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

int process_id() { return ::getpid(); }

void write_file(const fs::path& path, const std::string& bytes) {
  const fs::path partial = path.string() + fmt::format(".{}.partial", process_id());
  std::ofstream out(partial, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw UserError("cannot write " + path.string(), "check the directory's permissions and free space");
  fs::rename(partial, path);
}

void make_directory(const fs::path& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure)
    throw UserError(fmt::format("cannot make the folder {}: {}", path.string(), failure.message()),
                    "choose another folder with -o");
}

fs::path cache_directory() {
  const char* own = std::getenv("RUSHLIGHT_CACHE");
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const auto set = [](const char* value) { return value && *value; };
  fs::path path = set(own)    ? fs::path(own)
                  : set(xdg)  ? fs::path(xdg) / "rushlight"
                  : set(home) ? fs::path(home) / ".cache/rushlight"
                              : fs::temp_directory_path() / "rushlight-cache";
  fs::create_directories(path);
  return path;
}

}  // namespace rush::firmware
