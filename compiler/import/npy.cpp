// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <functional>
#include <iterator>

#include "compiler/import/names.h"

namespace rush {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;  // of the data, for memory mapping
constexpr int64_t kLongestAxis = int64_t{1} << 40;

struct DescrRow {
  std::string_view descr;
  DType dtype;
};

constexpr std::array<DescrRow, 8> kDescrs = {{
    {"<f4", DType::kFloat32},
    {"<f8", DType::kFloat64},
    {"|i1", DType::kInt8},
    {"|u1", DType::kUInt8},
    {"<i2", DType::kInt16},
    {"<i4", DType::kInt32},
    {"<i8", DType::kInt64},
    {"|b1", DType::kBool},
}};

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

[[noreturn]] void fail_type(const std::string& file, const std::string& descr) {
  throw UserError(fmt::format("{}: element type {} is not supported", file, printable(descr)),
                  "convert it: x.astype(numpy.float32)");
}

/// Reads the Python literal {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } from left to right.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Header read() {
    Header header;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      read_value(key, header);
      if (!accept(',') && peek() != '}') fail();
    }
    return header;
  }

 private:
  [[noreturn]] void fail() const {
    throw UserError(fmt::format("{}: the .npy header is damaged", file_), "write it again with numpy.save");
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail();
  }

  std::string quoted() {
    expect('\'');
    const size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail();
    const std::string out(text_.substr(at_, end - at_));
    at_ = end + 1;
    return out;
  }

  bool truth() {
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      peek();
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail();
  }

  int64_t number() {
    peek();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0 || value > kLongestAxis) fail();
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(number());
      if (!accept(',') && peek() != ')') fail();
    }
    return shape;
  }

  void read_value(const std::string& key, Header& header) {
    if (key == "descr" && peek() != '\'')
      fail_type(file_, "(a structure)");
    else if (key == "descr")
      header.descr = quoted();
    else if (key == "fortran_order")
      header.fortran_order = truth();
    else if (key == "shape")
      header.shape = tuple();
    else
      fail();
  }

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
};

DType dtype_of(const Header& header, const std::string& file) {
  const auto row = std::ranges::find(kDescrs, header.descr, &DescrRow::descr);
  if (row == kDescrs.end()) fail_type(file, header.descr);
  return row->dtype;
}

/// The part of the file that holds the header's text, and where the data begins.
std::pair<std::string_view, size_t> header_text(std::span<const uint8_t> bytes, const std::string& file) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic) || text.size() < kMagic.size() + 6)
    throw UserError(file + ": this is not a .npy file", "write the array with numpy.save");
  const uint8_t version = bytes[kMagic.size()];
  if (version < 1 || version > 3)
    throw UserError(fmt::format("{}: .npy version {} is unknown", file, version), "write the array with numpy.save");
  const size_t length_bytes = version == 1 ? 2 : 4, begin = kMagic.size() + 2 + length_bytes;
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= size_t{bytes[kMagic.size() + 2 + i]} << (8 * i);
  if (begin > text.size() || length > text.size() - begin)
    throw UserError(file + ": the .npy header is truncated", "write the array with numpy.save");
  return {text.substr(begin, length), begin + length};
}

/// Bytes that a shape needs, or nothing if that overflows, or would if no dimension were 0.
std::optional<int64_t> bytes_of(const Shape& shape, DType dtype) {
  auto bytes = static_cast<int64_t>(dtype_bytes(dtype));
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes)) return std::nullopt;
  }
  return element_count(shape) == 0 ? 0 : bytes;
}

HostTensor from_fortran(const HostTensor& stored) {
  std::vector<int> axes(stored.shape().size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(axes.size() - 1 - i);
  return permuted(stored, axes);
}

std::string_view descr_of(DType dtype) {
  const auto row = std::ranges::find(kDescrs, dtype, &DescrRow::dtype);
  internal_check(row != kDescrs.end(), "write_npy: no .npy type for " + std::string(dtype_name(dtype)));
  return row->descr;
}

std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += fmt::format("{}{}", i ? ", " : "", shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// Fills the bytes with those of the file from `begin` on.
using ReadData = std::function<void(size_t begin, std::span<uint8_t> to)>;

/// `head`: the file's first bytes, with all of the header.
HostTensor make_tensor(std::span<const uint8_t> head, size_t file_bytes, const std::string& name,
                       const ReadData& read_data) {
  const auto [text, begin] = header_text(head, name);
  Header header = HeaderReader(text, name).read();
  const DType dtype = dtype_of(header, name);
  const std::optional<int64_t> needed = bytes_of(header.shape, dtype);
  const auto held = static_cast<int64_t>(file_bytes - begin);
  if (!needed || *needed != held)
    throw UserError(fmt::format("{}: {} {} needs {} bytes of data, the file has {}", name, dtype_name(dtype),
                                to_string(header.shape), needed ? std::to_string(*needed) : "more than 2^63", held),
                    "write the array again with numpy.save");
  if (header.fortran_order) std::ranges::reverse(header.shape);
  HostTensor tensor(dtype, header.shape);
  read_data(begin, {tensor.raw(), tensor.bytes()});
  return header.fortran_order ? from_fortran(tensor) : tensor;
}

}  // namespace

HostTensor parse_npy(std::span<const uint8_t> bytes, const std::string& name) {
  return make_tensor(bytes, bytes.size(), name, [&](size_t begin, std::span<uint8_t> to) {
    std::ranges::copy(bytes.subspan(begin, to.size()), to.begin());
  });
}

HostTensor read_npy(const std::filesystem::path& file) {
  std::error_code error;
  std::ifstream stream(file, std::ios::binary);
  if (!stream || !std::filesystem::is_regular_file(file, error))
    throw UserError(file.string() + ": cannot be opened", "check the path of the .npy file");
  const auto read = [&](std::span<uint8_t> to) {
    stream.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
    if (static_cast<size_t>(stream.gcount()) != to.size())
      throw UserError(file.string() + ": cannot be read to its end", "write the array again with numpy.save");
  };
  constexpr size_t kLongestHead = 1 << 20;
  const size_t file_bytes = std::filesystem::file_size(file, error);
  std::vector<uint8_t> head(std::min(file_bytes, kLongestHead));
  read(head);
  // A large array goes where it is to lie at once.
  return make_tensor(head, file_bytes, file.string(), [&](size_t begin, std::span<uint8_t> to) {
    stream.seekg(static_cast<std::streamoff>(begin));
    read(to);
  });
}

namespace {

/// All before the data.
std::string npy_head(const HostTensor& tensor) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr_of(tensor.dtype()),
                                   shape_text(tensor.shape()));
  const size_t before = kMagic.size() + 4;
  header.append(kAlignment - (before + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  std::string out(kMagic);
  out += {'\x01', '\x00', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  return out + header;
}

const char* data_of(const HostTensor& tensor) { return reinterpret_cast<const char*>(tensor.raw()); }

}  // namespace

std::string format_npy(const HostTensor& tensor) { return npy_head(tensor).append(data_of(tensor), tensor.bytes()); }

void write_npy(const std::filesystem::path& file, const HostTensor& tensor) {
  const std::string head = npy_head(tensor);
  const std::filesystem::path temporary = file.string() + ".tmp";
  std::ofstream stream(temporary, std::ios::binary);
  stream.write(head.data(), static_cast<std::streamsize>(head.size()));
  stream.write(data_of(tensor), static_cast<std::streamsize>(tensor.bytes()));
  stream.close();
  std::error_code error;
  if (stream) std::filesystem::rename(temporary, file, error);
  if (stream && !error) return;
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  throw UserError(file.string() + ": cannot be written", "check the folder and its permissions");
}

}  // namespace rush
