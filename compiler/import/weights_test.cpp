// SPDX-License-Identifier: Apache-2.0
//
// The container and the payloads in it: strides, slices, sharing, and every way in which they can be wrong.
#include "compiler/import/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/pt2_writer.h"

namespace rush {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string extents(const Shape& values) {
  std::string out;
  for (int64_t value : values) out += (out.empty() ? "" : ",") + as_int(value);
  return "[" + out + "]";
}

struct Meta {
  Shape sizes, strides;
  int64_t offset = 0;
  int dtype = 7;
  int layout = 7;
  bool pickled = false;
};

std::string config(const std::string& name, const std::string& path, const Meta& meta) {
  return "\"" + name + "\":{\"path_name\":\"" + path + "\",\"use_pickle\":" + (meta.pickled ? "true" : "false") +
         ",\"tensor_meta\":{\"dtype\":" + std::to_string(meta.dtype) + ",\"layout\":" + std::to_string(meta.layout) +
         ",\"sizes\":" + extents(meta.sizes) + ",\"strides\":" + extents(meta.strides) +
         ",\"storage_offset\":" + as_int(meta.offset) + "}}";
}

std::vector<uint8_t> archive_of(const std::string& configs, const std::string& payload) {
  return zip_stored({{"top/data/weights/model_weights_config.json", "{\"config\":{" + configs + "}}"},
                     {"top/data/weights/weight_0", payload}});
}

pt2::InputSpec parameter(const std::string& name) {
  return {.kind = pt2::InputSpec::Kind::kParameter, .graph_name = "p", .name = name, .key = "parameter"};
}

HostTensor load(const Meta& meta, const std::string& payload) {
  const std::vector<uint8_t> bytes = archive_of(config("w", "weight_0", meta), payload);
  const ZipArchive archive(bytes, "m.pt2");
  return *Weights(archive, "model").load(parameter("w"));
}

std::string error_of(const Meta& meta, const std::string& payload) {
  try {
    load(meta, payload);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Weights, ReadsStridesAndOffsets) {
  const std::string payload = floats({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(load({{2, 3}, {3, 1}, 1}, payload), make_tensor<float>(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(load({{2, 3}, {1, 2}, 0}, payload), make_tensor<float>(DType::kFloat32, {2, 3}, {0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(load({{2, 2}, {4, 0}, 3}, payload), make_tensor<float>(DType::kFloat32, {2, 2}, {3, 3, 7, 7}));
  EXPECT_EQ(load({{}, {}, 7}, payload), make_tensor<float>(DType::kFloat32, {}, {7}));
  EXPECT_EQ(load({{0, 3}, {3, 1}, 0}, ""), HostTensor(DType::kFloat32, {0, 3}));
}

TEST(Weights, StridesOfSizeOneAxesMeanNothing) {
  EXPECT_EQ(load({{2, 1, 1}, {1, 77, 99}}, floats({8, 9})), make_tensor<float>(DType::kFloat32, {2, 1, 1}, {8, 9}));
}

// channels_last: sizes stay OIHW, bytes lie as OHWI.
TEST(Weights, ReadsChannelsLast) {
  EXPECT_EQ(load({{1, 2, 1, 3}, {6, 1, 6, 2}}, floats({0, 10, 1, 11, 2, 12})),
            make_tensor<float>(DType::kFloat32, {1, 2, 1, 3}, {0, 1, 2, 10, 11, 12}));
}

TEST(Weights, SharedNamesAreOneTensor) {
  const Meta whole{{4}, {1}}, slice{{2}, {1}, 2};
  const std::vector<uint8_t> bytes = archive_of(
      config("a", "weight_0", whole) + "," + config("b", "weight_0", whole) + "," + config("c", "weight_0", slice),
      floats({1, 2, 3, 4}));
  const ZipArchive archive(bytes, "m.pt2");
  Weights weights(archive, "model");
  EXPECT_EQ(weights.load(parameter("a")), weights.load(parameter("b")));
  EXPECT_EQ(*weights.load(parameter("c")), make_tensor<float>(DType::kFloat32, {2}, {3, 4}));
}

TEST(Weights, SayWhatIsWrong) {
  const std::string four = floats({1, 2, 3, 4});
  EXPECT_EQ(
      error_of({{5}, {1}}, four),
      "error: parameter \"w\": size float32 [5] needs 20 bytes, its payload has 16\n  fix: export the model again");
  EXPECT_THAT(error_of({{16384, 16384}, {16384, 1}}, four), HasSubstr("needs 1073741824 bytes, its payload has 16"));
  EXPECT_THAT(error_of({{int64_t{1} << 40, int64_t{1} << 40}, {1, 1}}, four), HasSubstr("more than 2^63"));
  EXPECT_THAT(error_of({{1000000000}, {0}}, four), HasSubstr("size float32 [1000000000] needs"));
  EXPECT_THAT(error_of({{-5}, {1}}, four), HasSubstr("negative size -5"));
  EXPECT_THAT(error_of({{2}, {-1}, 3}, four), HasSubstr("negative stride -1"));
  EXPECT_THAT(error_of({{2}, {1}, -3}, four), HasSubstr("negative storage offset -3"));
  EXPECT_THAT(error_of({{2, 2}, {3, 1}}, four),
              HasSubstr("strides [3,1] and offset 0 of size [2,2] reach past the end"));
  EXPECT_THAT(error_of({{2}, {std::numeric_limits<int64_t>::max()}, 1}, four), HasSubstr("reach past the end"));
  EXPECT_THAT(error_of({{2}, {1, 1}}, four), HasSubstr("1 sizes but 2 strides"));
  EXPECT_THAT(error_of({{2}, {1}, 0, 10}, four), HasSubstr("complex64 is not supported"));
  EXPECT_THAT(error_of({{2}, {1}, 0, 77}, four), HasSubstr("dtype 77 is not supported"));
  EXPECT_THAT(error_of({{2}, {1}, 0, 7, 1}, four), HasSubstr("sparse tensors are not supported"));
  EXPECT_THAT(error_of({{2}, {1}, 0, 7, 7, true}, four), HasSubstr("its payload is a pickle"));
  EXPECT_THAT(error_of({{2}, {1}}, floats({1, std::numeric_limits<float>::quiet_NaN()})),
              HasSubstr("element 1 is not a number (NaN)"));
  EXPECT_THAT(error_of({{1}, {1}}, floats({-std::numeric_limits<float>::infinity()})),
              HasSubstr("element 0 is infinite"));
}

TEST(Weights, MissingNamesAndPayloads) {
  const std::vector<uint8_t> bytes = archive_of(config("w", "weight_9", {{1}, {1}}), floats({1}));
  const ZipArchive archive(bytes, "m.pt2");
  Weights weights(archive, "model");
  EXPECT_THAT([&] { weights.load(parameter("v")); },
              testing::ThrowsMessage<UserError>(
                  HasSubstr("parameter \"v\": is missing from data/weights/model_weights_config.json")));
  EXPECT_THAT(
      [&] { weights.load(parameter("w")); },
      testing::ThrowsMessage<UserError>(HasSubstr("its payload data/weights/weight_9 is missing from the archive")));
}

TEST(ZipArchive, ListsEntriesBelowAnyTopFolder) {
  const std::vector<uint8_t> bytes = zip_stored({{"whatever/models/b.json", "x"},
                                                 {"whatever/models/a.json", "yz"},
                                                 {"../../escape", "e"},
                                                 {"/absolute/x", "a"},
                                                 {"no_folder", "n"}});
  const ZipArchive archive(bytes, "m.pt2");
  EXPECT_THAT(archive.entries("models/"), ElementsAre("models/a.json", "models/b.json"));
  EXPECT_EQ(archive.size("models/a.json"), 2u);
  EXPECT_EQ(archive.size("models/c.json"), std::nullopt);
  EXPECT_THAT(archive.read("models/a.json", 2), ElementsAre('y', 'z'));
  EXPECT_THAT([&] { archive.read("models/a.json", 1); },
              testing::ThrowsMessage<UserError>(HasSubstr("has 2 bytes, more than the 1 that are read")));
}

TEST(ZipArchive, NoChangedByteOfAnEntryIsRead) {
  const std::vector<uint8_t> whole = zip_stored({{"m/e", "contents"}});
  const size_t begin = 30 + 3;  // local header and name
  for (size_t i = begin; i < begin + 8; ++i) {
    std::vector<uint8_t> bytes = whole;
    bytes[i] ^= 1;
    const ZipArchive archive(bytes, "m.pt2");
    EXPECT_THAT([&] { archive.read("e", 100); }, testing::ThrowsMessage<UserError>(HasSubstr("CRC mismatch")));
  }
}

TEST(ZipArchive, EveryTruncationIsRefused) {
  const std::vector<uint8_t> whole = zip_stored({{"m/e", "contents"}});
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<uint8_t> bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_THROW(ZipArchive(bytes, "m.pt2"), UserError) << size;
  }
}

}  // namespace
}  // namespace rush
