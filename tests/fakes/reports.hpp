// SPDX-License-Identifier: Apache-2.0
// Records of result files with known times, for tests of their readers.
#pragma once

#include "harness/result/report.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench::test {

// The case and machine class of the runs in baseline_records.hpp.
inline constexpr const char* kStoredCase = "gemm/forward/m16n16k16/f32/onednn/cpu/hot";
inline constexpr const char* kStoredMachine = "test-2c-00000000";
inline constexpr const char* kStoredHash = "0123456789abcdef";

inline RunRecord sample_run(std::string run_id) {
  RunRecord run;
  run.run_id = std::move(run_id);
  run.started = "2026-11-21T08:00:00Z";
  run.environment.machine_class = kStoredMachine;
  run.environment.libraries = {{"onednn", "3.2.0"}};
  return run;
}

inline CaseRecord sample_case(std::string run_id, std::string id = kStoredCase) {
  CaseRecord record;
  record.run_id = std::move(run_id);
  record.id = std::move(id);
  record.op = "gemm";
  record.direction = "forward";
  record.case_hash = kStoredHash;
  return record;
}

inline ProcessRecord sample_process(std::string run_id, std::string id, int number,
                                    std::vector<Nanoseconds> samples) {
  ProcessRecord process;
  process.run_id = std::move(run_id);
  process.id = std::move(id);
  process.process = number;
  process.samples = std::move(samples);
  return process;
}

// Returns the result file of a run of one case with five processes. The first takes `nanoseconds`.
// Each is one nanosecond slower than the previous one.
inline std::string result_file(const RunRecord& run, const CaseRecord& record,
                               std::int64_t nanoseconds) {
  std::string text = to_json_line(run) + "\n";
  for (int number = 0; number < 5; ++number) {
    const Nanoseconds time(nanoseconds + number);
    text += to_json_line(sample_process(run.run_id, record.id, number, {time, time})) + "\n";
  }
  return text + to_json_line(record) + "\n";
}

}  // namespace bench::test
