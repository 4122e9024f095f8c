// SPDX-License-Identifier: Apache-2.0
//
// A small graph for each kernel family, with the cases that walk memory differently: what tests of images and the image
// fuzzer begin with.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "ops/program.h"

namespace rush {

struct SampleGraph {
  std::string name;
  Graph graph;
};
std::vector<SampleGraph> sample_graphs();

struct SampleImage {
  std::string name;
  std::vector<uint8_t> image;
};

/// Images of the sample graphs, two convolutions in a chain among them, and of the hand-written programs, with the full
/// kernel table.
std::vector<SampleImage> sample_images(Isa isa);

}  // namespace rush
