// SPDX-License-Identifier: Apache-2.0
#include "base/text_encoding.hpp"

#include <cstddef>
#include <utility>

namespace bench {
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
