// SPDX-License-Identifier: Apache-2.0
//
// Names, targets and the header that two models share.
#include "compiler/link/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/emit/emit.h"
#include "compiler/firmware/process.h"
#include "compiler/firmware/run_firmware.h"
#include "compiler/ir/diagnostic.h"
#include "tests/support/hand_programs.h"

namespace rush {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Link : public testing::Test {
 protected:
  /// A folder as compile writes it.
  fs::path folder(const std::string& name, const Program& program, const std::string& target) {
    const fs::path path = temporary_.path() / name;
    firmware::make_directory(path);
    const std::vector<uint8_t> image = emit_image(program);
    firmware::write_file(path / "model.rush", {image.begin(), image.end()});
    firmware::write_file(path / "report.json", "{\"target\": \"" + target + "\"}");
    return path;
  }

  std::string error_of(const std::vector<LinkInput>& inputs) {
    try {
      link_models(inputs, temporary_.path() / "linked");
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  std::string linked_file(const std::string& name) { return firmware::read_file(temporary_.path() / "linked" / name); }

  firmware::TemporaryDirectory temporary_;
};

TEST_F(Link, SharesTheLargerArena) {
  const Program small = clamp_program(Isa::kDsp), large = clamp_chain_program(Isa::kDsp);
  ASSERT_NE(small.regions[0].bytes, large.regions[0].bytes);
  const Linked linked = link_models({{"", folder("first", small, "cortex-m4")}, {"b", folder("x", large, "cortex-m4")}},
                                    temporary_.path() / "linked");
  const uint32_t most = std::max(small.regions[0].bytes, large.regions[0].bytes);
  EXPECT_EQ(linked.region_bytes(), most);
  EXPECT_EQ(linked.apart_bytes(), small.regions[0].bytes + large.regions[0].bytes);
  EXPECT_EQ(linked.stack_bytes, std::max(stack_bound(small), stack_bound(large)));
  const std::string header = linked_file("models.h");
  EXPECT_THAT(header, HasSubstr("#include \"first.h\"\n#include \"b.h\"\n"));
  EXPECT_THAT(header, HasSubstr("#define MODELS_ARENA_BYTES " + std::to_string(most) + "\n"));
  EXPECT_THAT(header,
              HasSubstr("#define MODELS_RAM_BYTES (MODELS_ARENA_BYTES + FIRST_CONTEXT_BYTES + B_CONTEXT_BYTES + "
                        "MODELS_STACK_BYTES)\n"));
  const std::vector<uint8_t> image = emit_image(small);
  EXPECT_EQ(linked_file("first.rush"), std::string(image.begin(), image.end()));
}

/// Two accumulators in turn, each from 5 on: state + x, all elements alike.
TEST_F(Link, StatesStayApartOnABoard) {
  if (!firmware::has_tool("arm-none-eabi-g++") || !firmware::has_tool("qemu-system-arm"))
    GTEST_SKIP() << "no cross compiler or emulator";
  const Program accumulator = accumulator_program(Isa::kMve);
  link_models({{"", folder("a", accumulator, "cortex-m55")}, {"", folder("b", accumulator, "cortex-m55")}},
              temporary_.path() / "linked");
  const int8_t to_a = 1, to_b = -3;
  std::vector<uint8_t> inputs, expected;
  for (int8_t i = 1; i <= 3; ++i) {
    inputs.insert(inputs.end(), kAccumulatorSize, static_cast<uint8_t>(to_a));
    inputs.insert(inputs.end(), kAccumulatorSize, static_cast<uint8_t>(to_b));
    expected.insert(expected.end(), kAccumulatorSize, static_cast<uint8_t>(kAccumulatorStart + i * to_a));
    expected.insert(expected.end(), kAccumulatorSize, static_cast<uint8_t>(kAccumulatorStart + i * to_b));
  }
  const fs::path linked = temporary_.path() / "linked";
  const firmware::BoardRun run =
      firmware::run_on_board({linked, firmware::target_of(linked), load_board("mps3-an547")}, inputs);
  EXPECT_EQ(run.inferences, 3u);
  EXPECT_EQ(run.outputs, expected);
}

TEST_F(Link, RefusesTwoOfOneName) {
  const fs::path a = folder("a/out", clamp_program(Isa::kDsp), "cortex-m4");
  const fs::path b = folder("b/out", clamp_program(Isa::kDsp), "cortex-m4");
  EXPECT_THAT(error_of({{"", a}, {"", b}}), HasSubstr("two models are called \"out\""));
  EXPECT_THAT(error_of({{"kws", a}, {"KWS", b}}), HasSubstr("two models are called \"KWS\""));
  EXPECT_THAT(error_of({{"models", a}, {"b", b}}), HasSubstr("\"models\" is the name of what they all share"));
  EXPECT_THAT(error_of({{"9a", a}, {"b", b}}), HasSubstr("\"9a\" cannot name a C variable"));
  EXPECT_THAT(error_of({{"float", a}, {"b", b}}), HasSubstr("\"float\" cannot name a C variable"));
}

TEST_F(Link, RefusesTwoTargets) {
  const fs::path a = folder("a", clamp_program(Isa::kDsp), "cortex-m4");
  const fs::path b = folder("b", clamp_program(Isa::kMve), "cortex-m55");
  EXPECT_THAT(error_of({{"", a}, {"", b}}), HasSubstr("\"a\" is compiled for cortex-m4, \"b\" for cortex-m55"));
}

TEST_F(Link, RefusesWhatIsNoModel) {
  const fs::path a = folder("a", clamp_program(Isa::kDsp), "cortex-m4");
  EXPECT_THAT(error_of({{"", a}, {"", temporary_.path()}}), HasSubstr("is not a folder made by compile"));
}

TEST(LinkInput, NamesComeFirst) {
  EXPECT_EQ(parse_link_input("kws=out/a").name, "kws");
  EXPECT_EQ(parse_link_input("kws=out/a").path, "out/a");
  EXPECT_EQ(parse_link_input("out/a").name, "");
}

}  // namespace
}  // namespace rush
