// SPDX-License-Identifier: Apache-2.0
//
// The object cache. The key covers the compiler's version, the command, the source and every header of the device tree,
// so a hit is always the object that compiling would give.
#include "compiler/firmware/objects.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "compiler/firmware/process.h"
#include "compiler/ir/diagnostic.h"

namespace rush::firmware {
namespace fs = std::filesystem;
namespace {

std::string driver(Compiler compiler) {
  return find_tool(compiler == Compiler::kGcc ? "arm-none-eabi-g++" : "clang++-19");
}

const std::string& compiler_version(Compiler compiler) {
  static std::map<Compiler, std::string> versions;
  static std::mutex lock;
  const std::lock_guard<std::mutex> hold(lock);
  std::string& version = versions[compiler];
  if (version.empty()) version = run_checked({{driver(compiler), "--version"}, {}, 60});
  return version;
}

std::string find_library_headers() {
  const std::string output =
      run_checked({{find_tool("arm-none-eabi-g++"), "-E", "-x", "c", "-Wp,-v", "/dev/null"}, {}, 60});
  size_t end = 0;
  for (size_t begin = 0; begin < output.size(); begin = end + 1) {
    end = std::min(output.find('\n', begin), output.size());
    const fs::path directory = output.substr(begin, end - begin).substr(output[begin] == ' ' ? 1 : 0);
    if (fs::exists(directory / "newlib.h")) return fs::canonical(directory).string();
  }
  throw UserError("the Arm C library's headers are not found",
                  "install the package libnewlib-arm-none-eabi: apt-get install libnewlib-arm-none-eabi");
}

/// The C library's headers, which clang does not find by itself.
const std::string& library_headers() {
  static const std::string directory = find_library_headers();
  return directory;
}

/// Kernels that run over few elements, or whose loops come out nearly as fast: there -O2 adds code.
bool is_for_size(const Source& source) {
  static const std::set<std::string> kernels = {"softmax_dsp",   "softmax_mve", "softmax_scalar",      "mean_rows_dsp",
                                                "mean_rows_mve", "rescale_dsp", "depthwise_conv2d_dsp"};
  return kernels.contains(source.path.stem().string());
}

/// The loops around those in assembly; scalar cores, which have the least flash, have assembly for all loops over
/// products.
bool loops_are_assembly(const Source& source, Isa isa) {
  const fs::path loops = source.path.parent_path() / (source.path.stem().string() + "_asm.S");
  return uses_assembly() && (isa == Isa::kScalar || fs::exists(loops));
}

/// Kernels are compiled for speed where their time goes into compiled loops, or as the user asked.
std::string optimisation(const Source& source, const CompileFor& how) {
  const bool kernel = source.part == Part::kKernel && !source.path.stem().string().ends_with("_extents");
  if (!kernel || how.opt == Opt::kSize) return "-Os";
  if (how.opt == Opt::kSpeed) return "-O2";
  return is_for_size(source) || loops_are_assembly(source, how.target.isa) ? "-Os" : "-O2";
}

/// Product code is held to the dialect that users compile it with.
std::vector<std::string> dialect(Part part) {
  if (part == Part::kHarness || part == Part::kMemory || part == Part::kStartup) return {"-std=gnu++17"};
  return {"-std=gnu++14", "-pedantic-errors"};
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// All headers that device code can include, as one text.
std::string device_headers() {
  std::vector<fs::path> paths;
  for (const char* top : {"runtime", "ops", "boards"}) {
    for (const auto& entry : fs::recursive_directory_iterator(data_root() / top)) {
      if (entry.path().extension() == ".h") paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::string text;
  for (const fs::path& path : paths) text += path.filename().string() + read_file(path);
  return text;
}

/// Headers beside a generated source, such as model.h.
std::string own_headers(const Source& source) {
  if (source.part != Part::kModel && source.part != Part::kMemory) return "";
  std::set<fs::path> headers;
  for (const auto& entry : fs::directory_iterator(source.path.parent_path())) {
    if (entry.path().extension() == ".h") headers.insert(entry.path());
  }
  std::string text;
  for (const fs::path& header : headers) text += read_file(header);
  return text;
}

std::string command_text(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += word + '\n';
  return text;
}

/// Compiles beside the final place and renames, so that concurrent builds never see half an object.
void compile(const std::vector<std::string>& command, const fs::path& object) {
  fs::create_directories(object.parent_path());
  const std::string partial = object.string() + fmt::format(".{}.partial.o", process_id());
  std::vector<std::string> full = command;
  append(full, {"-o", partial});
  const Finished finished = run({full, {}, 600});
  if (!finished.ok()) throw InternalError("a device source does not compile:\n" + command_text(full) + finished.output);
  const fs::path usage = fs::path(partial).replace_extension(".su");
  if (fs::exists(usage)) fs::rename(usage, fs::path(object).replace_extension(".su"));
  fs::rename(partial, object);
}

/// Runs work(0) ... work(count - 1) on all cores; the first failure is thrown when all have ended.
template <class Work>
void in_parallel(size_t count, Work work) {
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex lock;
  const auto worker = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard<std::mutex> hold(lock);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> threads;
  const size_t workers = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  for (size_t i = 0; i < workers; ++i) threads.emplace_back(worker);
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::string_view name_of(Compiler compiler) { return compiler == Compiler::kGcc ? "gcc" : "clang"; }

Compiler compiler_named(std::string_view name) {
  for (const Compiler compiler : {Compiler::kGcc, Compiler::kClang}) {
    if (name == name_of(compiler)) return compiler;
  }
  throw UserError(fmt::format("unknown compiler \"{}\"", name), "gcc or clang");
}

std::string_view name_of(Part part) {
  constexpr std::string_view kNames[] = {"startup", "core", "kernel", "model", "memory", "harness"};
  return kNames[static_cast<size_t>(part)];
}

bool uses_assembly() {
  const char* wanted = std::getenv("RUSHLIGHT_ASSEMBLY");
  return !wanted || std::string_view(wanted) != "0";
}

std::vector<std::string> compile_command(const Source& source, const CompileFor& how) {
  std::vector<std::string> command = {driver(how.compiler)};
  append(command, how.compiler == Compiler::kGcc ? how.target.gcc_flags : how.target.clang_flags);
  if (source.part == Part::kKernel && uses_assembly()) command.push_back("-DRUSH_ASM=1");
  if (source.path.extension() == ".S") {
    append(command, {"-Wa,--fatal-warnings", "-c", source.path.string()});
    return command;
  }
  append(command, dialect(source.part));
  append(command, {optimisation(source, how), "-Wall", "-Wextra", "-fno-exceptions", "-fno-rtti",
                   "-fno-threadsafe-statics", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables",
                   "-ffunction-sections", "-fdata-sections", "-fstack-usage", "-ffp-contract=off"});
  for (const fs::path& directory : source.includes) append(command, {"-I", directory.string()});
  append(command, {"-I", (data_root() / "runtime/include").string()});
  if (how.compiler == Compiler::kClang) append(command, {"-isystem", library_headers()});
  append(command, {"-c", source.path.string()});
  return command;
}

std::vector<Object> compile_objects(std::span<const Source> sources, const CompileFor& how) {
  const std::string shared = compiler_version(how.compiler) + device_headers();
  const fs::path cache = cache_directory() / "objects";
  std::vector<Object> objects(sources.size());
  in_parallel(sources.size(), [&](size_t i) {
    const Source& source = sources[i];
    const std::vector<std::string> command = compile_command(source, how);
    const std::string key = hash_text(shared + own_headers(source) + command_text(command) + read_file(source.path));
    const fs::path object = cache / key / fmt::format("{}.{}.o", name_of(source.part), source.name);
    if (!fs::exists(object)) compile(command, object);
    objects[i] = {object, key};
  });
  return objects;
}

// FNV-1a, twice with different bases.
std::string hash_text(std::string_view text) {
  uint64_t a = 0xcbf29ce484222325u;
  uint64_t b = 0x84222325cbf29ce4u;
  for (const char c : text) {
    a = (a ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
    b = (b ^ static_cast<uint8_t>(c)) * 0x10000000233u;
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

}  // namespace rush::firmware
