// SPDX-License-Identifier: Apache-2.0
// Python's printed values, as tritonbench's operator logs and PyProf contain them: numbers, names,
// strings, lists, tuples, dictionaries and calls such as T([2, 3], f16, stride=(3, 1)). They are
// read, never evaluated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct PythonValue {
  enum class Kind { number, word, list, call };
  Kind kind = Kind::word;
  double number = 0;
  // A name, the content of a string as it is written, or the name of a call.
  std::string_view word = {};
  std::vector<PythonValue> items =
      {};                         // elements of a list, tuple or dictionary, or arguments of a call
  std::string_view keyword = {};  // the name of a keyword argument, or the key in a dictionary

  bool is(std::string_view name) const { return kind == Kind::word && word == name; }
  // Returns the word with the characters that its escapes stand for. Keeps other escapes than those
  // of quotes, backslashes, tabs and ends of lines.
  std::string text() const;
  // Returns the value of an integer or Boolean; nullopt for everything else.
  std::optional<std::int64_t> integer() const;
  // Returns the integers of a list, or of a single integer; nullopt for everything else.
  std::optional<std::vector<std::int64_t>> integers() const;
};

// Reads one value, which must be the whole text. The views refer to the text. Returns nullopt for
// other texts, and for more than 32 levels.
std::optional<PythonValue> parse_python_value(std::string_view text);

}  // namespace bench
