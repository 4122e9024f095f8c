// SPDX-License-Identifier: Apache-2.0
#include "compiler/firmware/trace.h"

#include <gtest/gtest.h>

#include "compiler/firmware/emulator.h"
#include "compiler/ir/diagnostic.h"

namespace rush::firmware {
namespace {

TEST(Trace, ReadsRegions) {
  const Trace trace = parse_trace("block 3 256 4\nedge -1 3 1\nblock 5 264 2\nedge 3 5 10\nend\nedge 5 3 7\nend\n");
  ASSERT_EQ(trace.regions.size(), 2u);
  EXPECT_EQ(trace.blocks[3].address, 256u);
  EXPECT_EQ(trace.blocks[5].instructions, 2u);
  EXPECT_EQ(trace.regions[0].size(), 2u);
  EXPECT_EQ(trace.regions[0][0].from, -1);
  EXPECT_EQ(trace.regions[0][1].count, 10u);
  EXPECT_EQ(trace.regions[1][0].to, 3);
}

TEST(Trace, RefusesDamage) {
  EXPECT_THROW(parse_trace("edge 0 1 5\n"), InternalError);
  EXPECT_THROW(parse_trace("block 0 x 4\n"), InternalError);
  EXPECT_THROW(parse_trace("nonsense\n"), InternalError);
}

TEST(Plugin, AnnouncesWhatTheEmulatorAccepts) {
  EXPECT_EQ(plugin_api("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\n"), 1);
  EXPECT_EQ(plugin_api("QEMU emulator version 8.2.0\n"), 1);
  EXPECT_EQ(plugin_api("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)\n"), 2);
}

}  // namespace
}  // namespace rush::firmware
