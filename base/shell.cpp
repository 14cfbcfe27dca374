// SPDX-License-Identifier: Apache-2.0
#include "base/shell.hpp"

#include "base/characters.hpp"

#include <algorithm>
#include <string_view>

namespace bench {

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
