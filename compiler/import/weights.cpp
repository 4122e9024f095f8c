// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "compiler/import/names.h"

namespace rush {
namespace {

static_assert(std::endian::native == std::endian::little, "payloads are little-endian");

constexpr uint64_t kMaxConfigBytes = uint64_t{24} << 20;
// For all payloads and the tensors in them, so that no file can exhaust the host's memory.
constexpr uint64_t kMaxBytes = uint64_t{384} << 20;
// An expanded tensor (stride 0) may have more elements than its storage, up to this.
constexpr int64_t kMaxExpandedElements = int64_t{1} << 20;

/// A tensor's place in its storage, in elements.
struct View {
  DType dtype;
  Shape sizes, strides;
  int64_t offset = 0;
};

/// Names the parameter or buffer in front of each message.
struct Subject {
  const pt2::InputSpec& spec;

  [[noreturn]] void fail(const std::string& what, const std::string& fix = "export the model again") const {
    throw UserError(Diagnostic{what, spec.key, {printable(spec.name), ""}, {}, fix});
  }
};

int64_t number_of(const Subject& subject, const pt2::Extent& extent, const char* what) {
  if (!extent.symbol.empty())
    subject.fail(fmt::format("its {} depends on the symbol {}", what, printable(extent.symbol)));
  if (extent.value < 0) subject.fail(fmt::format("negative {} {}", what, extent.value));
  return extent.value;
}

Shape numbers_of(const Subject& subject, const std::vector<pt2::Extent>& extents, const char* what) {
  Shape out;
  for (const pt2::Extent& extent : extents) out.push_back(number_of(subject, extent, what));
  return out;
}

DType dtype_of(const Subject& subject, int64_t code) {
  const std::optional<DType> dtype = pt2::dtype_of(code);
  if (!dtype)
    subject.fail(pt2::dtype_text(code) + " is not supported", "convert the model to float32 before the export");
  return *dtype;
}

View view_of(const Subject& subject, const pt2::TensorMeta& meta) {
  if (meta.layout != pt2::kLayoutStrided)
    subject.fail("sparse tensors are not supported", "store it densely: tensor.to_dense()");
  View view{dtype_of(subject, meta.dtype), numbers_of(subject, meta.sizes, "size"),
            numbers_of(subject, meta.strides, "stride"), number_of(subject, meta.storage_offset, "storage offset")};
  if (view.sizes.size() != view.strides.size())
    subject.fail(fmt::format("{} sizes but {} strides", view.sizes.size(), view.strides.size()));
  return view;
}

/// Product of the sizes, or nothing if it does not fit.
std::optional<int64_t> count_of(const Shape& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

/// One past the last element that the view reaches, or nothing if that does not fit.
std::optional<int64_t> reach_of(const View& view) {
  int64_t reach = view.offset, span = 0;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    if (__builtin_mul_overflow(view.sizes[i] - 1, view.strides[i], &span)) return std::nullopt;
    if (__builtin_add_overflow(reach, span, &reach)) return std::nullopt;
  }
  return __builtin_add_overflow(reach, 1, &reach) ? std::nullopt : std::optional(reach);
}

bool is_expanded(const View& view) {
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    if (view.strides[i] == 0 && view.sizes[i] > 1) return true;
  }
  return false;
}

void check_fits(const Subject& subject, const View& view, uint64_t payload_bytes) {
  const auto held = static_cast<int64_t>(payload_bytes / dtype_bytes(view.dtype));
  const std::optional<int64_t> count = count_of(view.sizes);
  const int64_t most = is_expanded(view) ? std::max(held, kMaxExpandedElements) : held;
  if (!count || *count > most)
    subject.fail(fmt::format(
        "size {} {} needs {} bytes, its payload has {}", dtype_name(view.dtype), to_string(view.sizes),
        count && *count <= INT64_MAX / 8 ? std::to_string(*count * static_cast<int64_t>(dtype_bytes(view.dtype)))
                                         : "more than 2^63",
        payload_bytes));
  if (*count == 0) return;
  const std::optional<int64_t> reach = reach_of(view);
  if (!reach || *reach > held)
    subject.fail(fmt::format("strides {} and offset {} of size {} reach past the end of its payload of {} elements",
                             to_string(view.strides), view.offset, to_string(view.sizes), held));
}

bool is_dense(const View& view) {
  int64_t expected = 1;
  for (size_t i = view.sizes.size(); i-- > 0;) {
    if (view.sizes[i] != 1 && view.strides[i] != expected) return false;
    expected *= view.sizes[i];
  }
  return true;
}

/// Copies element by element, walking the last axis fastest.
void gather(const View& view, const uint8_t* storage, HostTensor& out) {
  const size_t width = dtype_bytes(view.dtype), rank = view.sizes.size();
  Shape index(rank, 0);
  int64_t from = view.offset;
  for (int64_t i = 0; i < out.size(); ++i) {
    std::memcpy(out.raw() + static_cast<size_t>(i) * width, storage + static_cast<size_t>(from) * width, width);
    for (size_t k = rank; k-- > 0;) {
      from += view.strides[k];
      if (++index[k] < view.sizes[k]) break;
      from -= view.strides[k] * view.sizes[k];
      index[k] = 0;
    }
  }
}

HostTensor dense_tensor(const View& view, const std::vector<uint8_t>& storage) {
  HostTensor out(view.dtype, view.sizes);
  const size_t first_byte = static_cast<size_t>(view.offset) * dtype_bytes(view.dtype);
  if (out.bytes() == 0) return out;
  if (is_dense(view))
    std::memcpy(out.raw(), storage.data() + first_byte, out.bytes());
  else
    gather(view, storage.data(), out);
  return out;
}

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

void check_finite(const Subject& subject, const HostTensor& tensor) {
  if (!is_float(tensor.dtype())) return;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double value = tensor.number(i);
    if (std::isfinite(value)) continue;
    subject.fail(fmt::format("element {} is {}", i, std::isnan(value) ? "not a number (NaN)" : "infinite"),
                 "train or repair the model: all its weights must be finite");
  }
}

/// Equal for names that share one tensor.
std::string identity_of(const std::string& entry, const View& view) {
  return fmt::format("{} {} {} {} {}", entry, dtype_name(view.dtype), to_string(view.sizes), to_string(view.strides),
                     view.offset);
}

pt2::Payloads read_config(const ZipArchive& archive, const std::string& entry) {
  return pt2::parse_payloads(archive.read(entry, kMaxConfigBytes), entry);
}

}  // namespace

Weights::Weights(const ZipArchive& archive, const std::string& model)
    : archive_(archive),
      model_(model),
      weights_(read_config(archive, fmt::format("data/weights/{}_weights_config.json", model))),
      budget_(kMaxBytes) {
  const std::string constants = fmt::format("data/constants/{}_constants_config.json", model);
  if (archive.contains(constants)) constants_ = read_config(archive, constants);
}

const pt2::Payload& Weights::find(const pt2::InputSpec& spec, std::string& folder) const {
  const bool constant = spec.kind == pt2::InputSpec::Kind::kConstant || !spec.persistent;
  folder = constant ? "data/constants/" : "data/weights/";
  const pt2::Payloads& payloads = constant ? constants_ : weights_;
  const auto it = payloads.find(spec.name);
  if (it == payloads.end())
    Subject{spec}.fail(
        fmt::format("is missing from {}{}_{}_config.json", folder, model_, constant ? "constants" : "weights"));
  return it->second;
}

Weights::Bytes Weights::read(const pt2::InputSpec& spec, const std::string& entry) {
  Bytes& bytes = read_[entry];
  if (bytes) return bytes;
  spend(spec, archive_.size(entry).value_or(0));
  try {
    bytes = std::make_shared<const std::vector<uint8_t>>(archive_.read(entry, kMaxBytes));
  } catch (const UserError& error) {
    Subject{spec}.fail(error.diagnostics()[0].what);
  }
  return bytes;
}

void Weights::spend(const pt2::InputSpec& spec, uint64_t bytes) {
  if (bytes > budget_)
    Subject{spec}.fail(fmt::format("the model's weights need more than {} MiB", kMaxBytes >> 20),
                       "no microcontroller holds them: make the model smaller");
  budget_ -= bytes;
}

std::shared_ptr<const HostTensor> Weights::load(const pt2::InputSpec& spec) {
  const Subject subject{spec};
  std::string folder;
  const pt2::Payload& payload = find(spec, folder);
  if (payload.pickled) subject.fail("its payload is a pickle, which is never executed", "store it as a plain tensor");
  const View view = view_of(subject, payload.meta);
  const std::string entry = folder + payload.path;
  const std::optional<uint64_t> payload_bytes = archive_.size(entry);
  if (!payload_bytes) subject.fail(fmt::format("its payload {} is missing from the archive", printable(entry)));
  check_fits(subject, view, *payload_bytes);
  std::shared_ptr<const HostTensor>& tensor = loaded_[identity_of(entry, view)];
  if (tensor) return tensor;
  const Bytes storage = read(spec, entry);
  spend(spec, static_cast<uint64_t>(element_count(view.sizes)) * dtype_bytes(view.dtype));
  auto fresh = std::make_shared<HostTensor>(dense_tensor(view, *storage));
  check_finite(subject, *fresh);
  tensor = std::move(fresh);
  return tensor;
}

}  // namespace rush
