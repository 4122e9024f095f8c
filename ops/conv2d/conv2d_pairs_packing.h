// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "ops/conv2d/conv2d_packing.h"
#include "ops/conv2d/conv2d_pairs.h"

namespace rush {

/// The parameters of conv2d_pairs_s8.
Conv2dPairsParams pairs_params(const Conv2dParams& conv, const FoldedChannels& folded);

}  // namespace rush
