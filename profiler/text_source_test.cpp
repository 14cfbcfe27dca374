// SPDX-License-Identifier: Apache-2.0
#include "profiler/text_source.hpp"

#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> lines_of(TextSource& source) {
  std::vector<std::string> lines;
  TextSource::Line line;
  while (source.next(line)) {
    EXPECT_EQ(line.number, static_cast<std::int64_t>(lines.size()) + 1);
    lines.emplace_back(line.text);
  }
  return lines;
}

void write_gzip(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(file);
}

TEST(TextSourceTest, GivesLinesWithOrWithoutALastNewlineOrCarriageReturns) {
  EXPECT_THAT(lines_of(*text_source_for_test("t", "a\n\nb")), ElementsAre("a", "", "b"));
  EXPECT_THAT(lines_of(*text_source_for_test("t", "a\r\nb\n")), ElementsAre("a", "b"));
  EXPECT_THAT(lines_of(*text_source_for_test("t", "")), ElementsAre());
  EXPECT_THAT(lines_of(*text_source_for_test("t", std::string("a\0b\nc", 5))),
              ElementsAre(std::string("a\0b", 3), "c"));
}

TEST(TextSourceTest, TheHeadConsumesNothing) {
  const auto source = text_source_for_test("t", std::string(2 * kHeadSize, 'x') + "\nend");
  EXPECT_EQ(source->head(), std::string(kHeadSize, 'x'));
  TextSource::Line line;
  ASSERT_TRUE(source->next(line));
  EXPECT_EQ(line.text.size(), 2 * kHeadSize);
  EXPECT_EQ(source->head().size(), kHeadSize);
  ASSERT_TRUE(source->next(line));
  EXPECT_EQ(line.text, "end");
  EXPECT_FALSE(source->next(line));
}

TEST(TextSourceTest, PiecesHaveAllBytesAlsoAfterTheHead) {
  const std::string text = "a\r\n" + std::string(2 * kHeadSize, 'x') + "\n\nend";
  const auto source = text_source_for_test("t", text);
  EXPECT_EQ(source->head(), text.substr(0, kHeadSize));
  std::string whole;
  for (std::string_view piece = source->next_piece(); !piece.empty(); piece = source->next_piece())
    whole += piece;
  EXPECT_EQ(whole, text);
  EXPECT_TRUE(source->status().ok());
}

TEST(TextSourceTest, ALineBeyondTheLimitIsCutAndTheNextOneWhole) {
  const auto source = text_source_for_test("t", std::string(2 * kMaxProfileLine, 'x') + "\nnext\n" +
                                                    std::string(kMaxProfileLine, 'y') + "\nz");
  TextSource::Line line;
  ASSERT_TRUE(source->next(line));
  EXPECT_TRUE(line.cut);
  EXPECT_EQ(line.text.size(), kMaxProfileLine);
  ASSERT_TRUE(source->next(line));
  EXPECT_FALSE(line.cut);
  EXPECT_EQ(line.text, "next");
  ASSERT_TRUE(source->next(line));
  EXPECT_FALSE(line.cut);
  EXPECT_EQ(line.text.size(), kMaxProfileLine);
  ASSERT_TRUE(source->next(line));
  EXPECT_EQ(line.text, "z");
}

TEST(TextSourceTest, OpensFilesAndPackedFiles) {
  const test::TemporaryFolder folder;
  const std::string plain = folder.write("a.txt", "one\ntwo\n");
  const std::string packed = folder.file("a.txt.gz");
  write_gzip(packed, "one\ntwo\n");
  for (const std::string& path : {plain, packed}) {
    auto source = open_text(path);
    ASSERT_TRUE(source.ok());
    EXPECT_EQ((*source)->name(), path);
    EXPECT_EQ((*source)->head(), "one\ntwo\n");
    EXPECT_THAT(lines_of(**source), ElementsAre("one", "two"));
    EXPECT_TRUE((*source)->status().ok());
  }
}

TEST(TextSourceTest, ATornPackedFileGivesWhatItHoldsAndAnError) {
  const test::TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 2654435761u) + "\n";
  write_gzip(folder.file("whole.gz"), text);
  const std::string whole = test::read_text(folder.file("whole.gz"));
  auto source = open_text(folder.write("torn.gz", whole.substr(0, whole.size() / 2)));
  ASSERT_TRUE(source.ok());
  EXPECT_GT(lines_of(**source).size(), 1000u);
  ASSERT_FALSE((*source)->status().ok());
  EXPECT_THAT((*source)->status().error().message(), HasSubstr("torn.gz: cannot unpack"));
}

TEST(TextSourceTest, WhatCannotBeReadIsAnErrorWithItsPath) {
  const auto absent = open_text("/nonexistent/file");
  ASSERT_FALSE(absent.ok());
  EXPECT_THAT(absent.error().message(), HasSubstr("/nonexistent/file: cannot open"));
  auto folder = open_text("/");
  ASSERT_TRUE(folder.ok());
  EXPECT_THAT(lines_of(**folder), ElementsAre());
  EXPECT_FALSE((*folder)->status().ok());
}

}  // namespace
}  // namespace bench
