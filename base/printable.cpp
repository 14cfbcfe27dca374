// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include "base/env.hpp"
#include "base/lines.hpp"
#include "base/output_width.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ostream>

namespace bench {
namespace {

struct Range {
  char32_t first, last;
};
// Terminals interpret the C0 and C1 controls; editors and some logs break lines at U+2028 and
// U+2029. Overrides and isolates change the displayed order of text.
constexpr std::array<Range, 5> kControlOrBidi = {
    {{0x00, 0x1F}, {0x7F, 0x9F}, {0x2028, 0x2029}, {0x202A, 0x202E}, {0x2066, 0x2069}}};

std::string format_escape(char32_t character) {
  const auto number = static_cast<unsigned>(character);
  return character < 0x80 ? fmt::format("\\x{:02x}", number) : fmt::format("\\u{:04x}", number);
}

// Returns whether the text starts with "##[", "##vso[" or similar: a command anywhere in a line.
bool is_marked_command(std::string_view text) {
  if (!text.starts_with("##")) return false;
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz", 2);
  return end != std::string_view::npos && text[end] == '[';
}

// Returns whether "::" is at `position` and at the start of a word. A runner executes "::" at the
// start of a line, after blanks, and a line may be wrapped at each blank. Unicode has many blanks
// and invisible characters, so each non-ASCII character counts as a blank.
bool is_word_command(std::string_view text, std::size_t position) {
  if (!text.substr(position).starts_with("::")) return false;
  if (position == 0 || text[position - 1] == ' ') return true;
  return static_cast<unsigned char>(text[position - 1]) >= 0x80;
}

}  // namespace

bool is_control_or_bidi(char32_t character) {
  return std::ranges::any_of(kControlOrBidi, [&](const Range& range) {
    return character >= range.first && character <= range.last;
  });
}

std::string escape_controls(std::string_view text) {
  if (is_plain_ascii(text)) return std::string(text);
  std::string result;
  for (std::size_t position = 0; position < text.size();) {
    const auto character = decode_utf8(text.substr(position));
    if (!character) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[position++]));
      continue;
    }
    if (is_control_or_bidi(character->code_point)) {
      result += format_escape(character->code_point);
    } else {
      result += text.substr(position, character->length);
    }
    position += character->length;
  }
  return result;
}

std::string printable(std::string_view text) {
  std::string shown = escape_controls(text);
  if (shown.find("::") == std::string::npos && shown.find("##") == std::string::npos) return shown;
  std::string result;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const bool is_command =
        is_word_command(shown, i) || is_marked_command(std::string_view(shown).substr(i));
    result += is_command ? format_escape(static_cast<unsigned char>(shown[i])) : shown.substr(i, 1);
  }
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    result += printable(text.substr(0, end));
    if (end < text.size()) result += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

namespace {

// Returns the text as one printable line.
std::string limit_message(std::string_view text) {
  constexpr std::size_t kHead = kMaxMessage * 3 / 4;  // the next step is at the end
  return shorten(printable(text), kMaxMessage, kHead);
}

}  // namespace

void print_line(std::ostream& out, std::string_view text) { out << limit_message(text) + '\n'; }

void print_sentence(const Env& env, std::string_view text) {
  const auto width = message_width(env);
  if (!width) return print_line(*env.err, text);
  const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
  const std::string lines =
      wrap(limit_message(text.substr(indent)), static_cast<std::size_t>(*width), indent);
  *env.err << (lines.empty() ? "\n" : lines);
}

void print_sentences(const Env& env, std::string_view lines) {
  for (const NumberedLine& line : Lines(lines)) print_sentence(env, line.text);
}

void print_lines(std::ostream& out, std::string_view text) {
  out << printable_lines(text) << std::flush;
}

}  // namespace bench
