// SPDX-License-Identifier: Apache-2.0
#include "base/quote.hpp"

#include "base/characters.hpp"

#include <algorithm>
#include <string_view>

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

std::string shell_quoted(const std::string& text) {
  const auto is_plain = [](char c) {
    return is_letter_or_digit(c) || std::string_view("/._-+=:,@").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_command(std::string program, std::span<const std::string> words) {
  for (const std::string& word : words) program += " " + shell_quoted(word);
  return program;
}

std::string shell_variables(const std::map<std::string, std::string>& variables) {
  std::string text = variables.empty() ? "" : "env ";
  for (const auto& [name, value] : variables) text += shell_quoted(name + "=" + value) + " ";
  return text;
}

}  // namespace bench
