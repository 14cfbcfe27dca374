// SPDX-License-Identifier: Apache-2.0
#include "base/content_hash.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace bench {

void ContentHash::add(std::string_view bytes) {
  for (const char byte : bytes) {
    hash_ ^= static_cast<unsigned char>(byte);
    hash_ *= 0x100000001b3U;
  }
}

std::string ContentHash::text() const { return fmt::format("{:016x}", hash_); }

std::string content_hash(std::string_view bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.text();
}

}  // namespace bench
