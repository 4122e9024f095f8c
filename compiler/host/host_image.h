// SPDX-License-Identifier: Apache-2.0
//
// An image made for any class of cores, rewritten for the host's kernels (scalar, or wide_kernels.h's): the same steps
// and parameters, with the weights packed anew behind the old image and a larger arena where the scalar variants need
// more scratch.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/emit/image_reader.h"

namespace rush {

/// Throws a UserError that begins with `name` where weights cannot be packed anew.
std::vector<uint8_t> host_image(const ImageReader& image, const std::string& name = "the image");

}  // namespace rush
