// SPDX-License-Identifier: Apache-2.0
//
// Files as NumPy 2.4 wrote them (header padded to 128 bytes), and what is refused.
#include "compiler/import/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace rush {
namespace {

using testing::HasSubstr;

/// Magic, version, header and data, the header padded with spaces as NumPy does.
std::vector<uint8_t> npy_file(int version, const std::string& dict, const std::string& data, size_t total = 128) {
  std::string out("\x93NUMPY", 6);
  out += {static_cast<char>(version), '\0'};
  const size_t length_bytes = version == 1 ? 2 : 4, length = total - out.size() - length_bytes;
  for (size_t i = 0; i < length_bytes; ++i) out += static_cast<char>(length >> (8 * i));
  out += dict;
  out.append(total - out.size() - 1, ' ');
  out += '\n' + data;
  return {out.begin(), out.end()};
}

std::string message_of(const std::vector<uint8_t>& bytes) {
  try {
    parse_npy(bytes, "x.npy");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Npy, ReadsFloat32InCOrder) {
  const std::string data(
      "\x00\x00\xc0\x3f\x00\x00\x00\xc0\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40\x00\x00\xc8\x40", 24);
  const HostTensor x =
      parse_npy(npy_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", data), "x.npy");
  EXPECT_EQ(x, make_tensor<float>(DType::kFloat32, {2, 3}, {1.5f, -2, 3, 4, 5, 6.25f}));
}

TEST(Npy, ReadsFortranOrderAsCOrder) {
  const std::string data("\x01\x00\x04\x00\x02\x00\x05\x00\x03\x00\xfa\xff", 12);
  const HostTensor x =
      parse_npy(npy_file(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", data), "x.npy");
  EXPECT_EQ(x, make_tensor<int16_t>(DType::kInt16, {2, 3}, {1, 2, 3, 4, 5, -6}));
}

TEST(Npy, ReadsVersion2) {
  const std::string data("\x07\x00\x00\x00\x00\x00\x00\x00\xf8\xff\xff\xff\xff\xff\xff\xff", 16);
  const HostTensor x =
      parse_npy(npy_file(2, "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", data), "x.npy");
  EXPECT_EQ(x, make_tensor<int64_t>(DType::kInt64, {2}, {7, -8}));
}

TEST(Npy, ReadsScalars) {
  const std::string data("\x9a\x99\x99\x99\x99\x99\xb9\x3f", 8);
  const HostTensor x = parse_npy(npy_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", data), "x.npy");
  EXPECT_EQ(x, make_tensor<double>(DType::kFloat64, {}, {0.1}));
}

TEST(Npy, WritesWhatItReads) {
  const std::vector<HostTensor> tensors = {make_tensor<float>(DType::kFloat32, {2, 1, 2}, {1, -2, 3e38f, 0}),
                                           make_tensor<int8_t>(DType::kInt8, {3}, {-128, 0, 127}),
                                           make_tensor<uint8_t>(DType::kUInt8, {2}, {0, 255}),
                                           make_tensor<int16_t>(DType::kInt16, {1}, {-300}),
                                           make_tensor<int32_t>(DType::kInt32, {}, {1 << 30}),
                                           make_tensor<int64_t>(DType::kInt64, {1}, {-1}),
                                           make_tensor<uint8_t>(DType::kBool, {2}, {1, 0}),
                                           make_tensor<double>(DType::kFloat64, {1}, {0.5})};
  for (const HostTensor& tensor : tensors) {
    const std::string text = format_npy(tensor);
    EXPECT_EQ(parse_npy({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "y.npy"), tensor);
  }
}

TEST(Npy, WritesNumPysHeader) {
  const std::string text = format_npy(make_tensor<int8_t>(DType::kInt8, {3}, {1, 2, 3}));
  const std::string expected("\x93NUMPY\x01\x00\x36\x00{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }",
                             10 + 56);
  EXPECT_EQ(text.substr(0, 9), std::string("\x93NUMPY\x01\x00\x76", 9));
  EXPECT_EQ(text.substr(10, 56), expected.substr(10, 56));
  EXPECT_EQ(text[127], '\n');
  EXPECT_EQ(text.substr(128), "\x01\x02\x03");
}

TEST(Npy, NamesTheFaults) {
  const std::string floats = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(message_of({1, 2, 3}), "error: x.npy: this is not a .npy file\n  fix: write the array with numpy.save");
  EXPECT_THAT(message_of(npy_file(9, floats, "12345678")), HasSubstr(".npy version 9 is unknown"));
  EXPECT_THAT(message_of(npy_file(1, floats, "1234567")),
              HasSubstr("float32 [2] needs 8 bytes of data, the file has 7"));
  EXPECT_THAT(message_of(npy_file(1, floats, "123456789")), HasSubstr("needs 8 bytes of data, the file has 9"));
  EXPECT_THAT(message_of(npy_file(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "12345678")),
              HasSubstr("element type >f4 is not supported"));
  EXPECT_THAT(message_of(npy_file(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "12345678")),
              HasSubstr("element type (a structure) is not supported"));
  EXPECT_THAT(message_of(npy_file(1, "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }", "")),
              HasSubstr("the .npy header is damaged"));
  EXPECT_THAT(message_of(npy_file(
                  1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000, 1000000, 1000000), }", "")),
              HasSubstr("needs more than 2^63 bytes"));
  for (const char* shape : {"(0, 106040707775, 670147775)", "(106040707775, 670147775, 0)"}) {
    const std::string header = std::string("{'descr': '<i2', 'fortran_order': True, 'shape': ") + shape + ", }";
    EXPECT_THAT(message_of(npy_file(1, header, "")), HasSubstr("needs more than 2^63 bytes")) << shape;
  }
}

TEST(Npy, EveryTruncationIsRefused) {
  const std::vector<uint8_t> whole =
      npy_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "12345678");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(message_of({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)}), "no error") << size;
}

TEST(Npy, LeavesNothingWhereItCannotWrite) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "rushlight_npy_test";
  std::filesystem::create_directories(folder / "taken.npy");
  EXPECT_THROW(write_npy(folder / "taken.npy", HostTensor(DType::kInt8, {1})), UserError);
  write_npy(folder / "x.npy", make_tensor<int8_t>(DType::kInt8, {1}, {5}));
  EXPECT_EQ(read_npy(folder / "x.npy"), make_tensor<int8_t>(DType::kInt8, {1}, {5}));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre("taken.npy", "x.npy"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rush
