// SPDX-License-Identifier: Apache-2.0
// Baseline records with known times, for tests of the store and of its readers.
#pragma once

#include "harness/store/record.hpp"
#include "tests/fakes/reports.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <vector>

namespace bench::test {

// Returns a process whose samples have one iteration and this median. Its lower quartile is a tenth
// less.
inline ProcessSummary make_process(Nanoseconds median) {
  ProcessSummary process;
  process.samples = 20;
  process.median = median;
  process.q25 = median - median / 10;
  process.p90 = median + median / 10;
  process.min = process.q25 / 2;
  process.deviation = median / 100;
  return process;
}

// Returns the time of day `number`, counted from 2026-11-01.
inline std::string time_of_day(int number) {
  using namespace std::chrono;
  const year_month_day date(sys_days(2026y / November / 1) + days(number - 1));
  return fmt::format("{}-{:02}-{:02}T08:00:00Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

// Returns a run with one process per median. `number` is its day and part of its id.
inline BaselineRecord baseline(int number, const std::vector<Nanoseconds>& medians) {
  BaselineRecord record;
  record.measured.id = kStoredCase;
  record.measured.case_hash = kStoredHash;
  record.run_id = fmt::format("run-{:02}", number);
  record.time = time_of_day(number);
  record.reason = "nightly";
  record.environment.machine_class = kStoredMachine;
  for (const Nanoseconds median : medians)
    record.measured.processes.push_back(make_process(median));
  return record;
}

inline BaselineRecord baseline(int number, std::int64_t epoch, Nanoseconds median) {
  BaselineRecord record = baseline(number, {median, median, median, median, median});
  record.epoch = epoch;
  return record;
}

}  // namespace bench::test
