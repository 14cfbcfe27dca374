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
  std::string_view character;
  std::string_view replacement;
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

// Returns whether kEscapes contains `c`, a character of plain ASCII text (is_plain_ascii()).
bool needs_escape(char c) { return c == '&' || c == '<' || c == '>' || c == '"' || c == '\''; }

constexpr std::string_view kMarkdownSpecial = "\\|`*_~[]";

// Returns the entity that replaces `&` or `<`, because not every renderer accepts a backslash
// before them. Returns an empty text for other characters. `>` stays, so that arrows remain
// readable: without `<` it closes nothing.
std::string_view find_markdown_entity(char c) {
  if (c == '&') return "&amp;";
  return c == '<' ? "&lt;" : "";
}

}  // namespace

std::string escape_markup(std::string_view text) {
  if (is_plain_ascii(text) && std::ranges::none_of(text, needs_escape)) return std::string(text);
  const std::string valid = with_valid_utf8(text);
  std::string out;
  for (std::size_t position = 0; position < valid.size();) {
    const std::string_view remaining = std::string_view(valid).substr(position);
    const Escape* match = nullptr;
    for (const Escape& escape : kEscapes) {
      if (remaining.starts_with(escape.character)) match = &escape;
    }
    const auto character = decode_utf8(remaining);  // always valid here
    if (match != nullptr) {
      out += match->replacement;
    } else if (is_control_or_bidi(character->code_point)) {
      out += kReplacement;
    } else {
      out += remaining.substr(0, character->length);
    }
    position += character->length;
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
    if (kMarkdownSpecial.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Uses HTML: backticks need a fence longer than any in the text, and fences fail in table cells.
std::string markdown_code(std::string_view text) {
  return "<code>" + escape_markdown(text) + "</code>";
}

std::string markdown_sentence(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t begin = text.find('`');
    const std::size_t end = begin == text.npos ? begin : text.find('`', begin + 1);
    if (end == text.npos) break;
    result += escape_markdown(text.substr(0, begin)) +
              markdown_code(text.substr(begin + 1, end - begin - 1));
    text.remove_prefix(end + 1);
  }
  return result + escape_markdown(text);
}

}  // namespace bench
