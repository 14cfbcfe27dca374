// SPDX-License-Identifier: Apache-2.0
// UTF-8: what a text file may hold, and text that must be made valid.
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

// The first character of `text`; nullopt if no character starts there (overlong forms and
// surrogates are none) or `text` is empty.
std::optional<DecodedCharacter> decode_utf8(std::string_view text);

// A character that does not belong into a text file; line and column (in bytes) count from 1.
struct BadCharacter {
  int line = 0;
  int column = 0;
  std::string what;  // "byte 0xff is not UTF-8", "control character U+0007"
};

// The first byte sequence that is not UTF-8 (overlong forms and surrogates included), or the first
// control character other than tab, line feed and carriage return. A byte order mark may stand at
// the start.
std::optional<BadCharacter> find_bad_character(std::string_view text);

// Whether all of it is ASCII without control characters, as nearly all text is. Fast: the answer
// yes spares the work of the functions below.
bool is_plain_ascii(std::string_view text);
// Whether all of it is UTF-8 (control characters are).
bool is_utf8(std::string_view text);
// Each byte that belongs to no character becomes U+FFFD.
std::string with_valid_utf8(std::string_view text);

}  // namespace bench
