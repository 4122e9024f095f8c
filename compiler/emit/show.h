// SPDX-License-Identifier: Apache-2.0
//
// An image for people and for scripts: header, sections, memory, entries, steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace rush {

/// Text, a line for each section, input, output and step. `name` begins error messages.
std::string show_image(std::span<const uint8_t> image, const std::string& name = "the image");

/// The same as a JSON object.
std::string show_image_json(std::span<const uint8_t> image, const std::string& name = "the image");

/// "regions", "constants", ..., or "unknown 99".
std::string section_name(uint16_t kind);

}  // namespace rush
