// SPDX-License-Identifier: Apache-2.0
// Complete runs with real worker processes that crash, hang, answer wrongly or lose their
// coordinator.
#include "base/file.hpp"
#include "base/random.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/run.hpp"
#include "tests/fakes/plans.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kFirst = "gemm/forward/m4n4k4/f32/onednn/cpu/hot";
constexpr const char* kSecond = "gemm/forward/m8n4k4/f32/onednn/cpu/hot";
constexpr const char* kThird = "gemm/forward/m2n4k4/f32/onednn/cpu/hot";
// Matches kSecond, the case with the fault. The other cases must not be affected.
constexpr const char* kFaultyCase = "m8n4k4";

// `timeout` applies to the case with the fault.
Plan fault_plan(Nanoseconds timeout = 60s) {
  Measure measure;
  measure.processes = 2;
  measure.min_iterations = 5;
  measure.max_time = 2ms;
  const Warmup warmup{1, 0ns};
  Plan plan = test::make_plan({test::make_case(kFirst, measure, warmup),
                               test::make_case(kSecond, measure, warmup),
                               test::make_case(kThird, measure, warmup)});
  plan.cases[1].measure.timeout = timeout;
  return plan;
}

RunOptions fault_options(std::map<std::string, std::string> environment) {
  RunOptions options;
  options.worker_program = BENCH_FAKE_WORKER;
  options.worker_environment = std::move(environment);
  options.run_id = "faults";
  return options;
}

class FileSink final : public RecordSink {
 public:
  explicit FileSink(RecordFile file) : file_(std::move(file)) {}
  Status append(const Record& record) override { return file_.append(to_json_line(record)); }
  Status append_activity(std::string_view line) override { return file_.append(line); }

 private:
  RecordFile file_;
};

class RunFaults : public testing::Test {
 protected:
  Result<RunSummary> run(const Plan& plan, const RunOptions& options, RecordSink& sink) {
    return execute_plan(plan, options, sink, observer_, environment_.env);
  }
  std::map<std::string, CaseRecord> cases_after(const std::string& fault,
                                                Nanoseconds timeout = 60s) {
    test::VectorSink sink;
    const auto summary = run(fault_plan(timeout), fault_options({{"FAKE_FAULT", fault}}), sink);
    EXPECT_TRUE(summary.ok()) << summary.error().message();
    std::map<std::string, CaseRecord> result;
    for (const CaseRecord& record : sink.all<CaseRecord>()) result[record.id] = record;
    return result;
  }
  // Expects this outcome for one case, and times for the others.
  void expect_outcome(const std::string& fault, Outcome outcome, const std::string& reason,
                      Nanoseconds timeout = 60s) {
    const auto cases = cases_after(fault + ":" + kFaultyCase, timeout);
    ASSERT_EQ(cases.size(), 3u);
    EXPECT_EQ(cases.at(kSecond).outcome, outcome) << fault;
    EXPECT_THAT(cases.at(kSecond).reason.value_or(""), HasSubstr(reason)) << fault;
    for (const char* id : {kFirst, kThird}) {
      EXPECT_EQ(cases.at(id).outcome, Outcome::ok) << fault << ": " << *cases.at(id).reason;
      EXPECT_TRUE(cases.at(id).time.has_value());
    }
  }

  MonotonicClock clock_;
  test::TestEnv environment_{clock_};
  test::QuietObserver observer_;
};

TEST_F(RunFaults, WithoutAFaultAllCasesAreMeasured) {
  for (const auto& [id, record] : cases_after("")) {
    EXPECT_EQ(record.outcome, Outcome::ok) << id;
    EXPECT_TRUE(record.flags.empty() || record.flags[0] != Flag::interrupted);
  }
}

TEST_F(RunFaults, SegmentationFault) {
  expect_outcome("segv@first", Outcome::crashed, "SIGSEGV (Segmentation fault) while preparing");
  expect_outcome("segv@timed", Outcome::crashed, "SIGSEGV");
}

TEST_F(RunFaults, Abort) { expect_outcome("abort@timed", Outcome::crashed, "SIGABRT"); }

TEST_F(RunFaults, Hang) {
  expect_outcome("hang@first", Outcome::timed_out, "no answer within 300 ms while preparing",
                 300ms);
}

TEST_F(RunFaults, EarlyExit) {
  expect_outcome("exit@create", Outcome::failed, "exit status 3 while preparing");
}

TEST_F(RunFaults, WrongResult) {
  expect_outcome("wrong@first", Outcome::wrong_result, "[0,0]: got ");
}

TEST_F(RunFaults, GarbageInTheProtocol) {
  expect_outcome("garbage@first", Outcome::failed, "`garbage`");
}

TEST_F(RunFaults, ALibraryThatPrintsDisturbsNobody) {
  const auto cases = cases_after("chatter@first:*");
  for (const auto& [id, record] : cases) EXPECT_EQ(record.outcome, Outcome::ok) << id;
  EXPECT_THAT(environment_.err.str(), HasSubstr("a library says hello"));
}

TEST_F(RunFaults, AWorkerThatDoesNotStartIsAnErrorWithItsReason) {
  test::VectorSink sink;
  auto summary = run(fault_plan(), fault_options({{"FAKE_START", "exit"}}), sink);
  ASSERT_FALSE(summary.ok());
  EXPECT_THAT(summary.error().message(), HasSubstr("exit status 127"));
  EXPECT_THAT(summary.error().message(), HasSubstr("libfake.so.3"));
  summary = run(fault_plan(), fault_options({{"FAKE_START", "protocol"}}), sink);
  ASSERT_FALSE(summary.ok());
  EXPECT_THAT(summary.error().message(), HasSubstr("speaks version 2 of the worker protocol"));
  RunOptions nowhere = fault_options({});
  nowhere.worker_program = "/nowhere/bench";
  summary = run(fault_plan(), nowhere, sink);
  ASSERT_FALSE(summary.ok());
  EXPECT_THAT(summary.error().message(), HasSubstr("cannot execute `/nowhere/bench`"));
}

TEST_F(RunFaults, AnInterruptEndsAHangingWorker) {
  test::VectorSink sink;
  RunOptions options = fault_options({{"FAKE_FAULT", "hang@first:*"}});
  int asked = 0;
  options.interrupted = [&] { return ++asked > 3; };
  const auto summary = run(fault_plan(), options, sink);
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_TRUE(summary->end.interrupted);
  EXPECT_EQ(summary->end.not_measured, 3);
  EXPECT_TRUE(sink.all<CaseRecord>().empty());
}

TEST_F(RunFaults, ProbeReturnsThePreparedCaseOrTheError) {
  const Plan plan = fault_plan();
  ProbeOptions options;
  options.worker_program = BENCH_FAKE_WORKER;
  auto probed = probe_case(plan.cases[1], options, environment_.env);
  ASSERT_TRUE(probed.ok()) << probed.error().message();
  ASSERT_TRUE(probed->prepared.has_value());
  EXPECT_EQ(probed->prepared->implementation, "fake:reference");
  EXPECT_EQ(probed->prepared->buffers.size(), 3u);
  EXPECT_EQ(probed->prepared->check, "");
  EXPECT_EQ(probed->library.version, "1.2.3");
  options.worker_environment = {{"FAKE_FAULT", "segv@first:*"}};
  probed = probe_case(plan.cases[1], options, environment_.env);
  ASSERT_TRUE(probed.ok());
  ASSERT_TRUE(probed->refused.has_value());
  EXPECT_EQ(probed->refused->outcome, Outcome::crashed);
}

// --- the coordinator's own end -----------------------------------------------------------------

// Runs the plan into `path` in a separate process, which this test may kill.
pid_t start_coordinator(const std::string& path, const RunOptions& options, rlim_t file_limit) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  if (file_limit != RLIM_INFINITY) {
    const rlimit limit{file_limit, file_limit};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  MonotonicClock clock;
  test::TestEnv environment(clock);
  test::QuietObserver observer;
  auto file = RecordFile::create(path, Existing::replace);
  if (!file) _exit(9);
  FileSink sink(std::move(*file));
  const auto summary = execute_plan(fault_plan(), options, sink, observer, environment.env);
  _exit(summary.ok() ? 0 : 7);
}

std::size_t lines_of(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Returns whether the process is gone, or a zombie whose parent has not collected it.
bool is_gone(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return true;
  const std::size_t state = text.rfind(") ");
  return state == std::string::npos || text[state + 2] == 'Z' || text[state + 2] == 'X';
}

void expect_gone_within_a_second(const std::string& pids_file) {
  MonotonicClock clock;
  const Nanoseconds start = clock.now();
  std::ifstream file(pids_file);
  for (pid_t pid = 0; file >> pid;) {
    while (!is_gone(pid) && clock.now() - start < 1s) sched_yield();
    EXPECT_TRUE(is_gone(pid)) << "worker " << pid << " outlives its coordinator";
  }
}

Report read_report(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto report = parse_report(text, path);
  if (!report) ADD_FAILURE() << report.error().message();
  return report ? *report : Report{};
}

std::map<std::string, Outcome> outcomes(const Report& report) {
  std::map<std::string, Outcome> result;
  for (const CaseRecord& record : report.cases) result[record.id] = record.outcome;
  return result;
}

// Resumes the run in `path` and expects the cases of an undisturbed one.
void expect_resumable(const std::string& path) {
  {
    // A worker that the dead coordinator was just starting still holds the file, until it checks
    // for its parent.
    MonotonicClock waiting;
    const Nanoseconds start = waiting.now();
    auto file = RecordFile::reopen(path);
    while (!file && waiting.now() - start < 1s) file = RecordFile::reopen(path);
    ASSERT_TRUE(file.ok()) << file.error().message();
    const Report earlier = read_report(path);
    FileSink sink(std::move(*file));
    MonotonicClock clock;
    test::TestEnv environment(clock);
    test::QuietObserver observer;
    RunOptions options = fault_options({});
    options.run_id = "resumed";
    options.resume = &earlier;
    const auto summary = execute_plan(fault_plan(), options, sink, observer, environment.env);
    ASSERT_TRUE(summary.ok()) << summary.error().message();
  }
  const Report whole = read_report(path);
  const std::map<std::string, Outcome> want = {
      {kFirst, Outcome::ok}, {kSecond, Outcome::ok}, {kThird, Outcome::ok}};
  EXPECT_EQ(outcomes(whole), want);
  std::set<std::pair<std::string, int>> processes;
  for (const ProcessRecord& record : whole.processes) {
    EXPECT_TRUE(processes.emplace(record.id, record.process).second) << record.id;
  }
  // On a busy machine, further processes replace disturbed ones; at most twice the number in total.
  EXPECT_THAT(processes.size(), testing::AllOf(testing::Ge(6u), testing::Le(12u)));
}

TEST_F(RunFaults, KillingTheCoordinatorLeavesNoWorkerAndAReadableFile) {
  SplitMix random(20261121);
  for (int round = 0; round < 6; ++round) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("out.jsonl");
    const std::string pids = folder.file("pids");
    const pid_t pid = start_coordinator(path, fault_options({{"FAKE_PIDS", pids}}), RLIM_INFINITY);
    ASSERT_GT(pid, 0);
    // A run writes 14 records: kill it somewhere on the way, or after the end.
    const std::size_t lines = random.below(14);
    int status = 0;
    pid_t ended = 0;
    while (lines_of(path) < lines && ended == 0) ended = waitpid(pid, &status, WNOHANG);
    if (ended == 0) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
    }
    expect_gone_within_a_second(pids);
    if (lines_of(path) == 0) continue;
    const Report report = read_report(path);
    EXPECT_GE(report.runs.size() + report.processes.size() + report.cases.size() + 1, lines);
    expect_resumable(path);
  }
}

TEST_F(RunFaults, KillingTheCoordinatorEndsAWorkerThatHangsInsideAKernel) {
  const test::TemporaryFolder folder;
  const std::string pids = folder.file("pids");
  const pid_t pid = start_coordinator(
      folder.file("out.jsonl"),
      fault_options({{"FAKE_PIDS", pids}, {"FAKE_FAULT", "hang@first:*"}}), RLIM_INFINITY);
  ASSERT_GT(pid, 0);
  int status = 0;
  pid_t ended = 0;
  while (lines_of(pids) < 1 && ended == 0) ended = waitpid(pid, &status, WNOHANG);
  ASSERT_EQ(ended, 0) << "the coordinator ended with status " << status;
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  expect_gone_within_a_second(pids);
}

TEST_F(RunFaults, AFullDiskKeepsWholeRecordsAndEndsTheRun) {
  const test::TemporaryFolder folder;
  const std::string whole = folder.file("whole.jsonl");
  int status = 0;
  waitpid(start_coordinator(whole, fault_options({}), RLIM_INFINITY), &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const auto size = test::read_text(whole).size();
  for (const std::size_t part : {3u, 2u}) {
    const std::string path = folder.file("full" + std::to_string(part) + ".jsonl");
    const std::string pids = folder.file("pids" + std::to_string(part));
    waitpid(start_coordinator(path, fault_options({{"FAKE_PIDS", pids}}), size * (part - 1) / part),
            &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    expect_gone_within_a_second(pids);
    EXPECT_TRUE(read_report(path).warnings.empty());
    expect_resumable(path);
  }
}

TEST_F(RunFaults, CreatingARecordFileInAReadOnlyFolderFails) {
  EXPECT_FALSE(RecordFile::create("/proc/out.jsonl", Existing::refuse).ok());
}

}  // namespace
}  // namespace bench
