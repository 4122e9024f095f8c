// SPDX-License-Identifier: Apache-2.0
//
// One JSON object describes the image; the text is printed from it, so that both say the same.
#include "compiler/emit/show.h"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/emit/image_reader.h"

namespace rush {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, kKnownSections + 1> kSectionNames = {
    "",       "regions", "entries", "io",        "chains",  "links", "steps",    "operands",
    "params", "strings", "labels",  "constants", "kernels", "debug", "commands", "costs"};

Json header_json(const ImageReader& image) {
  const ImageHeader& h = image.header();
  return {{"version", fmt::format("{}.{}", h.version_major, h.version_minor)},
          {"bytes", h.image_bytes},
          {"crc32", fmt::format("{:08x}", h.crc)},
          {"isa", isa_name(image.isa())},
          {"kernel_table", fmt::format("{:08x}", h.kernel_table_id)},
          {"stack_bytes", h.stack_bytes},
          {"max_chain_steps", h.max_chain_steps}};
}

Json sections_json(const ImageReader& image) {
  Json out = Json::array();
  for (const ImageSection& s : image.sections())
    out.push_back({{"kind", section_name(s.kind)}, {"offset", s.offset}, {"bytes", s.bytes}, {"count", s.count}});
  return out;
}

Json regions_json(const ImageReader& image) {
  Json out = Json::array();
  for (const ImageRegion& region : image.regions()) {
    out.push_back({{"name", image.string(region.name)},
                   {"kind", region_kind_name(static_cast<RegionKind>(region.kind))},
                   {"bytes", region.bytes}});
  }
  return out;
}

Json kernels_json(const ImageReader& image) {
  Json out = Json::array();
  for (const uint16_t id : image.kernel_ids()) {
    const KernelFamily& family = *find_kernel_family(id);
    out.push_back(fmt::format("{}_{}", family.name, family.variant[image.header().isa]));
  }
  return out;
}

std::string place(uint32_t operand) {
  return fmt::format("{}+{:#x}", operand >> kOperandRegionShift, operand & kOperandOffsetMask);
}

Json ports_json(const ImageReader& image, size_t first, size_t count) {
  Json out = Json::array();
  for (const rush_io& io : image.io().subspan(first, count)) {
    const ImagePort port = image.port(io);
    Json json = {{"name", port.name},
                 {"dtype", dtype_name(port.dtype)},
                 {"exported_dtype", dtype_name(port.exported_dtype)},
                 {"shape", port.exported_shape},
                 {"dim_order", port.dim_order},
                 {"bytes", port.bytes},
                 {"place", place(io.operand)}};
    if (port.quant) {
      json["scale"] = port.quant->scale[0];
      json["zero_point"] = port.quant->zero_point[0];
    }
    out.push_back(std::move(json));
  }
  return out;
}

Json entries_json(const ImageReader& image) {
  Json out = Json::array();
  for (const ImageEntry& entry : image.entries())
    out.push_back({{"name", image.string(entry.name)},
                   {"first_chain", entry.first_chain},
                   {"chain_count", entry.chain_count},
                   {"inputs", ports_json(image, entry.first_input, entry.input_count)},
                   {"outputs", ports_json(image, entry.first_output, entry.output_count)}});
  return out;
}

Json operands_json(const ImageReader& image, const ImageStep& step) {
  const KernelContract& contract = *image.family(step).host->contract;
  Extents extents = {};
  contract.extents(image.params(step), &extents);
  Json out = Json::array();
  for (size_t i = 0; i < contract.operand_count; ++i)
    out.push_back({{"place", place(image.operands(step)[i])},
                   {"bytes", extents.bytes[i]},
                   {"written", (contract.written >> i & 1) != 0}});
  return out;
}

Json step_json(const ImageReader& image, size_t index, size_t chain) {
  const ImageStep& step = image.steps()[index];
  const Origin origin = image.origin(index);
  return {{"kernel", image.family(step).name},
          {"layer", origin.layer},
          {"source", origin.source},
          {"chain", chain},
          {"rows", step.rows},
          {"operands", operands_json(image, step)}};
}

Json steps_json(const ImageReader& image) {
  Json out = Json::array();
  for (size_t c = 0; c < image.chains().size(); ++c) {
    const ImageChain& chain = image.chains()[c];
    for (size_t place = 0; place < chain.step_count; ++place) {
      Json step = step_json(image, chain.first_step + place, c);
      if (chain.step_count > 1) step["band_rows"] = image.links()[chain.first_link + place].band_rows;
      out.push_back(std::move(step));
    }
  }
  return out;
}

Json image_json(const ImageReader& image) {
  return {{"header", header_json(image)},   {"sections", sections_json(image)}, {"regions", regions_json(image)},
          {"kernels", kernels_json(image)}, {"entries", entries_json(image)},   {"steps", steps_json(image)},
          {"labels", image.labels()}};
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// "key value, key value" of an object's plain members.
std::string members(const Json& object) {
  std::string out;
  for (const auto& [key, value] : object.items()) {
    if (value.is_array() && !value.empty() && value[0].is_object()) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", key, text_of(value));
  }
  return out;
}

std::string step_text(size_t index, const Json& step) {
  std::string operands;
  for (const Json& operand : step["operands"])
    operands += fmt::format(" {}{}:{}", operand["written"].get<bool>() ? ">" : "", text_of(operand["place"]),
                            text_of(operand["bytes"]));
  const std::string source = text_of(step["source"]);
  return fmt::format("  {:3} chain {:<3} {:<20} rows {:<5} \"{}\"{}{}{}\n", index, text_of(step["chain"]),
                     text_of(step["kernel"]), text_of(step["rows"]), text_of(step["layer"]),
                     source.empty() ? "" : " (" + source + ")",
                     step.contains("band_rows") ? " by " + text_of(step["band_rows"]) : "", operands);
}

std::string list_text(const std::string& title, const Json& list) {
  std::string out = title + "\n";
  for (const Json& each : list) out += "  " + (each.is_object() ? members(each) : text_of(each)) + "\n";
  return out;
}

std::string entry_text(const Json& entry) {
  std::string out = fmt::format("  {}: chains {} to {}\n", text_of(entry["name"]), text_of(entry["first_chain"]),
                                entry["first_chain"].get<int>() + entry["chain_count"].get<int>());
  for (const Json& port : entry["inputs"]) out += "    input " + members(port) + "\n";
  for (const Json& port : entry["outputs"]) out += "    output " + members(port) + "\n";
  return out;
}

}  // namespace

std::string section_name(uint16_t kind) {
  return kind >= 1 && kind <= kKnownSections ? std::string(kSectionNames[kind]) : fmt::format("unknown {}", kind);
}

std::string show_image(std::span<const uint8_t> image, const std::string& name) {
  const Json json = image_json(ImageReader(image, name));
  std::string out = "image " + members(json["header"]) + "\n";
  out += list_text("sections", json["sections"]);
  out += list_text("regions", json["regions"]);
  out += list_text("kernels", json["kernels"]);
  out += "entries\n";
  for (const Json& entry : json["entries"]) out += entry_text(entry);
  out += "steps (operands: region+offset:bytes, > is written)\n";
  for (size_t i = 0; i < json["steps"].size(); ++i) out += step_text(i, json["steps"][i]);
  if (!json["labels"].empty()) out += list_text("labels", json["labels"]);
  return out;
}

std::string show_image_json(std::span<const uint8_t> image, const std::string& name) {
  return image_json(ImageReader(image, name)).dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rush
