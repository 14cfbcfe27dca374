// SPDX-License-Identifier: Apache-2.0
#include "harness/config/yaml_slip.hpp"

#include "base/characters.hpp"
#include "base/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace bench::yaml {
namespace {

constexpr std::string_view kBlanks = " \t";

// A line that is neither empty nor a comment.
struct Line {
  int number;
  std::string_view indentation;
  std::string_view content;   // text after the indentation, without trailing blanks
  bool is_item;               // starts with "- "
  std::size_t content_start;  // bytes before the content that follows the dashes
  int column() const { return static_cast<int>(indentation.size()) + 1; }
  int content_column() const { return static_cast<int>(content_start) + 1; }
  std::string_view entry() const { return content.substr(content_start - indentation.size()); }
};

std::optional<Line> read_line(std::string_view text, int number) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  const std::size_t end = text.find_last_not_of(" \t\r");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return std::nullopt;
  }
  if (text[begin] == '#') return std::nullopt;
  Line line{number, text.substr(0, begin), text.substr(begin, end + 1 - begin), false, begin};
  while (text.substr(line.content_start, end + 1 - line.content_start).starts_with("- ")) {
    line.is_item = true;
    const std::size_t next = text.find_first_not_of(' ', line.content_start + 1);
    line.content_start = std::min(next, end + 1);
  }
  return line;
}

// Returns all lines up to the one at which parsing failed.
std::vector<Line> read_lines(std::string_view text, int last) {
  std::vector<Line> lines;
  for (const NumberedLine& next : Lines(text)) {
    const auto number = static_cast<int>(next.number);
    if (number > last) break;
    if (auto line = read_line(next.text, number)) lines.push_back(*line);
  }
  return lines;
}

// Returns the word before the first colon of a line; empty if the line does not start with a key.
std::string_view key_of(const Line& line) {
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
                   "YAML is indented with blanks: replace the tab"};
  }
  return std::nullopt;
}

// Whether the line is like "m:1": a text that also absorbs the next lines until one has a key.
bool lacks_blank(const Line& line) {
  const std::string_view key = key_of(line);
  if (key.empty() || line.entry().size() <= key.size() + 1) return false;
  const char next = line.entry()[key.size() + 1];
  return next != ' ' && next != '\t' && next != ':' && next != '/';
}

std::optional<Problem> find_missing_blank(std::span<const Line> lines) {
  std::size_t end = lines.size();
  if (end > 0 && !lacks_blank(lines[end - 1])) --end;
  const Line* first = nullptr;
  for (; end > 0 && lacks_blank(lines[end - 1]); --end) first = &lines[end - 1];
  if (first == nullptr) return std::nullopt;
  const std::string_view key = key_of(*first);
  const std::string_view value = first->entry().substr(key.size() + 1);
  return Problem{{first->number, first->content_column()},
                 fmt::format("a blank is missing after the colon of `{}`", key),
                 fmt::format("write `{}: {}`", key, value)};
}

struct Bracket {
  char sign;
  Mark mark;
};

// Tracks the brackets that a line opens and closes, outside of quotes and comments.
void follow_brackets(const Line& line, std::vector<Bracket>& open) {
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
  for (const Line& line : lines) follow_brackets(line, open);
  if (open.empty()) return std::nullopt;
  const Bracket& last = open.back();
  return Problem{last.mark, fmt::format("the `{}` here is not closed", last.sign),
                 fmt::format("add `{}`, or the comma that is missing between two entries",
                             last.sign == '[' ? ']' : '}')};
}

// Finds a line such as "sweep: n: [1, 2]".
std::optional<Problem> find_second_key(std::span<const Line> lines) {
  if (lines.empty()) return std::nullopt;
  const Line& line = lines.back();
  const std::string_view outer = key_of(line);
  if (outer.empty()) return std::nullopt;
  std::string_view rest = line.entry().substr(outer.size() + 1);
  const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
  rest.remove_prefix(begin);
  const auto end = std::ranges::find_if_not(rest, is_word);
  const auto length = static_cast<std::size_t>(end - rest.begin());
  if (length == 0 || !rest.substr(length).starts_with(": ")) return std::nullopt;
  return Problem{
      {line.number, line.content_column() + static_cast<int>(outer.size() + 1 + begin)},
      fmt::format("`{}` and `{}` are two keys in one line", outer, rest.substr(0, length)),
      fmt::format("write `{}: {{ {} }}`", outer, rest)};
}

// Returns the lines with which a following key or item may be aligned: the last line and those that
// enclose it.
std::vector<const Line*> siblings(std::span<const Line> before, bool is_item) {
  std::vector<const Line*> result;
  int limit = 0;
  for (auto line = before.rbegin(); line != before.rend(); ++line) {
    if (limit > 0 && line->column() >= limit) continue;
    limit = line->column();
    if (!is_item || line->is_item) result.push_back(&*line);
  }
  return result;
}

std::string blanks(int count) { return fmt::format("{} blank{}", count, count == 1 ? "" : "s"); }

std::optional<Problem> find_indentation(std::span<const Line> lines) {
  if (lines.size() < 2) return std::nullopt;
  const Line& line = lines.back();
  if (!line.is_item && key_of(line).empty()) return std::nullopt;
  const Line& previous = lines[lines.size() - 2];
  if (previous.entry().ends_with(':') && line.column() > previous.column()) return std::nullopt;
  const auto column_of = [&](const Line* other) {
    return line.is_item ? other->column() : other->content_column();
  };
  const Line* nearest = nullptr;
  for (const Line* other : siblings(lines.first(lines.size() - 1), line.is_item)) {
    if (column_of(other) == line.column()) return std::nullopt;
    const auto distance = [&](const Line* sibling) {
      return std::abs(column_of(sibling) - line.column());
    };
    if (nearest == nullptr || distance(other) < distance(nearest)) nearest = other;
  }
  if (nearest == nullptr) return std::nullopt;
  const std::string_view name = line.is_item ? "-" : key_of(line);
  const std::string_view other = line.is_item ? "-" : key_of(*nearest);
  if (other.empty()) return std::nullopt;
  return Problem{
      {line.number, line.column()},
      fmt::format("wrong indentation: `{}` begins after {}, but `{}` in line {} after {}", name,
                  blanks(line.column() - 1), other, nearest->number, column_of(nearest) - 1),
      line.is_item ? "items of one list begin in the same column"
                   : "keys of one mapping begin in the same column"};
}

using Finder = std::optional<Problem> (*)(std::span<const Line>);
constexpr std::array<Finder, 5> kFinders = {find_tab, find_missing_blank, find_open_bracket,
                                            find_second_key, find_indentation};

}  // namespace

std::optional<Problem> find_slip(std::string_view text, Mark failed) {
  const std::vector<Line> lines = read_lines(text, failed.line);
  for (const Finder find : kFinders) {
    if (auto problem = find(lines)) return problem;
  }
  return std::nullopt;
}

}  // namespace bench::yaml
