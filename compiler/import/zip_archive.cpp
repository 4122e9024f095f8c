// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/zip_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <array>
#include <fstream>

#include "compiler/ir/diagnostic.h"

namespace rush {
namespace {

constexpr const char* kExportAgain =
    "export the model again: torch.export.save(torch.export.export(...), \"model.pt2\")";

// Deflate cannot expand more than 1032 : 1 (258 bytes from 2 bits).
constexpr uint64_t kMaxInflation = 1032;

[[noreturn]] void fail(const std::string& archive, const std::string& what) {
  throw UserError(fmt::format("{}: {}", archive, what), kExportAgain);
}

std::string_view as_text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Why a file without a zip end record is not what the user takes it for.
std::string describe_other_file(std::string_view head) {
  if (head.starts_with("PK\x03\x04")) return "the file is truncated: a zip archive that has no zip end record";
  if (head.starts_with("\x80")) return "this is a pickle (torch.save), not an exported program";
  return "this is not a .pt2 file: no zip end record";
}

zip* open_source(zip_source_t* source, const std::string& name, std::string_view head) {
  zip_error_t error;
  zip_error_init(&error);
  zip* archive = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
  if (archive) return archive;
  bool no_zip = zip_error_code_zip(&error) == ZIP_ER_NOZIP;
#ifdef ZIP_ER_TRUNCATED_ZIP  // libzip 1.11 says more exactly what earlier ones call no zip
  no_zip = no_zip || zip_error_code_zip(&error) == ZIP_ER_TRUNCATED_ZIP;
#endif
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  zip_source_free(source);
  fail(name, no_zip ? describe_other_file(head) : "the zip archive is damaged (" + reason + ")");
}

uint64_t size_of_file(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw UserError(fmt::format("{}: no such file", file.string()), "check the path of the .pt2 file");
  const uint64_t bytes = std::filesystem::file_size(file, error);
  if (error) throw UserError(fmt::format("{}: {}", file.string(), error.message()), "check the file's permissions");
  return bytes;
}

zip* open_file(const std::filesystem::path& file, uint64_t bytes) {
  std::array<char, 8> head{};
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UserError(file.string() + ": cannot be opened", "check the file's permissions");
  if (bytes == 0) fail(file.string(), "empty file");
  stream.read(head.data(), head.size());
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_file_create(file.c_str(), 0, -1, &error);
  zip_error_fini(&error);
  return open_source(source, file.string(), {head.data(), static_cast<size_t>(stream.gcount())});
}

zip* open_bytes(std::span<const uint8_t> bytes, const std::string& name) {
  if (bytes.empty()) fail(name, "empty file");
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_error_fini(&error);
  return open_source(source, name, as_text(bytes.first(std::min<size_t>(8, bytes.size()))));
}

std::string describe_read_error(zip_file_t* file) {
  zip_error_t* error = zip_file_get_error(file);
  if (zip_error_code_zip(error) == ZIP_ER_CRC) return "CRC mismatch, the file is damaged";
  return fmt::format("cannot be read ({})", zip_error_strerror(error));
}

/// Reads to the end of the entry, where libzip compares the CRC. Returns an error text, or an empty one.
std::string read_all(zip_file_t* file, std::vector<uint8_t>& out) {
  size_t at = 0;
  while (true) {
    uint8_t past_end;
    const bool full = at == out.size();
    const zip_int64_t got = zip_fread(file, full ? &past_end : out.data() + at, full ? 1 : out.size() - at);
    if (got < 0) return describe_read_error(file);
    if (got == 0) return full ? "" : fmt::format("truncated: {} of {} bytes", at, out.size());
    if (full) return "longer than the archive says";
    at += static_cast<size_t>(got);
  }
}

}  // namespace

ZipArchive::ZipArchive(const std::filesystem::path& file)
    : name_(file.string()), file_bytes_(size_of_file(file)), zip_(open_file(file, file_bytes_), zip_discard) {
  list_entries();
}

ZipArchive::ZipArchive(std::span<const uint8_t> bytes, std::string name)
    : name_(std::move(name)), file_bytes_(bytes.size()), zip_(open_bytes(bytes, name_), zip_discard) {
  list_entries();
}

void ZipArchive::list_entries() {
  const zip_int64_t count = zip_get_num_entries(zip_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    const auto index = static_cast<zip_uint64_t>(i);
    if (zip_stat_index(zip_.get(), index, ZIP_FL_ENC_RAW, &stat) != 0 || (stat.valid & kNeeded) != kNeeded) continue;
    const std::string_view name = stat.name;
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos) continue;
    entries_.emplace(name.substr(slash + 1), Entry{index, stat.size, stat.comp_size, stat.comp_method != ZIP_CM_STORE});
  }
}

std::vector<std::string> ZipArchive::entries(std::string_view prefix) const {
  std::vector<std::string> names;
  for (auto it = entries_.lower_bound(prefix); it != entries_.end() && it->first.starts_with(prefix); ++it)
    names.push_back(it->first);
  return names;
}

std::optional<uint64_t> ZipArchive::size(std::string_view entry) const {
  const auto it = entries_.find(entry);
  if (it == entries_.end()) return std::nullopt;
  return it->second.size;
}

const ZipArchive::Entry& ZipArchive::find(std::string_view entry) const {
  const auto it = entries_.find(entry);
  if (it == entries_.end()) fail(name_, fmt::format("entry \"{}\" is missing from the archive", entry));
  return it->second;
}

void ZipArchive::check_size(std::string_view entry, const Entry& found, uint64_t limit) const {
  const uint64_t most = found.compressed ? found.stored * kMaxInflation : found.stored;
  if (found.stored > file_bytes_ || found.size > most)
    fail(name_, fmt::format("entry \"{}\" claims {} bytes, more than the file holds", entry, found.size));
  if (found.size > limit)
    fail(name_, fmt::format("entry \"{}\" has {} bytes, more than the {} that are read", entry, found.size, limit));
}

std::vector<uint8_t> ZipArchive::read(std::string_view entry, uint64_t limit) const {
  const Entry& found = find(entry);
  check_size(entry, found, limit);
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(zip_.get(), found.index, 0), zip_fclose);
  if (!file) fail(name_, fmt::format("entry \"{}\": {}", entry, zip_error_strerror(zip_get_error(zip_.get()))));
  std::vector<uint8_t> out(found.size);
  const std::string error = read_all(file.get(), out);
  if (!error.empty()) fail(name_, fmt::format("entry \"{}\": {}", entry, error));
  return out;
}

}  // namespace rush
