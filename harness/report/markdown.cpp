// SPDX-License-Identifier: Apache-2.0
#include "harness/report/markdown.hpp"

#include "base/printable.hpp"

#include <algorithm>

namespace bench {
namespace {

constexpr std::string_view kMarkup = "\\|`*_~[]";

// Uses entities, since not every renderer accepts a backslash before these characters. Without `<`,
// a `>` closes nothing, so it stays and arrows remain readable.
std::string_view find_entity(char c) {
  if (c == '&') return "&amp;";
  return c == '<' ? "&lt;" : "";
}

}  // namespace

std::string escape_markdown(std::string_view text) {
  std::string blanks(text);
  std::ranges::replace_if(
      blanks, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  std::string escaped;
  for (const char c : escape_controls(blanks)) {
    const std::string_view entity = find_entity(c);
    if (!entity.empty()) {
      escaped += entity;
      continue;
    }
    if (kMarkup.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Backticks would need a fence longer than any in the text, and no fence works in a table cell.
std::string markdown_code(std::string_view text) {
  return "<code>" + escape_markdown(text) + "</code>";
}

}  // namespace bench
