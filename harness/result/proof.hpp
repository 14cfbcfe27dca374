// SPDX-License-Identifier: Apache-2.0
// What a self-test of the gate showed on one machine class, in numbers. The store keeps the last
// one (harness/store/proof_file.hpp), and the reports of later gates state it.
#pragma once

#include "base/units.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// How many slower cases of the resampled suites have the verdict REGRESSION.
struct ProofOfPower {
  double slowdown = 0;  // a fraction
  std::int64_t cases = 0, found = 0;
  friend bool operator==(const ProofOfPower&, const ProofOfPower&) = default;
};
// The slowdown that was injected, and the one that its duets measured: fractions. If several
// cases had one, the pair that differs most.
struct ProofOfInjection {
  double slowdown = 0, measured = 0;
  friend bool operator==(const ProofOfInjection&, const ProofOfInjection&) = default;
};

struct ProofOfLife {
  using Power = ProofOfPower;
  using Injected = ProofOfInjection;

  std::string run_id;
  std::string time;  // UTC
  std::string machine_class;
  std::string tool_version, commit;
  std::int64_t duets = 0;  // A/A duets of the case that has most
  // Unchanged suites of 100 cases, and those of them that failed. 0 suites: too few duets.
  std::int64_t suites = 0, red_suites = 0;
  std::vector<Power> power;  // by slowdown, smallest first
  std::optional<Injected> injected;
  friend bool operator==(const ProofOfLife&, const ProofOfLife&) = default;
};

// If the measured value differs from an injected slowdown by more than this fraction of it, the
// check failed: the gate would misjudge a real slowdown of that size as well.
inline constexpr double kMaxInjectedError = 0.5;
double injected_error(double injected, double measured);

// The smallest slowdown of `power` that, as all larger ones, is found in kMinPower of the cases.
inline constexpr double kMinPower = 0.9;
std::optional<double> smallest_found_slowdown(const ProofOfLife& proof);

// More failed unchanged suites than this fraction show that the gate cannot be trusted. The goal is
// 1 %; the rate of a short record varies.
inline constexpr double kMaxRedSuites = 0.05;

// Returns why the self-test does not show that the gate works: "it read an injected +3.0 % as +0.1
// %". Empty if it shows that.
std::string find_proof_problem(const ProofOfLife& proof);

// A machine changes, so that an older self-test does not count.
inline constexpr std::chrono::hours kMaxProofAge{7 * 24};

// Returns the time from the self-test to `now` (UTC, as Env::utc_now() returns it). Returns nullopt
// if a time is invalid or the self-test is later.
std::optional<std::chrono::seconds> proof_age(const ProofOfLife& proof, std::string_view now);

}  // namespace bench
