// SPDX-License-Identifier: Apache-2.0
//
// A program image running on the host: the device's own core with the host's scalar kernels, so that its outputs
// are the device's, bit for bit. An instance keeps its state between runs; instances share nothing, so that each
// thread can have one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/emit/image_reader.h"
#include "compiler/execute/ports.h"
#include "compiler/host/aligned_bytes.h"
#include "compiler/ir/tensor.h"
#include "rushlight/kernel.h"
#include "rushlight/rushlight.h"

namespace rush {

/// One band of a step that has just run.
struct BandView {
  size_t step;  ///< in the image
  Band band;
  const KernelFamily& family;
  const void* params;
  std::span<void* const> operands;
  const Extents& extents;  ///< bytes behind each operand

  bool is_last() const { return band.end == static_cast<int32_t>(extents.rows); }
};
using BandObserver = std::function<void(const BandView&)>;

/// What to_memory() and from_memory() need to know of an image's port.
PortFormat port_format(const ImagePort& port);

class HostProgram {
 public:
  /// Opens an image of any target and runs its entry "init" if it has one. Throws a UserError that begins with `name`.
  explicit HostProgram(std::span<const uint8_t> image, const std::string& name = "the image");

  /// A new instance of the same image, which the two share.
  HostProgram another() const { return HostProgram(image_, host_); }

  /// The image as it was given.
  const ImageReader& image() const { return *image_; }

  /// Runs an entry. Inputs and outputs are as they lie in memory: dtype and shape of the image's ports. A tensor that
  /// does not fit its port is an InternalError: convert it first.
  std::vector<HostTensor> run(size_t entry, const std::vector<HostTensor>& inputs, const BandObserver& observe = {});

  /// Back to the state after construction.
  void reset();

  /// For tests that drive the core themselves.
  rush_context* context() { return reinterpret_cast<rush_context*>(context_.data()); }

 private:
  using Shared = std::shared_ptr<const ImageReader>;
  HostProgram(Shared image, Shared host, const std::string& name = "the image");

  void open(const std::string& name);
  void give_inputs(size_t entry, const std::vector<HostTensor>& inputs);
  std::vector<HostTensor> take_outputs(size_t entry) const;
  void drive(size_t entry, const BandObserver& observe);
  rush_status feed_all();
  void show_band(const rush_context& before, const std::vector<uint16_t>& rows_before, const BandObserver& observe);
  void show_step(size_t step, Band band, const BandObserver& observe);

  Shared image_;
  Shared host_;  ///< the same for the host's kernels: what runs
  std::vector<AlignedBytes> regions_;
  AlignedBytes context_;
  std::vector<uint8_t> rows_to_feed_;
};

}  // namespace rush
