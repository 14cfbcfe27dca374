// SPDX-License-Identifier: Apache-2.0
#include "harness/result/result_text.hpp"

#include "harness/result/report.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

namespace bench {
namespace {

using testing::HasSubstr;

constexpr ResultLimits kSmall{1000, 200, 400};

const std::string kEnd = R"({"record":"end","run_id":"r"})";
const std::string kActivity = R"({"record":"activity","name":"conv1","kind":"primitive"})";

std::string message(const Result<std::string>& text) {
  return text.ok() ? "read " + *text : text.error().message();
}

TEST(ResultText, ActivitiesBecomeEmptyLines) {
  const test::TemporaryFolder folder;
  const std::string spaced = R"({"record": "activity", "name": "conv1"})";
  const std::string path = folder.write(
      "r.jsonl", kEnd + "\n" + kActivity + "\n" + spaced + "\n\n" + kEnd + "\n" + kEnd);
  EXPECT_EQ(message(read_result_text(path)), "read " + kEnd + "\n\n\n\n" + kEnd + "\n" + kEnd);
}

// Activities are the largest part of a profiled result and do not count towards the limit.
TEST(ResultText, AProfileMayBeLargerThanTheLimit) {
  const test::TemporaryFolder folder;
  std::string text = kEnd + "\n";
  for (int i = 0; i < 100; ++i) text += kActivity + "\n";
  EXPECT_EQ(message(read_result_text(folder.write("r.jsonl", text), kSmall)),
            "read " + kEnd + std::string(101, '\n'));
}

TEST(ResultText, LinesAcrossBlocksAreWhole) {
  const test::TemporaryFolder folder;
  std::string text, kept;
  for (int i = 0; i < 5000; ++i) {
    text += fmt::format("{}\n{{\"record\":\"end\",\"run_id\":\"r{}\"}}\n", kActivity, i);
    kept += fmt::format("\n{{\"record\":\"end\",\"run_id\":\"r{}\"}}\n", i);
  }
  EXPECT_EQ(*read_result_text(folder.write("r.jsonl", text)), kept);
}

// `cat killed.jsonl next.jsonl`: the next file's first record follows an incomplete activity.
TEST(ResultText, ARecordBehindATornActivityIsKept) {
  const test::TemporaryFolder folder;
  const std::string line = R"({"record":"activity","name":"co)" + kEnd;
  EXPECT_EQ(message(read_result_text(folder.write("r.jsonl", line + "\n"))), "read " + line + "\n");
}

// Earlier, a sparse file of 3 GB or a file without a newline was read completely.
TEST(ResultText, AnEndlessLineIsRefusedAtItsLimit) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("r.jsonl", kEnd + "\n" + kEnd + "\n");
  std::filesystem::resize_file(path, std::uintmax_t{3} << 30);
  EXPECT_EQ(message(read_result_text(path, kSmall)),
            path +
                ":3: the line is longer than 200 B, more than any record; name a file that `bench "
                "run` wrote");
  EXPECT_THAT(message(read_result_text(path)), HasSubstr(":3: the line is longer than 32.00 MiB"));
}

TEST(ResultText, TooManyRecordsAreRefused) {
  const test::TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 40; ++i) text += kEnd + "\n";
  const std::string path = folder.write("r.jsonl", text);
  EXPECT_THAT(message(read_result_text(path, kSmall)),
              HasSubstr("there are more than 1000 B of records without activities; name fewer"));
  // The limit applies to all joined files together.
  std::string all;
  const std::string half = folder.write("h.jsonl", text.substr(0, 20 * (kEnd.size() + 1)));
  ASSERT_TRUE(append_result_text(half, kSmall, all).ok());
  EXPECT_FALSE(append_result_text(half, kSmall, all).ok());
}

TEST(ResultText, ALargeDocumentIsRefusedBeforeItIsParsed) {
  const test::TemporaryFolder folder;
  std::string text = "{\n";
  for (int i = 0; i < 100; ++i) text += "\"x\": 0,\n";
  const std::string path = folder.write("r.json", text);
  EXPECT_THAT(message(read_result_text(path, kSmall)),
              HasSubstr("r.json: the JSON document is larger than 400 B; name the result file"));
}

TEST(ResultText, AMissingFileIsNamed) {
  EXPECT_EQ(message(read_result_text("/no_such_folder/file")),
            "/no_such_folder/file: cannot open the file: No such file or directory; the folder "
            "`/no_such_folder` does not exist");
}

}  // namespace
}  // namespace bench
