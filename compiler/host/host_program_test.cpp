// SPDX-License-Identifier: Apache-2.0
#include "compiler/host/host_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "compiler/emit/emit.h"
#include "compiler/execute/ports.h"
#include "tests/support/graph_builder.h"
#include "tests/support/hand_programs.h"
#include "tests/support/random.h"

namespace rush {
namespace {

HostTensor some_map(uint64_t seed) {
  Random random(seed);
  return random_tensor(random, {DType::kInt8, {1, 4, 2, 3}, {}});
}

TEST(HostProgram, RunsImagesOfEveryClassAlike) {
  const HostTensor x = some_map(1);
  const auto expected = HostProgram(emit_image(clamp_program(Isa::kScalar))).run(0, {x});
  EXPECT_EQ(HostProgram(emit_image(clamp_program(Isa::kDsp))).run(0, {x}), expected);
  EXPECT_EQ(HostProgram(emit_image(clamp_program(Isa::kMve))).run(0, {x}), expected);
}

TEST(HostProgram, BordersBecomeWhatWasExported) {
  HostProgram program(emit_image(clamp_program(Isa::kScalar)));
  const PortFormat input = port_format(program.image().inputs(0).at(0));
  const PortFormat output = port_format(program.image().outputs(0).at(0));
  HostTensor real(DType::kFloat32, {1, 3, 4, 2});
  for (int64_t i = 0; i < real.size(); ++i) real.set_number(i, 0.25 * static_cast<double>(i) - 3);
  const HostTensor y = from_memory(output, program.run(0, {to_memory(input, real)}).at(0));
  ASSERT_EQ(y.shape(), real.shape());
  // Codes -20 and 30 are real -1.7 and 3.3.
  for (int64_t i = 0; i < real.size(); ++i)
    EXPECT_NEAR(y.number(i), std::clamp(real.number(i), -1.7, 3.3), 0.0501) << i;
}

TEST(HostProgram, ObserverSeesEveryBandAndItsOperands) {
  HostProgram program(emit_image(clamp_chain_program(Isa::kScalar)));
  const HostTensor x = some_map(2);
  int bands = 0;
  program.run(0, {x}, [&](const BandView& view) {
    ++bands;
    if (view.step != 1) return;
    const auto* row = static_cast<const int8_t*>(view.operands[1]) + view.band.begin * kClampRowBytes;
    for (int i = 0; i < kClampRowBytes; ++i) {
      const double before = x.number(view.band.begin * kClampRowBytes + i);
      EXPECT_EQ(row[i], std::clamp(before, double(kClampMin), double(kClampMax)));
    }
    EXPECT_EQ(view.extents.bytes[1], 24u);
    EXPECT_EQ(view.is_last(), view.band.end == kClampRows);
  });
  EXPECT_EQ(bands, 2 * kClampRows);
}

TEST(HostProgram, InstancesRunOnThreads) {
  const std::vector<uint8_t> image = emit_image(accumulator_program(Isa::kScalar));
  std::vector<HostTensor> last(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < last.size(); ++t)
    threads.emplace_back([&, t] {
      HostProgram program(image);
      HostTensor x(DType::kInt8, {kAccumulatorSize});
      for (int64_t i = 0; i < x.size(); ++i) x.set_number(i, static_cast<double>(t));
      for (int run = 0; run < 20; ++run) last[t] = program.run(0, {x}).at(0);
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < last.size(); ++t)
    EXPECT_EQ(last[t].number(3), std::min<double>(kAccumulatorStart + 20.0 * t, 100));
}

TEST(HostProgram, CanBeMoved) {
  HostProgram first(emit_image(clamp_program(Isa::kScalar)));
  const HostTensor x = some_map(3);
  const auto expected = first.run(0, {x});
  HostProgram second(std::move(first));
  EXPECT_EQ(second.run(0, {x}), expected);
}

TEST(HostProgram, RefusesTensorsThatDoNotFit) {
  HostProgram program(emit_image(clamp_program(Isa::kScalar)));
  EXPECT_THROW(program.run(0, {}), InternalError);
  EXPECT_THROW(program.run(0, {HostTensor(DType::kInt8, {23})}), InternalError);
  EXPECT_THROW(program.run(0, {HostTensor(DType::kUInt8, {1, 4, 2, 3})}), InternalError);
  EXPECT_THROW(program.run(1, {}), InternalError);
}

}  // namespace
}  // namespace rush
