// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/measured_time.hpp"

#include "tests/fakes/baseline_records.hpp"
#include "tests/fakes/plans.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr const char* kCase = "gemm/forward/m8n8k8/f32/onednn/cpu/hot";
constexpr const char* kGpuCase = "gemm/forward/m128n128k128/f16/cublaslt/cuda/hot";
const MachineIdentity kHere{"here-2c", "GPU A"};

Report report_of(const std::string& id, Nanoseconds median) {
  Report report;
  RunRecord& run = report.runs.emplace_back();
  run.run_id = "r1";
  run.started = "2026-11-21T08:00:00Z";
  run.environment.machine_class = kHere.machine_class;
  run.environment.details = {{"gpu.name", "GPU A"}};
  CaseRecord& record = report.cases.emplace_back();
  record.id = id;
  record.run_id = "r1";
  TimeSummary& time = record.time.emplace();
  time.median = median;
  time.low = median - median / 50;
  time.high = median + median / 50;
  return report;
}

Roofline roofline_of(Nanoseconds ideal) {
  Roofline roofline;
  roofline.ideal = ideal;
  roofline.bound = Bound::memory;
  return roofline;
}

std::string answer(const Result<MeasuredTime>& measured,
                   const std::optional<Roofline>& ideal = std::nullopt) {
  return format_measured_time(measured, ideal);
}

// `explain` named neither a result file nor the gain.
TEST(MeasuredTimeText, SaysHowLongHowGoodHowMuchToGainAndWhereFrom) {
  const auto measured =
      find_time_in_report(test::make_case(kCase), kHere, report_of(kCase, 100us), "r.jsonl");
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(answer(measured, roofline_of(80us)),
            "This case took 100.0 us, 80 % of what this machine's ceilings permit. There is 20.00 "
            "us to gain (20 %): at best it takes 80.00 us, bound by memory.\n"
            "Measured 2026-11-21T08:00:00Z by run r1 in r.jsonl, machine class here-2c.\n\n");
  EXPECT_THAT(answer(measured), HasSubstr("This case took 100.0 us. How near that is to this "
                                          "machine's ceilings is unknown; `bench peak` measures "
                                          "them.\n"));
  EXPECT_THAT(answer(measured, roofline_of(110us)),
              HasSubstr("110 % of what this machine's ceilings permit. There is nothing to gain."));
}

// `explain` promised a gain that was smaller than the noise of the time.
TEST(MeasuredTimeText, AGainWithinTheNoiseOfTheTimeIsNotPromised) {
  const auto text = [](const auto& change) {
    Report report = report_of(kCase, 100us);
    change(report.cases.front());
    return answer(find_time_in_report(test::make_case(kCase), kHere, report, "r.jsonl"),
                  roofline_of(80us));
  };
  EXPECT_THAT(text([](CaseRecord&) {}), HasSubstr(". There is 20.00 us to gain (20 %)"));
  EXPECT_THAT(text([](CaseRecord& record) { record.time->low = 79us; }),
              HasSubstr("There may be 20.00 us to gain (20 %): at best it takes 80.00 us, bound by "
                        "memory. This is not certain, since the interval of the time is 79.00 us "
                        "to 102.0 us.\n"));
  EXPECT_THAT(text([](CaseRecord& record) { record.time->low = record.time->high = {}; }),
              HasSubstr("bound by memory. This is not certain, since the time has no interval: "
                        "the record has no interval, and no processes that give one.\n"));
  EXPECT_THAT(text([](CaseRecord& record) { record.flags = {Flag::unsteady}; }),
              HasSubstr("There may be 20.00 us to gain (20 %): at best it takes 80.00 us, bound by "
                        "memory. This is not certain, since the time is `unsteady`.\n"));
}

// Few processes were blamed whatever the reason.
TEST(MeasuredTimeText, SaysFromTheRecordWhyATimeHasNoInterval) {
  const auto text = [](std::size_t processes, std::size_t with_canaries) {
    Report report = report_of(kCase, 100us);
    report.cases.front().time->low = report.cases.front().time->high = {};
    for (std::size_t i = 0; i < processes; ++i) {
      ProcessRecord& process = report.processes.emplace_back();
      process.id = kCase;
      process.iterations_per_sample = 1;
      process.samples = {100us, 101us};
      if (with_canaries == 0) continue;
      process.canaries.threads = 1;
      process.canaries.times.assign(2, i < with_canaries ? 10us : 0us);
    }
    return answer(find_time_in_report(test::make_case(kCase), kHere, report, "r.jsonl"),
                  roofline_of(80us));
  };
  EXPECT_THAT(text(3, 0),
              HasSubstr("since the time has no interval: 3 processes measured it and an "
                        "interval needs 5; `bench run --set measure.processes=5` gives "
                        "it one.\n"));
  EXPECT_THAT(text(6, 2), HasSubstr("since the time has no interval: of the 6 processes that "
                                    "measured it only 2 have samples at a known speed of the "
                                    "machine, and an interval needs 5; measure it again.\n"));
}

TEST(MeasuredTimeText, SaysThatTheCeilingsWereCalibratedInTheRun) {
  Report report = report_of(kCase, 100us);
  Roofline& roofline = report.cases.front().roofline.emplace(roofline_of(50us));
  roofline.source = CeilingSource::calibrated;
  roofline.precision = 0.04;
  const auto measured = find_time_in_report(test::make_case(kCase), kHere, report, "r.jsonl");
  EXPECT_THAT(answer(measured), HasSubstr("50 % of what this machine's ceilings (calibrated in "
                                          "that run, to about 4 %) permit. There is 50.00 us"));
  // Stored ceilings are measured longer.
  EXPECT_THAT(answer(measured, roofline_of(80us)), HasSubstr("80 % of what this machine's ceilings "
                                                             "permit"));
}

TEST(MeasuredTimeText, ShowsNothingThatWasNotMeasuredOnThisMachine) {
  const Case spec = test::make_case(kCase);
  Report report = report_of(kCase, 100us);
  report.runs.front().environment.machine_class = "there-4c";
  const auto foreign = find_time_in_report(spec, kHere, report, "r.jsonl");
  ASSERT_FALSE(foreign.ok());
  EXPECT_EQ(answer(foreign, roofline_of(80us)),
            "No time is known: r.jsonl: its time is of the machine class there-4c, and this is "
            "here-2c. The command at the end measures it; `--from RESULT` takes the time of a "
            "result. At best this case takes 80.00 us, bound by memory.\n\n");
  const Case on_gpu = test::make_case(kGpuCase);
  const Report of_gpu = report_of(kGpuCase, 100us);
  const auto same = find_time_in_report(on_gpu, kHere, of_gpu, "r.jsonl");
  ASSERT_TRUE(same.ok());
  EXPECT_THAT(answer(same), HasSubstr("machine class here-2c, GPU GPU A.\n"));
  const auto other = find_time_in_report(on_gpu, {"here-2c", "GPU B"}, of_gpu, "r.jsonl");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().what, "its time is of the GPU GPU A, and this machine has GPU B");
  const auto none = find_time_in_report(on_gpu, {"here-2c", ""}, of_gpu, "r.jsonl");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().what, "its time is of the GPU GPU A, and this machine has none");
}

TEST(MeasuredTimeText, SaysWhyAResultHasNoTime) {
  const Case spec = test::make_case(kCase);
  Report report = report_of(kCase, 100us);
  report.cases.front().time.reset();
  report.cases.front().outcome = Outcome::unsupported;
  EXPECT_EQ(find_time_in_report(spec, kHere, report, "r.jsonl").error().what,
            "has no time of this case (unsupported)");
  EXPECT_EQ(find_time_in_report(spec, kHere, report_of(kGpuCase, 1us), "r").error().what,
            "no result of this case");
}

// A run that was adopted from another machine class is not a time of this one.
TEST(MeasuredTimeOfAStore, IsThatOfTheLastRunThatThisClassMeasuredItself) {
  const test::TemporaryFolder folder;
  const BaselineStore store(folder.file("baselines"));
  const MachineIdentity machine{test::kStoredMachine, ""};
  const Case spec = test::make_case(test::kStoredCase);
  EXPECT_EQ(find_time_in_store(spec, machine, store.folder()).error().what,
            "no run of this case on this machine class is stored");
  ASSERT_TRUE(store.append(test::baseline(1, 0, 100us), EpochPolicy::current).ok());
  BaselineRecord adopted = test::baseline(2, 0, 101us);
  adopted.adopted_from = "there-4c";
  ASSERT_TRUE(store.append(adopted, EpochPolicy::current).ok());
  const auto measured = find_time_in_store(spec, machine, store.folder());
  ASSERT_TRUE(measured.ok()) << measured.error().message();
  EXPECT_EQ(measured->median, 100us);
  EXPECT_EQ(measured->run_id, "run-01");
  EXPECT_EQ(measured->source, store.folder());
  const auto document = nlohmann::json::parse(json_object(
      [&](JsonWriter& writer) { write_measured_time(writer, *measured, roofline_of(60us)); }));
  EXPECT_EQ(document.at("gain_ns"), 40'000);
  EXPECT_DOUBLE_EQ(document.at("efficiency").get<double>(), 0.6);
  EXPECT_EQ(document.at("machine_class"), test::kStoredMachine);
}

}  // namespace
}  // namespace bench
