// SPDX-License-Identifier: Apache-2.0
// `bench explain --try`: measures the variants of cases against the cases.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/config/plan.hpp"
#include "harness/judge/variant.hpp"

#include <vector>

namespace bench {

// The variants of one case of a plan, with what measuring them showed.
struct TriedVariants {
  std::vector<PlannedVariant> variants;
  std::vector<VariantResult> results;  // one per variant
};

// Measures the variants of --try for each case of the plan, in the order of the cases. A variant
// that the operator does not support is left out, but has the reason as its result if --try names
// it. Waits for its turn on the machine as --beside says. Returns an error if --try names an
// unknown variant, or if no turn comes.
Result<std::vector<TriedVariants>> try_variants(const Plan& plan, const Arguments& arguments,
                                                Env& env);

}  // namespace bench
