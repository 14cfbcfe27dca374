// SPDX-License-Identifier: Apache-2.0
// How far a gate can be trusted on one machine: the measurements of its self-test, their file
// (schema bench.selftest/1), and the results for whole suites. Pure functions.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/judge/evidence.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Simulates the gate on whole suites that are resampled from recorded A/A duets: false positives,
// power and cost. Uses the real decide(). Pure functions of the record and a seed.

// One kernel under one condition. The duets are in the order of measurement, so that a disturbance
// of several duets affects neighbours in the record.
struct RecordedDuets {
  std::string name;                // "gemm/.../t1 quiet"
  std::vector<double> log_ratios;  // candidate / base of A/A duets
  std::vector<double> base_q25;  // lower quartile of the base's process, nanoseconds per iteration
};

struct SimulationOptions {
  int suites = 1000;
  int cases = 100;      // per suite
  int slower = 0;       // number of cases that are slower by `slowdown`
  double slowdown = 0;  // a fraction
  // mirrored: each duet is used as recorded or mirrored, at random. recorded: as recorded, which
  // preserves a shift that lasted for a sitting.
  enum class Drawing { mirrored, recorded };
  Drawing drawing = Drawing::mirrored;
  // Simulates the end of the budget: no case gets more duets, and none is confirmed. nullopt: no
  // limit.
  std::optional<int> max_duets;
  std::uint64_t seed = 1;
  GatePolicy policy;
  GateSettings settings;
};

struct SimulationResult {
  int suites = 0;
  int red = 0;                         // suites with a false REGRESSION
  std::int64_t clean = 0, alarms = 0;  // cases that are not slower; those with REGRESSION
  std::int64_t slow = 0, found = 0;    // cases that are slower; those with REGRESSION
  std::int64_t inconclusive = 0;       // over all cases
  double processes_per_case = 0;       // both sides together, plus one of stage 1
};

// Each case of a suite resamples one of `kernels`. Its duets are consecutive ones of the record
// from a random position on, each mirrored at random by default. Mirroring is valid because
// everything that distinguishes the sides of an A/A duet is chosen at random for each duet
// (harness/gate/duet.cpp). Every kernel must have at least one duet.
SimulationResult simulate(std::span<const RecordedDuets> kernels, const SimulationOptions& options);

inline constexpr std::string_view kSelfTestSchema = "bench.selftest/1";

// A duet's result over all its rounds, disturbed ones included.
struct AllRounds {
  double log_ratio = 0;
  Nanoseconds base_q25{0};
};

// One A/A duet, reduced to what the gate uses.
struct NullDuet {
  std::string id;
  double log_ratio = 0;
  Nanoseconds base_q25{0};  // of whole samples
  std::int64_t iterations_per_sample = 1;
  // The result if all rounds count; nullopt if there are no canaries.
  std::optional<AllRounds> all_rounds = std::nullopt;
};
// Returns nullopt if the samples took no time.
std::optional<NullDuet> equal_duet(const Duet& duet);

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
  std::vector<NullDuet> duets;  // in the order of measurement
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

std::string format_self_test(const std::vector<SelfTest>& tests, const SelfTestSummary& summary);
std::string self_test_json(const std::vector<SelfTest>& tests, const SelfTestSummary& summary);

}  // namespace bench
