// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the coordinator: workers in this process over fake backends, and one
// clock.
#pragma once

#include "harness/run/coordinator.hpp"
#include "tests/fakes/fake_backend.hpp"
#include "tests/fakes/fake_clock.hpp"
#include "tests/fakes/in_process_worker.hpp"
#include "tests/fakes/plans.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace bench::test {

inline constexpr const char* kFirst = "gemm/forward/m4n4k4/f32/onednn/cpu/hot";
inline constexpr const char* kSecond = "gemm/forward/m8n4k4/f32/onednn/cpu/hot";
// Time before the first sample, with the defaults of FakeScript: creation without and with a cache
// hit, packing of two tensors, and the first run.
inline constexpr Nanoseconds kSetup{5000 + 50 + 2 * 200 + 60000};

inline Measure measure(int processes, Nanoseconds max_time = std::chrono::seconds(2)) {
  Measure result;
  result.processes = processes;
  result.max_time = max_time;
  return result;
}

class CoordinatorTest : public testing::Test {
 protected:
  CoordinatorTest() {
    parts_.cores = {{0}, {1}};
    parts_.environment.machine_class = "test-2c";
    parts_.device_missing = [](const CaseKey& key) {
      return key.device == "cuda" ? std::optional<std::string>("no CUDA device: none")
                                  : std::nullopt;
    };
    parts_.start_worker = [this](const WorkerThreads&) -> Result<std::unique_ptr<WorkerLink>> {
      ++workers_;
      auto backend = std::make_unique<FakeBackend>(
          [this](Nanoseconds time) { clock_.advance(time); },
          [this](const std::string& tokens) { return scripts_[tokens]; }, device_);
      return std::unique_ptr<WorkerLink>(new InProcessWorker(
          std::move(backend), clock_, fault_, [this](Nanoseconds time) { clock_.advance(time); },
          meters_));
    };
    options_.run_id = "run1";
    options_.worker_program = "/opt/bench";
  }

  RunSummary run(const Plan& plan) {
    auto summary = execute_plan_with(plan, options_, parts_, sink_, observer_, environment_.env);
    if (!summary) ADD_FAILURE() << summary.error().message();
    return summary ? *summary : RunSummary{};
  }
  std::map<std::string, CaseRecord> cases() const {
    std::map<std::string, CaseRecord> result;
    for (const CaseRecord& record : sink_.all<CaseRecord>()) result[record.id] = record;
    return result;
  }

  FakeClock clock_;
  TestEnv environment_{clock_};
  std::map<std::string, FakeScript> scripts_;
  FakeDevice device_;
  FakeFault fault_;
  FakeMeters meters_;
  CoordinatorParts parts_;
  RunOptions options_;
  VectorSink sink_;
  QuietObserver observer_;
  int workers_ = 0;
};

inline const Warmup kShortWarmup{3, Nanoseconds(0)};

}  // namespace bench::test
