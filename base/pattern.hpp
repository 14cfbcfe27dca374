// SPDX-License-Identifier: Apache-2.0
// Patterns over case ids: shell globs, and regular expressions that take linear time.
#pragma once

#include "base/result.hpp"

#include <bitset>
#include <cstddef>
#include <string_view>
#include <vector>

namespace bench {

// A compiled regular expression in ECMAScript syntax. Supported: . [] [^] \d \w \s \D \W \S,
// escaped punctuation, () (?:), |, * + ? {m,n} (also lazy forms), ^ $. Back-references and
// look-around, which need backtracking, are errors. Matching simulates all alternatives at once
// (Thompson 1968), so its time is at most proportional to the number of states times the length of
// the text.
class Regex {
 public:
  // Compiles a pattern. The error's `what` states the position in the pattern; `where` is empty.
  static Result<Regex> compile(std::string_view pattern);
  // Returns true if any part of the text matches.
  bool search(std::string_view text) const;

 private:
  friend class RegexParser;
  using ByteSet = std::bitset<256>;
  enum class Kind { bytes, split, jump, text_begin, text_end, accept };
  struct State {
    Kind kind;
    std::size_t next = 0;
    std::size_t other = 0;  // second target of a split
    std::size_t set = 0;    // index into sets_, for bytes
  };
  struct Threads;
  void add_thread(std::size_t state, std::size_t position, std::size_t size,
                  Threads& threads) const;

  std::vector<State> states_;
  std::vector<ByteSet> sets_;
};

// Returns whether a shell glob matches the complete text, as fnmatch() does in the C locale: `*`
// matches any text, `?` any byte, `[abc]`, `[a-z]` and `[!abc]` one byte of a set. A backslash has
// no special meaning. Takes at most time proportional to the product of both lengths. Neither text
// may contain a NUL.
bool glob_matches(std::string_view pattern, std::string_view text);
// Returns an error for an unclosed `[`, and for a class such as `[:alpha:]` in a set.
Status check_glob(std::string_view pattern);

}  // namespace bench
