// SPDX-License-Identifier: Apache-2.0
// The self-test of a gate, which shows how far its verdicts can be trusted on one machine. This
// file declares the measurements, their file (schema bench.selftest/1), and a simulation of whole
// suites. Pure functions.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/judge/evidence.hpp"
#include "harness/result/proof.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The simulation resamples whole suites from recorded A/A duets and calls the real decide(). It
// estimates false positives, power and cost. Its result depends only on the record and a seed.

// A/A duets of one kernel under one condition, in the order of measurement. So a disturbance of
// several duets affects neighbours in the record.
struct RecordedDuets {
  std::string name;                // "gemm/.../t1 quiet"
  std::vector<double> log_ratios;  // log(candidate / base), one per duet
  // Lower quartile of the base's samples, in nanoseconds per iteration, one per duet
  std::vector<double> base_q25;
};

struct SimulationOptions {
  int suites = 1000;
  int cases = 100;      // per suite
  int slower = 0;       // number of cases per suite that are slower by `slowdown`
  double slowdown = 0;  // a fraction
  std::uint64_t seed = 1;
  GatePolicy policy;
  GateSettings settings;
};

struct SimulationResult {
  int suites = 0;
  int red_suites = 0;                // suites with at least one false positive
  std::int64_t clean = 0;            // cases that are not slower
  std::int64_t false_positives = 0;  // those of them with the verdict REGRESSION
  std::int64_t slow = 0;             // cases that are slower
  std::int64_t detected = 0;         // those of them with the verdict REGRESSION
  std::int64_t inconclusive = 0;     // cases with that verdict, slower or not
  double processes_per_case = 0;     // two per duet, plus one of stage 1
};

// Simulates suites. Each case resamples one of `kernels`, chosen at random: its duets are
// consecutive ones of the record, from a random position on. Each gets the negated log-ratio with
// probability 1/2. This is valid because a random choice per duet assigns everything that
// distinguishes the sides of an A/A duet (harness/gate/duet.cpp). Every kernel must have at least
// one duet.
SimulationResult simulate(std::span<const RecordedDuets> kernels, const SimulationOptions& options);

inline constexpr std::string_view kSelfTestSchema = "bench.selftest/1";

// One A/A duet, reduced to what the gate uses.
struct NullDuet {
  std::string id;  // id of the case
  double log_ratio = 0;
  Nanoseconds base_q25{0};  // lower quartile of whole samples
  std::int64_t iterations_per_sample = 1;
};
// Reduces a duet. Returns nullopt if its samples took no time.
std::optional<NullDuet> make_null_duet(const Duet& duet);

// An injected slowdown of a case, and the slowdown that its duets measured. Both are fractions.
struct InjectedSlowdown {
  std::string id;  // id of the case
  double injected = 0;
  double measured = 0;
  int duets = 0;
};

// Resolution and cost of the clock.
struct TimerFacts {
  Nanoseconds step{0};  // smallest positive difference of two consecutive clock reads
  Nanoseconds read{0};  // mean duration of a read
};
// Overhead of harness and profiler in one case.
struct HarnessFacts {
  std::string id;                  // id of the case
  Nanoseconds between_samples{0};  // time of a round outside its samples, per sample
  std::optional<double> profiler;  // profiled / unprofiled iteration time - 1
};

// One run of the self-test.
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

// Returns the lines of a self-test, the first one with the schema. A file may contain several
// self-tests in succession.
std::string self_test_lines(const SelfTest& test);
// Reads the self-tests of the file `name`. Returns an error, with its location, if there is none
// or a line is malformed.
Result<std::vector<SelfTest>> read_self_tests(std::string_view text, const std::string& name);

// Returns one record per case and self-test.
std::vector<RecordedDuets> collect_duets(const std::vector<SelfTest>& tests);

// How many cases the gate finds that are slower by `slowdown`, a fraction.
struct PowerRow {
  double slowdown = 0;
  SimulationResult result;
};
// Minimum number of duets of a case for resampled suites. A REGRESSION needs at least 16 duets
// (GatePolicy::first_duets and first_confirmations); a shorter record would repeat its duets within
// one decision, and they would look steadier than the machine is. Of 20 duets, the standard
// deviation is certain to 16 %.
inline constexpr int kMinResampledDuets = 20;
// What the record shows.
struct SelfTestSummary {
  struct Kernel {
    std::string name;
    int duets = 0;
    double center = 0, deviation = 0;  // median and standard deviation of the log-ratios
    // Minimum detectable effect of GatePolicy::last_duets duets, a fraction; nullopt if unknown
    std::optional<double> detectable;
  };
  std::vector<Kernel> kernels;
  // The results for suites of 100 cases, resampled from the kernels with kMinResampledDuets.
  struct Rates {
    SimulationResult clean;       // no case is slower
    std::vector<PowerRow> power;  // for +2, 3, 5, 10 %
  };
  std::optional<Rates> rates;  // nullopt if no kernel has enough duets
};
struct SelfTestOptions {
  int suites = 1000;  // number of simulated suites
  std::uint64_t seed = 1;
};
// Returns an error if there are no duets.
Result<SelfTestSummary> summarise(const std::vector<SelfTest>& tests,
                                  const SelfTestOptions& options);

// Returns the numbers of one self-test that the store keeps, without the version of this program.
ProofOfLife make_proof(const SelfTest& test, const SelfTestSummary& summary);

std::string format_self_test(const std::vector<SelfTest>& tests, const SelfTestSummary& summary);
std::string self_test_json(const std::vector<SelfTest>& tests, const SelfTestSummary& summary);

}  // namespace bench
