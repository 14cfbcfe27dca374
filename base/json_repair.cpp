// SPDX-License-Identifier: Apache-2.0
#include "base/json_repair.hpp"

#include "base/characters.hpp"
#include "base/utf8.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace bench {
namespace {

// Returns the size of the JSON text in quotes that begins `text`; all of it if it does not end.
std::size_t quoted_size(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

// Returns what precedes the '{' that begins a document in its line and also the line after it:
// "58: ". Empty if there is no such prefix.
std::string_view find_line_prefix(std::string_view text) {
  for (std::size_t end = text.find("{\n"); end != std::string_view::npos;
       end = text.find("{\n", end + 1)) {
    const std::size_t line = text.rfind('\n', end) + 1;  // 0 for the first line
    const std::string_view prefix = text.substr(line, end - line);
    const bool has_text = prefix.find_first_not_of(" \t") != std::string_view::npos;
    if (has_text && text.substr(end + 2).starts_with(prefix)) return prefix;
    if (!has_text) return {};
  }
  return {};
}

std::string without_line_prefix(std::string_view text) {
  const std::string_view prefix = find_line_prefix(text);
  if (prefix.empty()) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, size);
    result += line.starts_with(prefix) ? line.substr(prefix.size()) : line;
    text.remove_prefix(size);
  }
  return result;
}

// Numbers that JSON does not have: as the C library prints them, as JavaScript and Python do, and
// as Microsoft's C library did.
bool is_no_number(std::string_view word) {
  constexpr std::array<std::string_view, 8> kWords = {"nan",    "inf",    "infinity", "nan(ind)",
                                                      "1.#inf", "1.#ind", "1.#qnan",  "nan(snan)"};
  const std::string lower = lower_case(word);
  return std::ranges::any_of(kWords, [&](std::string_view known) {
    // 1.#INF has zeros behind it, as many as the precision demands
    return lower == known || (known[0] == '1' && lower.starts_with(known) &&
                              lower.find_first_not_of('0', known.size()) == std::string::npos);
  });
}

class JsonRepair {
 public:
  explicit JsonRepair(std::string_view text) : text_(text) { result_.reserve(text.size()); }

  std::string repair() && {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '"') {
        put_text();
      } else if (is_letter_or_digit(c) || c == '-') {
        put_word();
      } else {
        put_character(c);
      }
    }
    return std::move(result_);
  }

 private:
  void put_text() {
    if (is_value_end(last_)) result_ += ',';  // the next name, without the comma before it
    const std::size_t size = quoted_size(text_.substr(position_));
    put(text_.substr(position_, size), '"');
    position_ += size;
  }

  // A number or a word such as `true`.
  void put_word() {
    const std::size_t sign = text_[position_] == '-' ? 1 : 0;
    std::size_t end = position_ + sign;
    while (end < text_.size() && is_in_word(end)) ++end;
    const std::string_view word = text_.substr(position_, end - position_);
    position_ = end;
    if (is_no_number(word.substr(sign))) return put("null", 'l');
    put(word, '0');
    if (position_ < text_.size() && text_[position_] == '%') ++position_;
    put_fraction();
  }

  bool is_in_word(std::size_t at) const {
    constexpr std::string_view kOthers = ".+-#()";
    return is_letter_or_digit(text_[at]) || kOthers.find(text_[at]) != std::string_view::npos;
  }

  // "100,25": in an object, a name follows a comma, and no number.
  void put_fraction() {
    const bool is_in_object = !open_.empty() && open_.back() == '{';
    const bool is_fraction = is_in_object && position_ + 1 < text_.size() &&
                             text_[position_] == ',' && is_digit(text_[position_ + 1]);
    if (!is_fraction) return;
    result_ += '.';
    ++position_;
    put_word();
  }

  void put_character(char c) {
    if (c == '{' || c == '[') open_ += c;
    if (c == '}' || c == ']') {
      if (!open_.empty()) open_.pop_back();
      if (last_ == ',') result_.erase(result_.rfind(','), 1);
    }
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    result_ += c;
    if (!is_blank) last_ = c;
    ++position_;
  }

  void put(std::string_view piece, char kind) {
    result_ += piece;
    last_ = kind;
  }

  static bool is_value_end(char c) {
    return c == '"' || c == '0' || c == 'l' || c == '}' || c == ']';
  }

  std::string_view text_;
  std::string result_;
  std::string open_;  // the brackets that are open
  std::size_t position_ = 0;
  char last_ = '\0';  // the last character that is not blank; '0' for any word
};

// Finds the end of the object that begins at `begin`, and the end of the last complete object in a
// list that the object itself contains.
struct ObjectExtent {
  std::optional<std::size_t> end;
  std::optional<std::size_t> last_member;
};
ObjectExtent find_object_extent(std::string_view text, std::size_t begin) {
  ObjectExtent extent;
  std::string open;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i += quoted_size(text.substr(i)) - 1;
    } else if (c == '{' || c == '[') {
      open += c;
    } else if (c == '}' || c == ']') {
      if (!open.empty()) open.pop_back();
      if (open == "{[" && c == '}') extent.last_member = i + 1;
      if (open.empty()) {
        extent.end = i + 1;
        return extent;
      }
    }
  }
  return extent;
}

JsonPart make_json_part(std::string_view text, std::size_t begin, const ObjectExtent& extent) {
  JsonPart part{{}, begin, !extent.end};
  const std::optional<std::size_t> end = extent.end ? extent.end : extent.last_member;
  if (!end) return part;
  part.text = JsonRepair(text.substr(begin, *end - begin)).repair();
  if (part.is_cut) part.text += "]}";
  return part;
}

}  // namespace

std::vector<JsonPart> find_json_objects(std::string_view written, std::string_view key) {
  std::string text = without_line_prefix(written);
  if (!is_utf8(text)) text = with_valid_utf8(text);
  std::vector<JsonPart> parts;
  for (std::size_t begin = text.find('{'); begin != std::string::npos;) {
    const ObjectExtent extent = find_object_extent(text, begin);
    const std::size_t end = extent.end.value_or(text.size());
    if (std::string_view(text).substr(begin, end - begin).find(key) != std::string_view::npos) {
      parts.push_back(make_json_part(text, begin, extent));
    }
    begin = text.find('{', end);
  }
  return parts;
}

}  // namespace bench
