// SPDX-License-Identifier: Apache-2.0
//
// Profiling of an open program. Only the firmware that asks for it links this file.
#include "rushlight/profile.h"

#include "image_access.h"
#include "rushlight/crc32.h"

namespace rush {
namespace {

const uint32_t kLineBytes = 80;  // more than the longest line has
const uint32_t kFormat = 1;

/// One line of the log as it grows: words and numbers in hexadecimal of fixed width, so that no division is needed.
class Line {
 public:
  explicit Line(const char* kind) : bytes_(0) {
    word("#rush");
    word(kind);
  }

  void number(uint32_t value, uint32_t digits) {
    put(' ');
    while (digits > 0) put("0123456789abcdef"[(value >> (--digits * 4)) & 15u]);
  }

  /// Returns the CRC of the log's lines, their ends aside, up to this one.
  uint32_t end(uint32_t crc_before, rush_write_line* write, void* user) {
    const uint32_t crc = crc32(text_, bytes_, crc_before);
    put('\n');
    write(user, text_, bytes_);
    return crc;
  }

 private:
  void word(const char* text) {
    if (bytes_ > 0) put(' ');
    while (*text != 0) put(*text++);
  }

  void put(char c) { text_[bytes_++] = c; }

  char text_[kLineBytes];
  uint32_t bytes_;
};

uint32_t write_head(const rush_context& context, const rush_profile& profile, rush_write_line* write, void* user) {
  Line line("profile");
  line.number(kFormat, 1);
  line.number(reinterpret_cast<const ImageHeader*>(context.image)->crc, 8);
  line.number(profile.timer_hz, 8);
  line.number(profile.core_hz, 8);
  line.number(profile.runs, 8);
  return line.end(0, write, user);
}

uint32_t write_step(uint32_t step, const rush_step_ticks& took, uint32_t crc, rush_write_line* write, void* user) {
  Line line("step");
  line.number(step, 6);
  line.number(took.bands, 8);
  line.number(static_cast<uint32_t>(took.ticks >> 32), 8);
  line.number(static_cast<uint32_t>(took.ticks), 8);
  return line.end(crc, write, user);
}

}  // namespace
}  // namespace rush

extern "C" rush_status rush_profile_run(rush_context* context, uint32_t entry, rush_profile* profile) {
  if (profile == nullptr || profile->timer == nullptr || profile->steps == nullptr) return RUSH_BAD_ARGUMENT;
  rush_status status = rush_begin(context, entry);
  if (status != RUSH_OK) return status;
  for (uint32_t step = rush_next_step(context); step != RUSH_NO_STEP; step = rush_next_step(context)) {
    const uint32_t begin = profile->timer();
    status = rush_step(context);
    const uint32_t ticks = profile->timer() - begin;
    if (status != RUSH_OK && status != RUSH_RUNNING) return status;
    profile->steps[step].ticks += ticks;
    ++profile->steps[step].bands;
  }
  ++profile->runs;
  return RUSH_OK;
}

extern "C" void rush_profile_write(const rush_context* context, const rush_profile* profile, rush_write_line* write,
                                   void* user) {
  using namespace rush;
  const uint32_t steps = rush_step_count(context);
  if (steps == 0) return;
  uint32_t crc = write_head(*context, *profile, write, user);
  for (uint32_t i = 0; i < steps; ++i) {
    if (profile->steps[i].bands != 0) crc = write_step(i, profile->steps[i], crc, write, user);
  }
  Line end("end");
  end.number(crc, 8);
  end.end(crc, write, user);
}
