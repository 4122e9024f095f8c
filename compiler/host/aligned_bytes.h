// SPDX-License-Identifier: Apache-2.0
//
// Heap memory aligned as the runtime asks for it, of exactly the size given, so that an address sanitizer sees the
// first byte behind it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include "rushlight/rushlight.h"

namespace rush {

class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t size) : size_(size) {
    void* memory = nullptr;
    if (posix_memalign(&memory, RUSH_ALIGNMENT, size) != 0) throw std::bad_alloc();
    data_.reset(static_cast<uint8_t*>(memory));
  }
  explicit AlignedBytes(std::span<const uint8_t> bytes) : AlignedBytes(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), data_.get());
  }

  uint8_t* data() { return data_.get(); }
  const uint8_t* data() const { return data_.get(); }
  size_t size() const { return size_; }
  std::span<const uint8_t> span() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<uint8_t[], Free> data_;
  size_t size_ = 0;
};

}  // namespace rush
