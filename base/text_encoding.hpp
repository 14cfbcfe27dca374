// SPDX-License-Identifier: Apache-2.0
// Converts the texts of other programs to UTF-8. Windows PowerShell 5.1 writes UTF-16 if a
// program's output is redirected to a file.
#pragma once

#include <string>
#include <string_view>

namespace bench {

// Converts a text that arrives in pieces. A byte order mark at its beginning selects UTF-16 or
// UTF-8, and is removed. Without one, text that begins with two characters of ASCII in UTF-16 is
// that, and all other bytes stay as they are.
class Utf8Converter {
 public:
  // Converts the next bytes. Bytes that are incomplete alone wait for the next call. The result is
  // valid until the next call; it is `bytes` itself if these need no conversion.
  std::string_view convert(std::string_view bytes);
  // Call at the end of the text. Returns what still waits; U+FFFD for an incomplete character.
  std::string_view finish();

 private:
  enum class Encoding { unknown, bytes, utf16_little_endian, utf16_big_endian };

  void detect(bool is_end);
  void convert_utf16();
  void convert_unit(char32_t unit);

  Encoding encoding_ = Encoding::unknown;
  std::string waiting_;          // bytes that are not converted yet
  std::string converted_;        // the result of the current call
  char32_t high_surrogate_ = 0;  // 0 if there is none
};

}  // namespace bench
