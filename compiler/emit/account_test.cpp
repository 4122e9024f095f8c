// SPDX-License-Identifier: Apache-2.0
//
// The parts of every sample image add up to it; constants and parameters that are equal are there once.
#include "compiler/emit/account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/emit/emit.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"
#include "ops/linear/linear_op.h"
#include "tests/support/graph_builder.h"
#include "tests/support/sample_graphs.h"

namespace rush {
namespace {

constexpr Isa kIsas[] = {Isa::kScalar, Isa::kDsp, Isa::kMve};

uint32_t sum_of(const ImageAccount& account) {
  uint32_t sum = 0;
  for (const LayerAccount& layer : account.layers) sum += layer.bytes();
  for (const auto& [name, bytes] : account.sections) sum += bytes;
  return sum;
}

/// What packing adds, by the number of elements.
uint32_t padding_of(const Program& program) {
  size_t bytes = 0;
  for (const ProgramStep& step : program.steps) {
    const Packing& packing = step.family->host->packing;
    if (packing.operand < 0) continue;
    bytes += packing.element_bytes *
             (packing.packed_count(program.isa, step.params.data()) - packing.canonical_count(step.params.data()));
  }
  return static_cast<uint32_t>(bytes);
}

TEST(Account, PartsOfEverySampleAddUpToTheImage) {
  for (const Isa isa : kIsas) {
    for (const SampleImage& sample : sample_images(isa)) {
      const ImageReader image(sample.image);
      EXPECT_EQ(sum_of(account_for(image)), sample.image.size()) << sample.name;
    }
  }
}

/// Two linear layers of `features` each. `shared`: both have the same weights, bias and scales.
Program two_layers(Isa isa, int64_t features, bool shared) {
  GraphBuilder b(1);
  const Quant quant = {.scale = {0.5}, .zero_point = {3}};
  const TensorId x = b.input({DType::kInt8, {1, features}, quant});
  const TensorId weights = b.weights({features, features}), bias = b.bias(x, weights, features);
  const TensorId y = b.node(Linear{}, {x, weights, bias}, quant);
  const TensorId other = shared ? weights : b.weights({features, features});
  b.output(b.node(Linear{}, {y, other, shared ? bias : b.bias(y, other, features)}, quant));
  Program program = lower_graph(b.graph(), isa, "cortex-m55");
  plan_memory(program);
  return program;
}

TEST(Account, EqualConstantsAreThereOnce) {
  for (const Isa isa : kIsas) {
    const Program apart = two_layers(isa, 21, false), shared = two_layers(isa, 21, true);
    const std::vector<uint8_t> one = emit_image(shared), two = emit_image(apart);
    const ImageAccount account = account_for(ImageReader(one)), full = account_for(ImageReader(two));
    ASSERT_EQ(account.layers.size(), 2u);
    EXPECT_EQ(full.layers[1].shared_bytes, 0u);
    EXPECT_EQ(account.layers[1].constant_bytes + account.layers[1].padding_bytes, 0u);
    EXPECT_EQ(account.layers[1].shared_bytes, full.layers[1].constant_bytes + full.layers[1].padding_bytes);
    EXPECT_GE(account.layers[1].shared_bytes, 21u * 21);
    EXPECT_LE(one.size() + account.layers[1].shared_bytes, two.size() + RUSH_ALIGNMENT);
  }
}

TEST(Account, PaddingOfPackedWeightsIsCounted) {
  uint32_t most = 0;
  for (const Isa isa : kIsas) {
    const Program program = two_layers(isa, 21, false);
    const std::vector<uint8_t> bytes = emit_image(program);
    const ImageAccount account = account_for(ImageReader(bytes));
    EXPECT_EQ(account.layers[0].padding_bytes + account.layers[1].padding_bytes, padding_of(program));
    EXPECT_EQ(account.layers[0].source, "test.py:1");
    most = std::max(most, padding_of(program));
  }
  EXPECT_GT(most, 0u);  // else this would test nothing
}

}  // namespace
}  // namespace rush
