// SPDX-License-Identifier: Apache-2.0
#include "harness/store/file_name.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace bench {
namespace {

constexpr std::size_t kKeptOfLongName = 160;

constexpr std::string_view kPlain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-";

bool joins_separator(char c) { return c == '_' || c == '/'; }

// Whether the character at `i` is kept unchanged.
bool is_plain(std::string_view text, std::size_t i) {
  if (kPlain.find(text[i]) == std::string_view::npos) return false;
  if (text[i] == '.') return i > 0;
  if (text[i] != '_') return true;
  const bool after = i > 0 && joins_separator(text[i - 1]);
  const bool before = i + 1 < text.size() && joins_separator(text[i + 1]);
  return !after && !before;
}

}  // namespace

std::string store_name(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      name += "__";
    } else if (is_plain(text, i)) {
      name += text[i];
    } else {
      name += fmt::format("%{:02X}", static_cast<unsigned char>(text[i]));
    }
  }
  if (name.size() <= kMaxPlainName) return name;
  return fmt::format("{}~{}", name.substr(0, kKeptOfLongName), content_hash(text));
}

std::string store_file_name(std::string_view id) {
  return store_name(id) + std::string(kStoreSuffix);
}

}  // namespace bench
