// SPDX-License-Identifier: Apache-2.0
// How far a gate can be trusted on one machine: the measurements of its self-test, their file
// (schema bench.selftest/1), and the results for whole suites. Pure functions.
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

// One A/A duet, reduced to what the gate uses.
struct EqualDuet {
  std::string id;
  double log_ratio = 0;
  Nanoseconds base_q25{0};  // of whole samples
  std::int64_t iterations_per_sample = 1;
  // The result if all rounds count; nullopt if there are no canaries.
  struct AllRounds {
    double log_ratio = 0;
    Nanoseconds base_q25{0};
  };
  std::optional<AllRounds> all_rounds = std::nullopt;
};
// Returns nullopt if the samples took no time.
std::optional<EqualDuet> equal_duet(const Duet& duet);

// An injected slowdown and the slowdown that the duets measured.
struct InjectedSlowdown {
  std::string id;
  double injected = 0;  // fractions
  double seen = 0;
  int duets = 0;
};

struct TimerFacts {
  Nanoseconds step{0};  // smallest positive difference of two consecutive clock reads
  Nanoseconds read{0};  // duration of one read, on average
};
struct HarnessFacts {
  std::string id;
  Nanoseconds between_samples{0};  // worker time in a round outside samples, per sample
  std::optional<double> profiler;  // profiled / unprofiled iteration time - 1
};

// One sitting: one run of the self-test.
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

// Returns lines, the first one with the schema. Files of several sittings can be concatenated.
std::string self_test_lines(const SelfTest& test);
// Returns an error, with location, if there is no sitting or a line is malformed.
Result<std::vector<SelfTest>> read_self_tests(std::string_view text, const std::string& name);

// Returns one entry per case and sitting. `all` ignores the canaries.
enum class Rounds { counted, all };
std::vector<RecordedDuets> recorded_duets(const std::vector<SelfTest>& tests,
                                          Rounds rounds = Rounds::counted);

// The summary: results for suites of 100 cases, resampled from the record.
struct PowerRow {
  double slowdown = 0;
  SimulationResult result;
};
inline constexpr int kDuetsOfShortBudget = 10;
struct SelfTestSummary {
  struct Kernel {
    std::string name;
    int duets = 0;
    double center = 0, deviation = 0;  // location and deviation of the log-ratios
    double deviation_of_all_rounds = 0;
    // Minimum detectable effect with GatePolicy::extended_duets, a fraction
    std::optional<double> detectable;
  };
  std::vector<Kernel> kernels;
  SimulationResult clean;
  SimulationResult clean_as_recorded;  // without mirrored duets
  // The budget ends after kDuetsOfShortBudget duets per case, so nothing is confirmed.
  SimulationResult clean_cut_short;
  PowerRow power_cut_short;
  std::vector<PowerRow> power;  // for +2, 3, 5, 10 %
  // The same if all rounds counted; nullopt if no duet has canaries.
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
// Returns an error if there are no duets.
Result<SelfTestSummary> summarise(const std::vector<SelfTest>& tests,
                                  const SelfTestOptions& options);

std::string self_test_text(const std::vector<SelfTest>& tests, const SelfTestSummary& summary);
std::string self_test_json(const std::vector<SelfTest>& tests, const SelfTestSummary& summary);

}  // namespace bench
