// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity_file.hpp"

#include "profiler/activity_json.hpp"
#include "tests/support/program.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(ActivityFile, HoldsWholeLinesUpToTheLastFlush) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("profile.jsonl");
  auto file = ActivityFile::create(path, Existing::refuse, {"0.1", "now", {{"pid", "7"}}});
  ASSERT_TRUE(file);
  Activity activity;
  activity.name = "first";
  ASSERT_TRUE((*file)->consume(activity));
  EXPECT_EQ(lines_of(test::read_text(path)).size(), 1u);
  ASSERT_TRUE((*file)->flush());
  activity.name = "second";
  ASSERT_TRUE((*file)->consume(activity));
  const auto lines = lines_of(test::read_text(path));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], R"({"record":"profile","schema":"bench.profile/1","tool":{"version":"0.1"},)"
                      R"("started":"now","environment":{"details":{"pid":"7"}}})");
  ActivityLineParser parser;
  ASSERT_EQ(parser.parse(lines[1]).kind, LineKind::activity);
  EXPECT_EQ(parser.activity().name, "first");
  file->reset();
  EXPECT_EQ(lines_of(test::read_text(path)).size(), 3u);
}

TEST(ActivityFile, ExistingFilesAreKept) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("profile.jsonl", "mine\n");
  EXPECT_FALSE(ActivityFile::create(path, Existing::refuse, {}));
  EXPECT_EQ(test::read_text(path), "mine\n");
  EXPECT_TRUE(ActivityFile::create(path, Existing::replace, {}));
}

}  // namespace
}  // namespace bench
