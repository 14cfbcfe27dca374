// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

TEST(Utf8, AcceptsText) {
  for (const std::string text : {"", "plain\ttext\r\n", "caf\xC3\xA9", "\xE2\x82\xAC",
                                 "\xF0\x9F\x98\x80", "\xEF\xBB\xBFmark"}) {
    EXPECT_FALSE(find_bad_character(text).has_value()) << text;
  }
}

TEST(Utf8, NamesThePlaceOfWhatIsNoText) {
  const struct {
    std::string text;
    int line, column;
    std::string what;
  } rows[] = {
      {"a\xFF", 1, 2, "byte 0xff is not UTF-8"},
      {"a\nbc\xC3", 2, 3, "byte 0xc3 is not UTF-8"},         // cut short
      {"\xC0\xAF", 1, 1, "byte 0xc0 is not UTF-8"},          // overlong
      {"\xE0\x80\x80", 1, 1, "byte 0xe0 is not UTF-8"},      // overlong
      {"\xED\xA0\x80", 1, 1, "byte 0xed is not UTF-8"},      // surrogate
      {"\xF4\x90\x80\x80", 1, 1, "byte 0xf4 is not UTF-8"},  // beyond U+10FFFF
      {"x\x07", 1, 2, "control character U+0007"},
      {std::string("x\0y", 3), 1, 2, "control character U+0000"},
      {"x\xC2\x80", 1, 2, "control character U+0080"},
      {"x\xC2\x9F", 1, 2, "control character U+009F"},
      {"x\x7F", 1, 2, "control character U+007F"},
      {"x\xEF\xBB\xBF", 1, 2, "character U+FEFF is not permitted"},
      {"x\xEF\xBF\xBE", 1, 2, "character U+FFFE is not permitted"},
      {"x\xEF\xBF\xBF", 1, 2, "character U+FFFF is not permitted"},
  };
  for (const auto& row : rows) {
    const auto bad = find_bad_character(row.text);
    ASSERT_TRUE(bad.has_value()) << row.what;
    EXPECT_EQ(bad->line, row.line);
    EXPECT_EQ(bad->column, row.column);
    EXPECT_EQ(bad->what, row.what);
  }
}

TEST(Utf8, InvalidBytesBecomeReplacementCharacters) {
  EXPECT_TRUE(is_utf8("gr\xC3\xBC\xC3\x9F \xF0\x9F\x8E\xBC\n\x01"));
  EXPECT_FALSE(is_utf8("a\xFF"));
  EXPECT_EQ(with_valid_utf8("a\xFF\xC3\xBC\xE2\x82"),
            "a\xEF\xBF\xBD\xC3\xBC\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8, PlainAsciiHasNoByteBeyondSpaceAndTilde) {
  EXPECT_TRUE(is_plain_ascii(""));
  for (const std::size_t size : {1U, 7U, 8U, 9U, 16U, 23U, 31U, 32U, 33U, 64U, 75U}) {
    for (std::size_t place = 0; place < size; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(size, 'a');
        text[place] = static_cast<char>(byte);
        EXPECT_EQ(is_plain_ascii(text), byte >= ' ' && byte < 0x7F) << size << ' ' << byte;
      }
    }
  }
}

using namespace std::string_literals;

std::string in_pieces(const std::string& text, std::size_t size) {
  Utf8Converter converter;
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += size) {
    out += converter.convert(std::string_view(text).substr(i, size));
  }
  out += converter.finish();
  return out;
}

TEST(TextEncoding, AByteOrderMarkSelectsTheEncodingWhateverThePieces) {
  struct EncodedRow {
    std::string bytes, text;
  };
  for (const EncodedRow& row : {
           EncodedRow{"", ""}, EncodedRow{"a", "a"},
           EncodedRow{"ab\xff\xfe", "ab\xff\xfe"},  // no mark: not at the beginning
           EncodedRow{"\xef\xbb\xbfgr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
           EncodedRow{"\xef\xbb", "\xef\xbb"}, EncodedRow{"\xff\xfe"s, ""},
           EncodedRow{"\xff\xfe"
                      "a\0\n\0\xfc\0\xac\x20"s,
                      "a\n\xc3\xbc\xe2\x82\xac"},
           EncodedRow{"\xfe\xff\0a\x20\xac"s, "a\xe2\x82\xac"},
           EncodedRow{"a\0\n\0\xac\x20"s, "a\n\xe2\x82\xac"},  // UTF-16 without a mark
           EncodedRow{"\0a\0\n\x20\xac"s, "a\n\xe2\x82\xac"}, EncodedRow{"a\0bc"s, "a\0bc"s},
           EncodedRow{"\xff\xfe\x3d\xd8\x00\xde"s, "\xf0\x9f\x98\x80"},  // U+1F600
           EncodedRow{"\xff\xfe\x3d\xd8"
                      "a\0"s,
                      "\xef\xbf\xbd"
                      "a"},                                  // a high surrogate alone
           EncodedRow{"\xff\xfe\x00\xde"s, "\xef\xbf\xbd"},  // a low one
           EncodedRow{"\xff\xfe\x3d\xd8"s, "\xef\xbf\xbd"},  // the text ends within a pair
           EncodedRow{"\xff\xfe"
                      "a\0b"s,
                      "a\xef\xbf\xbd"},  // and within a unit
       }) {
    for (std::size_t size = 1; size <= 5; ++size) EXPECT_EQ(in_pieces(row.bytes, size), row.text);
    EXPECT_EQ(in_pieces(row.bytes, 100), row.text);  // in one piece
  }
}

}  // namespace
}  // namespace bench
