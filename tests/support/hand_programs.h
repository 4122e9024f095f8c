// SPDX-License-Identifier: Apache-2.0
//
// Programs written by hand, without lowering: small enough to say what their images must hold.
#pragma once

#include "ops/program.h"

namespace rush {

constexpr int kClampRows = 4, kClampRowBytes = 6, kClampMin = -20, kClampMax = 30;

/// y = clamp(x, -20, 30) of a map [1,4,2,3] that the user exported as float32 [1,3,4,2]; labels "dark" and "light".
Program clamp_program(Isa isa);

/// As clamp_program(), by two clamps in one chain: the map between them is a ring, and runs row by row.
Program clamp_chain_program(Isa isa);

constexpr int kAccumulatorSize = 21, kAccumulatorStart = 5;

/// Entry 0, "step": state = y = clamp(state + x, -100, 100), int8 [21]. Entry 1, "init": every state is 5.
Program accumulator_program(Isa isa);

}  // namespace rush
