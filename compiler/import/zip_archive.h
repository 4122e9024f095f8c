// SPDX-License-Identifier: Apache-2.0
//
// A zip container, read only: entries by name below the archive's top folder, whatever that is called (a renamed
// .pt2 keeps its old folder). Sizes are checked against the file before anything is allocated, contents against
// their CRC. Entries are never written anywhere, so their names cannot do harm.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct zip;

namespace rush {

class ZipArchive {
 public:
  /// Throws UserError: no such file, empty, truncated, not a zip.
  explicit ZipArchive(const std::filesystem::path& file);
  /// The same from memory, which must outlive the archive; `name` is for messages.
  ZipArchive(std::span<const uint8_t> bytes, std::string name);

  const std::string& name() const { return name_; }
  bool contains(std::string_view entry) const { return entries_.contains(entry); }
  /// Names of the entries that begin with `prefix`, sorted.
  std::vector<std::string> entries(std::string_view prefix) const;
  /// Uncompressed bytes of an entry; nothing if there is no such entry.
  std::optional<uint64_t> size(std::string_view entry) const;
  /// The contents. Throws UserError: missing, larger than `limit`, truncated, CRC mismatch, encrypted.
  std::vector<uint8_t> read(std::string_view entry, uint64_t limit) const;

 private:
  struct Entry {
    uint64_t index;
    uint64_t size;
    uint64_t stored;
    bool compressed;
  };
  using Handle = std::unique_ptr<zip, void (*)(zip*)>;

  void list_entries();
  const Entry& find(std::string_view entry) const;
  void check_size(std::string_view entry, const Entry& found, uint64_t limit) const;

  std::string name_;
  uint64_t file_bytes_;
  Handle zip_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace rush
