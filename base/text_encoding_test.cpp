// SPDX-License-Identifier: Apache-2.0
#include "base/text_encoding.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

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
