// SPDX-License-Identifier: Apache-2.0
// `bench peak` and what it leaves for other commands. The loops are real, so only the structure of
// the answers is checked.
#include "tests/support/peak_results.hpp"
#include "tests/support/program.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace bench::test::peak_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class PeakCommandTest : public PeakResultsTest {
 protected:
  ProgramResult bench(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), BENCH_BINARY);
    return run_program({std::move(arguments), folder_.path(), {}});
  }
  // Measures the ceilings that match `filter` and stores ten times their rates. A ceiling that is
  // measured while the machine is busy can be half of what a later run reaches, and a run refuses
  // a time that its ceilings do not permit.
  ProgramResult bench_peak_raised(const std::string& filter,
                                  const std::vector<std::string>& options = {}) const {
    // Without the limit of --quick, which a machine with a large last-level cache may exceed.
    std::vector<std::string> arguments = {"peak", "--quick", "--budget", "4m", "--filter", filter};
    arguments.insert(arguments.end(), options.begin(), options.end());
    ProgramResult result = bench(std::move(arguments));
    std::istringstream lines(read_text(peak_file()));
    std::ofstream raised(peak_file());
    for (std::string line; std::getline(lines, line);) {
      nlohmann::json record = nlohmann::json::parse(line);
      for (const char* rate : {"flops_per_s", "bytes_per_s", "low", "high"}) {
        if (record.contains(rate)) record[rate] = 10 * record[rate].get<double>();
      }
      raised << record.dump() << '\n';
    }
    return result;
  }
};

// Makes a result as of a program that calibrated no ceilings.
void remove_rooflines(const std::string& path) {
  std::istringstream lines(read_text(path));
  std::ofstream without(path);
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json record = nlohmann::json::parse(line);
    record.erase("roofline");
    without << record.dump() << '\n';
  }
}

constexpr const char* kLoopOfOneThread = "peak/forward/fma_portable/f32/native/cpu/hot/t1";

TEST_F(PeakCommandTest, StoresCeilingsThatLaterRunsUse) {
  const ProgramResult peak = bench_peak_raised("*/fma_portable*");
  ASSERT_EQ(peak.status, 0) << peak.err;
  EXPECT_THAT(peak.out, StartsWith("This machine computes in f32 at most "));
  EXPECT_THAT(peak.out, HasSubstr("\nStored in baselines/"));
  EXPECT_THAT(peak.out, HasSubstr("bench run configs/quick.yaml"));
  std::istringstream lines(read_text(peak_file()));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_THAT(schema_problems(line, "docs/peak.schema.json"), IsEmpty()) << line;
  }
  EXPECT_GE(count, 1);

  const ProgramResult run = bench({"run", kLoopOfOneThread, "--quick", "--out", "r.jsonl"});
  ASSERT_EQ(run.status, 0) << run.err;
  // Ceilings alone are not baselines: the run is not compared with them.
  EXPECT_THAT(run.out, Not(HasSubstr("baseline")));
  const nlohmann::json record = case_record("r.jsonl");
  ASSERT_TRUE(record.contains("roofline")) << record;
  EXPECT_EQ(record["roofline"]["source"], "stored");
  EXPECT_EQ(record["roofline"]["bound"], "compute");
  EXPECT_GT(record["roofline"]["ideal_ns"], 0);

  // Another store without ceilings does not hide those of the default store.
  std::filesystem::create_directories(folder_.file("other"));
  const ProgramResult other =
      bench({"run", kLoopOfOneThread, "--quick", "--out", "other.jsonl", "--baseline", "other"});
  ASSERT_EQ(other.status, 0) << other.err;
  EXPECT_EQ(case_record("other.jsonl").at("roofline").at("source"), "stored");
}

// Earlier, the command looked into the default store, so the run still had no ceilings.
TEST_F(PeakCommandTest, TheNextCommandNamesTheStoreOfTheCeilings) {
  const ProgramResult peak = bench_peak_raised("*/fma_portable*t1", {"--baseline", "my store"});
  ASSERT_EQ(peak.status, 0) << peak.err;
  EXPECT_THAT(peak.out, HasSubstr(" run configs/quick.yaml --baseline 'my store'\n"));
  // Only a case with time to gain is to be explained.
  const ProgramResult run =
      bench({"run", kLoopOfOneThread, "--quick", "--out", "r.jsonl", "--baseline", "my store"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(std::string(" explain ") + kLoopOfOneThread +
                                 " --baseline 'my store' --from r.jsonl\n"));
}

// Earlier, `explain` showed no measured time and had no `--baseline`.
TEST_F(PeakCommandTest, ExplainShowsTheStoredTimeAndItsPartOfTheCeiling) {
  ASSERT_EQ(bench_peak_raised("*/fma_portable*t1").status, 0);
  ASSERT_EQ(bench({"run", kLoopOfOneThread, "--quick", "--out", "r.jsonl"}).status, 0);
  EXPECT_THAT(bench({"explain", kLoopOfOneThread}).out,
              testing::AllOf(HasSubstr("No time is known: baselines: no run of this case on this "
                                       "machine class is stored. The command at the end "
                                       "measures it; `--from RESULT` takes"),
                             Not(HasSubstr("This case took"))));
  const ProgramResult of_result = bench({"explain", kLoopOfOneThread, "--from", "r.jsonl"});
  EXPECT_THAT(of_result.out,
              testing::ContainsRegex("\n\nThis case took [0-9.]+ .s, [0-9]+ % of what this "
                                     "machine's ceilings permit[.] There may be [^\n]+"
                                     "\nMeasured 20[^\n]+Z by run [^\n]+ in r.jsonl, machine "
                                     "class [^\n]+[.]\n"));
  ASSERT_EQ(bench({"baseline", "save", "r.jsonl", "--reason", "first"}).status, 0);
  const ProgramResult text = bench({"explain", kLoopOfOneThread, "--baseline", "baselines"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, testing::ContainsRegex("\n\nThis case took [0-9.]+ .s, [0-9]+ % of what "));
  EXPECT_THAT(text.out,
              testing::ContainsRegex("\nMeasured 20[^\n]+Z by run [^\n]+ in baselines, machine "));
  EXPECT_THAT(text.out, HasSubstr(" --baseline baselines\n"));
  const nlohmann::json document = nlohmann::json::parse(
      bench({"explain", kLoopOfOneThread, "--baseline", "baselines", "--json"}).out);
  const nlohmann::json entry = document.at("cases").at(0);
  EXPECT_DOUBLE_EQ(
      entry.at("stored").at("efficiency").get<double>(),
      entry.at("ideal_ns").get<double>() / entry.at("stored").at("median_ns").get<double>());
  const ProgramResult none = bench({"explain", kLoopOfOneThread, "--baseline", "nowhere"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("nowhere"));
}

// Earlier, it took 128 s on a busy machine. The time is limited by design, so it is checked here.
TEST_F(PeakCommandTest, NoCeilingOfAllThreadsIsBelowThatOfOne) {
  const ProgramResult peak = bench({"peak", "--quick", "--filter", "*/fma_portable*"});
  EXPECT_THAT(peak.status, testing::AnyOf(0, 3)) << peak.err;  // 3: a very busy machine
  EXPECT_THAT(peak.out, StartsWith("This machine "));
  std::map<std::string, double> of_one_thread;
  std::istringstream lines(read_text(peak_file()));
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    const std::string key = record.value("name", "") + record.value("level", "");
    const double rate = record.value("flops_per_s", record.value("bytes_per_s", 0.0));
    const bool is_of_one = record.at("threads") == 1;
    if (is_of_one) of_one_thread[key] = rate;
    if (!is_of_one && of_one_thread.contains(key)) {
      EXPECT_GE(rate, of_one_thread[key]) << line;
    }
  }
  EXPECT_FALSE(of_one_thread.empty());
}

// Regression test: the ceilings were measured for a minute and then lost.
TEST_F(PeakCommandTest, AStoreThatCannotBeWrittenIsReportedBeforeAnythingIsMeasured) {
  const ProgramResult result = bench({"peak", "--baseline", "/proc/x"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("bench peak: /proc/x/"), HasSubstr("cannot create the folder"),
                    HasSubstr("choose another one with --baseline DIR"), Not(HasSubstr("["))));
}

TEST_F(PeakCommandTest, AnalyzeComparesALogWithTheStoredCeilings) {
  const std::vector<std::string> ask = {
      "analyze",  BENCH_SOURCE_DIR "/profiler/onednn/testdata/onednn_3.2_timestamps.log",
      "--format", "json",
      "-c",       "type,time_ns,ideal_ns,efficiency,bound,intensity"};
  const auto rows_of = [](const ProgramResult& result) {
    return nlohmann::json::parse(result.out).at("rows");
  };
  const ProgramResult before = bench(ask);
  ASSERT_EQ(before.status, 0) << before.err;
  EXPECT_THAT(before.err, HasSubstr("No ceilings of this machine's CPU are stored in baselines: "
                                    "run `bench peak`."));
  EXPECT_FALSE(rows_of(before)[0].contains("ideal_ns"));
  EXPECT_GT(rows_of(before)[0].at("intensity"), 0);

  ASSERT_EQ(bench({"peak", "--quick", "--filter", "*/fma_portable*"}).status, 0);
  const ProgramResult after = bench(ask);
  ASSERT_EQ(after.status, 0) << after.err;
  EXPECT_THAT(after.err,
              HasSubstr("those of this machine's CPU in baselines; the file names no machine"));
  // A store without ceilings does not hide those of the default store.
  std::vector<std::string> other = ask;
  other.insert(other.end(), {"--baseline", "other"});
  EXPECT_EQ(bench(other).err, after.err);
  const nlohmann::json row = rows_of(after)[0];
  EXPECT_EQ(row.at("bound"), "compute");
  EXPECT_DOUBLE_EQ(row.at("efficiency"),
                   row.at("ideal_ns").get<double>() / row.at("time_ns").get<double>());
}

// Rows of a GPU had neither ideal time nor efficiency.
TEST_F(PeakCommandTest, StatedRatesAreTheCeilingsOfKernels) {
  std::vector<std::string> ask = {
      "analyze",  BENCH_SOURCE_DIR "/profiler/readers/testdata/pyprof_resnet50.txt",
      "--format", "json",
      "-t",       "1",
      "-c",       "ideal_ns,efficiency,bound"};
  EXPECT_THAT(bench(ask).err,
              HasSubstr("No ceilings of a GPU are stored in baselines: run `bench peak`. "
                        "--peak-flops and --peak-bandwidth state them."));
  ask.insert(ask.end(), {"--peak-flops", "125TFLOP/s", "--peak-bandwidth", "900GB/s"});
  const ProgramResult stated = bench(ask);
  ASSERT_EQ(stated.status, 0) << stated.err;
  EXPECT_THAT(stated.err, HasSubstr("Ceilings: those of --peak-flops and --peak-bandwidth."));
  const nlohmann::json row = nlohmann::json::parse(stated.out).at("rows")[0];
  EXPECT_EQ(row.at("ideal_ns"), 67814);  // 61,032,832 B at 900 GB/s
  EXPECT_EQ(row.at("bound"), "memory");
}

TEST_F(PeakCommandTest, AnalyzeTakesTheCeilingsOfAResultFromTheResult) {
  ASSERT_EQ(bench_peak_raised("*/fma_portable*").status, 0);
  const ProgramResult run = bench({"run", "gemm/forward/m64n64k64/f32/onednn/cpu/hot", "--quick",
                                   "--profile", "--out", "r.jsonl"});
  ASSERT_EQ(run.status, 0) << run.err;
  // The store is not asked: it could be of another day, or of another machine.
  const ProgramResult rows = bench(
      {"analyze", "r.jsonl", "--baseline", "none", "--format", "json", "-c", "time_ns,ideal_ns"});
  ASSERT_EQ(rows.status, 0) << rows.err;
  EXPECT_THAT(rows.err, HasSubstr("Ceilings: those that the file states for its cases."));
  EXPECT_EQ(nlohmann::json::parse(rows.out).at("rows")[0].at("ideal_ns"),
            case_record("r.jsonl")["roofline"]["ideal_ns"]);
}

// Earlier, `analyze` took the weights from memory if the file itself stated no ceilings, although
// the case used only its own buffers.
TEST_F(PeakCommandTest, AnalyzeFindsInAResultWithoutCeilingsWhereColdDataAre) {
  folder_.write("networks/tiny.yaml",
                "version: 1\nnetwork: tiny\ninput: { c: 64, h: 1 }\n"
                "layers: [{ name: fc, op: gemm, n: 128 }]\n");
  folder_.write("net.yaml",
                "version: 1\ncases: [{ network: tiny, cache: cold_weights, measure: [layers] }]\n");
  const auto analyzed = [&](const std::string& file) {
    const ProgramResult run = bench({"run", "net.yaml", "--quick", "--profile", "--out", file});
    EXPECT_EQ(run.status, 0) << run.err;
    if (file == "before.jsonl") {
      remove_rooflines(folder_.file(file));
      EXPECT_EQ(bench_peak_raised("*/read-*").status, 0);
    }
    const ProgramResult rows = bench({"analyze", file, "--format", "json", "-c", "ideal_ns,bound"});
    EXPECT_EQ(rows.status, 0) << rows.err;
    return nlohmann::json::parse(rows.out).at("rows").at(0);
  };
  const nlohmann::json before = analyzed("before.jsonl");
  EXPECT_GT(before.at("ideal_ns"), 0);
  EXPECT_EQ(before, analyzed("after.jsonl"));
}

TEST_F(PeakCommandTest, VerifyReadsTheCeilings) {
  ASSERT_EQ(bench({"peak", "--quick", "--filter", "*/fma_portable*t1"}).status, 0);
  EXPECT_EQ(bench({"baseline", "verify"}).status, 0);
  std::ofstream(peak_file(), std::ios::app) << "{}\n";
  const ProgramResult verify = bench({"baseline", "verify"});
  EXPECT_EQ(verify.status, 2);
  EXPECT_THAT(verify.out, HasSubstr("peak.jsonl:2: ceiling refused"));
  // The next `bench peak` finds it before it measures.
  const ProgramResult again = bench({"peak", "--quick", "--filter", "*/fma_portable*t1"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("fix or remove the line"));
}

TEST_F(PeakCommandTest, JsonIsOneDocument) {
  const ProgramResult peak =
      bench({"peak", "--quick", "--json", "--quiet", "--filter", "*/fma_portable*t1"});
  ASSERT_EQ(peak.status, 0) << peak.err;
  EXPECT_EQ(nlohmann::json::parse(peak.out).at("peaks").size(), 1U);
}

// Earlier, nothing was measured for `cuda:1`, and the exit status said that nothing could be.
TEST_F(PeakCommandTest, AnUnknownDeviceIsAMistake) {
  for (const char* device : {"gpu", "cuda:1"}) {
    const ProgramResult result = bench({"peak", "--device", device});
    EXPECT_EQ(result.status, 2) << device;
    EXPECT_THAT(result.err, HasSubstr("did you mean `cuda`?")) << device;
  }
}

TEST_F(PeakCommandTest, AFilterThatLeavesNothingIsAMistake) {
  EXPECT_EQ(bench({"peak", "--filter", "nothing"}).status, 2);
}

TEST_F(PeakCommandTest, AShortRunIsCalibratedToo) {
  const ProgramResult run = bench({"run", kLoopOfOneThread, "--quick", "--out", "r.jsonl"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("ceilings: none are stored for this machine, so "));
  EXPECT_EQ(case_record("r.jsonl").at("roofline").at("source"), "calibrated");
}

}  // namespace
}  // namespace bench::test::peak_test
