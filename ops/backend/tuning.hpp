// SPDX-License-Identifier: Apache-2.0
// Finds the fastest of several ways to compute a problem by measuring them. All choices by
// measurement use it: on the CPU the implementations of oneDNN, on a GPU the engines of cuDNN, the
// algorithms of cuBLASLt, and fused against split kernels.
//
// Each way is measured once per round, in every second round in reverse order. The first way is the
// default, which the library takes by itself. Another way is chosen only if it needs over 2 % fewer
// clock cycles than the default in every round and over 2 % less time, and if both is so again in
// as many further rounds of these two. So noise and changes of the clock rarely change a choice,
// and the times of the two are not those by which the winner was selected, which would favour it.
// Without the clock, times take the place of cycles.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/device.hpp"
#include "ops/regret.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::ops {

// One way to compute a problem, ready to be measured.
struct TuningCandidate {
  std::string name;  // unique among the candidates: "cudnn:engine_4 (2=2 6=0)"
  std::function<Result<DeviceSample>(std::int64_t iterations)> sample;
};

struct TunedChoice {
  std::size_t best = 0;
  std::size_t default_index = 0;              // the first candidate that runs
  std::vector<MeasuredCandidate> candidates;  // empty if nothing was measured
  std::string reason;                         // why nothing was measured; empty if it was
  std::string fixed;  // name of the candidate that an earlier process chose; empty if there is none
  std::string caches;  // what the caches contained if they were not hot; empty: they were
  // Formats the answer: "default 5.42 us, chosen 5.10 us: 3 of 8", "default 5.42 us, kept: 1 of 8",
  // "no: not enough memory ...", "as chosen before for the case: cudnn:engine_4 (2=2 6=0)".
  std::string text() const;
  // Formats all candidates with their times: "cudnn:engine_4 5.420 us; cudnn:engine_7 failed:
  // REASON". Empty if nothing was measured.
  std::string candidates_text() const;
  // Returns what the library's own choice costs; nullopt if nothing was measured.
  std::optional<Regret> regret() const;
  // Adds "tuned", "tuned_candidates", "tuned_caches" and the regret (ops/regret.hpp) to a kernel's
  // details.
  void add_to(std::map<std::string, std::string>& details) const;
};

// Measures the candidates and returns the choice. Candidates that fail are not chosen. Error: no
// candidate could be measured, with the error of the first.
Result<TunedChoice> choose_fastest(std::span<const TuningCandidate> candidates);

}  // namespace bench::ops
