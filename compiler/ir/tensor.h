// SPDX-License-Identifier: Apache-2.0
//
// Element types, shapes, quantization and host tensors: what an edge of the graph carries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/diagnostic.h"

namespace rush {

enum class DType { kFloat32, kFloat64, kFloat16, kBFloat16, kInt8, kUInt8, kInt16, kInt32, kInt64, kBool };

size_t dtype_bytes(DType dtype);
std::string_view dtype_name(DType dtype);  ///< "float32", "int8", ...
std::optional<DType> parse_dtype(std::string_view name);

using Shape = std::vector<int64_t>;

/// At most 2^63 - 1, however large the shape.
int64_t element_count(const Shape& shape);
std::string to_string(const Shape& shape);  ///< "[1,64,25,5]"

/// Affine quantization: real = (code - zero_point) * scale. One element per tensor, or one per index of `axis`.
/// Scales are the exact values that PyTorch stores.
struct Quant {
  std::vector<double> scale;
  std::vector<int64_t> zero_point;
  int axis = -1;  ///< -1: per tensor
  int64_t min = -128;
  int64_t max = 127;

  bool per_tensor() const { return axis < 0; }
  bool operator==(const Quant&) const = default;
};

/// The type of an edge.
struct TensorType {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::optional<Quant> quant;

  bool operator==(const TensorType&) const = default;
};

std::string to_string(const TensorType& type);  ///< "int8 [1,64,25,5]"

/// A dense row-major tensor on the host.
class HostTensor {
 public:
  HostTensor() = default;
  HostTensor(DType dtype, Shape shape);  ///< zero-filled

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t size() const { return element_count(shape_); }
  size_t bytes() const { return data_.size(); }
  uint8_t* raw() { return data_.data(); }
  const uint8_t* raw() const { return data_.data(); }

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_.data());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_.data());
  }

  /// Element i as a number, whatever the type.
  double number(int64_t i) const;
  void set_number(int64_t i, double value);

  HostTensor reshaped(Shape shape) const;  ///< same bytes, same count, another shape
  bool operator==(const HostTensor&) const = default;

 private:
  DType dtype_ = DType::kFloat32;
  Shape shape_;
  std::vector<uint8_t> data_;
};

template <class T>
HostTensor make_tensor(DType dtype, Shape shape, const std::vector<T>& values) {
  HostTensor tensor(dtype, std::move(shape));
  internal_check(values.size() * sizeof(T) == tensor.bytes(), "make_tensor: value count does not fit the shape");
  std::memcpy(tensor.raw(), values.data(), tensor.bytes());
  return tensor;
}

/// Row-major strides in elements.
Shape strides_of(const Shape& shape);

/// out[i0', i1', ...] with out.shape[k] = in.shape[axes[k]].
HostTensor permuted(const HostTensor& tensor, const std::vector<int>& axes);

}  // namespace rush
