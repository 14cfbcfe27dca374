// SPDX-License-Identifier: Apache-2.0
// What measuring the variants of a case showed (`bench explain --try`), as text and JSON.
#pragma once

#include "base/json_writer.hpp"
#include "harness/judge/variant.hpp"
#include "harness/report/console.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

// Variants with their results, which have the same order.
struct VariantReport {
  const Case& spec;
  const std::vector<PlannedVariant>& variants;
  const std::vector<VariantResult>& results;
};

// Returns the variant that saves the most time, at least kMinGain; nullptr if none certainly does.
const PlannedVariant* find_best_variant(const VariantReport& report);

// Formats the answer in a sentence, then a table of the variants, the fastest first: what each
// changes, its time relative to the case with the interval, what it costs and why it may help.
std::string format_variants(const VariantReport& report, const ConsoleOptions& options);

// Writes the list `variants` (docs/advice.md, "JSON").
void write_variants(JsonWriter& writer, const VariantReport& report);

}  // namespace bench
