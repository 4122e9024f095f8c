// SPDX-License-Identifier: Apache-2.0
//
// Images with changed bytes and a CRC that fits: rush_open() refuses them, or they run to their end and touch nothing
// but their own memory. Run this under an address sanitizer to see reads as well.
#include <algorithm>

#include <gtest/gtest.h>

#include "compiler/emit/emit.h"
#include "compiler/emit/image_reader.h"
#include "tests/support/hand_programs.h"
#include "tests/support/random.h"
#include "tests/support/raw_instance.h"
#include "tests/support/sample_graphs.h"

namespace rush {
namespace {

/// More bands than any of these programs can have: rows are bounded by the bytes of the maps.
constexpr uint64_t kMaxBands = 1 << 18;

/// True if it was opened.
bool expect_survives(const ImageReader& good, std::vector<uint8_t> image) {
  seal_image(image);
  RawInstance instance(good, image);
  const bool is_open = instance.open_status() == RUSH_OK;
  EXPECT_TRUE(!is_open || instance.run_all(kMaxBands));
  EXPECT_TRUE(instance.guards_intact());
  return is_open;
}

struct Subject {
  const char* name;
  Program (*make)(Isa);
};

class MangledProgram : public testing::TestWithParam<Subject> {
 protected:
  bool survives(std::vector<uint8_t> image) { return expect_survives(good_, std::move(image)); }

  const std::vector<uint8_t> image_ = emit_image(GetParam().make(Isa::kScalar));
  const ImageReader good_{image_};
};

TEST_P(MangledProgram, EveryByteChanged) {
  size_t opened = 0;
  for (size_t at = 0; at < image_.size(); ++at) {
    for (const uint8_t change : {0x01, 0x02, 0x10, 0x80, 0xff}) {
      std::vector<uint8_t> image = image_;
      image[at] ^= change;
      SCOPED_TRACE(testing::Message() << "byte " << at << " ^ " << int(change));
      opened += survives(std::move(image)) ? 1 : 0;
    }
  }
  EXPECT_GT(opened, 0u) << "some bytes, e.g. names, may be anything";
}

TEST_P(MangledProgram, EveryWordExtreme) {
  for (size_t at = 0; at + 4 <= image_.size(); at += 4) {
    for (const uint32_t value :
         {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffff0000u, 0x0000ffffu, 0xfffffffcu, 0xffffffffu}) {
      std::vector<uint8_t> image = image_;
      std::copy_n(reinterpret_cast<const uint8_t*>(&value), 4, image.begin() + static_cast<ptrdiff_t>(at));
      SCOPED_TRACE(testing::Message() << "word at " << at << " = " << value);
      survives(std::move(image));
    }
  }
}

TEST_P(MangledProgram, ManyBytesChanged) {
  const uint64_t seed = 20;
  Random random(seed);
  const auto last = static_cast<int64_t>(image_.size()) - 1;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> image = image_;
    for (int64_t changes = random.integer(2, 6); changes > 0; --changes) {
      const auto at = static_cast<size_t>(random.integer(static_cast<int64_t>(sizeof(ImageHeader)), last));
      image[at] = static_cast<uint8_t>(random.chance(0.3) ? random.integer(0, 255) : image[at] + random.integer(-2, 2));
    }
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
    survives(std::move(image));
  }
}

TEST_P(MangledProgram, SectionsOverEachOther) {
  auto section_at = [](std::vector<uint8_t>& image, size_t i) -> ImageSection& {
    return reinterpret_cast<ImageSection*>(image.data() + sizeof(ImageHeader))[i];
  };
  for (size_t to = 0; to < kFixedSections; ++to) {
    for (uint32_t offset = 0; offset < image_.size(); offset += 4) {
      std::vector<uint8_t> image = image_;
      section_at(image, to).offset = offset;
      SCOPED_TRACE(testing::Message() << "section " << to + 1 << " at " << offset);
      survives(std::move(image));
    }
  }
}

constexpr Isa kEveryIsa[] = {Isa::kScalar, Isa::kDsp, Isa::kMve};

/// The parameters of every kernel family, word by word: what extents() must stand.
TEST(MangledParameters, OfEveryKernel) {
  size_t images = 0;
  for (const Isa isa : kEveryIsa) {
    for (const SampleImage& sample : sample_images(isa)) {
      const ImageReader good(sample.image);
      const ImageSection& params = good.sections()[static_cast<size_t>(SectionKind::kParams) - 1];
      for (uint32_t at = params.offset; at < params.offset + params.bytes; at += 2) {
        for (const uint16_t value : {0, 1, 2, 3, 7, 100, 0x7fff, 0x8000, 0xfffe, 0xffff}) {
          std::vector<uint8_t> image = sample.image;
          std::copy_n(reinterpret_cast<const uint8_t*>(&value), 2, image.begin() + at);
          SCOPED_TRACE(testing::Message() << sample.name << ", params byte " << at - params.offset << " = " << value);
          expect_survives(good, std::move(image));
        }
      }
      ++images;
    }
  }
  EXPECT_GT(images, 120u);
}

/// Products of two of them that are too large, and the like.
TEST(MangledParameters, SeveralAtOnce) {
  const uint64_t seed = 21;
  Random random(seed);
  for (const Isa isa : kEveryIsa) {
    for (const SampleImage& sample : sample_images(isa)) {
      const ImageReader good(sample.image);
      const ImageSection& params = good.sections()[static_cast<size_t>(SectionKind::kParams) - 1];
      for (int round = 0; round < 1000; ++round) {
        std::vector<uint8_t> image = sample.image;
        for (int64_t changes = random.integer(2, 4); changes > 0; --changes) {
          const auto at = params.offset + 2 * static_cast<size_t>(random.integer(0, params.bytes / 2 - 1));
          const auto value = static_cast<uint16_t>(random.chance(0.5) ? random.integer(0, 0xffff)
                                                                      : random.pick(std::vector{0, 1, 0x7fff, 0xffff}));
          std::copy_n(reinterpret_cast<const uint8_t*>(&value), 2, image.begin() + static_cast<ptrdiff_t>(at));
        }
        SCOPED_TRACE(testing::Message() << sample.name << ", seed " << seed << ", round " << round);
        expect_survives(good, std::move(image));
      }
    }
  }
}

/// A kernel's operands lie anywhere that its contract allows: run this under a sanitizer that sees alignment.
TEST(MisplacedOperands, OfEveryKernel) {
  size_t opened = 0;
  for (const Isa isa : kEveryIsa) {
    for (const SampleImage& sample : sample_images(isa)) {
      const ImageReader good(sample.image);
      const ImageSection& operands = good.sections()[static_cast<size_t>(SectionKind::kOperands) - 1];
      for (uint32_t at = operands.offset; at < operands.offset + operands.bytes; at += 4) {
        for (const uint32_t change : {1, 2, 3}) {
          std::vector<uint8_t> image = sample.image;
          image[at] ^= static_cast<uint8_t>(change);
          SCOPED_TRACE(testing::Message() << sample.name << ", operand " << (at - operands.offset) / 4);
          opened += expect_survives(good, std::move(image)) ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(opened, 100u) << "bytes may lie anywhere";
}

INSTANTIATE_TEST_SUITE_P(Programs, MangledProgram,
                         testing::Values(Subject{"clamp", clamp_program}, Subject{"chain", clamp_chain_program},
                                         Subject{"accumulator", accumulator_program}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rush
