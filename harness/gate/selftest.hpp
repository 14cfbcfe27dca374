// SPDX-License-Identifier: Apache-2.0
// How far a gate can be trusted on one machine: what its self-test measured, the file that keeps
// it (schema bench.selftest/1), and what follows for whole suites. Pure functions.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/gate/simulation.hpp"
#include "harness/judge/evidence.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::string_view kSelfTestSchema = "bench.selftest/1";

// Of one duet of equal sides, what the gate works with.
struct EqualDuet {
  std::string id;
  double log_ratio = 0;
  Nanoseconds base_q25{0};  // of whole samples
  std::int64_t iterations_per_sample = 1;
  // What the same duet says if all its rounds count; absent where they do, without canaries.
  struct AllRounds {
    double log_ratio = 0;
    Nanoseconds base_q25{0};
  };
  std::optional<AllRounds> all_rounds = std::nullopt;
};
// Absent where its samples took no time.
std::optional<EqualDuet> equal_duet(const Duet& duet);

// An injected slowdown, and what duets made of it.
struct InjectedSlowdown {
  std::string id;
  double injected = 0;  // shares
  double seen = 0;
  int duets = 0;
};

struct TimerFacts {
  Nanoseconds step{0};  // smallest difference of two reads that differ
  Nanoseconds read{0};  // of one, on average
};
struct HarnessFacts {
  std::string id;
  Nanoseconds between_samples{0};  // of the worker's time in a round, what is no sample
  std::optional<double> profiler;  // profiled over unprofiled iteration, a share above 0
};

// One sitting.
struct SelfTest {
  std::string run_id;
  std::string time;  // UTC
  std::string machine_class, cpu;
  std::map<std::string, std::string> libraries;
  std::optional<TimerFacts> timer;
  std::vector<HarnessFacts> harness;
  std::vector<InjectedSlowdown> injected;
  std::vector<EqualDuet> duets;  // in the order of measurement
};

// Lines, the first one with the schema; sittings can be concatenated.
std::string self_test_lines(const SelfTest& test);
// Error: no such file, or a damaged line, with its place.
Result<std::vector<SelfTest>> read_self_tests(std::string_view text, const std::string& name);

// One a case and sitting. all: as if there were no canaries.
enum class Rounds { counted, all };
std::vector<RecordedDuets> recorded_duets(const std::vector<SelfTest>& tests,
                                          Rounds rounds = Rounds::counted);

// What it comes to: suites of 100 cases drawn from the record.
struct PowerRow {
  double slowdown = 0;
  SimulationResult result;
};
inline constexpr int kDuetsOfShortBudget = 10;
struct SelfTestSummary {
  struct Kernel {
    std::string name;
    int duets = 0;
    double center = 0, deviation = 0;  // of the log-ratios
    double deviation_of_all_rounds = 0;
    std::optional<double> detectable;  // with GatePolicy::extended_duets of them, a share
  };
  std::vector<Kernel> kernels;
  SimulationResult clean;
  SimulationResult clean_as_recorded;  // without mirror images
  // A budget that ends after kDuetsOfShortBudget of each case, so that nothing is confirmed.
  SimulationResult clean_cut_short;
  PowerRow power_cut_short;
  std::vector<PowerRow> power;  // of +2, 3, 5, 10 %
  // The same if all rounds counted; absent where they do.
  struct Unconditioned {
    SimulationResult clean;
    std::vector<PowerRow> power;
  };
  std::optional<Unconditioned> all_rounds;
};
struct SelfTestOptions {
  int suites = 1000;
  std::uint64_t seed = 1;
};
// Error: nothing was recorded.
Result<SelfTestSummary> summarise(const std::vector<SelfTest>& tests,
                                  const SelfTestOptions& options);

std::string self_test_text(const std::vector<SelfTest>& tests, const SelfTestSummary& summary);
std::string self_test_json(const std::vector<SelfTest>& tests, const SelfTestSummary& summary);

}  // namespace bench
