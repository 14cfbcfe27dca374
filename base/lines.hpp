// SPDX-License-Identifier: Apache-2.0
// Reads a text line by line. Carriage returns are kept; their meaning depends on the format.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace bench {

struct NumberedLine {
  std::string_view text;  // without its newline; may be empty
  std::size_t number = 1;
  bool incomplete_line = false;  // no newline follows, as in a file whose writer was killed
};

inline bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\f\v") == std::string_view::npos;
}

// for (const NumberedLine& line : Lines(text)): an empty text has no lines, and no line follows a
// final newline. The text must outlive its lines.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  class Iterator {
   public:
    explicit Iterator(std::string_view text) : rest_(text) { cut(); }
    const NumberedLine& operator*() const { return line_; }
    Iterator& operator++() {
      rest_.remove_prefix(std::min(line_.text.size() + 1, rest_.size()));
      ++line_.number;
      cut();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return rest_.empty(); }

   private:
    void cut() {
      line_.text = rest_.substr(0, rest_.find('\n'));
      line_.incomplete_line = line_.text.size() == rest_.size();
    }
    std::string_view rest_;  // starts with the current line
    NumberedLine line_;
  };
  Iterator begin() const { return Iterator(text_); }
  static std::default_sentinel_t end() { return std::default_sentinel; }

 private:
  std::string_view text_;
};

}  // namespace bench
