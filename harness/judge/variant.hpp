// SPDX-License-Identifier: Apache-2.0
// Changes of a case that users are advised to try, such as another layout or data type, and what
// measuring them shows. Pure functions; harness/gate/variant_trial.hpp measures.
#pragma once

#include "base/units.hpp"
#include "harness/config/plan.hpp"
#include "harness/judge/evidence.hpp"
#include "harness/result/record.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Minimum number of duets for the range of a later one. Fewer do not show how duets vary.
inline constexpr std::size_t kMinDuetsOfRange = 6;
// Part of a time that a variant must save before a sentence calls it worthwhile.
inline constexpr double kMinGain = 0.01;

// A changed case that computes what the case computes, or more of the same.
struct Variant {
  std::string_view name;  // name of the rule: "nhwc"
  std::string why;        // why it may be faster; one sentence
  std::string cost;       // what it costs besides memory: "8 bits of precision"; may be empty
  CaseKey key;
  std::int64_t tune = 0;     // Measure::tune
  std::int64_t batches = 1;  // how many batches of the case it computes at once
  // A case that the program no longer has to compute, because the variant includes it.
  std::optional<CaseKey> saved = std::nullopt;
};

// Returns the names of all rules in the order of propose_variants().
std::span<const std::string_view> variant_names();

// Returns the variants of a case on a machine whose processors have `threads` hardware threads. A
// key may be one that the operator refuses: load_plan() says so.
std::vector<Variant> propose_variants(const Case& spec, int threads);

// The times of a variant and of its case, whose samples were interleaved.
struct VariantEffect {
  int duets = 0;
  // Time of the variant / time of the case, both for one batch of the case. If the variant saves a
  // case, that case's time is added to the case's.
  double ratio = 1;
  std::optional<double> low, high;  // 95 % interval of the ratio; nullopt with too few duets
  // The range of the ratio of a single later duet (95 %), if later duets vary as these did: the
  // prediction interval of Student's t over the logarithms. nullopt with fewer than
  // kMinDuetsOfRange.
  std::optional<double> later_low, later_high;
  Nanoseconds case_time{0};  // time of one iteration, without a saved case
  std::optional<Nanoseconds> saved_time = std::nullopt;
  Nanoseconds variant_time{0};  // time of one iteration, which may compute several batches
};

// `duets`: base is the case, candidate the variant. `saved_duets`: base is the case, candidate the
// saved case; the i-th belongs to the i-th of `duets`. Returns nullopt if no duet has a ratio.
std::optional<VariantEffect> compute_variant_effect(std::span<const Duet> duets,
                                                    std::span<const Duet> saved_duets,
                                                    std::int64_t batches);

// faster: the whole interval is below 1. slower: it is above 1. uncertain: neither, or no interval.
BENCH_ENUM(VariantVerdict, faster, slower, uncertain);
VariantVerdict judge_variant(const VariantEffect& effect);

// A variant with the cases that its keys describe.
struct PlannedVariant {
  Variant variant;
  Case spec;
  std::optional<Case> saved = std::nullopt;  // the case of Variant::saved
};

// Returns by how much the tensors of a variant are larger than those of the cases in whose place it
// is, negative if they are smaller; nullopt if the difference is below 1 %.
std::optional<Bytes> find_memory_change(const Case& spec, const PlannedVariant& planned);

struct VariantResult {
  std::optional<VariantEffect> effect;
  // Why there is no effect, or fewer duets than requested; empty otherwise.
  std::string reason;
  std::optional<StopCause> stopped = std::nullopt;  // what ended its duets early
};

}  // namespace bench
