// SPDX-License-Identifier: Apache-2.0
// `bench profile` on ordinary programs, which do not cooperate with it.
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bench::test::profile_command_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

class ProfileCommand : public ::testing::Test {
 protected:
  // One thread: OpenMP in a child after fork would wait for threads that the child does not have.
  ProgramResult run(const Words& command, std::map<std::string, std::string> environment = {}) {
    environment.emplace("OMP_NUM_THREADS", "1");
    return run_program({command, folder_.path(), std::move(environment)});
  }

  ProgramResult profile(Words words, std::map<std::string, std::string> environment = {},
                        Words options = {}) {
    Words command{BENCH_BINARY, "profile", "--out", "p.jsonl"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back("--");
    command.insert(command.end(), words.begin(), words.end());
    return run(command, std::move(environment));
  }

  static Words program(Words words) {
    words.insert(words.begin(), BENCH_ONEDNN_PROGRAM);
    return words;
  }

  std::vector<json> records(const std::string& kind) const {
    return records_of_kind(read_text(folder_.file("p.jsonl")), kind);
  }

  std::vector<json> executed() const {
    std::vector<json> found;
    for (json& record : records("activity")) {
      if (record["attributes"].value("phase", "") == "exec") found.push_back(std::move(record));
    }
    return found;
  }

  TemporaryFolder folder_;
};

// MXNET_PROFILER_AUTOSTART=1 had no counterpart for a program that does not link the library.
TEST_F(ProfileCommand, TheEnvironmentAloneRecordsAnUnmodifiedProgram) {
  const std::string library =
      (std::filesystem::path(BENCH_BINARY).parent_path() / "lib/bench/libbench_capture.so")
          .string();
  const std::map<std::string, std::string> autostart = {
      {"LD_PRELOAD", library}, {"BENCH_PROFILE_AUTOSTART", "1"}, {"BENCH_PROFILE_FILE", "p.jsonl"}};
  const ProgramResult recorded = run(program({"print", "one", "relu", "relu"}), autostart);
  EXPECT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_EQ(recorded.out, "one\n");
  EXPECT_THAT(recorded.err, IsEmpty());
  const ProgramResult table =
      run({BENCH_BINARY, "analyze", "p.jsonl.spool", "--format", "csv", "-c", "type", "--quiet"});
  EXPECT_EQ(table.out, "type\n\"eltwise\"\n\"eltwise\"\n") << table.err;
  // A file that cannot be created costs the program nothing.
  std::map<std::string, std::string> refused = autostart;
  refused["BENCH_PROFILE_FILE"] = "/no/such/folder/p.jsonl";
  const ProgramResult plain = run(program({"print", "one"}), refused);
  EXPECT_EQ(plain.status, 0);
  EXPECT_EQ(plain.out, "one\n");
  EXPECT_THAT(plain.err, StartsWith("bench profile: cannot create the profile of "));
}

// It ran the whole suite and recorded nothing.
TEST_F(ProfileCommand, ARunOfItsOwnIsRefusedWithTheOptionThatRecordsIt) {
  const ProgramResult result = profile({BENCH_BINARY, "run", "conv/forward/c8h8k8r3/f32"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("records nothing of `bench run`"),
                                HasSubstr("`bench run --profile CONFIG` records the cases")));
  EXPECT_EQ(profile({BENCH_BINARY, "--version"}).status, 0);
}

TEST_F(ProfileCommand, LeavesOutputAndStatusOfTheProgramAsTheyAre) {
  const Words words = program({"print", "one", "relu", "print", "two", "relu", "exit", "7"});
  const ProgramResult plain = run(words);
  const ProgramResult profiled = profile(words);
  EXPECT_EQ(profiled.status, 7) << profiled.err;
  EXPECT_EQ(plain.status, 7);
  EXPECT_EQ(profiled.out, plain.out);
  EXPECT_EQ(profiled.out, "one\ntwo\n");
  EXPECT_THAT(profiled.err, HasSubstr("2 primitives executed"));
  EXPECT_THAT(profiled.err, HasSubstr("bench analyze p.jsonl"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("p.jsonl.spool")));
}

TEST_F(ProfileCommand, WritesActivitiesOnTheMonotonicClockWithFactsInTheHeader) {
  ASSERT_EQ(profile(program({"relu", "relu"})).status, 0);
  const std::vector<json> primitives = executed();
  ASSERT_EQ(primitives.size(), 2U);
  for (const json& primitive : primitives) {
    EXPECT_EQ(primitive["kind"], "primitive");
    EXPECT_EQ(primitive["attributes"]["primitive"], "eltwise");
    EXPECT_GT(primitive["start_ns"].get<std::int64_t>(), 0);
    EXPECT_EQ(primitive["pid"], primitive["tid"]);
  }
  EXPECT_LE(primitives[0]["start_ns"].get<std::int64_t>() +
                primitives[0]["duration_ns"].get<std::int64_t>(),
            primitives[1]["start_ns"].get<std::int64_t>());
  const json header = records("profile").at(0);
  EXPECT_EQ(header["schema"], "bench.profile/1");
  // Known only if the template's line, which comes in pieces, was joined and all information lines
  // were captured.
  EXPECT_THAT(header["environment"]["details"]["library.onednn.version"].get<std::string>(),
              HasSubstr("3."));
}

TEST_F(ProfileCommand, AnalyzeReadsWhatItWrote) {
  ASSERT_EQ(profile(program({"relu", "relu"})).status, 0);
  const ProgramResult result = run({BENCH_BINARY, "analyze", "p.jsonl", "--json"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, IsEmpty());
  const json document = json::parse(result.out);
  ASSERT_EQ(document["selected"], 2);
  for (const json& row : document["rows"]) {
    EXPECT_EQ(row["type"], "eltwise");
    EXPECT_GT(row["flops"], 0);
  }
}

TEST_F(ProfileCommand, ARankIsInTheNameTheFirstRecordAndEachRow) {
  const ProgramResult result = run({BENCH_BINARY, "profile", "--", BENCH_ONEDNN_PROGRAM, "relu"},
                                   {{"OMPI_COMM_WORLD_RANK", "3"}});
  ASSERT_EQ(result.status, 0) << result.err;
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    path = entry.path().string();
  EXPECT_THAT(path, HasSubstr("/profile-rank3-"));
  const json header = records_of_kind(read_text(path), "profile").at(0);
  const json& details = header.at("environment").at("details");
  EXPECT_EQ(details.at("rank"), "3");
  EXPECT_EQ(details.at("rank.variable"), "OMPI_COMM_WORLD_RANK");
  const ProgramResult table = run({BENCH_BINARY, "analyze", path, "--json", "-c", "rank,type"});
  const json document = json::parse(table.out);
  ASSERT_EQ(document["rows"].size(), 1U);
  EXPECT_EQ(document["rows"][0]["rank"], 3);
}

// A launcher under `bench profile` starts several ranks, whose activities are in one file.
TEST_F(ProfileCommand, RanksThatTheProgramStartsAreThoseOfTheirActivities) {
  const std::string script = std::string("RANK=0 ") + BENCH_ONEDNN_PROGRAM + " relu; RANK=1 " +
                             BENCH_ONEDNN_PROGRAM + " relu relu";
  ASSERT_EQ(profile({"/bin/sh", "-c", script}).status, 0);
  EXPECT_FALSE(records("profile").at(0).at("environment").at("details").contains("rank"));
  const ProgramResult table = run({BENCH_BINARY, "analyze", "p.jsonl", "--json", "--aggregate-by",
                                   "rank", "-c", "rank,count", "--order-by", "+rank"});
  EXPECT_EQ(json::parse(table.out)["rows"],
            json::parse(R"([{"rank": 0, "count": 1}, {"rank": 1, "count": 2}])"));
}

TEST_F(ProfileCommand, TheFirstRecordStatesBothClocksAtTheStartAndAtTheEnd) {
  ASSERT_EQ(profile(program({"relu"})).status, 0);
  const json details = records("profile").at(0).at("environment").at("details");
  const auto number = [&](const char* name) {
    return std::stoll(details.at(name).get<std::string>());
  };
  EXPECT_GE(number("clock.end.monotonic_ns"), number("clock.start.monotonic_ns"));
  EXPECT_GT(number("clock.start.realtime_ns"), number("clock.start.monotonic_ns"));
  for (const json& record : records("activity")) {
    EXPECT_GE(record["start_ns"].get<std::int64_t>(), number("clock.start.monotonic_ns"));
    EXPECT_LE(record["start_ns"].get<std::int64_t>(), number("clock.end.monotonic_ns"));
  }
}

TEST_F(ProfileCommand, CapturesThreadsAndChildrenWithAndWithoutExec) {
  const ProgramResult result = profile(program({"relu", "threads", "fork", "self", "relu"}));
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, Not(HasSubstr("malformed")));
  std::set<std::int64_t> processes;
  std::set<std::int64_t> threads;
  for (const json& primitive : executed()) {
    processes.insert(primitive["pid"].get<std::int64_t>());
    threads.insert(primitive["tid"].get<std::int64_t>());
  }
  EXPECT_EQ(executed().size(), 7U);
  EXPECT_EQ(processes.size(), 3U);
  EXPECT_EQ(threads.size(), 7U);
}

// A PyTorch loop of 917 ms was shown as "wall 24 ms, convolution 80 %".
TEST_F(ProfileCommand, TheWallTimeIsThatOfTheProcessAndTheRestIsARow) {
  const ProgramResult profiled = profile(program({"relu", "spin", "200"}));
  EXPECT_THAT(profiled.err, HasSubstr("bench profile: oneDNN was "));
  EXPECT_THAT(profiled.err, HasSubstr(" of wall time, "));
  EXPECT_THAT(profiled.err, HasSubstr("the rest is invisible to this profile."));
  json process;
  for (const json& record : records("activity")) {
    if (record["kind"] == "process") process = record;
  }
  ASSERT_TRUE(process.is_object());
  EXPECT_EQ(process["name"], "bench_onednn_program");
  EXPECT_GT(process["attributes"]["loaded_ns"], 0);
  const std::int64_t wall = process["duration_ns"];
  EXPECT_GT(wall, 200'000'000);

  const ProgramResult summary = run({BENCH_BINARY, "analyze", "p.jsonl", "--summary", "--json"});
  const json document = json::parse(summary.out);
  const json& attribution = document["attribution"];
  EXPECT_EQ(attribution["wall_source"], "processes");
  EXPECT_EQ(attribution["wall_ns"], wall);
  EXPECT_GE(attribution["outside_ns"], 200'000'000);
  for (const char* table : {"layers", "operators"}) {
    double sum = 0;
    for (const json& row : document[table]) sum += row["share"].get<double>();
    EXPECT_NEAR(sum, 1, 1e-6) << table;
  }
  EXPECT_EQ(document["layers"][0]["name"], "(outside)");
  const auto begins = AllOf(StartsWith("The profile is complete: "), HasSubstr("\noneDNN was "));
  EXPECT_THAT(run({BENCH_BINARY, "analyze", "p.jsonl", "--summary"}).out, begins);
  EXPECT_THAT(run({BENCH_BINARY, "analyze", "p.jsonl"}).out, begins);
}

TEST_F(ProfileCommand, EveryReportBeginsWithTheVerdictAndTheVisibleShare) {
  ASSERT_EQ(profile(program({"relu", "spin", "50"})).status, 0);
  const std::string answer = "oneDNN was ";
  const std::string verdict = "The profile is complete: ";
  EXPECT_THAT(run({BENCH_BINARY, "report", "p.jsonl"}).out,
              AllOf(StartsWith(verdict), HasSubstr("\n" + answer)));
  EXPECT_THAT(run({BENCH_BINARY, "report", "p.jsonl", "--format", "md"}).out,
              AllOf(StartsWith("```text\n" + verdict), HasSubstr("\n" + answer)));
  const json document =
      json::parse(run({BENCH_BINARY, "report", "p.jsonl", "--format", "json"}).out);
  EXPECT_THAT(document["attribution"]["answer"].get<std::string>(), StartsWith(answer));
  EXPECT_THAT(run({BENCH_BINARY, "report", "p.jsonl", "--format", "html"}).out,
              HasSubstr("<p class=\"lead\">" + verdict));
  const ProgramResult xml = run({BENCH_BINARY, "report", "p.jsonl", "--format", "xml"});
  EXPECT_EQ(xml.status, 2);
  EXPECT_THAT(xml.err, HasSubstr("choose --format text, md, json or html"));

  EXPECT_THAT(run({BENCH_BINARY, "analyze", "p.jsonl", "--format", "markdown"}).out,
              AllOf(StartsWith(verdict), HasSubstr("\n" + answer)));
  const ProgramResult csv = run({BENCH_BINARY, "analyze", "p.jsonl", "--format", "csv"});
  EXPECT_THAT(csv.out, StartsWith("time_ns,"));
  EXPECT_THAT(csv.err, AllOf(StartsWith("bench analyze: " + verdict),
                             HasSubstr("\nbench analyze: " + answer)));
}

TEST_F(ProfileCommand, ATraceShowsTheProcessFromStartToEnd) {
  ASSERT_EQ(profile(program({"relu", "spin", "50"})).status, 0);
  ASSERT_EQ(run({BENCH_BINARY, "trace", "p.jsonl", "-o", "t.json"}).status, 0);
  const json trace = json::parse(read_text(folder_.file("t.json")));
  EXPECT_THAT(trace["metadata"]["share"].get<std::string>(), StartsWith("oneDNN was "));
  double first = 1e300;
  double last = 0;
  json process;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    first = std::min(first, event["ts"].get<double>());
    last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
    if (event["cat"] == "process") process = event;
  }
  ASSERT_TRUE(process.is_object());
  EXPECT_EQ(process["name"], "bench_onednn_program");
  EXPECT_EQ(process["ts"], first);
  EXPECT_DOUBLE_EQ(process["ts"].get<double>() + process["dur"].get<double>(), last);
}

// A program that is sampled by the system or by the preloaded library.
class SampledProgram : public ProfileCommand {
 protected:
  ProgramResult sampled(const std::string& source, const Words& words) {
    return profile(words, {}, {"--sample", "--sample-by", source});
  }

  static bool is_refused(const ProgramResult& result) {
    return result.status == 2 && result.err.find("does not permit it") != std::string::npos;
  }

  // Returns the samples in functions of that name, by process.
  std::map<std::int64_t, int> samples_in(const std::string& function) const {
    std::map<std::int64_t, int> found;
    for (const json& record : records("activity")) {
      if (record["kind"] != "sample" || !record["name"].get<std::string>().ends_with(function))
        continue;
      EXPECT_EQ(record["attributes"]["object"], "bench_onednn_program");
      EXPECT_GT(record["attributes"]["cpu_ns"], 0);
      ++found[record["pid"].get<std::int64_t>()];
    }
    return found;
  }
};

class SampledBy : public SampledProgram, public ::testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(Sources, SampledBy, ::testing::Values("perf_events", "timer"));

TEST_P(SampledBy, ShowsTheFunctionOutsideOnednn) {
  const ProgramResult result = sampled(GetParam(), program({"relu", "spin", "300", "relu"}));
  if (is_refused(result)) GTEST_SKIP() << result.err;
  EXPECT_EQ(result.status, 0);
  const std::string source = records("profile").at(0)["environment"]["details"]["samples"];
  EXPECT_THAT(source, StartsWith(GetParam() == "timer" ? "a timer" : "perf events"));
  EXPECT_THAT(result.err, HasSubstr(" of CPU time, show "));
  const auto samples = samples_in("compute_outside(int)");
  ASSERT_EQ(samples.size(), 1U) << result.err;
  EXPECT_GT(samples.begin()->second, 5);  // 60, if the kernel's clock is fine enough
  const std::string summary = run({BENCH_BINARY, "analyze", "p.jsonl", "--summary"}).out;
  EXPECT_THAT(summary, HasSubstr("function outside primitives, sampled"));
  EXPECT_THAT(summary, HasSubstr("compute_outside(int) (bench_onednn_program)"));
  const json grouped =
      json::parse(run({BENCH_BINARY, "analyze", "p.jsonl", "--kind", "sample", "--aggregate-by",
                       "object,name", "--columns", "object,name,count,cpu_ns", "--json"})
                      .out);
  EXPECT_GT(grouped["rows"].size(), 0U);
  EXPECT_GT(grouped["rows"][0]["cpu_ns"], 0);
}

TEST_P(SampledBy, CoversThreadsAndChildrenWithAndWithoutExec) {
  const ProgramResult result =
      sampled(GetParam(), program({"team", "200", "child", "200", "self", "spin", "200"}));
  if (is_refused(result)) GTEST_SKIP() << result.err;
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(samples_in("compute_outside(int)").size(), 3U) << result.err;
  std::set<std::int64_t> threads;
  for (const json& record : records("activity")) {
    if (record["kind"] == "sample") threads.insert(record["tid"].get<std::int64_t>());
  }
  EXPECT_GE(threads.size(), 4U);
}

TEST_P(SampledBy, KeepsItsOwnProfilingTimer) {
  const ProgramResult result = sampled(GetParam(), program({"prof", "300"}));
  if (is_refused(result)) GTEST_SKIP() << result.err;
  EXPECT_EQ(result.out, "own signals\n");
  EXPECT_EQ(samples_in("compute_outside(int)").size(), 1U) << result.err;
}

TEST_F(SampledProgram, GetsTheSignalThatItHandlesItself) {
  const ProgramResult result =
      sampled("timer", program({"spin", "1500", "handlers", "spin", "200"}));
  EXPECT_EQ(result.status, 0);  // its handlers abort
  EXPECT_THAT(result.err, HasSubstr("the program handles the signal that the samples used"));
  EXPECT_EQ(samples_in("compute_outside(int)").size(), 1U);
}

TEST_F(SampledProgram, SurvivesThatItResetsAllSignals) {
  const ProgramResult result = sampled("timer", program({"defaults", "spin", "800"}));
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(samples_in("compute_outside(int)").size(), 1U) << result.err;
}

// What a timer of the program's threads cannot see, the system sees.
TEST_F(SampledProgram, BySystemShowsWhatBlocksSignalsEndsByOneOrHasNoLibrary) {
  const ProgramResult blocked =
      sampled("perf_events", program({"handlers", "block", "spin", "200", "kill"}));
  if (is_refused(blocked)) GTEST_SKIP() << blocked.err;
  EXPECT_EQ(blocked.status, 128 + 9);
  const auto samples = samples_in("compute_outside(int)");
  ASSERT_EQ(samples.size(), 1U) << blocked.err;
  EXPECT_GT(samples.begin()->second, 20);  // 40 if none is missing

  EXPECT_EQ(profile(program({"bare", "200"}), {}, {"--force", "--sample"}).status, 0);
  EXPECT_EQ(samples_in("compute_outside(int)").size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("p.jsonl.spool.samples")));
}

TEST_F(SampledProgram, MayBeStaticIfTheSystemTakesTheSamples) {
  const ProgramResult result = sampled("perf_events", {BENCH_STATIC_PROGRAM, "200"});
  if (is_refused(result)) GTEST_SKIP() << result.err;
  EXPECT_EQ(result.status, 5);
  EXPECT_THAT(result.err, HasSubstr("oneDNN, NVTX ranges and GPUs are invisible"));
  EXPECT_THAT(result.err, HasSubstr("is a static program"));
  int samples = 0;
  for (const json& record : records("activity")) {
    if (record["kind"] == "sample" && record["name"] == "compute_statically()") ++samples;
  }
  EXPECT_GT(samples, 20);
}

TEST_F(SampledProgram, HasTheRateThatIsAskedFor) {
  ASSERT_EQ(profile(program({"spin", "200"}), {}, {"--sample=500"}).status, 0);
  std::set<std::int64_t> remainders;
  for (const json& record : records("activity")) {
    if (record["kind"] != "sample") continue;
    remainders.insert(record["attributes"]["cpu_ns"].get<std::int64_t>() % 2'000'000);
  }
  EXPECT_EQ(remainders, std::set<std::int64_t>{0});
  for (const char* rate : {"--sample=0", "--sample=1001", "--sample=fast"}) {
    const ProgramResult wrong = profile(program({"print", "ran"}), {}, {"--force", rate});
    EXPECT_EQ(wrong.status, 2);
    EXPECT_EQ(wrong.out, "");
    EXPECT_THAT(wrong.err, HasSubstr("expected 1 to 1000 samples per second of CPU time"));
  }
}

TEST_F(SampledProgram, WithoutTheOptionThereAreNoSamples) {
  ASSERT_EQ(profile(program({"relu", "spin", "100"})).status, 0);
  EXPECT_THAT(samples_in("compute_outside(int)"), IsEmpty());
}

TEST_F(ProfileCommand, BacktraceNamesMainAndNothingOfTheCapture) {
  ASSERT_EQ(profile(program({"relu"}), {}, {"--backtrace"}).status, 0);
  const std::string stack = executed().at(0)["attributes"]["backtrace"];
  EXPECT_THAT(stack, HasSubstr("main ("));
  EXPECT_THAT(stack, Not(HasSubstr("libbench_capture")));
}

TEST_F(ProfileCommand, BacktraceStartsAtTheCallerOfOnednn) {
  ASSERT_EQ(profile(program({"relu"}), {}, {"--backtrace"}).status, 0);
  const std::string stack = executed().at(0)["attributes"]["backtrace"];
  EXPECT_THAT(stack, StartsWith("(anonymous namespace)::execute_relu() ("));
  EXPECT_THAT(stack, Not(HasSubstr("dnnl")));
}

TEST_F(ProfileCommand, WithoutTheOptionThereIsNoBacktrace) {
  ASSERT_EQ(profile(program({"relu"})).status, 0);
  EXPECT_FALSE(executed().at(0)["attributes"].contains("backtrace"));
}

TEST_F(ProfileCommand, LinesThatTheUserAskedForStayOnStandardOutput) {
  const ProgramResult result = profile(program({"relu"}), {{"ONEDNN_VERBOSE", "1"}});
  EXPECT_THAT(result.out, HasSubstr("onednn_verbose,exec,cpu,eltwise"));
  EXPECT_THAT(result.out, Not(HasSubstr("create:")));
  EXPECT_EQ(executed().size(), 1U);
}

TEST_F(ProfileCommand, AProgramThatSetsTheLevelItselfGetsItsLines) {
  const ProgramResult result =
      profile(program({"relu", "verbose", "1", "relu", "verbose", "0", "relu"}));
  EXPECT_THAT(result.out, HasSubstr("onednn_verbose,exec,cpu,eltwise"));
  EXPECT_EQ(result.out.find("verbose,exec"), result.out.rfind("verbose,exec"));
  EXPECT_EQ(executed().size(), 3U);
}

TEST_F(ProfileCommand, AProgramsOwnTextThatLooksLikeALineIsItsOwn) {
  const std::string text = "onednn_verbose,exec,cpu,eltwise,mine";
  const ProgramResult result = profile(program({"echo", text, "relu"}));
  EXPECT_EQ(result.out, text + "\n");
  EXPECT_EQ(executed().size(), 1U);
}

// Like oneDNN itself, the program has the beginning of such lines among its constants.
TEST_F(ProfileCommand, LinesThatTheProgramPrintsLikeOnednnsAreNoPrimitivesAndStayOnItsOutput) {
  const Words words = program({"imitate", "relu", "imitate"});
  const ProgramResult plain = run(words);
  const ProgramResult result = profile(words);
  EXPECT_THAT(plain.out, HasSubstr("onednn_verbose,exec,cpu,eltwise,jit:avx2"));
  EXPECT_EQ(result.out, plain.out);
  ASSERT_EQ(executed().size(), 1U);
  EXPECT_LT(executed()[0]["duration_ns"].get<std::int64_t>(), 14'000'000);
}

// A library without exported functions inside a program is recognised by its constants.
TEST_F(ProfileCommand, LinesOfALibraryThatIsLinkedStaticallyAreTaken) {
  const ProgramResult result = profile({BENCH_STATIC_LIBRARY_PROGRAM});
  EXPECT_EQ(result.out, "before\nafter\n");
  ASSERT_EQ(executed().size(), 1U);
  EXPECT_EQ(executed()[0]["duration_ns"], 250'000);
}

TEST_F(ProfileCommand, SurvivesAProgramThatClosesAllDescriptors) {
  ASSERT_EQ(profile(program({"relu", "close", "relu"})).status, 0);
  EXPECT_EQ(executed().size(), 2U);
}

TEST_F(ProfileCommand, DeathBySignalIsStatus128PlusItsNumber) {
  const ProgramResult result = profile(program({"relu", "kill"}));
  EXPECT_EQ(result.status, 128 + 9);
  EXPECT_EQ(executed().size(), 1U);
}

TEST_F(ProfileCommand, SaysWhyNothingWasCaptured) {
  const ProgramResult without = profile({"/bin/echo", "hello", "--", "-x", "--help"});
  EXPECT_EQ(without.status, 0);
  EXPECT_EQ(without.out, "hello -- -x --help\n");
  EXPECT_THAT(without.err, HasSubstr("nothing captured: 1 process ran, and none of them used"));

  std::filesystem::remove(folder_.file("p.jsonl"));
  const ProgramResult fixed = profile({BENCH_STATIC_PROGRAM});
  EXPECT_EQ(fixed.status, 5);
  EXPECT_EQ(fixed.out, "static\n");
  EXPECT_THAT(fixed.err, HasSubstr("nothing captured: "));
  EXPECT_THAT(fixed.err, HasSubstr("is a static program"));
}

TEST_F(ProfileCommand, WithoutAProfileTheProgramRunsAlone) {
  const ProgramResult result =
      profile(program({"print", "one", "relu", "exit", "7"}), {}, {"--no-profile"});
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(result.out, "one\n");
  EXPECT_EQ(result.err, "bench profile: nothing captured: --no-profile\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  const ProgramResult both = profile(program({"relu"}), {}, {"--no-profile", "--trace", "t.json"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("--no-profile and --trace contradict each other"));
}

TEST_F(ProfileCommand, SamplesResidentMemoryAfterEveryNthPrimitive) {
  const Words words = program({"relu", "relu", "relu", "relu", "relu"});
  const auto samples = [&](const Words& options) {
    Words all{"--force"};
    all.insert(all.end(), options.begin(), options.end());
    EXPECT_EQ(profile(words, {}, all).status, 0);
    std::vector<json> found;
    for (json& record : records("activity")) {
      if (record["kind"] == "counter") found.push_back(std::move(record));
    }
    return found;
  };
  EXPECT_THAT(samples({}), IsEmpty());
  const std::vector<json> two = samples({"--sample-rate", "2"});
  ASSERT_EQ(two.size(), 2U);
  for (const json& sample : two) {
    EXPECT_EQ(sample["name"], "resident_bytes");
    EXPECT_EQ(sample["attributes"]["value_unit"], "bytes");
    EXPECT_GT(sample["attributes"]["value"], 1 << 20);  // oneDNN's code by itself is larger
  }
  EXPECT_EQ(executed().size(), 5U);
  EXPECT_THAT(samples({"--sample-rate", "2", "--profile=operators"}), IsEmpty());
  EXPECT_EQ(samples({"--sample-rate", "2", "--profile=memory"}).size(), 2U);
  EXPECT_THAT(executed(), IsEmpty());
}

TEST_F(ProfileCommand, WritesTheFormatsThatAreAskedForBesidesTheProfile) {
  folder_.write("p.memory_flow.svg", "mine");
  const Words formats{"--profile-format", "trace,memory_flow"};
  const ProgramResult refused = profile(program({"print", "ran", "relu"}), {}, formats);
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "") << "known before the program runs";
  EXPECT_THAT(refused.err, HasSubstr("p.memory_flow.svg: the file exists already"));

  std::filesystem::remove(folder_.file("p.memory_flow.svg"));
  const ProgramResult result = profile(program({"relu"}), {}, formats);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("wrote p.trace.json\nwrote p.memory_flow.svg\n"));
  EXPECT_EQ(run({BENCH_BINARY, "trace", "--check", "p.trace.json"}).status, 0);
  EXPECT_THAT(read_text(folder_.file("p.memory_flow.svg")), HasSubstr("no allocations"));

  EXPECT_EQ(profile(program({"relu"}), {}, {"--force", "--trace", "named.json.gz"}).status, 0);
  EXPECT_EQ(run({BENCH_BINARY, "trace", "--check", "named.json.gz"}).status, 0);
}

// The limit applies only to the program; a write beyond it would end it by SIGXFSZ.
TEST_F(ProfileCommand, ALimitOfFileSizesIsToldAndDoesNotEndTheProgram) {
  Words words = program({});
  for (int i = 0; i < 100; ++i) words.emplace_back("relu");
  Words limited{"/bin/sh", "-c", "ulimit -f 48; exec \"$@\"", "sh"};
  limited.insert(limited.end(), words.begin(), words.end());
  const ProgramResult result = profile(limited);
  EXPECT_EQ(result.status, 0);
  EXPECT_FALSE(executed().empty());
  EXPECT_LT(executed().size(), 100U);
  EXPECT_THAT(result.err,
              HasSubstr("bench profile: the profile is incomplete: records could not be "
                        "written"));
  EXPECT_EQ(records("profile").at(0)["environment"]["details"]["incomplete"],
            "records could not be written");
  EXPECT_THAT(run({BENCH_BINARY, "analyze", "p.jsonl"}).err,
              HasSubstr("p.jsonl:1: the profile is incomplete: records could not be written"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("p.jsonl.spool")));
}

// The spool was to be written in /dev, in the folder of the device.
TEST_F(ProfileCommand, AProfileIntoADeviceHasItsSpoolInTheFolderForTemporaryFiles) {
  Words words{BENCH_BINARY, "profile", "--out", "/dev/full", "--"};
  for (const std::string& word : program({"relu"})) words.push_back(word);
  const ProgramResult result = run(words, {{"TMPDIR", folder_.path()}});
  EXPECT_FALSE(std::filesystem::exists("/dev/full.spool"));
  EXPECT_THAT(result.err, HasSubstr("the records are kept in " + folder_.file("profile-")));
}

// The spool fills the disk, so that there is no room for the profile.
TEST_F(ProfileCommand, AFullDiskLeavesTheSpoolAndNamesIt) {
  if (run({"/usr/bin/unshare", "-m", "/bin/mount", "-t", "tmpfs", "none", "."}).status != 0) {
    GTEST_SKIP() << "needs the right to mount a file system of its own";
  }
  std::string relus;
  for (int i = 0; i < 200; ++i) relus += " relu";
  const ProgramResult result =
      run({"/usr/bin/unshare", "-m", "/bin/sh", "-c",
           "mkdir full && mount -t tmpfs -o size=64k none full && cd full || exit 99; \"$0\" "
           "profile --out p.jsonl -- \"$1\" print out" +
               relus + "; echo $?; ls; \"$0\" analyze p.jsonl.spool --json -t 0 -c type",
           BENCH_BINARY, BENCH_ONEDNN_PROGRAM});
  EXPECT_THAT(result.out, StartsWith("out\n0\np.jsonl.spool\n{\"answer\":\"oneDNN was "))
      << result.err;
  EXPECT_THAT(result.out, HasSubstr("{\"type\":\"eltwise\"}"));
  EXPECT_THAT(result.err, HasSubstr("p.jsonl: cannot append to the file: No space left on device"));
  EXPECT_THAT(result.err, HasSubstr("the records are kept in p.jsonl.spool: `" BENCH_BINARY
                                    " analyze p.jsonl.spool`"));
}

TEST_F(ProfileCommand, AMissingProgramIs127AndLeavesNoFile) {
  const ProgramResult result = profile({"no-such-program-here"});
  EXPECT_EQ(result.status, 127);
  EXPECT_THAT(result.err, HasSubstr("no-such-program-here: no such program in PATH"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(ProfileCommand, AnExistingFileIsReplacedOnlyWhenForced) {
  folder_.write("p.jsonl", "mine");
  EXPECT_EQ(profile(program({"relu"})).status, 2);
  EXPECT_EQ(read_text(folder_.file("p.jsonl")), "mine");
  EXPECT_EQ(profile(program({"relu"}), {}, {"--force"}).status, 0);
  EXPECT_EQ(executed().size(), 1U);
}

}  // namespace
}  // namespace bench::test::profile_command_test
