// SPDX-License-Identifier: Apache-2.0
#include "tests/support/pt2_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace rush {
namespace {

/// CRC-32 of ZIP (reflected 0x04C11DB7), bit by bit.
uint32_t crc_of(const std::string& bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

void put(std::string& out, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

/// The fields that the local header and the central directory share: version to name length and extra length.
void put_common(std::string& out, const std::pair<std::string, std::string>& entry) {
  const auto size = static_cast<uint32_t>(entry.second.size());
  put(out, 20, 2);      // version needed
  put(out, 0x0800, 2);  // names are UTF-8
  put(out, 0, 2);       // stored
  put(out, 0, 4);       // time and date
  put(out, crc_of(entry.second), 4);
  put(out, size, 4);
  put(out, size, 4);
  put(out, static_cast<uint32_t>(entry.first.size()), 2);
  put(out, 0, 2);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}

std::string graph_name(const std::string& prefix, std::string name) {
  std::ranges::replace(name, '.', '_');
  return prefix + name;
}

std::string extents(const Shape& values) {
  std::vector<std::string> items;
  for (int64_t value : values) items.push_back(as_int(value));
  return fmt::format("[{}]", fmt::join(items, ","));
}

std::string meta(int dtype, const std::string& sizes, const Shape& strides) {
  return fmt::format(
      R"({{"dtype":{},"sizes":{},"strides":{},"storage_offset":{{"as_int":0}},"layout":7,"requires_grad":false}})",
      dtype, sizes, extents(strides));
}

int dtype_code(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return 2;
    case DType::kInt32:
      return 4;
    case DType::kInt64:
      return 5;
    case DType::kFloat64:
      return 8;
    default:
      internal_check(dtype == DType::kFloat32, "Pt2Writer: type of a weight");
      return 7;
  }
}

}  // namespace

std::vector<uint8_t> zip_stored(const ZipEntries& entries) {
  std::string out, central;
  for (const auto& entry : entries) {
    put(central, 0x02014b50, 4);
    put(central, 20, 2);
    put_common(central, entry);
    put(central, 0, 2);  // comment length
    put(central, 0, 4);  // disk, internal attributes
    put(central, 0, 4);  // external attributes
    put(central, static_cast<uint32_t>(out.size()), 4);
    central += entry.first;
    put(out, 0x04034b50, 4);
    put_common(out, entry);
    out += entry.first + entry.second;
  }
  const auto start = static_cast<uint32_t>(out.size());
  out += central;
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, static_cast<uint32_t>(entries.size()), 2);
  put(out, static_cast<uint32_t>(entries.size()), 2);
  put(out, static_cast<uint32_t>(central.size()), 4);
  put(out, start, 4);
  put(out, 0, 2);
  return {out.begin(), out.end()};
}

std::string as_tensor(const std::string& name) { return fmt::format(R"({{"as_tensor":{{"name":{}}}}})", quoted(name)); }

std::string as_tensors(const std::vector<std::string>& names) {
  std::vector<std::string> items;
  for (const std::string& name : names) items.push_back(fmt::format(R"({{"name":{}}})", quoted(name)));
  return fmt::format(R"({{"as_tensors":[{}]}})", fmt::join(items, ","));
}

std::string as_int(int64_t value) { return fmt::format(R"({{"as_int":{}}})", value); }

std::string as_ints(const std::vector<int64_t>& values) {
  return fmt::format(R"({{"as_ints":[{}]}})", fmt::join(values, ","));
}

std::string as_float(double value) { return fmt::format(R"({{"as_float":{}}})", value); }

std::string as_bool(bool value) { return fmt::format(R"({{"as_bool":{}}})", value); }

std::string as_string(const std::string& value) { return fmt::format(R"({{"as_string":{}}})", quoted(value)); }

std::string as_dtype(int code) { return fmt::format(R"({{"as_scalar_type":{}}})", code); }

Pt2Writer& Pt2Writer::input(const std::string& name, const Shape& sizes, const Shape& strides,
                            const std::string& symbol) {
  inputs_.push_back(fmt::format(R"({{"user_input":{{"arg":{}}}}})", as_tensor(name)));
  std::string sizes_text = extents(sizes);
  if (!symbol.empty()) {
    const std::string first =
        fmt::format(R"~({{"as_expr":{{"expr_str":"Symbol('{}', positive=True, integer=True)","hint":{}}}}})~", symbol,
                    as_int(sizes[0]));
    sizes_text = "[" + first + (sizes.size() > 1 ? "," : "") + extents(Shape(sizes.begin() + 1, sizes.end())).substr(1);
    symbols_ = fmt::format(R"("{}":{{"min_val":1,"max_val":64}})", symbol);
  }
  values_.push_back(quoted(name) + ":" + meta(7, sizes_text, strides.empty() ? strides_of(sizes) : strides));
  return *this;
}

Pt2Writer& Pt2Writer::weight(const std::string& spec, const std::string& graph, const std::string& name,
                             const HostTensor& data) {
  const std::string path = fmt::format("weight_{}", weights_.size());
  const std::string tensor = meta(dtype_code(data.dtype()), extents(data.shape()), strides_of(data.shape()));
  inputs_.push_back(spec);
  values_.push_back(quoted(graph) + ":" + tensor);
  weights_.push_back(fmt::format(R"({}:{{"path_name":"{}","is_param":true,"use_pickle":false,"tensor_meta":{}}})",
                                 quoted(name), path, tensor));
  payloads_.emplace_back("m/data/weights/" + path,
                         std::string(reinterpret_cast<const char*>(data.raw()), data.bytes()));
  return *this;
}

Pt2Writer& Pt2Writer::parameter(const std::string& name, const HostTensor& data) {
  const std::string graph = graph_name("p_", name);
  return weight(
      fmt::format(R"({{"parameter":{{"arg":{{"name":{}}},"parameter_name":{}}}}})", quoted(graph), quoted(name)), graph,
      name, data);
}

Pt2Writer& Pt2Writer::buffer(const std::string& name, const HostTensor& data) {
  const std::string graph = graph_name("b_", name);
  return weight(fmt::format(R"({{"buffer":{{"arg":{{"name":{}}},"buffer_name":{},"persistent":true}}}})", quoted(graph),
                            quoted(name)),
                graph, name, data);
}

Pt2Writer& Pt2Writer::node(const std::string& name, const std::string& target,
                           const std::vector<Pt2Argument>& arguments) {
  std::vector<std::string> inputs;
  for (const auto& [key, value] : arguments)
    inputs.push_back(fmt::format(R"({{"name":"{}","arg":{},"kind":1}})", key, value));
  nodes_.push_back({name, "torch.ops." + target, fmt::format("[{}]", fmt::join(inputs, ",")), {}, {}});
  return *this;
}

Pt2Writer& Pt2Writer::record(const std::string& name, const Shape& sizes, const Shape& strides) {
  values_.push_back(quoted(name) + ":" + meta(7, extents(sizes), strides.empty() ? strides_of(sizes) : strides));
  return *this;
}

Pt2Writer& Pt2Writer::metadata(const std::string& module_stack, const std::string& stack_trace) {
  nodes_.back().module_stack = module_stack;
  nodes_.back().stack_trace = stack_trace;
  return *this;
}

Pt2Writer& Pt2Writer::output(const std::string& name) {
  outputs_.push_back(fmt::format(R"({{"user_output":{{"arg":{}}}}})", as_tensor(name)));
  return *this;
}

Pt2Writer& Pt2Writer::buffer_mutation(const std::string& buffer, const std::string& value) {
  outputs_.push_back(
      fmt::format(R"({{"buffer_mutation":{{"arg":{{"name":{}}},"buffer_name":{}}}}})", quoted(value), quoted(buffer)));
  return *this;
}

std::string Pt2Writer::model_json() const {
  std::vector<std::string> nodes;
  for (const Node& node : nodes_)
    nodes.push_back(fmt::format(
        R"({{"target":"{}","inputs":{},"outputs":[{}],"metadata":{{"nn_module_stack":{},"stack_trace":{}}},"name":{}}})",
        node.target, node.inputs, as_tensor(node.name), quoted(node.module_stack), quoted(node.stack_trace),
        quoted(node.name)));
  return fmt::format(R"({{"schema_version":{{"major":8,"minor":20}},"range_constraints":{{{}}},)"
                     R"("graph_module":{{"graph":{{"nodes":[{}],"tensor_values":{{{}}}}},)"
                     R"("signature":{{"input_specs":[{}],"output_specs":[{}]}}}}}})",
                     symbols_, fmt::join(nodes, ","), fmt::join(values_, ","), fmt::join(inputs_, ","),
                     fmt::join(outputs_, ","));
}

ZipEntries Pt2Writer::entries() const {
  ZipEntries out = {
      {"m/archive_format", "pt2"},
      {"m/byteorder", "little"},
      {"m/models/model.json", model_json()},
      {"m/data/weights/model_weights_config.json", fmt::format(R"({{"config":{{{}}}}})", fmt::join(weights_, ","))}};
  out.insert(out.end(), payloads_.begin(), payloads_.end());
  return out;
}

}  // namespace rush
