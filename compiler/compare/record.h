// SPDX-License-Identifier: Apache-2.0
//
// A record of what a deployed model computed, to be checked later: the same image, on the same inputs, must give the
// same outputs, wherever it runs. Hashes are CRC-32, which the runtime has too (rushlight/crc32.h), so that a device
// can compute them of its own memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/run/run.h"

namespace rush {

struct DeployedRecord {
  uint32_t image_crc = 0;  ///< in the image's header
  uint32_t image_bytes = 0;
  std::vector<uint32_t> inputs;   ///< of each sample: all inputs as they lie in memory, one behind the other
  std::vector<uint32_t> outputs;  ///< likewise
  std::vector<std::pair<std::string, uint32_t>>
      layers;  ///< tensors and LayerComparison::crc; none where only outputs are known
};

/// Of one sample's inputs or outputs.
uint32_t crc_of(const Sample& sample);

/// Without layers.
DeployedRecord make_record(std::span<const uint8_t> image, const std::vector<Sample>& inputs,
                           const std::vector<Sample>& outputs);

std::string record_json(const DeployedRecord& record);

/// UserError, naming `file`, if the text is no record.
DeployedRecord parse_record(const std::string& json, const std::string& file);

/// What is not as it was recorded, in sentences; layers are compared where both have them.
std::vector<std::string> differences(const DeployedRecord& recorded, const DeployedRecord& now);

}  // namespace rush
