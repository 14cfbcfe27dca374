// SPDX-License-Identifier: Apache-2.0
// The cases that a sum over a run counts, each of them once: texts, findings and pictures about
// where the time of a run goes count the same ones. Pure functions.
#pragma once

#include "base/units.hpp"
#include "harness/result/report.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// A case in a sum. Times are multiplied by the number of layers that are this case, or of
// executions in a program.
struct SummedCase {
  const CaseRecord* record = nullptr;
  std::size_t multiplicity = 1;
  Nanoseconds median{0};
  std::optional<Nanoseconds> ideal;  // nullopt if the case has no ceiling

  // The time that the case would save at its ceiling; 0 if it has none.
  Nanoseconds recoverable() const;
};

struct CaseSum {
  std::vector<SummedCase> cases;  // in the order of the report
  // Number of cases left out because an earlier case differs only in the cache mode.
  std::size_t other_modes = 0;
  // Number of whole networks left out because their layers have times.
  std::size_t networks = 0;

  Nanoseconds median() const;  // sum over all cases
};

// Returns "in 3 layers", "executed 312 times" or, for one of them, "".
std::string format_multiplicity(const SummedCase& entry);

// Which cases a sum may count: all with a time, or those that also have a ceiling.
enum class SumOf { timed, with_ceiling };

// Leaves out whole networks whose layers have times, since the sum would count these layers twice.
// Leaves out all but the first cache mode of a case for the same reason. The report must outlive
// the result.
CaseSum sum_cases(const Report& report, SumOf which);

// Returns " with cache hot": the cache mode that the sum counts, if it leaves out other modes.
// Empty if it does not.
std::string format_cache_mode(const CaseSum& sum);

// Returns the cases sorted by the time that they could save, the largest first.
std::vector<SummedCase> sort_by_gain(const CaseSum& sum);

// Returns the first layer, the direction of a gradient, and the number of other layers that are the
// same case: "layer1.0.conv2 +2", "conv1 backward_data". Empty if there are no layers. In a step of
// training a layer has a time in each direction.
std::string format_layer_names(const std::vector<std::string>& layers,
                               const std::string& direction);

}  // namespace bench
