// SPDX-License-Identifier: Apache-2.0
//
// Names of an image's layers behind the image, in its file: tools find them there, and no device stores them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/program.h"

namespace rush {

/// The bytes of the file: the image, and behind it layer and source line of each step.
std::vector<uint8_t> with_names(std::span<const uint8_t> image, const Program& program);

/// One for each step, or none if there are no names of this image behind it.
std::vector<Origin> names_behind(std::span<const uint8_t> file);

}  // namespace rush
