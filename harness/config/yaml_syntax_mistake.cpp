// SPDX-License-Identifier: Apache-2.0
#include "base/characters.hpp"
#include "base/lines.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/config/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::yaml {
namespace {

// Maximum length in bytes of a corrected line in a message.
constexpr std::size_t kMaxQuotedLine = 200;

constexpr std::string_view kIndentCharacters = " \t";

// A line that is neither empty nor a comment. Views point into the text.
struct Line {
  int number;  // from 1
  std::string_view indentation;
  std::string_view content;  // text after the indentation, without trailing blanks
  bool is_item;              // starts with "- "
  std::size_t entry_start;   // offset in the line of the text after the indentation and dashes
  int column() const { return static_cast<int>(indentation.size()) + 1; }
  int entry_column() const { return static_cast<int>(entry_start) + 1; }
  std::string_view entry() const { return content.substr(entry_start - indentation.size()); }
};

std::optional<Line> read_line(std::string_view text, int number) {
  const std::size_t begin = text.find_first_not_of(kIndentCharacters);
  const std::size_t end = text.find_last_not_of(" \t\r");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return std::nullopt;
  }
  if (text[begin] == '#') return std::nullopt;
  Line line{number, text.substr(0, begin), text.substr(begin, end + 1 - begin), false, begin};
  while (text.substr(line.entry_start, end + 1 - line.entry_start).starts_with("- ")) {
    line.is_item = true;
    const std::size_t next = text.find_first_not_of(' ', line.entry_start + 1);
    line.entry_start = std::min(next, end + 1);
  }
  return line;
}

// Returns the lines from the first to the one with the number `last`, without empty lines and
// comments.
std::vector<Line> read_lines(std::string_view text, int last) {
  std::vector<Line> lines;
  for (const NumberedLine& next : Lines(text)) {
    const auto number = static_cast<int>(next.number);
    if (number > last) break;
    if (auto line = read_line(next.text, number)) lines.push_back(*line);
  }
  return lines;
}

// Returns the key at the start of a line, after its dashes. Returns an empty text if there is no
// key.
std::string_view find_leading_key(const Line& line) {
  const std::string_view entry = line.entry();
  const auto end = std::ranges::find_if_not(entry, is_word);
  const auto length = static_cast<std::size_t>(end - entry.begin());
  return end != entry.end() && *end == ':' ? entry.substr(0, length) : std::string_view();
}

std::optional<Problem> find_tab(std::span<const Line> lines) {
  for (const Line& line : lines) {
    const std::size_t tab = line.indentation.find('\t');
    if (tab == std::string_view::npos) continue;
    return Problem{{line.number, static_cast<int>(tab) + 1},
                   "a tab indents this line",
                   "YAML is indented with spaces: replace the tab"};
  }
  return std::nullopt;
}

// Returns whether a line has no space after the colon, as in "m:1". YAML reads such a line as plain
// text that continues in the next lines, up to the first line with a key.
bool lacks_space(const Line& line) {
  const std::string_view key = find_leading_key(line);
  if (key.empty() || line.entry().size() <= key.size() + 1) return false;
  const char next = line.entry()[key.size() + 1];
  return next != ' ' && next != '\t' && next != ':' && next != '/';
}

// Finds lines without a space after the colon at the end of `lines`. Reports the first of them.
std::optional<Problem> find_missing_space(std::span<const Line> lines) {
  std::size_t end = lines.size();
  if (end > 0 && !lacks_space(lines[end - 1])) --end;
  const Line* first = nullptr;
  for (; end > 0 && lacks_space(lines[end - 1]); --end) first = &lines[end - 1];
  if (first == nullptr) return std::nullopt;
  const std::string_view key = find_leading_key(*first);
  const std::string_view value = first->entry().substr(key.size() + 1);
  return Problem{{first->number, first->entry_column()},
                 "a space is missing after the colon of " + quote(key),
                 "write " + quote(fmt::format("{}: {}", key, value), kMaxQuotedLine)};
}

struct Bracket {
  char sign;
  SourceLocation location;
};

// Adds the brackets that a line opens to `open`, and removes those that it closes. Ignores quoted
// texts and comments.
void update_open_brackets(const Line& line, std::vector<Bracket>& open) {
  char quote = '\0';
  for (std::size_t i = 0; i < line.content.size(); ++i) {
    const char c = line.content[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '#' && i > 0 && line.content[i - 1] == ' ') {
      return;
    } else if (c == '[' || c == '{') {
      open.push_back({c, {line.number, line.column() + static_cast<int>(i)}});
    } else if ((c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    }
  }
}

std::optional<Problem> find_open_bracket(std::span<const Line> lines) {
  std::vector<Bracket> open;
  for (const Line& line : lines) update_open_brackets(line, open);
  if (open.empty()) return std::nullopt;
  const Bracket& last = open.back();
  return Problem{last.location, fmt::format("the `{}` here is not closed", last.sign),
                 fmt::format("add `{}`, or the comma that is missing between two entries",
                             last.sign == '[' ? ']' : '}')};
}

// Finds two keys in the last line, such as "sweep: n: [1, 2]".
std::optional<Problem> find_second_key(std::span<const Line> lines) {
  if (lines.empty()) return std::nullopt;
  const Line& line = lines.back();
  const std::string_view outer = find_leading_key(line);
  if (outer.empty()) return std::nullopt;
  std::string_view value = line.entry().substr(outer.size() + 1);
  const std::size_t begin = std::min(value.find_first_not_of(' '), value.size());
  value.remove_prefix(begin);
  const auto end = std::ranges::find_if_not(value, is_word);
  const auto length = static_cast<std::size_t>(end - value.begin());
  if (length == 0 || !value.substr(length).starts_with(": ")) return std::nullopt;
  return Problem{{line.number, line.entry_column() + static_cast<int>(outer.size() + 1 + begin)},
                 fmt::format("{} and {} are two keys in one line", quote(outer),
                             quote(value.substr(0, length))),
                 "write " + quote(fmt::format("{}: {{ {} }}", outer, value), kMaxQuotedLine)};
}

// Returns the lines with which the next key or item may be aligned: the last line and the lines
// that enclose it. For an item, returns only items.
std::vector<const Line*> find_alignment_candidates(std::span<const Line> before, bool is_item) {
  std::vector<const Line*> result;
  int limit = 0;
  for (auto line = before.rbegin(); line != before.rend(); ++line) {
    if (limit > 0 && line->column() >= limit) continue;
    limit = line->column();
    if (!is_item || line->is_item) result.push_back(&*line);
  }
  return result;
}

// Finds a last line that begins in another column than the lines before it allow.
std::optional<Problem> find_wrong_indentation(std::span<const Line> lines) {
  if (lines.size() < 2) return std::nullopt;
  const Line& line = lines.back();
  if (!line.is_item && find_leading_key(line).empty()) return std::nullopt;
  const Line& previous = lines[lines.size() - 2];
  if (previous.entry().ends_with(':') && line.column() > previous.column()) return std::nullopt;
  const auto get_column = [&](const Line* candidate) {
    return line.is_item ? candidate->column() : candidate->entry_column();
  };
  const Line* nearest = nullptr;
  for (const Line* candidate :
       find_alignment_candidates(lines.first(lines.size() - 1), line.is_item)) {
    if (get_column(candidate) == line.column()) return std::nullopt;
    const auto distance = [&](const Line* other) {
      return std::abs(get_column(other) - line.column());
    };
    if (nearest == nullptr || distance(candidate) < distance(nearest)) nearest = candidate;
  }
  if (nearest == nullptr) return std::nullopt;
  const std::string_view name = line.is_item ? "-" : find_leading_key(line);
  const std::string_view nearest_key = line.is_item ? "-" : find_leading_key(*nearest);
  if (nearest_key.empty()) return std::nullopt;
  return Problem{{line.number, line.column()},
                 fmt::format("wrong indentation: {} begins after {}, but {} in line {} after {}",
                             quote(name), pluralise(line.column() - 1, "space"), quote(nearest_key),
                             nearest->number, get_column(nearest) - 1),
                 line.is_item ? "items of one list begin in the same column"
                              : "keys of one mapping begin in the same column"};
}

using MistakeFinder = std::optional<Problem> (*)(std::span<const Line>);
constexpr std::array<MistakeFinder, 5> kMistakeFinders = {
    find_tab, find_missing_space, find_open_bracket, find_second_key, find_wrong_indentation};

}  // namespace

std::optional<Problem> find_syntax_mistake(std::string_view text, SourceLocation failure) {
  const std::vector<Line> lines = read_lines(text, failure.line);
  for (const MistakeFinder find : kMistakeFinders) {
    if (auto problem = find(lines)) return problem;
  }
  return std::nullopt;
}

}  // namespace bench::yaml
