// SPDX-License-Identifier: Apache-2.0
#include "profiler/pass_selection.hpp"

#include "profiler/activity_json.hpp"
#include "profiler/reader.hpp"
#include "tests/fakes/activity_names.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Returns the part of a result file that contains the pass of a case: one activity and its end.
std::string pass(const std::string& run_id, const std::string& id, const std::string& name,
                 std::string_view outcome = "ok") {
  Activity activity;
  activity.kind = ActivityKind::primitive;
  activity.name = name;
  activity.case_id = id;
  activity.duration = Nanoseconds(5);
  return to_json_line(activity, run_id) +
         fmt::format(
             "\n{{\"record\":\"profile_pass\",\"run_id\":\"{}\",\"id\":\"{}\","
             "\"outcome\":\"{}\"}}\n",
             run_id, id, outcome);
}

std::string run(const std::string& run_id) {
  return fmt::format("{{\"record\":\"run\",\"schema\":\"bench.result/1\",\"run_id\":\"{}\"}}\n",
                     run_id);
}

std::vector<std::string> names_in(TextSource& source) {
  ActivityNames names;
  const auto report = read_activities(source, names);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report->activities, std::ssize(names.names));
  return names.names;
}

class PassSelectionTest : public testing::Test {
 protected:
  std::vector<std::string> read(const std::string& text) {
    folder_.write("r.jsonl", text);
    const auto source = open_profile(folder_.file("r.jsonl"));
    return source.ok() ? names_in(**source) : std::vector<std::string>{};
  }
  test::TemporaryFolder folder_;
};

TEST_F(PassSelectionTest, AFileThatIsConcatenatedWithItselfIsReadOnce) {
  const std::string text = run("a") + pass("a", "x", "conv") + pass("a", "y", "pool");
  EXPECT_THAT(read(text + text), ElementsAre("conv", "pool"));
}

TEST_F(PassSelectionTest, OfTwoRunsOfACaseTheLastOkCounts) {
  const std::string first = run("a") + pass("a", "x", "old") + pass("a", "y", "only");
  EXPECT_THAT(read(first + run("b") + pass("b", "x", "new")), ElementsAre("only", "new"));
  EXPECT_THAT(read(first + run("b") + pass("b", "x", "failed", "crashed")),
              ElementsAre("old", "only"));
}

TEST_F(PassSelectionTest, AFileThatIsGivenTwiceIsReadOnce) {
  const std::string text = run("a") + pass("a", "x", "conv");
  PassSelection passes;
  std::vector<std::vector<std::string>> read;
  for (int copy = 0; copy < 2; ++copy) {
    const auto source = text_source_for_test("r.jsonl", text);
    source->share(passes);
    read.push_back(names_in(*source));
  }
  EXPECT_THAT(read, ElementsAre(ElementsAre("conv"), testing::IsEmpty()));
}

TEST_F(PassSelectionTest, ActivitiesWithoutARunAlwaysCount) {
  const std::string text = R"({"record":"profile","schema":"bench.profile/1"})"
                           "\n" +
                           pass("", "", "push");
  EXPECT_THAT(read(text + text), ElementsAre("push", "push"));
}

TEST_F(PassSelectionTest, ChoosesNothingForOtherFormatsAndStandardInput) {
  folder_.write("log", "onednn_verbose,profile_pass\n");
  const std::vector<std::string> paths = {folder_.file("log"), "-"};
  EXPECT_TRUE(choose_passes(paths)->empty());
  EXPECT_FALSE(choose_passes(std::vector<std::string>{folder_.file("absent")}).ok());
}

}  // namespace
}  // namespace bench
