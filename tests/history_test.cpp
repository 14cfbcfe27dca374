// SPDX-License-Identifier: Apache-2.0
// `bench history` on stores with known times, as a user calls it.
#include "base/text.hpp"
#include "harness/host/system_files.hpp"
#include "harness/result/measured.hpp"
#include "harness/store/record.hpp"
#include "harness/store/store.hpp"
#include "tests/fakes/baseline_records.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace bench::test::history_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Words = std::vector<std::string>;

constexpr const char* kSteady = "gemm/forward/m16n16k16/f32/onednn/cpu/hot";
constexpr const char* kSlower = "conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot";
constexpr const char* kCreeping = "softmax/forward/128x1000/f32/onednn/cpu/hot";

class HistoryCommand : public testing::Test {
 protected:
  ProgramResult history(Words arguments = {},
                        const std::map<std::string, std::string>& environment = {}) const {
    arguments.insert(arguments.begin(), {BENCH_BINARY, "history"});
    return run_program({std::move(arguments), folder_.path(), environment});
  }
  // Returns the text of a case without line breaks.
  std::string history_line(const char* id) const {
    std::string text = history({id}).out;
    std::ranges::replace(text, '\n', ' ');
    return text;
  }
  static json parse_output(const ProgramResult& result) { return json::parse(result.out); }

  // Writes a line into the store.
  void store(const BaselineRecord& record) const {
    const StoreFile file =
        BaselineStore::case_file(record.environment.machine_class, record.measured.id);
    const std::string path = BaselineStore(folder_.file("baselines")).file_path(file);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::app) << to_json_line(record) << "\n";
  }
  // Returns the run of day `number` of November. Its time varies by some 0.2 % without a pattern.
  static BaselineRecord run(const std::string& id, int number, double microseconds,
                            std::int64_t epoch = 0) {
    const double time = 1000 * microseconds * (1 + 0.0004 * (number * 37 % 11 - 5));
    BaselineRecord record = baseline(number, epoch, Nanoseconds(std::llround(time)));
    record.measured.id = id;
    record.commit = fmt::format("c0ffee{:02}", number);
    return record;
  }
  // Writes three cases with 20 runs each. One becomes 4 % slower on the 13th, and one becomes
  // slower by 0.25 % per run.
  void write_store() const {
    for (int day = 1; day <= 20; ++day) {
      store(run(kSteady, day, 50));
      BaselineRecord slower = run(kSlower, day, day < 13 ? 500 : 520);
      slower.environment.libraries["onednn"] = day < 13 ? "3.1.0" : "3.2.0";
      store(slower);
      BaselineRecord creeping = run(kCreeping, day, 100 * (1 + 0.0025 * day));
      if (day == 4) creeping.anchor = "v1.0";
      store(creeping);
    }
  }

  // Writes one case that becomes slower with the 13th run, whose records state everything. The
  // program `old_bench` measured the earlier runs.
  void write_complete_store(const std::map<std::string, std::string>& later_details,
                            const std::string& later_commit) const {
    folder_.write("old_bench", "the old program");
    for (int day = 1; day <= 20; ++day) {
      BaselineRecord record = run(kSlower, day, day < 13 ? 500 : 520);
      record.commit = day < 13 ? "c0ffee12" : later_commit;
      record.measured.exact.facts[kSettingsDetail] = "processes 5";
      record.environment.libraries["onednn"] = "3.2.0";
      record.environment.details = {{"build.compiler", "gcc-12"},
                                    {"build.flags", "-O2"},
                                    {kMeasuringFact, kMeasuringRules},
                                    {kProgramPathFact, folder_.file("old_bench")},
                                    {kProgramDigestFact, *digest_file(folder_.file("old_bench"))}};
      if (day >= 13) {
        for (const auto& [name, value] : later_details) record.environment.details[name] = value;
      }
      store(record);
    }
  }

  TemporaryFolder folder_;
};

TEST_F(HistoryCommand, ACauseIsNamedOnlyIfTheRecordsExcludeAllOthers) {
  write_store();
  EXPECT_THAT(history_line(kSlower),
              AllOf(HasSubstr("Cause: undetermined: these differ: library (onednn 3.1.0 -> 3.2.0), "
                              "code (commit c0ffee12 -> c0ffee13; it also changed 18 times without "
                              "a change of times); the records do not contain measure.rules"),
                    HasSubstr("duet " + std::string(kSlower) + " --base CHECKOUT")));
}

TEST_F(HistoryCommand, TheOldProgramIsMeasuredIfItStillExistsUnchanged) {
  write_complete_store({{kProgramDigestFact, "0123456789abcdef"}}, "c0ffee13");
  const std::string text = history_line(kSlower);
  EXPECT_THAT(text, AllOf(HasSubstr("Likely cause: code (commit c0ffee12 -> c0ffee13), the only "
                                    "difference that the records contain"),
                          HasSubstr(" --base " + folder_.file("old_bench"))));
  const json point = parse_output(history({"--json"})).at("cases")[0].at("change_points")[0];
  EXPECT_EQ(point.at("cause").at("certainty"), "likely");
  EXPECT_EQ(point.at("cause").at("kinds")[0].at("kind"), "code");
  folder_.write("old_bench", "another program");
  EXPECT_THAT(history({kSlower}).out, HasSubstr(" --base CHECKOUT"));
}

TEST_F(HistoryCommand, WithoutAnyDifferenceTheMachineIsLeft) {
  write_complete_store({}, "c0ffee12");
  EXPECT_THAT(history({kSlower}).out,
              AllOf(HasSubstr("Likely cause: machine; the records contain no difference"),
                    HasSubstr(" doctor\n")));
}

TEST_F(HistoryCommand, TheFirstSentenceNamesWhatChanged) {
  write_store();
  const ProgramResult result = history({}, {{"COLUMNS", "80"}});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, testing::IsEmpty());
  EXPECT_THAT(result.out,
              AllOf(StartsWith("1 of 3 cases changed since 2026-11-01: conv/"),
                    HasSubstr("c0ffee13"), HasSubstr("with it: library.onednn 3.1.0 ->"),
                    HasSubstr("test-2c-00000000\ncase"), HasSubstr("slower than anchor v1.0"),
                    HasSubstr(fmt::format("every run of the first case:\n  {} history {}\n",
                                          BENCH_BINARY, kSlower))));
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" history ") == std::string::npos) {
      EXPECT_LE(display_width(line), 80u) << line;
    }
  }
}

TEST_F(HistoryCommand, JsonHasTheSameAnswer) {
  write_store();
  const json cases = parse_output(history({"--json"})).at("cases");
  Words states;
  for (const json& entry : cases) states.push_back(entry.at("state"));
  EXPECT_THAT(states, ElementsAre("slower", "creeping", "unchanged"));
  EXPECT_EQ(cases[0].at("id"), kSlower);
  ASSERT_EQ(cases[0].at("change_points").size(), 1u);
  EXPECT_EQ(cases[0].at("change_points")[0].at("commit"), "c0ffee13");
  EXPECT_NEAR(cases[0].at("change_points")[0].at("change"), 0.04, 0.003);
  EXPECT_EQ(cases[1].at("creep")[0].at("change").get<double>() > 0.03, true);
  EXPECT_EQ(cases[2].at("runs").size(), 20u);
}

TEST_F(HistoryCommand, ACaseShowsEveryRun) {
  write_store();
  const ProgramResult result = history({kSlower});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(StartsWith(std::string(kSlower) + " became 4.0 % slower on 2026-11-13"),
                    HasSubstr("20 runs in 1 epoch on test-2c-00000000"), HasSubstr("run-01"),
                    HasSubstr("run-20"), HasSubstr("nightly"),
                    HasSubstr("new level: +4.0% on 2026-11-13 (commit c0ffee13)"),
                    HasSubstr("checkout of commit c0ffee12:\n"), Not(HasSubstr(kSteady))));
  EXPECT_THAT(history({kCreeping}).out, HasSubstr("v1.0"));
  // The statistics of one case count the tests of the whole store, so that both views agree.
  EXPECT_EQ(parse_output(history({kSlower, "--json"})).at("cases")[0],
            parse_output(history({"--json"})).at("cases")[0]);
}

TEST_F(HistoryCommand, SinceAndFilterSelect) {
  write_store();
  EXPECT_THAT(history({"--since", "2026-11-14"}).out, StartsWith("0 of 3 cases changed since "));
  EXPECT_THAT(history({"--since", "2026-11-13T08:00"}).out, StartsWith("1 of 3 cases changed"));
  EXPECT_THAT(history({"--since", "2027-01-01"}).out,
              StartsWith("No run since 2027-01-01: the last one is of 2026-11-20T08:00:00Z."));
  EXPECT_THAT(history({"--filter", "gemm/*"}).out, StartsWith("0 of 1 case changed since "));
  EXPECT_THAT(history({"--filter", "pool/*"}).out, StartsWith("No stored run of such a case"));
}

TEST_F(HistoryCommand, FailOnRegressionIs1WhereTheLastChangeMadeACaseSlower) {
  write_store();
  EXPECT_EQ(history().status, 0);
  EXPECT_EQ(history({"--fail-on", "regression"}).status, 1);
  EXPECT_EQ(history({"--fail-on", "regression", "--filter", "gemm/*"}).status, 0);
  EXPECT_EQ(history({"--fail-on", "regression", "--since", "2026-11-14"}).status, 0);
  // With --fail-on, the command is a check in a CI, which must not pass if no case has enough runs.
  for (int day = 1; day <= 5; ++day) store(run("pool/x", day, 10));
  EXPECT_EQ(history({"pool/x", "--fail-on", "regression"}).status, 5);
  EXPECT_EQ(history({"pool/x"}).status, 0);
}

// Regression test: a slowdown by a factor of 3 in the last four of nine runs passed.
TEST_F(HistoryCommand, FailOnRegressionFailsForAnEvidentSlowdownThatIsStillPending) {
  for (int day = 1; day <= 9; ++day) {
    BaselineRecord record = run(kSlower, day, day < 6 ? 100 : 300);
    if (day > 5) record.environment.details["env.ONEDNN_MAX_CPU_ISA"] = "SSE41";
    store(record);
  }
  const ProgramResult result = history({"--fail-on", "regression"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, StartsWith("1 of 1 case changed since 2026-11-01: conv/"));
  EXPECT_THAT(result.out, HasSubstr("env.ONEDNN_MAX_CPU_ISA n/a -> SSE41"));
  EXPECT_EQ(history().status, 0);
}

TEST_F(HistoryCommand, FailOnPendingIs4ForASlowdownThatIsNotCertain) {
  for (int day = 1; day <= 14; ++day) store(run(kSteady, day, day < 13 ? 100 : 103));
  const ProgramResult pending = history({"--fail-on", "pending"});
  EXPECT_EQ(pending.status, 4);
  EXPECT_THAT(pending.out, HasSubstr("may have changed"));
  EXPECT_EQ(history({"--fail-on", "regression"}).status, 0);
}

TEST_F(HistoryCommand, AnAcceptedChangeIsNoRegression) {
  for (int day = 1; day <= 24; ++day)
    store(run(kSteady, day, day < 13 ? 50 : 60, day < 13 ? 0 : 1));
  const ProgramResult result = history({"--fail-on", "regression"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, AllOf(StartsWith("0 of 1 case changed"),
                                HasSubstr("accepted on 2026-11-13 (commit c0ffee13): nightly")));
}

TEST_F(HistoryCommand, MachineClassesAreSeparate) {
  for (int day = 1; day <= 20; ++day) {
    BaselineRecord record = run(kSteady, day, day % 2 == 0 ? 50 : 90);
    if (day % 2 == 0) record.environment.machine_class = "other-4c-11111111";
    store(record);
  }
  const ProgramResult result = history();
  EXPECT_THAT(result.out, AllOf(StartsWith("0 of 2 cases changed"), HasSubstr("other-4c-11111111"),
                                HasSubstr("test-2c-00000000")));
  // The folder of one class can be used as a store.
  EXPECT_THAT(history({"--baseline", "baselines/other-4c-11111111"}).out,
              AllOf(StartsWith("0 of 1 case changed"), Not(HasSubstr("test-2c"))));
}

TEST_F(HistoryCommand, RunsThatAreNotComparableAreNamed) {
  for (int day = 1; day <= 20; ++day) {
    BaselineRecord record = run(kSteady, day, day < 5 ? 90 : 50);
    if (day < 5) record.measured.case_hash = "fedcba9876543210";
    store(record);
  }
  EXPECT_THAT(history().out, AllOf(StartsWith("0 of 1 case changed since 2026-11-05"),
                                   HasSubstr("4 runs not compared: case_hash differs: "
                                             "fedcba9876543210")));
  EXPECT_EQ(parse_output(history({"--json"})).at("cases")[0].at("not_compared").size(), 4u);
}

TEST_F(HistoryCommand, WrongWordsAreExplained) {
  write_store();
  for (const auto& [words, message] : std::vector<std::pair<Words, std::string>>{
           {{"gemm/forward/m16n16k17/f32/onednn/cpu/hot"}, std::string("did you mean `") + kSteady},
           {{"x"}, "baselines contains no run of this case"},
           {{"--since", "yesterday"}, "`yesterday` is not a date"},
           {{"--since", "2026-02-30"}, "for example --since 2026-11-01"},
           {{"--since", "2026-11-01T08:00:00+01:00"}, "is not a date"},
           {{"--filter", "[x"}, "--filter [x"},
           {{"--fail-on", "x"}, "expected regression"},
           {{"--baseline", "nowhere"}, "nowhere: no store of baselines"}}) {
    const ProgramResult result = history(words);
    EXPECT_EQ(result.status, 2) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
  }
  folder_.write("notes.txt", "");
  EXPECT_THAT(history({"--baseline", "."}).err, HasSubstr("history: "));
}

// Regression test: each line of a result file used to be a refused record, with exit status 0.
TEST_F(HistoryCommand, AFolderWithResultFilesIsNotAStore) {
  std::filesystem::create_directories(folder_.file("results"));
  folder_.write("results/r.jsonl", "{\"record\":\"run\",\"schema\":\"bench.result/1\"}\n");
  const ProgramResult result = history({"--baseline", "results"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              StartsWith("bench history: results: is not a store of baselines: it contains "
                         "`r.jsonl` and no baseline; "));
}

TEST_F(HistoryCommand, MalformedLinesAreNamedAndTheOthersCount) {
  write_store();
  const std::string file =
      "baselines/test-2c-00000000/gemm__forward__m16n16k16__f32__onednn__cpu__hot.jsonl";
  std::ofstream(folder_.file(file), std::ios::app) << "{\"schema\":\"bench.bas\n";
  const ProgramResult result = history();
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("bench history: " + file + ":21: "));
  EXPECT_THAT(result.out, StartsWith("1 of 3 cases changed"));
  EXPECT_THAT(history({"--quiet"}).err, testing::IsEmpty());
}

}  // namespace
}  // namespace bench::test::history_test
