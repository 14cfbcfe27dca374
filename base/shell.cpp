// SPDX-License-Identifier: Apache-2.0
#include "base/shell.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace bench {

std::string shell_quoted(const std::string& text) {
  const auto is_plain = [](char c) {
    return (std::isalnum(static_cast<unsigned char>(c)) != 0) ||
           std::string_view("/._-+=:,@").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace bench
