// SPDX-License-Identifier: Apache-2.0
// The hash of content that arrives in parts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

// Computes content_hash() (base/text.hpp) of the concatenation of all parts.
class ContentHash {
 public:
  void add(std::string_view bytes);
  std::string text() const;

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace bench
