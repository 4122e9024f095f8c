// SPDX-License-Identifier: Apache-2.0
//
// What rush_open() refuses, one field of a good image at a time, and with which status.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "compiler/emit/emit.h"
#include "compiler/emit/image_reader.h"
#include "compiler/host/aligned_bytes.h"
#include "ops/add/add.h"
#include "ops/clamp/clamp.h"
#include "tests/support/device_suite.h"
#include "tests/support/hand_programs.h"
#include "tests/support/raw_instance.h"

namespace rush {
namespace {

using Image = std::vector<uint8_t>;

ImageHeader& header(Image& image) { return *reinterpret_cast<ImageHeader*>(image.data()); }

ImageSection& section(Image& image, SectionKind kind) {
  auto* sections = reinterpret_cast<ImageSection*>(image.data() + sizeof(ImageHeader));
  return sections[static_cast<size_t>(kind) - 1];
}

template <class T>
T& element(Image& image, SectionKind kind, size_t i = 0) {
  return reinterpret_cast<T*>(image.data() + section(image, kind).offset)[i];
}

using Edit = std::function<void(Image&)>;

/// Status of the image after the edit and with a CRC that fits. What is refused here is recorded for the boards.
rush_status status_after(const Program& program, const Edit& edit) {
  const Image good = emit_image(program, {.full_kernel_table = true});
  Image image = good;
  edit(image);
  seal_image(image);
  const rush_status status = RawInstance(ImageReader(good), image).open_status();
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  if (status != RUSH_OK) record_case(RefusedCase{"open, " + test, image, good, status});
  return status;
}

/// The same for every class of cores.
rush_status status_on_all(Program (*make)(Isa), const Edit& edit) {
  const rush_status status = status_after(make(Isa::kScalar), edit);
  EXPECT_EQ(status_after(make(Isa::kDsp), edit), status);
  EXPECT_EQ(status_after(make(Isa::kMve), edit), status);
  return status;
}

rush_status clamp_status(const Edit& edit) { return status_on_all(clamp_program, edit); }
rush_status chain_status(const Edit& edit) { return status_on_all(clamp_chain_program, edit); }
rush_status accumulator_status(const Edit& edit) { return status_on_all(accumulator_program, edit); }

TEST(Open, AcceptsWhatTheCompilerMakes) {
  const Edit none = [](Image&) {};
  EXPECT_EQ(clamp_status(none), RUSH_OK);
  EXPECT_EQ(chain_status(none), RUSH_OK);
  EXPECT_EQ(accumulator_status(none), RUSH_OK);
}

TEST(Open, Header) {
  EXPECT_EQ(clamp_status([](Image& i) { header(i).magic ^= 1; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { header(i).version_major = kVersionMajor + 1; }), RUSH_BAD_VERSION);
  EXPECT_EQ(clamp_status([](Image& i) { header(i).version_minor = 99; }), RUSH_OK);
  EXPECT_EQ(clamp_status([](Image& i) { header(i).isa ^= 1; }), RUSH_WRONG_TARGET);
  EXPECT_EQ(clamp_status([](Image& i) { header(i).kernel_table_id ^= 1; }), RUSH_WRONG_KERNELS);
  EXPECT_EQ(clamp_status([](Image& i) { header(i).image_bytes = 31; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { header(i).image_bytes += 1; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { header(i).section_count = kFixedSections - 1; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { header(i).section_count = 0xffff; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { header(i).max_chain_steps = 0; }), RUSH_BAD_STEP);
}

TEST(Open, DamagedImage) {
  const Image image = emit_image(clamp_program(Isa::kScalar));
  const ImageReader good(image);
  for (size_t i = offsetof(ImageHeader, crc); i < image.size(); ++i) {
    Image damaged = image;
    damaged[i] ^= 0x10;
    EXPECT_NE(RawInstance(good, damaged).open_status(), RUSH_OK) << i;
  }
  Image weights = image;
  weights.back() ^= 1;
  EXPECT_EQ(RawInstance(good, weights).open_status(), RUSH_BAD_CRC);
}

TEST(Open, WeightsAreCopiedFromTheImage) {
  const auto behind_the_last = [](uint32_t bytes) {
    return clamp_status([bytes](Image& i) {
      auto& region = element<ImageRegion>(i, SectionKind::kRegions);
      region.kind = static_cast<uint8_t>(RegionKind::kWeights);
      region.source = header(i).image_bytes - region.bytes + bytes;
    });
  };
  EXPECT_EQ(behind_the_last(0), RUSH_OK);
  EXPECT_EQ(behind_the_last(1), RUSH_BAD_IMAGE);
  EXPECT_EQ(behind_the_last(0x80000000u), RUSH_BAD_IMAGE);
}

TEST(Open, TruncatedImage) {
  const Image image = emit_image(clamp_program(Isa::kScalar));
  const ImageReader good(image);
  for (size_t size = 0; size < image.size(); ++size) {
    EXPECT_EQ(RawInstance(good, std::span(image).first(size)).open_status(), RUSH_BAD_IMAGE) << size;
  }
}

TEST(Open, Sections) {
  EXPECT_EQ(clamp_status([](Image& i) { section(i, SectionKind::kSteps).offset += 2; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { section(i, SectionKind::kSteps).offset = 0xfffffff0u; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { section(i, SectionKind::kSteps).kind = 5; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { section(i, SectionKind::kSteps).count += 1; }), RUSH_BAD_IMAGE);
  // 12 * (2^30 + 1) is 12 modulo 2^32.
  EXPECT_EQ(clamp_status([](Image& i) { section(i, SectionKind::kSteps).count += 1u << 30; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { section(i, SectionKind::kParams).bytes = 0xffffffffu; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { section(i, SectionKind::kConstants).offset = 0x10000000u; }), RUSH_BAD_IMAGE);
}

TEST(Open, UnknownSections) {
  const auto rename = [](uint16_t flags) {
    return [flags](Image& i) {
      section(i, SectionKind::kKernels).kind = 99, section(i, SectionKind::kKernels).flags = flags;
    };
  };
  EXPECT_EQ(clamp_status(rename(0)), RUSH_OK);
  EXPECT_EQ(clamp_status(rename(kSectionRequired)), RUSH_BAD_VERSION);
}

TEST(Open, Strings) {
  EXPECT_EQ(clamp_status([](Image& i) {
              element<char>(i, SectionKind::kStrings, section(i, SectionKind::kStrings).bytes - 1) = 'x';
            }),
            RUSH_BAD_IMAGE);
}

TEST(Open, Regions) {
  EXPECT_EQ(clamp_status([](Image& i) { element<ImageRegion>(i, SectionKind::kRegions).bytes += 1; }),
            RUSH_REGION_TOO_SMALL);
  EXPECT_EQ(clamp_status([](Image& i) { element<ImageRegion>(i, SectionKind::kRegions).bytes -= 1; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(accumulator_status([](Image& i) { element<ImageRegion>(i, SectionKind::kRegions, 1).bytes -= 1; }),
            RUSH_BAD_STEP);
}

TEST(Open, Entries) {
  EXPECT_EQ(clamp_status([](Image& i) { element<ImageEntry>(i, SectionKind::kEntries).chain_count = 2; }),
            RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { element<ImageEntry>(i, SectionKind::kEntries).first_chain = 0xffff; }),
            RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { element<ImageEntry>(i, SectionKind::kEntries).input_count = 3; }),
            RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) { element<ImageEntry>(i, SectionKind::kEntries).first_output = 2; }),
            RUSH_BAD_IMAGE);
  EXPECT_EQ(clamp_status([](Image& i) {
              section(i, SectionKind::kEntries).count = section(i, SectionKind::kEntries).bytes = 0;
            }),
            RUSH_BAD_IMAGE);
}

TEST(Open, InputsAndOutputs) {
  const auto io = [](const std::function<void(rush_io&)>& edit) {
    return clamp_status([&](Image& i) { edit(element<rush_io>(i, SectionKind::kIo)); });
  };
  EXPECT_EQ(io([](rush_io& p) { p.bytes += 26; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(io([](rush_io& p) { p.operand |= 0x0fffffffu; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(io([](rush_io& p) { p.operand = 0; }), RUSH_BAD_IMAGE) << "an input in the image";
  EXPECT_EQ(io([](rush_io& p) { p.operand = 2u << 28; }), RUSH_BAD_IMAGE) << "no such region";
  EXPECT_EQ(io([](rush_io& p) { p.rank = 7; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(io([](rush_io& p) { p.dim_order[3] = 4; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(io([](rush_io& p) { p.operand += 1, p.dtype = RUSH_FLOAT32; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(io([](rush_io& p) { p.operand += 1, p.dtype = RUSH_INT16; }), RUSH_BAD_IMAGE);
  EXPECT_EQ(io([](rush_io& p) { p.operand += 1; }), RUSH_OK);
  EXPECT_EQ(clamp_status([](Image& i) { element<rush_io>(i, SectionKind::kIo, 1).flags |= RUSH_IO_LINE_FED; }),
            RUSH_BAD_IMAGE)
      << "an output that the caller gives";
}

TEST(Open, Steps) {
  const auto step = [](const std::function<void(ImageStep&)>& edit) {
    return clamp_status([&](Image& i) { edit(element<ImageStep>(i, SectionKind::kSteps)); });
  };
  EXPECT_EQ(step([](ImageStep& s) { s.kernel = 1; }), RUSH_BAD_STEP) << "another kernel's parameters";
  EXPECT_EQ(step([](ImageStep& s) { s.kernel = 0xffff; }), RUSH_BAD_STEP);
  EXPECT_EQ(step([](ImageStep& s) { s.rows = 3; }), RUSH_BAD_STEP);
  EXPECT_EQ(step([](ImageStep& s) { s.rows = 0; }), RUSH_BAD_STEP);
  EXPECT_EQ(step([](ImageStep& s) { s.params = 2; }), RUSH_BAD_STEP);
  EXPECT_EQ(step([](ImageStep& s) { s.params = 4; }), RUSH_BAD_STEP);
  EXPECT_EQ(step([](ImageStep& s) { s.params = 0xfffffffcu; }), RUSH_BAD_STEP);
  EXPECT_EQ(step([](ImageStep& s) { s.first_operand = 1; }), RUSH_BAD_STEP);
  EXPECT_EQ(step([](ImageStep& s) { s.first_operand = 0xffffffffu; }), RUSH_BAD_STEP);
}

TEST(Open, Parameters) {
  const auto params = [](const std::function<void(ClampParams&)>& edit) {
    return clamp_status([&](Image& i) { edit(element<ClampParams>(i, SectionKind::kParams)); });
  };
  EXPECT_EQ(params([](ClampParams& p) { p.row_elements = 7; }), RUSH_BAD_STEP);
  EXPECT_EQ(params([](ClampParams& p) { p.in.row_bytes = 0x40000001u; }), RUSH_BAD_STEP);
  EXPECT_EQ(params([](ClampParams& p) { p.in.ring_rows = 0; }), RUSH_BAD_STEP);
  EXPECT_EQ(params([](ClampParams& p) { p.range = {-500, 500}; }), RUSH_OK) << "wrong, but touches no other memory";
}

TEST(Open, Operands) {
  const auto operand = [](size_t index, uint32_t value) {
    return clamp_status([&](Image& i) { element<uint32_t>(i, SectionKind::kOperands, index) = value; });
  };
  const uint32_t region1 = 1u << 28;
  EXPECT_EQ(operand(0, region1 | 25), RUSH_OK);
  EXPECT_EQ(operand(0, region1 | 26), RUSH_BAD_STEP);
  EXPECT_EQ(operand(0, region1 | 0x0fffffffu), RUSH_BAD_STEP);
  EXPECT_EQ(operand(0, 0xf0000000u), RUSH_BAD_STEP);
  EXPECT_EQ(operand(0, 2u << 28), RUSH_BAD_STEP);
  EXPECT_EQ(operand(0, 16), RUSH_OK) << "reading the image";
  EXPECT_EQ(operand(1, 16), RUSH_BAD_STEP) << "writing the image";
}

TEST(Open, Chains) {
  const auto chain = [](const std::function<void(ImageChain&)>& edit) {
    return chain_status([&](Image& i) { edit(element<ImageChain>(i, SectionKind::kChains)); });
  };
  EXPECT_EQ(chain([](ImageChain& c) { c.first_step = 1; }), RUSH_BAD_STEP);
  EXPECT_EQ(chain([](ImageChain& c) { c.step_count = 0; }), RUSH_BAD_STEP);
  EXPECT_EQ(chain([](ImageChain& c) { c.step_count = 1; }), RUSH_BAD_STEP) << "a step without a chain";
  EXPECT_EQ(chain([](ImageChain& c) { c.step_count = 3; }), RUSH_BAD_STEP);
  EXPECT_EQ(chain([](ImageChain& c) { c.first_link = 1; }), RUSH_BAD_STEP);
  EXPECT_EQ(chain_status([](Image& i) { header(i).max_chain_steps = 1; }), RUSH_BAD_STEP);
  EXPECT_EQ(chain_status([](Image& i) { header(i).max_chain_steps = 1000; }), RUSH_BAD_ARGUMENT);
}

TEST(Open, Links) {
  const auto link = [](size_t index, const std::function<void(ImageLink&)>& edit) {
    return chain_status([&](Image& i) { edit(element<ImageLink>(i, SectionKind::kLinks, index)); });
  };
  EXPECT_EQ(link(0, [](ImageLink& l) { l.band_rows = 0; }), RUSH_BAD_STEP);
  EXPECT_EQ(link(0, [](ImageLink& l) { l.producer[0] = 0; }), RUSH_BAD_STEP) << "waits for itself";
  EXPECT_EQ(link(0, [](ImageLink& l) { l.producer[1] = 1; }), RUSH_BAD_STEP) << "waits for a later one";
  EXPECT_EQ(link(1, [](ImageLink& l) { l.producer[0] = 2; }), RUSH_BAD_STEP) << "no such step";
  EXPECT_EQ(link(1, [](ImageLink& l) { l.band_rows = 0xff, l.first_rows = 0xfe; }), RUSH_OK);
  EXPECT_EQ(link(1, [](ImageLink& l) { l.row_stride[0] = 0xffff, l.row_lead[0] = 0x7fff; }), RUSH_OK);
  EXPECT_EQ(chain_status([](Image& i) {
              section(i, SectionKind::kLinks).count = 1, section(i, SectionKind::kLinks).bytes = 16;
            }),
            RUSH_BAD_STEP);
}

/// A good image and memory for it, to be spoiled one argument at a time.
struct Call {
  Image image = emit_image(clamp_program(Isa::kScalar));
  ImageReader reader{image};
  AlignedBytes context{RUSH_CONTEXT_BYTES(1) + 16};
  AlignedBytes arena{64};
  rush_memory memory{arena.data(), 49};
  rush_model model{reader.bytes().data(), static_cast<uint32_t>(reader.bytes().size()), &reader.host_kernels().table};

  rush_context* at(size_t offset) { return reinterpret_cast<rush_context*>(context.data() + offset); }
  rush_status open() { return rush_open(at(0), sizeof(rush_context), &model, &memory, 1); }
};

TEST(Open, Arguments) {
  Call call;
  EXPECT_EQ(call.open(), RUSH_OK);
  EXPECT_EQ(rush_open(nullptr, 1000, &call.model, &call.memory, 1), RUSH_BAD_ARGUMENT);
  EXPECT_EQ(rush_open(call.at(0), sizeof(rush_context) - 1, &call.model, &call.memory, 1), RUSH_BAD_ARGUMENT);
  EXPECT_EQ(rush_open(call.at(0), 1000, nullptr, &call.memory, 1), RUSH_BAD_ARGUMENT);
  EXPECT_EQ(rush_open(call.at(0), 1000, &call.model, nullptr, 1), RUSH_BAD_ARGUMENT);
  EXPECT_EQ(rush_open(call.at(0), 1000, &call.model, &call.memory, 0), RUSH_REGION_TOO_SMALL);
  EXPECT_EQ(rush_open(call.at(1), sizeof(rush_context), &call.model, &call.memory, 1), RUSH_BAD_ALIGNMENT);
}

TEST(Open, Memory) {
  Call call;
  call.memory.bytes = 48;
  EXPECT_EQ(call.open(), RUSH_REGION_TOO_SMALL);
  call.memory = {call.arena.data() + 8, 49};
  EXPECT_EQ(call.open(), RUSH_BAD_ALIGNMENT);
}

TEST(Open, ModelPointers) {
  Call call;
  call.model.kernels = nullptr;
  EXPECT_EQ(call.open(), RUSH_BAD_ARGUMENT);
  call.model.kernels = &call.reader.host_kernels().table;
  call.model.image = call.reader.bytes().data() + 4;
  EXPECT_EQ(call.open(), RUSH_BAD_ALIGNMENT);
  call.model.image = nullptr;
  EXPECT_EQ(call.open(), RUSH_BAD_ARGUMENT);
}

TEST(Open, RefusedContextIsUnusable) {
  Call call;
  ASSERT_EQ(call.open(), RUSH_OK);
  call.memory.bytes = 1;
  ASSERT_EQ(call.open(), RUSH_REGION_TOO_SMALL);
  EXPECT_EQ(rush_entry_count(call.at(0)), 0u);
  EXPECT_EQ(rush_input(call.at(0), 0, 0), nullptr);
  EXPECT_EQ(rush_string(call.at(0), 0), nullptr);
  EXPECT_EQ(rush_label(call.at(0), 0), nullptr);
  EXPECT_EQ(rush_run(call.at(0), 0), RUSH_BAD_ARGUMENT);
  EXPECT_EQ(rush_step(call.at(0)), RUSH_BAD_ARGUMENT);
}

}  // namespace
}  // namespace rush
