// SPDX-License-Identifier: Apache-2.0
#include "base/digits.hpp"

#include <cstddef>

namespace bench {

std::string format_with_commas(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::ptrdiff_t position = std::ssize(text) - 3; position > 0; position -= 3) {
    text.insert(static_cast<std::size_t>(position), 1, ',');
  }
  return text;
}

}  // namespace bench
