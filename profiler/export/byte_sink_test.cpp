// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/byte_sink.hpp"

#include "profiler/text_source.hpp"
#include "tests/support/program.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace bench {
namespace {

std::string base64(std::string_view text, std::size_t piece) {
  std::string out;
  const auto sink = base64_bytes(text_bytes(out));
  for (std::size_t at = 0; at < text.size(); at += piece) {
    EXPECT_TRUE(sink->write(text.substr(at, piece)).ok());
  }
  EXPECT_TRUE(sink->close().ok());
  return out;
}

TEST(ByteSinks, Base64AsInTheVectorsOfRfc4648) {
  for (const std::size_t piece : {1u, 2u, 5u, 100u}) {
    EXPECT_EQ(base64("", piece), "");
    EXPECT_EQ(base64("f", piece), "Zg==");
    EXPECT_EQ(base64("fo", piece), "Zm8=");
    EXPECT_EQ(base64("foo", piece), "Zm9v");
    EXPECT_EQ(base64("foob", piece), "Zm9vYg==");
    EXPECT_EQ(base64("foobar", piece), "Zm9vYmFy");
    EXPECT_EQ(base64("\xff\xfe\xfd", piece), "//79");
  }
}

TEST(ByteSinks, AFrameIsThereEvenAroundNothing) {
  std::string out;
  ASSERT_TRUE(framed_bytes("<", ">", text_bytes(out))->close().ok());
  EXPECT_EQ(out, "<>");
  out.clear();
  const auto sink = framed_bytes("<", ">", text_bytes(out));
  ASSERT_TRUE(sink->write("a").ok());
  ASSERT_TRUE(sink->write("b").ok());
  ASSERT_TRUE(sink->close().ok());
  EXPECT_EQ(out, "<ab>");
}

TEST(ByteSinks, GzipReadsBack) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a.gz");
  auto file = file_bytes(path, Existing::refuse);
  ASSERT_TRUE(file.ok());
  const auto sink = gzip_bytes(std::move(*file));
  std::string expected;
  for (int i = 0; i < 100'000; ++i) expected += std::to_string(i * 7919) + "\n";
  ASSERT_TRUE(sink->write(expected).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(sink->close().ok());
  EXPECT_LT(std::filesystem::file_size(path), expected.size());
  auto source = open_text(path);
  ASSERT_TRUE(source.ok());
  std::string read;
  for (TextSource::Line line; (*source)->next(line);) read += std::string(line.text) + "\n";
  EXPECT_TRUE(read == expected);
}

TEST(ByteSinks, GzipTakesAWriteThatIsLargerThanOnePiece) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a.gz");
  auto file = file_bytes(path, Existing::refuse);
  ASSERT_TRUE(file.ok());
  const auto sink = gzip_bytes(std::move(*file), 1000);
  std::string expected;
  for (int i = 0; i < 999; ++i) expected += std::to_string(i * 7919) + "\n";
  ASSERT_NE(expected.size() % 1000, 0u);  // the last piece is smaller
  ASSERT_TRUE(sink->write(expected).ok());
  ASSERT_TRUE(sink->close().ok());
  auto source = open_text(path);
  ASSERT_TRUE(source.ok());
  std::string read;
  for (TextSource::Line line; (*source)->next(line);) read += std::string(line.text) + "\n";
  EXPECT_TRUE(read == expected);
}

}  // namespace
}  // namespace bench
