// SPDX-License-Identifier: Apache-2.0
//
// The flatbuffer is written field by field: the places of the fields in their tables are ETDump's, version 0 with file
// identifier "ED00".
#include "compiler/profile/etdump.h"

#include <flatbuffers/flatbuffer_builder.h>

#include <cmath>

#include "compiler/ir/diagnostic.h"

namespace rush {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using Table = flatbuffers::uoffset_t;
template <class T>
using Offset = flatbuffers::Offset<T>;

/// A table's n-th field in its vtable, behind the two sizes that each begins with.
constexpr flatbuffers::voffset_t field(int n) { return static_cast<flatbuffers::voffset_t>(4 + 2 * n); }

namespace dump_field {
constexpr auto kVersion = field(0), kRunData = field(1);
}
namespace run_field {
constexpr auto kName = field(0), kEvents = field(3);
}
namespace event_field {
constexpr auto kProfile = field(0), kDebug = field(2);
}
namespace profile_field {
constexpr auto kName = field(0), kInstruction = field(2), kStart = field(6), kEnd = field(7);
}
namespace debug_field {
constexpr auto kInstruction = field(1), kEntry = field(2), kName = field(5);
}
namespace value_field {
constexpr auto kType = field(0), kTensor = field(1);
}
namespace tensor_field {
constexpr auto kScalarType = field(0), kSizes = field(1), kStrides = field(2), kOffset = field(3);
}
constexpr int32_t kNoInstruction = -1;
constexpr int8_t kTensorValue = 5;  ///< of the value types

/// As in PyTorch's own enumeration of element types.
int8_t scalar_type(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return 0;
    case DType::kInt8:
      return 1;
    case DType::kInt16:
      return 2;
    case DType::kInt32:
      return 3;
    case DType::kInt64:
      return 4;
    case DType::kFloat32:
      return 6;
    default:
      throw InternalError("ETDump: no scalar type for " + std::string(dtype_name(dtype)));
  }
}

class Writer {
 public:
  EtDump write(const ModelProfile& profile, const std::vector<LayerOutput>& outputs) {
    std::vector<Offset<void>> events;
    events.push_back(profile_event("Method::execute", kNoInstruction, {0, cycles(profile.cycles())}));
    uint64_t time = 0;
    for (size_t i = 0; i < profile.layers.size(); ++i) {
      const LayerProfile& layer = profile.layers[i];
      const uint64_t end = time + cycles(layer.cycles);
      events.push_back(profile_event(layer.layer, static_cast<int32_t>(i), {time, end}));
      for (const LayerOutput& output : outputs) {
        if (output.node == layer.node)
          events.push_back(debug_event(layer.layer, static_cast<int32_t>(i), output.value));
      }
      time = end;
    }
    finish(events);
    return {{reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize()}, std::move(buffer_)};
  }

 private:
  struct Interval {
    uint64_t begin;
    uint64_t end;
  };

  static uint64_t cycles(double value) { return static_cast<uint64_t>(std::llround(value)); }

  Offset<void> profile_event(const std::string& name, int32_t instruction, Interval time) {
    const auto text = builder_.CreateString(name);
    const Table start = builder_.StartTable();
    builder_.AddOffset(profile_field::kName, text);
    builder_.AddElement<int32_t>(profile_field::kInstruction, instruction, kNoInstruction);
    builder_.AddElement<uint64_t>(profile_field::kStart, time.begin, 0);
    builder_.AddElement<uint64_t>(profile_field::kEnd, time.end, 0);
    return event(event_field::kProfile, builder_.EndTable(start));
  }

  Offset<void> debug_event(const std::string& name, int32_t instruction, const HostTensor& value) {
    const auto text = builder_.CreateString(name);
    const Offset<void> entry = tensor_value(value);
    const Table start = builder_.StartTable();
    builder_.AddElement<int32_t>(debug_field::kInstruction, instruction, kNoInstruction);
    builder_.AddOffset(debug_field::kEntry, entry);
    builder_.AddOffset(debug_field::kName, text);
    return event(event_field::kDebug, builder_.EndTable(start));
  }

  Offset<void> tensor_value(const HostTensor& value) {
    std::vector<int64_t> strides(value.shape().size(), 1);
    for (size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * value.shape()[i];
    const auto sizes = builder_.CreateVector(value.shape()), stride_vector = builder_.CreateVector(strides);
    const Table start = builder_.StartTable();
    builder_.AddElement<int8_t>(tensor_field::kScalarType, scalar_type(value.dtype()), 0);
    builder_.AddOffset(tensor_field::kSizes, sizes);
    builder_.AddOffset(tensor_field::kStrides, stride_vector);
    builder_.AddElement<int64_t>(tensor_field::kOffset, static_cast<int64_t>(buffer_.size()), 0);
    const Offset<void> tensor(builder_.EndTable(start));
    buffer_.append(reinterpret_cast<const char*>(value.raw()), value.bytes());
    const Table outer = builder_.StartTable();
    builder_.AddElement<int8_t>(value_field::kType, kTensorValue, 0);
    builder_.AddOffset(value_field::kTensor, tensor);
    return Offset<void>(builder_.EndTable(outer));
  }

  Offset<void> event(flatbuffers::voffset_t kind, Table table) {
    const Table start = builder_.StartTable();
    builder_.AddOffset(kind, Offset<void>(table));
    return Offset<void>(builder_.EndTable(start));
  }

  void finish(const std::vector<Offset<void>>& events) {
    const auto name = builder_.CreateString("Execute");
    const auto event_vector = builder_.CreateVector(events);
    const Table run = builder_.StartTable();
    builder_.AddOffset(run_field::kName, name);
    builder_.AddOffset(run_field::kEvents, event_vector);
    const std::vector<Offset<void>> runs = {Offset<void>(builder_.EndTable(run))};
    const auto run_vector = builder_.CreateVector(runs);
    const Table dump = builder_.StartTable();
    builder_.AddElement<uint32_t>(dump_field::kVersion, 0, 1);
    builder_.AddOffset(dump_field::kRunData, run_vector);
    builder_.FinishSizePrefixed(Offset<void>(builder_.EndTable(dump)), "ED00");
  }

  Builder builder_;
  std::string buffer_;
};

}  // namespace

EtDump make_etdump(const ModelProfile& profile, const std::vector<LayerOutput>& outputs) {
  return Writer().write(profile, outputs);
}

}  // namespace rush
