// SPDX-License-Identifier: Apache-2.0
#include "base/quote.hpp"

namespace bench {

std::string quote(std::string_view text, std::size_t max) {
  std::string shortened(text.substr(0, max));
  if (shortened.size() < text.size()) {
    while (!shortened.empty() &&
           (static_cast<unsigned char>(text[shortened.size()]) & 0xC0u) == 0x80u) {
      shortened.pop_back();  // drops the incomplete UTF-8 character at the end
    }
    shortened += "...";
  }
  for (char& character : shortened) {
    if (character == '\n' || character == '\r' || character == '\t') character = ' ';
  }
  return "`" + shortened + "`";
}

}  // namespace bench
