// SPDX-License-Identifier: Apache-2.0
#include "rushlight/crc32.h"

#include <gtest/gtest.h>

#include <string>

namespace rush {
namespace {

// The check value of CRC-32/ISO-HDLC in Williams' catalogue of parametrised CRC algorithms.
TEST(Crc32, CheckValue) { EXPECT_EQ(crc32("123456789", 9), 0xCBF43926u); }

TEST(Crc32, NothingIsZero) { EXPECT_EQ(crc32("", 0), 0u); }

TEST(Crc32, PartsMakeTheWhole) {
  const std::string text = "The quick brown fox jumps over the lazy dog";  // 0x414FA339, as zip and PNG have it
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const uint32_t front = crc32(text.data(), cut);
    EXPECT_EQ(crc32(text.data() + cut, text.size() - cut, front), 0x414FA339u) << cut;
  }
}

}  // namespace
}  // namespace rush
