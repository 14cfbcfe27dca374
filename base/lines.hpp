// SPDX-License-Identifier: Apache-2.0
// Splits a text into lines. Keeps carriage returns, whose meaning depends on the format.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace bench {

struct NumberedLine {
  std::string_view text;  // without its newline; may be empty
  std::size_t number = 1;
  bool incomplete_line = false;  // no newline ends it, as in a file whose writer was killed
};

inline bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\f\v") == std::string_view::npos;
}

// The lines of a text, for a range-based loop: for (const NumberedLine& line : Lines(text)). An
// empty text has no lines, and no line follows a final newline. The text must outlive its lines.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  class Iterator {
   public:
    explicit Iterator(std::string_view text) : remaining_(text) { find_line(); }
    const NumberedLine& operator*() const { return line_; }
    Iterator& operator++() {
      remaining_.remove_prefix(std::min(line_.text.size() + 1, remaining_.size()));
      ++line_.number;
      find_line();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return remaining_.empty(); }

   private:
    void find_line() {
      line_.text = remaining_.substr(0, remaining_.find('\n'));
      line_.incomplete_line = line_.text.size() == remaining_.size();
    }
    std::string_view remaining_;  // starts with the current line
    NumberedLine line_;
  };
  Iterator begin() const { return Iterator(text_); }
  static std::default_sentinel_t end() { return std::default_sentinel; }

 private:
  std::string_view text_;
};

}  // namespace bench
