// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/sources.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "compiler/emit/image_reader.h"
#include "ops/op_def.h"

namespace rush {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Of C and C++ up to gnu++14.
constexpr std::array kKeywords = std::to_array<std::string_view>(
    {"alignas",     "alignof",  "and",      "and_eq",    "asm",        "auto",         "bitand",
     "bitor",       "bool",     "break",    "case",      "catch",      "char",         "char16_t",
     "char32_t",    "class",    "compl",    "const",     "const_cast", "constexpr",    "continue",
     "decltype",    "default",  "delete",   "do",        "double",     "dynamic_cast", "else",
     "enum",        "explicit", "export",   "extern",    "false",      "float",        "for",
     "friend",      "goto",     "if",       "inline",    "int",        "long",         "mutable",
     "namespace",   "new",      "noexcept", "not",       "not_eq",     "nullptr",      "operator",
     "or",          "or_eq",    "private",  "protected", "public",     "register",     "reinterpret_cast",
     "restrict",    "return",   "short",    "signed",    "sizeof",     "static",       "static_assert",
     "static_cast", "struct",   "switch",   "template",  "this",       "thread_local", "throw",
     "true",        "try",      "typedef",  "typeid",    "typename",   "typeof",       "union",
     "unsigned",    "using",    "virtual",  "void",      "volatile",   "wchar_t",      "while",
     "xor",         "xor_eq"});

void require_identifier(const std::string& symbol) {
  const bool ok = !symbol.empty() && std::ranges::all_of(symbol, is_word) && std::isdigit(symbol[0]) == 0 &&
                  std::ranges::count(kKeywords, symbol) == 0;
  if (!ok)
    throw UserError(fmt::format("\"{}\" cannot name a C variable", symbol),
                    "use letters, digits and underscores, not beginning with a digit, and no word of the language");
}

/// A string literal; bytes that are not plain text are written in octal.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7f || c == '?') {
      out += fmt::format("\\{:03o}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// For a comment: no end of comment, no line break.
std::string commented(std::string text) {
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '*'; }, '_');
  return text;
}

/// A float that reads back as the same float.
std::string float_literal(float value) {
  std::string text = fmt::format("{:.9g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

std::string_view dtype_macro(uint8_t dtype) {
  switch (dtype) {
    case RUSH_INT8:
      return "RUSH_INT8";
    case RUSH_UINT8:
      return "RUSH_UINT8";
    case RUSH_INT16:
      return "RUSH_INT16";
    case RUSH_INT32:
      return "RUSH_INT32";
    case RUSH_INT64:
      return "RUSH_INT64";
    case RUSH_FLOAT32:
      return "RUSH_FLOAT32";
    case RUSH_FLOAT16:
      return "RUSH_FLOAT16";
    case RUSH_INT4:
      return "RUSH_INT4";
    default:
      return "RUSH_BOOL";
  }
}

class SourceWriter {
 public:
  SourceWriter(std::span<const uint8_t> image, const SourceOptions& options)
      : image_(image), options_(options), prefix_(macro_name(options.symbol) + "_") {
    require_identifier(options.symbol);
  }

  std::string header() {
    line("/* Made by `rushlight compile`{}; do not edit. */",
         options_.made_from.empty() ? "" : " from " + commented(options_.made_from));
    line("#ifndef RUSHLIGHT_{0}H\n#define RUSHLIGHT_{0}H\n\n#include \"rushlight/rushlight.h\"\n", prefix_);
    line("#ifdef __cplusplus\nextern \"C\" {{\n#endif\n");
    line("/** The program, for rush_open(). */\nextern const rush_model {};\n", options_.symbol);
    memory();
    entries();
    labels();
    line("\n#ifdef __cplusplus\n}}\n#endif\n#endif");
    return std::move(text_);
  }

  std::string source() {
    line("// Made by `rushlight compile`{}; do not edit.",
         options_.made_from.empty() ? "" : " from " + commented(options_.made_from));
    includes();
    assertions();
    kernel_declarations();
    line("\nnamespace {{\n");
    image_words();
    kernel_table();
    line("\n}}  // namespace\n\nextern \"C\" {{");
    line("const rush_model {} = {{kImage, {}, &kTable}};", options_.symbol, image_.bytes().size());
    label_array();
    line("}}");
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  std::string region_macro(const ImageRegion& region) const {
    return prefix_ + macro_name(image_.string(region.name)) + "_BYTES";
  }

  void memory() {
    line(
        "/** RAM for one instance, 16-byte aligned; region i of these is memories[i] of rush_open(). Each may be "
        "defined");
    line(" *  larger than this. */\n#define {}REGION_COUNT {}", prefix_, image_.regions().size());
    for (const ImageRegion& region : image_.regions())
      line("#ifndef {0}\n#define {0} {1}\n#endif", region_macro(region), region.bytes);
    line("#define {}CONTEXT_BYTES RUSH_CONTEXT_BYTES({})", prefix_, image_.header().max_chain_steps);
    line("#define {}STEP_COUNT {}", prefix_, image_.steps().size());
    line("\n/** Bound of the stack that rush_open() and a run need. */");
    line("#define {}STACK_BYTES {}\n", prefix_, image_.header().stack_bytes);
  }

  std::string entry_macro(size_t entry) const { return macro_name(image_.string(image_.entries()[entry].name)); }

  void entries() {
    line("/** Entry points. */\nenum {{");
    const size_t count = image_.entries().size();
    for (size_t i = 0; i < count; ++i)
      line("  {}ENTRY_{} = {}{}", prefix_, entry_macro(i), i, i + 1 < count ? "," : "");
    line("}};");
    for (size_t i = 0; i < count; ++i) entry_ports(i);
  }

  void entry_ports(size_t i) {
    const ImageEntry& entry = image_.entries()[i];
    const std::string prefix = i == 0 ? prefix_ : prefix_ + entry_macro(i) + "_";
    ports(prefix + "INPUT", image_.io().subspan(entry.first_input, entry.input_count));
    ports(prefix + "OUTPUT", image_.io().subspan(entry.first_output, entry.output_count));
  }

  void ports(const std::string& macro, std::span<const rush_io> all) {
    if (all.empty()) return;
    line("\n#define {}_COUNT {}", macro, all.size());
    for (size_t i = 0; i < all.size(); ++i) port(fmt::format("{}{}", macro, i), all[i]);
  }

  void port(const std::string& macro, const rush_io& io) {
    const ImagePort described = image_.port(io);
    line("\n/** {}: {} {} in memory */", commented(described.name), dtype_name(described.dtype),
         to_string(described.memory_shape()));
    line("#define {}_BYTES {}\n#define {}_DTYPE {}", macro, io.bytes, macro, dtype_macro(io.dtype));
    line("#define {}_RANK {}\n#define {}_SHAPE {{{}}}", macro, io.rank, macro,
         fmt::join(io.dims, io.dims + io.rank, ", "));
    if ((io.flags & RUSH_IO_LINE_FED) != 0) rows(macro, io);
    if (takes_bytes(io)) bytes_function(macro);
    if (io.scale == 0) return;
    line("#define {}_SCALE {}\n#define {}_INVERSE_SCALE {}", macro, float_literal(io.scale), macro,
         float_literal(io.inverse_scale));
    line("#define {}_ZERO_POINT ({})", macro, io.zero_point);
  }

  /// What rush_feed_rows() takes, from the step that stands for the caller.
  void rows(const std::string& macro, const rush_io& io) {
    for (const ImageStep& step : image_.steps()) {
      if (image_.family(step).host->contract->written != 0 || image_.operands(step)[0] != io.operand) continue;
      FeedParams feed;
      std::memcpy(&feed, image_.params(step), sizeof feed);
      line("#define {}_ROWS {}\n#define {}_ROW_BYTES {}", macro, feed.rows, macro, feed.map.row_bytes);
    }
  }

  static bool takes_bytes(const rush_io& io) { return io.exported_dtype == RUSH_UINT8 && io.dtype == RUSH_INT8; }

  /// "MODEL_INPUT0" -> model_input0_bytes().
  void bytes_function(const std::string& macro) {
    const std::string part = macro.substr(prefix_.size());
    std::string name = part;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    line(R"(/** Between bytes, 0..255, and codes in memory; `to` may be `from`. */
static inline void {0}_{1}_bytes(void* to, const void* from) {{
  const uint8_t* in = (const uint8_t*)from;
  uint8_t* out = (uint8_t*)to;
  uint32_t i;
  for (i = 0; i < {2}_BYTES; ++i) out[i] = (uint8_t)(in[i] ^ 0x80u);
}})",
         options_.symbol, name, macro);
  }

  /// The output has an int8 score for each label.
  bool has_scores() const {
    const ImageEntry& entry = image_.entries()[0];
    if (entry.output_count != 1) return false;
    const rush_io& scores = image_.io()[entry.first_output];
    return scores.dtype == RUSH_INT8 && scores.bytes == image_.labels().size();
  }

  void labels() {
    if (image_.labels().empty()) return;
    line("\n#define {}LABEL_COUNT {}", prefix_, image_.labels().size());
    line("extern const char* const {}_labels[{}LABEL_COUNT];", options_.symbol, prefix_);
    if (has_scores()) top_function();
  }

  void top_function() {
    line(R"(
/** Writes the numbers of the `count` labels with the largest scores, the best first, equal ones in the labels' order.
 *  Returns how many there are: `count`, or all labels. The best label is {0}_labels[top[0]]. */
static inline uint32_t {0}_top(const int8_t* scores, uint16_t* top, uint32_t count) {{
  uint32_t found = 0, at;
  uint16_t i;
  for (i = 0; i < {1}LABEL_COUNT; ++i) {{
    at = found < count ? found++ : count;
    for (; at > 0 && scores[top[at - 1]] < scores[i]; --at)
      if (at < count) top[at] = top[at - 1];
    if (at < count) top[at] = i;
  }}
  return found;
}})",
         options_.symbol, prefix_);
  }

  void label_array() {
    if (image_.labels().empty()) return;
    line("const char* const {}_labels[{}LABEL_COUNT] = {{", options_.symbol, prefix_);
    for (const std::string& label : image_.labels()) line("    {},", quoted(label));
    line("}};");
  }

  void includes() {
    line("#include \"{}.h\"\n\n#include \"rushlight/image.h\"\n#include \"rushlight/kernel.h\"\n", options_.symbol);
  }

  void assertions() {
    line("static_assert(rush::kVersionMajor == {}, \"this runtime reads another image format\");", int(kVersionMajor));
    for (const ImageRegion& region : image_.regions())
      line("static_assert({0} >= {1}, \"{0} must be at least {1}\");", region_macro(region), region.bytes);
  }

  void image_words() {
    constexpr size_t kWordsInLine = 10;
    const std::span<const uint8_t> bytes = image_.bytes();
    std::vector<uint32_t> words((bytes.size() + 3) / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    line("alignas({}) const uint32_t kImage[{}] = {{", int(RUSH_ALIGNMENT), words.size());
    for (size_t i = 0; i < words.size(); ++i) {
      fmt::format_to(std::back_inserter(text_), "{:#x},", words[i]);
      if (i % kWordsInLine == kWordsInLine - 1) text_ += '\n';
    }
    line("}};\n");
  }

  /// The kernels are declared here: that needs no include path to each operator's folder.
  void kernel_declarations() {
    line("\nnamespace rush {{\n");
    for (const uint16_t id : image_.kernel_ids()) {
      const KernelFamily& family = *find_kernel_family(id);
      line("extern const KernelContract {}_contract;\nKernel {};", family.name, kernel_name(family));
    }
    line("\n}}  // namespace rush");
  }

  void kernel_table() {
    if (image_.kernel_ids().empty()) {
      line("constexpr const rush::KernelEntry* kKernels = nullptr;  // the outputs are the inputs");
    } else {
      kernel_entries();
    }
    line("\nconst rush_kernel_table kTable = {{{:#x}, {}, {}, kKernels}};", image_.header().kernel_table_id,
         image_.kernel_ids().size(), image_.header().isa);
  }

  void kernel_entries() {
    line("const rush::KernelEntry kKernels[] = {{");
    for (const uint16_t id : image_.kernel_ids()) {
      const KernelFamily& family = *find_kernel_family(id);
      line("    {{rush::{}, &rush::{}_contract}},", kernel_name(family), family.name);
    }
    line("}};");
  }

  std::string kernel_name(const KernelFamily& family) const {
    return fmt::format("{}_{}", family.name, family.variant[image_.header().isa]);
  }

  const ImageReader image_;
  const SourceOptions& options_;
  const std::string prefix_;
  std::string text_;
};

}  // namespace

std::string macro_name(std::string text) {
  for (char& c : text) c = is_word(c) ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
  return text;
}

std::string emit_header(std::span<const uint8_t> image, const SourceOptions& options) {
  return SourceWriter(image, options).header();
}

std::string emit_source(std::span<const uint8_t> image, const SourceOptions& options) {
  return SourceWriter(image, options).source();
}

}  // namespace rush
