// SPDX-License-Identifier: Apache-2.0
#include "profiler/onednn/log_text.hpp"

#include "base/characters.hpp"
#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "profiler/onednn/verbose_line.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bench {
namespace {

constexpr char kEscape = '\x1b';

// Texts that are removed or become a blank.
struct Replacement {
  std::string_view text;
  std::string_view by;
};
constexpr std::array<Replacement, 8> kReplacements = {{{"\xc2\xa0", " "},       // no-break space
                                                       {"\xe2\x80\xaf", " "},   // narrow one
                                                       {"&nbsp;", " "},         // the same in HTML
                                                       {"\xe2\x80\x8b", ""},    // zero width
                                                       {"\xe2\x80\x8c", ""},    // non-joiner
                                                       {"\xe2\x80\x8d", ""},    // joiner
                                                       {"\xe2\x81\xa0", ""},    // word joiner
                                                       {"\xef\xbb\xbf", ""}}};  // byte order mark

// Returns the size of the escape sequence that begins `text`: "ESC [ ... letter" or
// "ESC ] ... BEL"; of an unknown one, ESC itself.
std::size_t escape_size(std::string_view text) {
  if (text.size() > 1 && text[1] == '[') {
    const auto* end =
        std::find_if(text.begin() + 2, text.end(), [](char c) { return c >= '@' && c <= '~'; });
    if (end != text.end()) return static_cast<std::size_t>(end - text.begin()) + 1;
  }
  if (text.size() > 1 && text[1] == ']') {
    const std::size_t end = text.find('\a');
    if (end != std::string_view::npos) return end + 1;
  }
  return 1;
}

bool may_need_cleaning(char c) {
  return c == kEscape || c == '\0' || c == '\xc2' || c == '\xe2' || c == '\xef' || c == '&';
}

// Calls `visit` with each text in an object and in the objects in it, and the names on its way,
// until `visit` returns true.
template <class Visit>
bool visit_texts(JsonValue object, std::vector<std::string>& path, const Visit& visit) {
  constexpr std::size_t kMaxDepth = 2;
  for (std::size_t i = 0; i < object.size(); ++i) {
    path.emplace_back(object.name(i));
    const JsonValue member = object.member(i);
    if (const auto text = member.text(); text && visit(*text)) return true;
    if (member.is_object() && path.size() < kMaxDepth && visit_texts(member, path, visit)) {
      return true;
    }
    path.pop_back();
  }
  return false;
}

}  // namespace

std::string_view clean_log_line(std::string_view line, std::string& buffer) {
  if (std::ranges::none_of(line, may_need_cleaning)) return line;
  buffer.clear();
  while (!line.empty()) {
    const auto* row = std::ranges::find_if(
        kReplacements, [&](const Replacement& r) { return line.starts_with(r.text); });
    if (row != kReplacements.end()) {
      buffer += row->by;
      line.remove_prefix(row->text.size());
    } else if (line.front() == kEscape) {
      line.remove_prefix(escape_size(line));
    } else {
      if (line.front() != '\0') buffer += line.front();
      line.remove_prefix(1);
    }
  }
  return buffer;
}

std::optional<std::vector<std::string_view>> JsonLogLines::unpack(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos || line[begin] != '{') return std::nullopt;
  const bool has_record = line.find("_verbose,") != std::string_view::npos;
  if (!has_record && path_.empty()) return std::nullopt;
  const auto document = parse_json(line);
  if (!document.ok() || !document->root().is_object()) return std::nullopt;
  if (has_record) {
    std::vector<std::string> path;
    const auto is_record = [](std::string_view text) {
      return find_verbose(text) != std::string_view::npos;
    };
    if (visit_texts(document->root(), path, is_record)) path_ = std::move(path);
  }
  std::optional<JsonValue> value = document->root();
  for (const std::string& name : path_) {
    if (value) value = value->value_at(name);
  }
  const auto text = value ? value->text() : std::nullopt;
  if (path_.empty() || !text) return std::nullopt;
  text_ = *text;
  std::vector<std::string_view> lines;
  std::string_view rest = text_;
  do {
    lines.push_back(cut_field(rest, '\n'));
  } while (!rest.empty());
  return lines;
}

std::size_t closing_size(std::string_view text) {
  constexpr std::string_view kSingle = " \t`\"',.|)]}*\\";
  constexpr std::size_t kMaxTag = 40;
  if (text.empty()) return 0;
  if (text.ends_with("\\n") || text.ends_with("\\r")) return 2;
  const std::string_view end = text.substr(text.size() - std::min(text.size(), kMaxTag));
  if (text.back() == '>') {
    const std::size_t begin = end.rfind('<');
    return begin == std::string_view::npos ? 0 : end.size() - begin;
  }
  if (text.back() == ';') {
    const std::size_t begin = end.rfind('&');
    return begin == std::string_view::npos ? 1 : end.size() - begin;
  }
  return kSingle.find(text.back()) == std::string_view::npos ? 0 : 1;
}

namespace {

// A label is `begin`, a rank, `end`.
struct LabelRow {
  std::string_view begin;
  std::string_view end;
};
constexpr std::array<LabelRow, 4> kLabels = {
    {{"[default", "]:"}, {"[rank", "]:"}, {"[", "] "}, {"", ": "}}};

std::optional<LabelledLine> parse_label(std::string_view line, const LabelRow& row) {
  if (!line.starts_with(row.begin)) return std::nullopt;
  line.remove_prefix(row.begin.size());
  std::size_t digits = 0;
  while (digits < line.size() && is_digit(line[digits])) ++digits;
  const auto rank = parse_number<std::int64_t>(line.substr(0, digits));
  if (!rank || !line.substr(digits).starts_with(row.end)) return std::nullopt;
  return LabelledLine{*rank, line.substr(digits + row.end.size())};
}

// Open MPI's label contains the job's number and the rank, "1,0", maybe after a name and '@'. That
// of Horovod contains the rank alone, "0".
std::optional<LabelledLine> parse_open_mpi(std::string_view line) {
  for (const std::string_view stream : {"]<stdout>:", "]<stderr>:"}) {
    const std::size_t end = line.find(stream);
    if (end == std::string_view::npos) continue;
    const std::string_view label = line.substr(0, end);
    const std::size_t begin = label.find_last_of("[,");
    if (begin == std::string_view::npos || label.rfind('[') == std::string_view::npos) continue;
    const auto rank = parse_number<std::int64_t>(label.substr(begin + 1));
    if (rank) return LabelledLine{*rank, line.substr(end + stream.size())};
  }
  return std::nullopt;
}

}  // namespace

std::optional<LabelledLine> parse_launcher_prefix(std::string_view line) {
  if (const auto labelled = parse_open_mpi(line)) return labelled;
  const std::size_t first = line.find_first_not_of(' ');  // Slurm aligns the ranks
  if (first == std::string_view::npos) return std::nullopt;
  for (const LabelRow& row : kLabels) {
    if (const auto labelled = parse_label(line.substr(first), row)) return labelled;
  }
  return std::nullopt;
}

}  // namespace bench
