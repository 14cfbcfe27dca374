// SPDX-License-Identifier: Apache-2.0
#include "harness/import/receipt.hpp"

#include "harness/import/suite_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

Imported sample_import() {
  Imported found;
  found.files = {"inputs/conv/a", "inputs/conv/b"};
  found.cases.resize(3);
  found.refused = {{{0, 4}, "ic4oc8", "the layout"},
                   {{1, 7}, "ic4oc9", "the type", 2},
                   {{1, 9}, "ic4oc10", "the type"}};
  return found;
}

ProgramUse executed(std::int64_t count, Nanoseconds time) {
  ProgramUse use;
  use.count = count;
  use.time = time;
  return use;
}

TEST(Receipts, NameTheMostFrequentReasonFirst) {
  EXPECT_EQ(format_receipt(*find_import_kind("benchdnn"), sample_import(), 3, 60),
            "3 of 7 problems are cases; 4 cannot be expressed:\n"
            "        3 the type\n"
            "          inputs/conv/b:7 (2 times): ic4oc9\n"
            "          inputs/conv/b:9: ic4oc10\n"
            "        1 the layout\n"
            "          inputs/conv/a:4: ic4oc8\n");
}

TEST(Receipts, SayIfCasesAreEqual) {
  Imported found = sample_import();
  found.refused.clear();
  EXPECT_EQ(format_receipt(*find_import_kind("benchdnn"), found, 2, 60),
            "3 of 3 problems are cases (2 of them distinct).\n");
  found.cases.resize(1);
  EXPECT_EQ(format_receipt(*find_import_kind("tritonbench"), found, 1, 60),
            "1 of 1 call is a case.\n");
}

TEST(Receipts, ListAtMostAHundredPlaces) {
  Imported found = sample_import();
  found.refused.clear();
  for (int i = 0; i < 103; ++i) found.refused.push_back({{0, i + 1}, "ic4", "the type"});
  const std::string text = format_receipt(*find_import_kind("benchdnn"), found, 3, 60);
  EXPECT_THAT(text, testing::HasSubstr("3 more lines are not listed; --json lists all."));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 103);
}

TEST(Receipts, JsonHasAllPlaces) {
  EXPECT_EQ(
      json_object([](JsonWriter& writer) { write_receipt(writer, sample_import(), 3); }),
      R"({"found":7,"imported":3,"cases":3,"refused":[)"
      R"({"file":"inputs/conv/a","line":4,"text":"ic4oc8","reason":"the layout","count":1},)"
      R"({"file":"inputs/conv/b","line":7,"text":"ic4oc9","reason":"the type","count":2},)"
      R"({"file":"inputs/conv/b","line":9,"text":"ic4oc10","reason":"the type","count":1}]})");
}

TEST(Receipts, OfAProfileSayWhichShareOfTheTimeIsRepeated) {
  using std::chrono::milliseconds;
  Imported found;
  found.files = {"net.log"};
  found.coverage.emplace();
  found.cases.resize(1);
  found.cases[0].use = executed(30, milliseconds(90));
  found.refused = {{{0, 4}, "matmul 8x16:16x4", "the layout", 1, executed(1, milliseconds(2))},
                   {{0, 7}, "lrn mb1", "no operator", 1, executed(2, milliseconds(8))}};
  EXPECT_EQ(format_receipt(*find_import_kind("profile"), found, 1, 70),
            "1 case repeats 90.0 % of the 100.0 ms that the program spent in\n"
            "primitives, 30 executions; 2 (10.00 ms, 10.0 %) cannot be expressed:\n"
            "        1 no operator (8.000 ms, 8.0 %)\n"
            "          net.log:7: lrn mb1\n"
            "        1 the layout (2.000 ms, 2.0 %)\n"
            "          net.log:4: matmul 8x16:16x4\n");
}

TEST(SuiteTexts, ANameCannotLeaveItsLine) {
  Imported found;
  found.files = {"a\nname: evil"};
  const SuiteText suite = format_suite(found, "a", "first\nsecond\x1b[31m");
  EXPECT_EQ(suite.text, "# first\n# second\\x1b[31m\nversion: 1\nname: \"a\"\ncases:\n");
  EXPECT_EQ(suite.origins.size(), 5U);
}

}  // namespace
}  // namespace bench
