// SPDX-License-Identifier: Apache-2.0
//
// A profile as an ETDump, which ExecuTorch's Inspector opens: one event for each layer, named as in the user's model,
// with its cycles and, where they are given, the values that it computed.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/tensor.h"
#include "compiler/profile/profile.h"

namespace rush {

/// A layer's real value in the exported model's axis order.
struct LayerOutput {
  std::string node;  ///< LayerProfile::node
  HostTensor value;
};

struct EtDump {
  std::string events;        ///< the file that Inspector's etdump_path names
  std::string debug_buffer;  ///< the file that debug_buffer_path names; empty without outputs
};

/// Times are cycles: Inspector(…, source_time_scale=TimeScale.CYCLES, target_time_scale=TimeScale.CYCLES).
EtDump make_etdump(const ModelProfile& profile, const std::vector<LayerOutput>& outputs);

}  // namespace rush
