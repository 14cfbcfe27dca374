// SPDX-License-Identifier: Apache-2.0
// UTF-8: decoding, the characters that a text file may contain, and conversion to valid text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

struct DecodedCharacter {
  char32_t code_point;
  std::size_t length;  // bytes
};

// Decodes the first character of `text`. Returns nullopt if `text` is empty or does not start with
// a valid character; overlong forms and surrogates are invalid.
std::optional<DecodedCharacter> decode_utf8(std::string_view text);

// A character that is not permitted in a text file; line and column (in bytes) count from 1.
struct BadCharacter {
  int line = 0;
  int column = 0;
  // "byte 0xff is not UTF-8", "control character U+0007", "character U+FEFF is not permitted"
  std::string what;
};

// Finds the first byte sequence that is not valid UTF-8 (overlong forms and surrogates included),
// or the first character that a text file must not contain. These are control characters other than
// tab, line feed, carriage return and U+0085, a byte order mark after the start, U+FFFE and U+FFFF.
std::optional<BadCharacter> find_bad_character(std::string_view text);

// Returns whether `text` is ASCII without control characters, as nearly all text is. Fast; such
// text needs no further check or conversion.
bool is_plain_ascii(std::string_view text);
// Returns whether `text` is valid UTF-8; control characters are valid.
bool is_utf8(std::string_view text);
// Replaces each byte that is not part of a valid character by U+FFFD.
std::string with_valid_utf8(std::string_view text);

// Converts the texts of other programs to UTF-8. Windows PowerShell 5.1 writes UTF-16 if a
// program's output is redirected to a file.

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
