// SPDX-License-Identifier: Apache-2.0
//
// The model's borders: user inputs, user outputs and state. A port keeps the memory order that the user exported,
// read from the recorded strides; a permute between it and the graph brings it into the exported axis order.
#pragma once

#include <cstdint>

#include "compiler/import/translation.h"

namespace rush {

/// Memory order of a tensor from its strides, outermost axis first: {0,2,3,1} for channels-last. Axes of size 1 tell
/// nothing: where a rank-4 tensor fits both orders, `prefer_channels_last` decides. Row-major if the strides are
/// not those of a dense tensor.
std::vector<int> dim_order_of(const Shape& sizes, const Shape& strides, bool prefer_channels_last);

/// Binds the symbolic batch. Throws UserError for every other symbolic dimension.
void bind_batch(Translation& translation, int64_t batch);

/// Ports and states for what the graph takes.
void open_inputs(Translation& translation);
void open_states(Translation& translation);

/// Ports for what it returns, and the next values of the states.
void close_outputs(Translation& translation);
void close_states(Translation& translation);

}  // namespace rush
