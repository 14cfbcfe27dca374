// SPDX-License-Identifier: Apache-2.0
// What a library's own choice costs: the ways to compute a problem that tuning has measured
// (engines of cuDNN, algorithms of cuBLASLt, implementations of oneDNN), the one that the library
// takes by itself, and the fastest one. A backend states it among the details of a kernel, which
// are texts, also those of a plugin; records have it as a field.
#pragma once

#include "base/units.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// One measured way to compute a problem.
struct MeasuredCandidate {
  std::string name;                 // unique among the candidates: "brgconv:avx512_core"
  std::optional<Nanoseconds> time;  // median of one execution; nullopt if it failed
  std::string failure;              // why it failed; empty if it did not
  friend bool operator==(const MeasuredCandidate&, const MeasuredCandidate&) = default;
};

struct Regret {
  std::string chosen;  // the candidate that the library takes without tuning
  Nanoseconds chosen_time{0};
  // The candidate that is faster beyond the noise of the measurement. If none is, this is `chosen`,
  // with its time.
  std::string best;
  Nanoseconds best_time{0};
  std::vector<MeasuredCandidate> candidates;  // in the order of the library

  // Whether a candidate besides the library's choice was measured. If none was, nothing is known
  // about a cost.
  bool is_compared() const;
  // Whether a candidate is faster than the library's choice beyond the noise. The times come from
  // plugins and files too, so a `best` that is not faster does not count.
  bool has_cost() const {
    return best != chosen && Nanoseconds(0) < best_time && best_time < chosen_time;
  }
  // The time that the library's choice takes more than the best candidate, as a fraction of the
  // latter: 0.12. 0 if there is none.
  double cost() const;
  friend bool operator==(const Regret&, const Regret&) = default;
};

// Beginnings of the detail "tuned" of a kernel whose candidates were not measured: the reason why
// not, or the name of the candidate that an earlier process of the case chose.
inline constexpr std::string_view kNotTuned = "no: ";
inline constexpr std::string_view kChosenBefore = "as chosen before for the case: ";

// Prefix of the details that state a regret.
inline constexpr std::string_view kRegretDetail = "regret.";

// Adds "regret.chosen" and "regret.best", which are names of candidates, and "regret.candidates",
// one line per candidate: NAME<tab>NANOSECONDS, or NAME<tab>failed: REASON.
void add_details(const Regret& regret, std::map<std::string, std::string>& details);
// Removes these details and returns what they state. If one of them is missing or malformed,
// changes nothing and returns nullopt.
std::optional<Regret> take_regret(std::map<std::string, std::string>& details);

}  // namespace bench::ops
