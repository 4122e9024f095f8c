// SPDX-License-Identifier: Apache-2.0
#include "compiler/profile/profile_log.h"

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "compiler/ir/diagnostic.h"
#include "rushlight/crc32.h"

namespace rush {
namespace {

constexpr std::string_view kMark = "#rush ";
constexpr const char* kSend = "send the lines of rush_profile_write() as they are, and save all of them";

[[noreturn]] void damaged(const std::string& file, size_t line, const std::string& what) {
  throw UserError(fmt::format("{}:{}: {}", file, line, what), kSend);
}

/// What a line of the log says; other tools may put a time or a colour around it.
struct Words {
  std::string kind;
  std::vector<uint64_t> numbers;
};

/// The log's part of a captured line, without its end; empty if it has none.
std::string log_part(std::string line) {
  const size_t begin = line.find(kMark);
  if (begin == std::string::npos) return {};
  line.erase(0, begin);
  return line.substr(0, line.find_last_of("0123456789abcdef") + 1);
}

std::optional<Words> words_of(const std::string& part) {
  Words words;
  std::istringstream in(part.substr(kMark.size()));
  in >> words.kind >> std::hex;
  for (uint64_t number = 0; in >> number;) words.numbers.push_back(number);
  return in.eof() ? std::optional(words) : std::nullopt;
}

/// One log as it is read.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void line(const std::string& captured, size_t number) {
    const std::string part = log_part(captured);
    if (part.empty()) return;
    const auto words = words_of(part);
    if (!words) damaged(file_, number, "the line is damaged");
    const std::vector<uint64_t>& n = words->numbers;
    if (words->kind == "profile" && n.size() == 5) {
      begin(n, number);
    } else if (words->kind == "step" && n.size() == 4 && reading_) {
      log_.steps[static_cast<uint32_t>(n[0])] = {static_cast<uint32_t>(n[1]), n[2] << 32 | n[3]};
    } else if (words->kind == "end" && n.size() == 1 && reading_) {
      if (n[0] != crc_) damaged(file_, number, "the lines of the log before this one are damaged or missing");
      whole_ = std::exchange(log_, {});
      reading_ = false;
    } else {
      damaged(file_, number, "the line does not belong here");
    }
    crc_ = crc32(part.data(), part.size(), crc_);
  }

  ProfileLog finish() {
    if (!whole_) throw UserError(file_ + " holds no whole profile", kSend);
    return *whole_;
  }

 private:
  void begin(const std::vector<uint64_t>& n, size_t number) {
    if (n[0] != 1) damaged(file_, number, fmt::format("the log has format {}, not 1", n[0]));
    log_ = {.image_crc = static_cast<uint32_t>(n[1]),
            .timer_hz = static_cast<uint32_t>(n[2]),
            .core_hz = static_cast<uint32_t>(n[3]),
            .runs = static_cast<uint32_t>(n[4]),
            .steps = {}};
    if (log_.timer_hz == 0 || log_.core_hz == 0 || log_.runs == 0)
      damaged(file_, number, "timer_hz, core_hz and runs must not be 0");
    reading_ = true;
    crc_ = 0;
  }

  const std::string& file_;
  ProfileLog log_;
  std::optional<ProfileLog> whole_;
  bool reading_ = false;
  uint32_t crc_ = 0;
};

}  // namespace

ProfileLog parse_profile_log(const std::string& capture, const std::string& file) {
  Reader reader(file);
  std::istringstream in(capture);
  size_t number = 0;
  for (std::string line; std::getline(in, line);) reader.line(line, ++number);
  return reader.finish();
}

}  // namespace rush
