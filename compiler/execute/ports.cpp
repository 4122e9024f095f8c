// SPDX-License-Identifier: Apache-2.0
#include "compiler/execute/ports.h"

#include <fmt/format.h>

#include "ops/quantization.h"

namespace rush {
namespace {

std::string describe(DType dtype, const Shape& shape) { return to_string(TensorType{dtype, shape, {}}); }

bool accepts(const PortFormat& port, DType dtype) {
  return dtype == port.exported_dtype || (port.border && dtype == port.type.dtype);
}

void check_fits(const PortFormat& port, const HostTensor& exported) {
  if (accepts(port, exported.dtype()) && exported.shape() == port.exported_shape) return;
  throw UserError(
      fmt::format("input \"{}\" is {}, but was given {}", port.name, describe(port.exported_dtype, port.exported_shape),
                  describe(exported.dtype(), exported.shape())),
      "give it in the exported model's shape and element type");
}

std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> out(order.size());
  for (size_t i = 0; i < order.size(); ++i) out[static_cast<size_t>(order[i])] = static_cast<int>(i);
  return out;
}

/// uint8 codes are int8 codes plus 128 (shift_uint8 took the 128 out of the graph).
HostTensor shifted(const HostTensor& codes, DType dtype) {
  HostTensor out(dtype, codes.shape());
  for (size_t i = 0; i < codes.bytes(); ++i) out.raw()[i] = codes.raw()[i] ^ 0x80;
  return out;
}

HostTensor quantized(const HostTensor& real, const PortFormat& port) {
  HostTensor codes(port.type.dtype, real.shape());
  if (real.dtype() == DType::kFloat32 && codes.dtype() == DType::kInt8 && port.border->per_tensor()) {
    quantize_codes(real.as<float>(), real.size(), *port.border, codes.as<int8_t>());
    return codes;
  }
  for (int64_t i = 0; i < real.size(); ++i) codes.set_number(i, quantize_code(real.number(i), *port.border));
  return codes;
}

HostTensor dequantized(const HostTensor& codes, const PortFormat& port) {
  HostTensor real(port.exported_dtype, codes.shape());
  if (real.dtype() == DType::kFloat32 && codes.dtype() == DType::kInt8 && port.border->per_tensor()) {
    dequantize_codes(codes.as<int8_t>(), codes.size(), *port.border, real.as<float>());
    return real;
  }
  for (int64_t i = 0; i < codes.size(); ++i)
    real.set_number(i, dequantize_code(static_cast<int64_t>(codes.number(i)), *port.border));
  return real;
}

bool is_shifted(const PortFormat& port) {
  return port.exported_dtype == DType::kUInt8 && port.type.dtype == DType::kInt8;
}

}  // namespace

PortFormat port_format(const Graph& graph, const Port& port) {
  return {port.name, graph.type(port.tensor), port.exported_dtype, port.exported_shape, port.dim_order, port.border};
}

PortFormat port_format(const ProgramPort& port) {
  return {port.name, port.type, port.exported_dtype, port.exported_shape, port.dim_order, port.border};
}

HostTensor to_memory(const PortFormat& port, const HostTensor& exported) {
  check_fits(port, exported);
  HostTensor value = permuted(exported, port.dim_order);
  if (port.border && value.dtype() != port.type.dtype) return quantized(value, port);
  return is_shifted(port) ? shifted(value, DType::kInt8) : value;
}

HostTensor from_memory(const PortFormat& port, const HostTensor& memory, bool raw) {
  HostTensor value = permuted(memory, inverse(port.dim_order));
  if (port.border && !raw) return dequantized(value, port);
  return is_shifted(port) ? shifted(value, DType::kUInt8) : value;
}

}  // namespace rush
