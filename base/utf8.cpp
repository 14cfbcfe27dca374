// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace bench {
namespace {

// Smallest code point of a sequence, by its number of bytes. A smaller one makes the sequence
// overlong.
constexpr std::array<std::uint32_t, 5> kMinCodePoint = {0, 0, 0x80, 0x800, 0x10000};

// Returns the number of bytes of the sequence that `lead` begins; 0 if it is not a lead byte.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

bool is_control_character(char32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
}

bool is_allowed(char32_t code_point, std::size_t position) {
  constexpr char32_t kNextLine = 0x85, kByteOrderMark = 0xFEFF;
  if (code_point == '\t' || code_point == '\n' || code_point == '\r') return true;
  if (is_control_character(code_point)) return code_point == kNextLine;
  if (code_point == kByteOrderMark) return position == 0;
  return code_point != 0xFFFE && code_point != 0xFFFF;
}

std::string describe_forbidden(char32_t code_point) {
  const auto number = static_cast<unsigned>(code_point);
  return is_control_character(code_point)
             ? fmt::format("control character U+{:04X}", number)
             : fmt::format("character U+{:04X} is not permitted", number);
}

BadCharacter make_bad_character(std::string_view text, std::size_t position, std::string what) {
  const std::string_view before = text.substr(0, position);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<int>(lines) + 1, static_cast<int>(position - line_start) + 1,
          std::move(what)};
}

constexpr std::uint64_t kTopBits = 0x8080808080808080u;

// Tests eight bytes together: the result has a top bit (kTopBits) if and only if a byte is not
// plain ASCII. The subtraction sets the top bit of bytes below 0x20, and the addition that of 0x7F.
// Bytes above 0x7F have the bit set already. A borrow or carry may falsify the next byte, but only
// if the current byte has failed the test.
std::uint64_t mark_unusual_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  constexpr std::uint64_t kSpaces = 0x2020202020202020u;
  return bytes | (bytes - kSpaces) | (bytes + kOnes);
}

}  // namespace

std::optional<DecodedCharacter> decode_utf8(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = sequence_length(lead);
  if (length == 0 || length > text.size()) return std::nullopt;
  if (length == 1) return DecodedCharacter{lead, 1};
  char32_t code_point = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0u) != 0x80u) return std::nullopt;
    code_point = code_point << 6 | (next & 0x3Fu);
  }
  const bool is_surrogate = code_point >= 0xD800 && code_point < 0xE000;
  if (code_point < kMinCodePoint[length] || is_surrogate || code_point > 0x10FFFF)
    return std::nullopt;
  return DecodedCharacter{code_point, length};
}

std::optional<BadCharacter> find_bad_character(std::string_view text) {
  for (std::size_t position = 0; position < text.size();) {
    const auto decoded = decode_utf8(text.substr(position));
    if (!decoded) {
      const auto byte = static_cast<unsigned char>(text[position]);
      return make_bad_character(text, position, fmt::format("byte 0x{:02x} is not UTF-8", byte));
    }
    if (!is_allowed(decoded->code_point, position)) {
      return make_bad_character(text, position, describe_forbidden(decoded->code_point));
    }
    position += decoded->length;
  }
  return std::nullopt;
}

bool is_plain_ascii(std::string_view text) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::size_t position = 0;
  const auto test_word = [&](std::size_t number) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + position + number * kWord, kWord);
    return mark_unusual_bytes(bytes);
  };
  // One branch per four words makes long texts faster.
  for (; position + 4 * kWord <= text.size(); position += 4 * kWord) {
    if (((test_word(0) | test_word(1) | test_word(2) | test_word(3)) & kTopBits) != 0) return false;
  }
  for (; position + kWord <= text.size(); position += kWord) {
    if ((test_word(0) & kTopBits) != 0) return false;
  }
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(position), text.end(),
                     [](char c) { return c >= ' ' && c < 0x7F; });
}

bool is_utf8(std::string_view text) {
  if (is_plain_ascii(text)) return true;
  for (std::size_t position = 0; position < text.size();) {
    if (static_cast<unsigned char>(text[position]) < 0x80) {
      ++position;
      continue;
    }
    const auto decoded = decode_utf8(text.substr(position));
    if (!decoded) return false;
    position += decoded->length;
  }
  return true;
}

std::string with_valid_utf8(std::string_view text) {
  if (is_plain_ascii(text)) return std::string(text);
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const auto decoded = decode_utf8(text.substr(position));
    valid += decoded ? text.substr(position, decoded->length) : std::string_view("\xEF\xBF\xBD");
    position += decoded ? decoded->length : 1;
  }
  return valid;
}

namespace {

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
constexpr std::string_view kLittleEndianMark = "\xff\xfe";
constexpr std::string_view kBigEndianMark = "\xfe\xff";
constexpr std::size_t kUtf16Sample = 4;  // bytes
constexpr char32_t kReplacementCharacter = 0xfffd;
constexpr char32_t kFirstSurrogate = 0xd800;
constexpr char32_t kFirstLowSurrogate = 0xdc00;
constexpr char32_t kEndOfSurrogates = 0xe000;
constexpr char32_t kFirstSupplementary = 0x10000;

void append_utf8(char32_t character, std::string& out) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(byte); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xc0 | (character >> 6));
  } else {
    if (character < kFirstSupplementary) {
      put(0xe0 | (character >> 12));
    } else {
      put(0xf0 | (character >> 18));
      put(0x80 | ((character >> 12) & 0x3f));
    }
    put(0x80 | ((character >> 6) & 0x3f));
  }
  put(0x80 | (character & 0x3f));
}

// Whether the text begins with two characters of ASCII in UTF-16 without a byte order mark. `first`
// is the position of a character's low byte.
bool begins_with_utf16(std::string_view text, std::size_t first) {
  if (text.size() < kUtf16Sample) return false;
  const auto is_ascii = [&](std::size_t at) { return text[at] > 0 && text[at] <= '~'; };
  return is_ascii(first) && is_ascii(first + 2) && text[1 - first] == 0 && text[3 - first] == 0;
}

}  // namespace

void Utf8Converter::detect(bool is_end) {
  const auto begins_with = [this](std::string_view mark) { return waiting_.starts_with(mark); };
  if (begins_with(kLittleEndianMark) || begins_with(kBigEndianMark)) {
    encoding_ =
        begins_with(kLittleEndianMark) ? Encoding::utf16_little_endian : Encoding::utf16_big_endian;
    waiting_.erase(0, kLittleEndianMark.size());
  } else if (begins_with(kUtf8Mark)) {
    encoding_ = Encoding::bytes;
    waiting_.erase(0, kUtf8Mark.size());
  } else if (begins_with_utf16(waiting_, 0)) {
    encoding_ = Encoding::utf16_little_endian;
  } else if (begins_with_utf16(waiting_, 1)) {
    encoding_ = Encoding::utf16_big_endian;
  } else if (is_end || waiting_.size() >= kUtf16Sample) {
    encoding_ = Encoding::bytes;
  }
}

std::string_view Utf8Converter::convert(std::string_view bytes) {
  if (encoding_ == Encoding::bytes) return bytes;
  converted_.clear();
  waiting_ += bytes;
  if (encoding_ == Encoding::unknown) detect(false);
  if (encoding_ == Encoding::bytes) {
    converted_.swap(waiting_);
  } else if (encoding_ != Encoding::unknown) {
    convert_utf16();
  }
  return converted_;
}

void Utf8Converter::convert_utf16() {
  const std::size_t first = encoding_ == Encoding::utf16_big_endian ? 0 : 1;
  std::size_t position = 0;
  for (; position + 1 < waiting_.size(); position += 2) {
    const auto high = static_cast<unsigned char>(waiting_[position + first]);
    const auto low = static_cast<unsigned char>(waiting_[position + 1 - first]);
    convert_unit(static_cast<char32_t>(high << 8 | low));
  }
  waiting_.erase(0, position);
}

void Utf8Converter::convert_unit(char32_t unit) {
  const bool is_surrogate = unit >= kFirstSurrogate && unit < kEndOfSurrogates;
  const bool is_low = is_surrogate && unit >= kFirstLowSurrogate;
  const char32_t high = std::exchange(high_surrogate_, 0);
  if (high != 0 && is_low) {
    return append_utf8(
        kFirstSupplementary + ((high - kFirstSurrogate) << 10) + (unit - kFirstLowSurrogate),
        converted_);
  }
  if (high != 0) append_utf8(kReplacementCharacter, converted_);
  if (is_surrogate && !is_low) {
    high_surrogate_ = unit;
  } else {
    append_utf8(is_low ? kReplacementCharacter : unit, converted_);
  }
}

std::string_view Utf8Converter::finish() {
  converted_.clear();
  if (encoding_ == Encoding::unknown) detect(true);
  if (encoding_ == Encoding::bytes) {
    converted_.swap(waiting_);
    return converted_;
  }
  convert_utf16();
  if (!waiting_.empty() || high_surrogate_ != 0) append_utf8(kReplacementCharacter, converted_);
  waiting_.clear();
  high_surrogate_ = 0;
  return converted_;
}

}  // namespace bench
