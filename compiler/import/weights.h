// SPDX-License-Identifier: Apache-2.0
//
// Parameters, buffers and constants of an archive as dense row-major tensors. A payload is a whole storage: the
// tensor in it may be strided, shared with other names or a slice. Nothing that the file claims about sizes is
// believed before it fits the payload.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "compiler/import/pt2_schema.h"
#include "compiler/import/zip_archive.h"
#include "compiler/ir/tensor.h"

namespace rush {

class Weights {
 public:
  /// Reads the payload configurations of the model. Throws UserError.
  Weights(const ZipArchive& archive, const std::string& model);

  /// The tensor that the graph input stands for; the same object for names that share it. Throws UserError naming
  /// it: missing, pickled, sparse, unknown type, short payload, strides past its end, NaN or infinity.
  std::shared_ptr<const HostTensor> load(const pt2::InputSpec& spec);

 private:
  using Bytes = std::shared_ptr<const std::vector<uint8_t>>;

  const pt2::Payload& find(const pt2::InputSpec& spec, std::string& folder) const;
  Bytes read(const pt2::InputSpec& spec, const std::string& entry);
  void spend(const pt2::InputSpec& spec, uint64_t bytes);

  const ZipArchive& archive_;
  std::string model_;
  pt2::Payloads weights_, constants_;
  std::map<std::string, std::shared_ptr<const HostTensor>> loaded_;
  std::map<std::string, Bytes> read_;
  uint64_t budget_;  ///< bytes that may still be allocated
};

}  // namespace rush
