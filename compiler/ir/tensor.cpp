// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/tensor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rush {
namespace {

struct DTypeRow {
  DType dtype;
  size_t bytes;
  std::string_view name;
};

constexpr std::array<DTypeRow, 10> kDTypes = {{
    {DType::kFloat32, 4, "float32"},
    {DType::kFloat64, 8, "float64"},
    {DType::kFloat16, 2, "float16"},
    {DType::kBFloat16, 2, "bfloat16"},
    {DType::kInt8, 1, "int8"},
    {DType::kUInt8, 1, "uint8"},
    {DType::kInt16, 2, "int16"},
    {DType::kInt32, 4, "int32"},
    {DType::kInt64, 8, "int64"},
    {DType::kBool, 1, "bool"},
}};

const DTypeRow& row_of(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }

float half_to_float(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  const float sign = half & 0x8000 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa ? std::nanf("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

}  // namespace

size_t dtype_bytes(DType dtype) { return row_of(dtype).bytes; }

std::string_view dtype_name(DType dtype) { return row_of(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

int64_t element_count(const Shape& shape) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  int64_t count = 1;
  for (const int64_t dim : shape) {
    if (__builtin_mul_overflow(count, dim, &count)) return std::numeric_limits<int64_t>::max();
  }
  return count;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string to_string(const TensorType& type) {
  return fmt::format("{} {}", dtype_name(type.dtype), to_string(type.shape));
}

HostTensor::HostTensor(DType dtype, Shape shape)
    : dtype_(dtype), shape_(std::move(shape)), data_(static_cast<size_t>(element_count(shape_)) * dtype_bytes(dtype)) {}

double HostTensor::number(int64_t i) const {
  switch (dtype_) {
    case DType::kFloat32:
      return as<float>()[i];
    case DType::kFloat64:
      return as<double>()[i];
    case DType::kFloat16:
      return half_to_float(as<uint16_t>()[i]);
    case DType::kBFloat16:
      return std::bit_cast<float>(static_cast<uint32_t>(as<uint16_t>()[i]) << 16);
    case DType::kInt8:
      return as<int8_t>()[i];
    case DType::kUInt8:
      return as<uint8_t>()[i];
    case DType::kInt16:
      return as<int16_t>()[i];
    case DType::kInt32:
      return as<int32_t>()[i];
    case DType::kInt64:
      return static_cast<double>(as<int64_t>()[i]);
    case DType::kBool:
      return as<uint8_t>()[i] != 0;
  }
  throw InternalError("number: unknown dtype");
}

void HostTensor::set_number(int64_t i, double value) {
  switch (dtype_) {
    case DType::kFloat32:
      as<float>()[i] = static_cast<float>(value);
      return;
    case DType::kFloat64:
      as<double>()[i] = value;
      return;
    case DType::kInt8:
      as<int8_t>()[i] = static_cast<int8_t>(value);
      return;
    case DType::kUInt8:
      as<uint8_t>()[i] = static_cast<uint8_t>(value);
      return;
    case DType::kInt16:
      as<int16_t>()[i] = static_cast<int16_t>(value);
      return;
    case DType::kInt32:
      as<int32_t>()[i] = static_cast<int32_t>(value);
      return;
    case DType::kInt64:
      as<int64_t>()[i] = static_cast<int64_t>(value);
      return;
    case DType::kBool:
      as<uint8_t>()[i] = value != 0;
      return;
    case DType::kFloat16:
    case DType::kBFloat16:
      break;
  }
  throw InternalError("set_number: no conversion to " + std::string(dtype_name(dtype_)));
}

HostTensor HostTensor::reshaped(Shape shape) const {
  internal_check(element_count(shape) == size(), "reshaped: element count differs");
  HostTensor out = *this;
  out.shape_ = std::move(shape);
  return out;
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

namespace {

/// Copies elements one after the other from places that are apart: along the last axis `step.back()` elements.
template <class Element>
void gather(const Element* from, const Shape& shape, const Shape& step, Element* to) {
  const size_t last = shape.size() - 1;
  Shape index(shape.size(), 0);
  const int64_t lines = shape[last] == 0 ? 0 : element_count(shape) / shape[last];
  for (int64_t line = 0; line < lines; ++line) {
    const Element* element = from;
    for (size_t k = 0; k < last; ++k) element += index[k] * step[k];
    for (int64_t i = 0; i < shape[last]; ++i, element += step[last]) *to++ = *element;
    for (size_t k = last; k-- > 0 && ++index[k] == shape[k];) index[k] = 0;
  }
}

}  // namespace

HostTensor permuted(const HostTensor& tensor, const std::vector<int>& axes) {
  const size_t rank = axes.size();
  if (std::ranges::is_sorted(axes)) return tensor;
  internal_check(rank == tensor.shape().size(), "permuted: rank differs");
  const Shape strides = strides_of(tensor.shape());
  Shape shape(rank), step(rank);
  for (size_t k = 0; k < rank; ++k) {
    shape[k] = tensor.shape()[static_cast<size_t>(axes[k])];
    step[k] = strides[static_cast<size_t>(axes[k])];
  }
  HostTensor out(tensor.dtype(), shape);
  switch (dtype_bytes(tensor.dtype())) {
    case 1:
      gather(tensor.as<uint8_t>(), shape, step, out.as<uint8_t>());
      break;
    case 2:
      gather(tensor.as<uint16_t>(), shape, step, out.as<uint16_t>());
      break;
    case 4:
      gather(tensor.as<uint32_t>(), shape, step, out.as<uint32_t>());
      break;
    default:
      gather(tensor.as<uint64_t>(), shape, step, out.as<uint64_t>());
  }
  return out;
}

}  // namespace rush
