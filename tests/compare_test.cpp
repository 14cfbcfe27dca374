// SPDX-License-Identifier: Apache-2.0
// `bench compare` as a user calls it, over result files with known times that the tests create.
#include "tests/fakes/reports.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace bench::test::compare_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ProgramResult compare(std::vector<std::string> arguments, const TemporaryFolder& folder) {
  arguments.insert(arguments.begin(), {BENCH_BINARY, "compare"});
  return run_program({std::move(arguments), folder.path(), {}});
}

std::string result_text(std::int64_t nanoseconds, const std::string& library,
                        const std::string& implementation) {
  RunRecord run = sample_run("r" + library);
  run.environment.libraries = {{"onednn", library}};
  CaseRecord record = sample_case(run.run_id);
  record.implementation = implementation;
  return result_file(run, record, nanoseconds);
}

TEST(CompareTest, NamesTheRegressionAndWhatChanged) {
  const TemporaryFolder folder;
  folder.write("a.jsonl", result_text(100'000, "3.1.0", "brg:avx512_core"));
  folder.write("b.jsonl", result_text(130'000, "3.2.0", "jit:sse41"));
  const ProgramResult result = compare({"a.jsonl", "b.jsonl"}, folder);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(testing::StartsWith("1 slower.\n"), HasSubstr(kStoredCase),
                    HasSubstr("30 % slower"), HasSubstr("library.onednn: 3.1.0 -> 3.2.0"),
                    HasSubstr("implementation: brg:avx512_core -> jit:sse41"),
                    HasSubstr("geometric mean: gemm/forward 30 % slower (1)")));
  EXPECT_EQ(compare({"a.jsonl", "b.jsonl", "--fail-on", "regression"}, folder).status, 1);
  EXPECT_EQ(compare({"b.jsonl", "a.jsonl", "--fail-on", "regression"}, folder).status, 0);
  EXPECT_EQ(compare({"a.jsonl", "a.jsonl", "--fail-on", "regression"}, folder).status, 0);
}

// Returns a result with the same product in two data types, and a third case without a partner.
std::string result_in_two_types() {
  const RunRecord run = sample_run("r1");
  std::string text = to_json_line(run) + "\n";
  const auto add = [&](const std::string& id, std::int64_t nanoseconds) {
    std::string file = result_file(run, sample_case(run.run_id, id), nanoseconds);
    text += file.substr(file.find('\n') + 1);  // without the run record
  };
  add("gemm/forward/m16n16k16/f32/onednn/cpu/hot", 100'000);
  add("gemm/forward/m16n16k16/bf16/onednn/cpu/hot", 80'000);
  add("gemm/forward/m32n16k16/f32/onednn/cpu/cold", 150'000);
  return text;
}

TEST(CompareTest, ByComparesTheCasesOfOneResult) {
  const TemporaryFolder folder;
  folder.write("a.jsonl", result_in_two_types());
  const ProgramResult result = compare({"a.jsonl", "--by", "dtype"}, folder);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              testing::StartsWith("bf16 takes 0.80x the time of f32 (0.80 to 0.80).\n"));
  EXPECT_THAT(result.out, HasSubstr("\n1 case has no partner that differs in `dtype` alone.\n"));
  EXPECT_THAT(compare({"a.jsonl", "--by", "dtype", "--against", "bf16"}, folder).out,
              testing::StartsWith("f32 takes 1.25x the time of bf16 "));
  const auto document = json::parse(compare({"a.jsonl", "--by", "dtype", "--json"}, folder).out);
  ASSERT_EQ(document.at("rows").size(), 1u);
  EXPECT_NEAR(document.at("rows")[0].at("speed_up").get<double>(), 1.25, 0.001);
}

TEST(CompareTest, ByRefusesWhatItCannotAnswer) {
  const TemporaryFolder folder;
  folder.write("a.jsonl", result_in_two_types());
  const auto refused = [&](std::vector<std::string> arguments, const std::string& reason) {
    arguments.insert(arguments.begin(), "a.jsonl");
    const ProgramResult result = compare(std::move(arguments), folder);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(reason));
  };
  refused({"--by", "cache"},
          "no two cases of a.jsonl differ in `cache` alone; pairs exist for: dtype");
  refused({"--by", "dtype", "--against", "f16"}, "no case has the value `f16` of `dtype`");
  refused({"--against", "f32"}, "needs --by PARAMETER");
  refused({"b.jsonl", "--by", "dtype"}, "compares the cases of one result");
  refused({"--by", "dtype", "--fail-on", "regression"}, "cannot be used with --fail-on");
  refused({}, "needs two results, BASE and CANDIDATE");
}

// Earlier, the command reported each line of such a file, and each fact as changed to n/a, and
// ended with status 0.
TEST(CompareTest, AFolderOfOtherFilesIsRefusedInOneSentence) {
  const TemporaryFolder folder;
  folder.write("a.jsonl", result_text(100'000, "3.1.0", "x"));
  folder.write("results/b.jsonl", result_text(100'000, "3.1.0", "x"));
  folder.write("nested/more/b.jsonl", result_text(100'000, "3.1.0", "x"));
  for (const char* other : {"results", "nested"}) {
    const ProgramResult result = compare({"a.jsonl", other}, folder);
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr(other), HasSubstr("is not a store of baselines")));
  }
}

TEST(CompareTest, WritesEachFormat) {
  const TemporaryFolder folder;
  folder.write("a.jsonl", result_text(100'000, "3.1.0", "x"));
  folder.write("b.jsonl", result_text(90'000, "3.1.0", "x"));
  const auto document = json::parse(compare({"a.jsonl", "b.jsonl", "--json"}, folder).out);
  EXPECT_EQ(document.at("cases").at(0).at("verdict"), "faster");
  EXPECT_THAT(compare({"a.jsonl", "b.jsonl", "--format", "markdown"}, folder).out,
              HasSubstr("| faster | gemm/forward/m16n16k16"));
  EXPECT_EQ(compare({"a.jsonl", "b.jsonl", "-o", "c.md", "--format", "markdown"}, folder).status,
            0);
  EXPECT_THAT(read_text(folder.file("c.md")), HasSubstr("faster"));
  const ProgramResult again = compare({"a.jsonl", "b.jsonl", "-o", "c.md"}, folder);
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("c.md"));
}

TEST(CompareTest, ReadsGoogleBenchmark) {
  const TemporaryFolder folder;
  const auto report = [](const std::string& time) {
    return R"({"context": {"num_cpus": 2}, "benchmarks": [{"name": "BM_x/8", "run_name": "BM_x/8",)"
           R"( "run_type": "iteration", "real_time": )" +
           time + R"(, "time_unit": "us"}]})";
  };
  folder.write("a.json", report("10"));
  folder.write("b.json", report("20"));
  const ProgramResult result = compare({"a.json", "b.json"}, folder);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("BM_x/8"), HasSubstr("1 unclear."), HasSubstr("  2.0x  "),
                                Not(HasSubstr("slower")), HasSubstr("too few")));
  folder.write("c.json", report("26"));
  EXPECT_THAT(compare({"a.json", "c.json"}, folder).out,
              AllOf(HasSubstr("1 slower."), HasSubstr("2.6x slower")));
}

// The command named a FOLDER with the base also if both sides were the same program.
TEST(CompareTest, TheNextCommandNamesAFolderOnlyForAnotherProgram) {
  const TemporaryFolder folder;
  RunRecord run = sample_run("r1");
  folder.write("a.jsonl", result_file(run, sample_case("r1"), 100'000));
  const auto slower = [&](const std::string& id, const auto& change) {
    RunRecord other = sample_run(id);
    change(other.environment);
    folder.write(id, result_file(other, sample_case(id), 200'000));
    return compare({"a.jsonl", id}, folder).out;
  };
  EXPECT_THAT(slower("same", [](EnvironmentRecord&) {}),
              AllOf(Not(HasSubstr("FOLDER")), HasSubstr("both sides state the same program"),
                    HasSubstr(fmt::format(" run {} --set measure.processes=20\n", kStoredCase))));
  EXPECT_THAT(
      slower("variable",
             [](EnvironmentRecord& environment) {
               environment.details["env.ONEDNN_MAX_CPU_ISA"] = "SSE41";
             }),
      AllOf(Not(HasSubstr("FOLDER")),
            HasSubstr(fmt::format(" duet {} --cand-env ONEDNN_MAX_CPU_ISA=SSE41\n", kStoredCase))));
  EXPECT_THAT(
      slower("library",
             [](EnvironmentRecord& environment) { environment.libraries["onednn"] = "0.1"; }),
      HasSubstr(fmt::format(" duet {} --base FOLDER\n", kStoredCase)));
}

TEST(CompareTest, NothingComparableNamesTheNextCommand) {
  const TemporaryFolder folder;
  const RunRecord run = sample_run("r1");
  folder.write("a.jsonl", result_file(run, sample_case("r1"), 100'000));
  const std::string other = "gemm/forward/m9n9k9/f32/onednn/cpu/hot";
  folder.write("b.jsonl", result_file(run, sample_case("r1", other), 100'000));
  EXPECT_THAT(compare({"a.jsonl", "b.jsonl"}, folder).out,
              AllOf(testing::StartsWith("Nothing can be compared: the two have no case in common; "
                                        "1 removed, 1 added.\n"),
                    HasSubstr(fmt::format("Next: measure a case that the base has, then compare "
                                          "again:\n  {} run {}\n",
                                          BENCH_BINARY, kStoredCase))));
  RunRecord elsewhere = sample_run("r2");
  elsewhere.environment.machine_class = "other-4c-11111111";
  folder.write("c.jsonl", result_file(elsewhere, sample_case("r2"), 100'000));
  EXPECT_THAT(compare({"a.jsonl", "c.jsonl"}, folder).out,
              AllOf(testing::StartsWith("Nothing can be compared: machine_class differs"),
                    HasSubstr(" compare a.jsonl c.jsonl --across-machines\n")));
}

TEST(CompareTest, TwoResultFilesOfDifferentMachineClassesAreIncomparable) {
  const TemporaryFolder folder;
  folder.write("a.jsonl", result_text(100'000, "3.2.0", "x"));
  RunRecord elsewhere = sample_run("r2");
  elsewhere.environment.machine_class = "other-4c-11111111";
  folder.write("b.jsonl", result_file(elsewhere, sample_case("r2"), 200'000));
  const ProgramResult refused = compare({"a.jsonl", "b.jsonl", "--fail-on", "regression"}, folder);
  EXPECT_EQ(refused.status, 5) << refused.err;
  EXPECT_EQ(compare({"a.jsonl", "b.jsonl"}, folder).status, 0);
  EXPECT_THAT(refused.out,
              AllOf(HasSubstr("1 incomparable"), Not(HasSubstr("2.0x slower")),
                    HasSubstr("machine_class differs: test-2c-00000000 and other-4c-11111111")));
  EXPECT_EQ(compare({"a.jsonl", "b.jsonl", "--require-baseline"}, folder).status, 5);
  EXPECT_EQ(compare({"a.jsonl", "a.jsonl", "--require-baseline"}, folder).status, 0);
  const auto document = json::parse(compare({"a.jsonl", "b.jsonl", "--json"}, folder).out);
  EXPECT_EQ(document.at("cases").at(0).at("verdict"), "incomparable");
  EXPECT_FALSE(document.at("cases").at(0).contains("ratio"));
  const ProgramResult across =
      compare({"a.jsonl", "b.jsonl", "--across-machines", "--fail-on", "regression"}, folder);
  EXPECT_EQ(across.status, 1) << across.err;
  EXPECT_THAT(across.out, AllOf(HasSubstr("1 slower"), HasSubstr("2.0x slower"),
                                HasSubstr("changed    machine_class: test-2c-00000000 -> ")));
}

// Host names and clock rates differ between equal machines. The number of processors and the caches
// identify a machine.
TEST(CompareTest, GoogleBenchmarkOfAMachineWithOtherProcessorsIsIncomparable) {
  const TemporaryFolder folder;
  const auto report = [](const std::string& context) {
    return R"({"context": {)" + context +
           R"(}, "benchmarks": [{"name": "BM_x", "run_type": "iteration", "real_time": 10}]})";
  };
  const std::string cache = R"("caches": [{"type": "Data", "level": 1, "size": 32768}])";
  folder.write("a.json",
               report(R"("host_name": "a", "num_cpus": 2, "mhz_per_cpu": 2800, )" + cache));
  folder.write("b.json",
               report(R"("host_name": "b", "num_cpus": 2, "mhz_per_cpu": 2799, )" + cache));
  folder.write("c.json", report(R"("host_name": "a", "num_cpus": 8)"));
  folder.write("d.json", report(R"("num_cpus": 2, "caches": [{"type": "Data", "level": 1,)"
                                R"( "size": 49152}])"));
  EXPECT_THAT(compare({"a.json", "b.json"}, folder).out, HasSubstr("  0.0 %  "));
  EXPECT_THAT(compare({"a.json", "c.json"}, folder).out, HasSubstr("num_cpus differs: 2 and 8"));
  EXPECT_THAT(compare({"a.json", "d.json"}, folder).out,
              HasSubstr("caches differs: L1 Data 32768"));
  EXPECT_THAT(compare({"a.json", "c.json", "--across-machines"}, folder).out, HasSubstr(" 0.0 % "));
}

TEST(CompareTest, WrongInputsAreExplained) {
  const TemporaryFolder folder;
  folder.write("a.jsonl", result_text(100'000, "3.1.0", "x"));
  folder.write("empty.jsonl", "");
  folder.write("text.txt", "hello\n");
  for (const auto& [file, message] :
       {std::pair("none.jsonl", "none.jsonl"),
        {"empty.jsonl", "is empty; name a file that `bench run` wrote"},
        {"text.txt", "text.txt"}}) {
    const ProgramResult result = compare({"a.jsonl", file}, folder);
    EXPECT_EQ(result.status, 2) << file;
    EXPECT_THAT(result.err, AllOf(HasSubstr("bench compare: "), HasSubstr(message)));
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(compare({"a.jsonl"}, folder).status, 2);
  const ProgramResult format = compare({"a.jsonl", "a.jsonl", "--format", "xml"}, folder);
  EXPECT_EQ(format.status, 2);
  EXPECT_THAT(format.err, HasSubstr("markdown"));
  EXPECT_THAT(compare({"a.jsonl", "a.jsonl", "--fail-on", "noise"}, folder).err,
              HasSubstr("regression"));
}

// A truncated or malformed line loses only that line, and a warning reports it.
TEST(CompareTest, DamagedLinesAreWarnings) {
  const TemporaryFolder folder;
  const std::string text = result_text(100'000, "3.1.0", "x");
  folder.write("a.jsonl", text);
  folder.write("b.jsonl", text + "{\"record\":\"case\",\"run");
  const ProgramResult result = compare({"a.jsonl", "b.jsonl"}, folder);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("b.jsonl"));
  EXPECT_THAT(result.out, HasSubstr("1 same"));
}

// Two recorded runs with wide and narrow instructions. Their medians differ by a factor of 2.5, and
// their threads were at different distances. One process of the second run, whose threads shared a
// processor, made the second one "48x slower", with an interval of 46 to 50.
TEST(CompareTest, AnOddProcessDoesNotDecideHowFarTwoRunsDiffer) {
  const TemporaryFolder folder;
  const std::string records = std::string(BENCH_SOURCE_DIR) + "/tests/data/speed_correction/";
  const ProgramResult result = compare({records + "new.jsonl", records + "old.jsonl"}, folder);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("2.8x slower"), HasSubstr("1.1 to 6.7"),
                                HasSubstr("the distance between the threads' processors")));
}

}  // namespace
}  // namespace bench::test::compare_test
