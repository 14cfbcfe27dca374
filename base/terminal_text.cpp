// SPDX-License-Identifier: Apache-2.0
#include "base/terminal_text.hpp"

#include "base/lines.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr std::array<std::string_view, 5> kTones = {"", "\x1b[32m", "\x1b[33m", "\x1b[31m",
                                                    "\x1b[1m"};
constexpr std::string_view kReset = "\x1b[0m";

}  // namespace

std::string paint(std::string_view text, Tone tone, Colour colour) {
  const std::string_view start = kTones[static_cast<std::size_t>(tone)];
  if (colour == Colour::off || start.empty() || text.empty()) return std::string(text);
  return std::string(start) + std::string(text) + std::string(kReset);
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  const std::string clean = printable(text);
  const std::string margin(indent, ' ');
  const std::size_t room = width > indent + 1 ? width - indent : 1;
  std::string result;
  std::string line;
  for (std::size_t begin = 0; begin < clean.size();) {
    std::size_t end = std::min(clean.find(' ', begin), clean.size());
    // A percent sign stays on the line of its number.
    if (clean.compare(end, 2, " %") == 0) end = std::min(clean.find(' ', end + 1), clean.size());
    const std::string_view word = std::string_view(clean).substr(begin, end - begin);
    begin = end + 1;
    for (const std::string& piece : split_columns(word, room)) {
      if (!line.empty() && display_width(line) + 1 + display_width(piece) > room) {
        result += margin + line + '\n';
        line.clear();
      }
      line += (line.empty() ? "" : " ") + piece;
    }
  }
  if (!line.empty()) result += margin + line + '\n';
  return result;
}

std::string fold_lines(std::string_view text, std::size_t width) {
  constexpr std::string_view kTwoBlanks = "  ";
  std::string result;
  for (const NumberedLine& next : Lines(text)) {
    const std::string_view line = next.text;
    if (display_width(line) <= width) {
      result += std::string(line) + '\n';
      continue;
    }
    const std::size_t gap = line.substr(0, width / 2).rfind(kTwoBlanks);
    const std::size_t hang = gap == std::string_view::npos ? 0 : gap + kTwoBlanks.size();
    const std::string folded = wrap(line.substr(hang), width, hang);
    result += std::string(line.substr(0, hang)) + folded.substr(std::min(hang, folded.size()));
  }
  return result;
}

std::vector<std::string> split_columns(std::string_view utf8, std::size_t width) {
  std::vector<std::string> pieces;
  while (!utf8.empty()) {
    const std::string_view piece = leading_columns(utf8, std::max<std::size_t>(width, 1));
    pieces.emplace_back(piece);
    utf8.remove_prefix(piece.size());
  }
  return pieces;
}

}  // namespace bench
