// SPDX-License-Identifier: Apache-2.0
// Converts the texts of other programs to UTF-8. Windows PowerShell 5.1 writes UTF-16 if a
// program's output is redirected to a file.
#pragma once

#include <string>
#include <string_view>

namespace bench {

// Converts a text that arrives in pieces. A byte order mark at its beginning selects UTF-16 or
// UTF-8, and is removed. Without one, the bytes stay as they are.
class Utf8Converter {
 public:
  // Converts the next bytes and appends the result to `out`. Bytes that are incomplete alone wait
  // for the next call.
  void convert(std::string_view bytes, std::string& out);
  // Call at the end of the text. Appends what still waits; U+FFFD for an incomplete character.
  void finish(std::string& out);

 private:
  enum class Encoding { unknown, bytes, utf16_little_endian, utf16_big_endian };

  void detect(bool is_end);
  void convert_utf16(std::string& out);
  void convert_unit(char32_t unit, std::string& out);

  Encoding encoding_ = Encoding::unknown;
  std::string waiting_;          // bytes that are not converted yet
  char32_t high_surrogate_ = 0;  // 0 if there is none
};

// Converts a whole text.
std::string to_utf8(std::string text);

}  // namespace bench
