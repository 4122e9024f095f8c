// SPDX-License-Identifier: Apache-2.0
//
// An image of any bytes, opened as a device would: the blob and each region lie alone on the heap, exactly as long as
// they are, so that an address sanitizer sees every byte beside them; without one, guards behind the regions are
// compared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/emit/image_reader.h"
#include "compiler/host/aligned_bytes.h"
#include "rushlight/rushlight.h"

namespace rush {

/// Writes the CRC that the image's bytes have.
void seal_image(std::vector<uint8_t>& image);

class RawInstance {
 public:
  /// Kernels and regions are those of `like`, an image that holds; `blob` may be anything.
  RawInstance(const ImageReader& like, std::span<const uint8_t> blob);

  rush_status open_status() const { return status_; }
  rush_context* context() { return reinterpret_cast<rush_context*>(context_.data()); }

  /// Runs every entry to its end. False if one does not end within `max_bands` or ends with an error.
  bool run_all(uint64_t max_bands);

  bool guards_intact() const;

 private:
  AlignedBytes blob_;
  std::vector<AlignedBytes> regions_;
  AlignedBytes context_;
  rush_status status_;
};

}  // namespace rush
