// SPDX-License-Identifier: Apache-2.0
// Runs with known cases, for tests of reports.
#pragma once

#include "tests/fakes/reports.hpp"

#include <fmt/format.h>

#include <string>

namespace bench::test {

// Adds a case whose median is `nanoseconds`, with five processes of four samples each.
inline void add_timed_case(Report& report, const std::string& id, std::int64_t nanoseconds) {
  CaseRecord record = sample_case("run1", id);
  const IdSegments segments = split_id(id);
  record.op = segments.op;
  record.direction = segments.direction;
  record.dtype = segments.dtype;
  record.backend = segments.backend;
  record.device = segments.device;
  record.source = "configs/a.yaml:7";
  record.implementation = "brg:avx512_core";
  TimeSummary time;
  time.median = time.q25 = time.q75 = Nanoseconds(nanoseconds);
  time.min = time.low.emplace(nanoseconds - nanoseconds / 100);
  time.max = time.high.emplace(nanoseconds + nanoseconds / 100);
  record.time = time;
  record.work.emplace();
  record.work->flops = 4000;
  record.work->bytes_read = 1000;
  record.flops_per_s = Flops{4000} / Nanoseconds(nanoseconds);
  record.bytes_per_s = Bytes{1000} / Nanoseconds(nanoseconds);
  report.cases.push_back(record);
  for (int process = 0; process < 5; ++process) {
    const Nanoseconds sample(nanoseconds + process);
    report.processes.push_back(
        sample_process("run1", id, process, {sample, sample, sample, sample}));
  }
}

// Returns a report with the sizes 16, 32, 64 and 128 of a product in two data types, and one failed
// case.
inline Report sample_run_report() {
  Report report;
  report.runs.push_back(sample_run("run1"));
  report.runs.back().config_name = "sweep";
  report.runs.back().environment.cpu = "Test CPU";
  report.runs.back().environment.threads = 2;
  report.ends.resize(1);
  report.ends.back().run_id = "run1";
  for (const char* dtype : {"f32", "bf16"}) {
    for (const int m : {16, 32, 64, 128}) {
      add_timed_case(report, fmt::format("gemm/forward/m{}n8k8/{}/onednn/cpu/hot", m, dtype),
                     1000 * m * (dtype[0] == 'f' ? 2 : 1));
    }
  }
  CaseRecord failed = sample_case("run1", "gemm/forward/m9n9k9/f32/onednn/cpu/hot");
  failed.dtype = "f32";
  failed.outcome = Outcome::wrong_result;
  failed.reason = "element 3 is 1, expected 2";
  report.cases.push_back(failed);
  return report;
}

}  // namespace bench::test
