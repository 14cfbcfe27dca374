// SPDX-License-Identifier: Apache-2.0
#include "base/file_stem.hpp"

#include "base/characters.hpp"
#include "base/text.hpp"

#include <cstddef>

namespace bench {

std::string file_stem(std::string_view text) {
  // The name stays readable. With a prefix, a hash, a run id and an extension it stays shorter than
  // a file system's limit of 255 bytes.
  constexpr std::size_t kMaxStem = 150;
  std::string stem;
  for (const char c : text.substr(0, kMaxStem)) {
    const bool is_kept = is_word(c) || c == '+' || c == '-' || (c == '.' && !stem.empty());
    stem += is_kept ? c : '-';
  }
  if (text.size() > kMaxStem) stem += content_hash(text);
  return stem;
}

}  // namespace bench
