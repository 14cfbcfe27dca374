// SPDX-License-Identifier: Apache-2.0
#include "base/markup.hpp"

#include "base/printable.hpp"
#include "base/utf8.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct Escape {
  std::string_view from;
  std::string_view to;
};
constexpr std::array<Escape, 10> kEscapes = {{{"&", "&amp;"},
                                              {"<", "&lt;"},
                                              {">", "&gt;"},
                                              {"\"", "&quot;"},
                                              {"'", "&#39;"},
                                              {"\t", "&#9;"},
                                              {"\n", "&#10;"},
                                              {"\r", "&#13;"},
                                              {"\xef\xbf\xbe", kReplacement},
                                              {"\xef\xbf\xbf", kReplacement}}};

// The characters above that plain ASCII contains.
bool is_mark(char c) { return c == '&' || c == '<' || c == '>' || c == '"' || c == '\''; }

constexpr std::string_view kMarkdownMarks = "\\|`*_~[]";

// Uses entities, since not every renderer accepts a backslash before these characters. Without `<`,
// a `>` closes nothing, so it stays and arrows remain readable.
std::string_view find_markdown_entity(char c) {
  if (c == '&') return "&amp;";
  return c == '<' ? "&lt;" : "";
}

}  // namespace

std::string escape_markup(std::string_view text) {
  if (is_plain_ascii(text) && std::ranges::none_of(text, is_mark)) return std::string(text);
  const std::string valid = with_valid_utf8(text);
  std::string out;
  for (std::size_t at = 0; at < valid.size();) {
    const std::string_view rest = std::string_view(valid).substr(at);
    const Escape* found = nullptr;
    for (const Escape& escape : kEscapes) {
      if (rest.starts_with(escape.from)) found = &escape;
    }
    const auto character = decode_utf8(rest);  // always valid here
    if (found != nullptr) {
      out += found->to;
    } else if (is_control_or_bidi(character->code_point)) {
      out += kReplacement;
    } else {
      out += rest.substr(0, character->length);
    }
    at += character->length;
  }
  return out;
}

std::string escape_markdown(std::string_view text) {
  std::string blanks(text);
  std::ranges::replace_if(
      blanks, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  std::string escaped;
  for (const char c : escape_controls(blanks)) {
    const std::string_view entity = find_markdown_entity(c);
    if (!entity.empty()) {
      escaped += entity;
      continue;
    }
    if (kMarkdownMarks.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Backticks would need a fence longer than any in the text, and no fence works in a table cell.
std::string markdown_code(std::string_view text) {
  return "<code>" + escape_markdown(text) + "</code>";
}

}  // namespace bench
