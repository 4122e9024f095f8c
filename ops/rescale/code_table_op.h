// SPDX-License-Identifier: Apache-2.0
//
// Any function of int8 codes, element by element, is a table of 256 codes, for which rescale_s8 is the kernel.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "ops/op_def.h"

namespace rush {

using CodeTable = std::array<uint8_t, 256>;  ///< output codes by the bits of the input code

/// What PyTorch's dequantize, `function` and quantize make of each code.
CodeTable code_table(const Quant& in, const Quant& out, const std::function<double(double)>& function);

/// The table's codes for the codes of a tensor.
HostTensor look_up(HostTensor codes, const CodeTable& table);

/// The step of a node that looks up all of input `i`, row by row where it is a map.
ProgramStep look_up_step(const NodeTypes& types, size_t i, const CodeTable& table, OperandRef to, Lowering& lowering);

}  // namespace rush
