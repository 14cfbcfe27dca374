// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/kernel_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <set>

namespace bench {
namespace {

// Maximum number of cached names. Real profiles have some hundred names. A file in which each name
// is different must not exhaust memory.
constexpr std::size_t kMaxNames = 10'000;

// Maximum number of characters of a name that are examined. Template arguments may be very long
// (some kB with CUTLASS 3). The relevant part comes before them.
constexpr std::size_t kMaxName = 4096;

}  // namespace

std::string format_verdict(const TensorCoreVerdict& verdict) {
  if (verdict.use == TensorCoreUse::unknown) return "unknown";
  const std::string_view use = verdict.use == TensorCoreUse::used ? "used" : "not used";
  if (verdict.evidence == TensorCoreEvidence::counter) return fmt::format("{} (counter)", use);
  if (verdict.evidence == TensorCoreEvidence::engine) return fmt::format("{} (engine)", use);
  return fmt::format("{} (name: {})", use, verdict.rule);
}

TensorCoreVerdict engine_verdict(std::string_view engine, DataType dtype) {
  if (!engine.starts_with("engine ")) return {};
  const bool has_note = engine.substr(0, engine.find(';')).find("tensor core") != engine.npos;
  if (!has_note && info(dtype).is_integer) return {};
  return {has_note ? TensorCoreUse::used : TensorCoreUse::not_used, TensorCoreEvidence::engine, {}};
}

TensorCoreVerdict KernelNames::tensor_cores(std::string_view name) {
  name = name.substr(0, kMaxName);
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  if (known_.size() >= kMaxNames) known_.clear();
  return known_.emplace(name, decide(name)).first->second;
}

TensorCoreVerdict KernelNames::tensor_cores(std::string_view name, std::string_view long_name) {
  const TensorCoreVerdict verdict = tensor_cores(name);
  const bool is_undecided = verdict.use == TensorCoreUse::unknown && verdict.rule.empty();
  return is_undecided && !long_name.empty() ? tensor_cores(long_name) : verdict;
}

TensorCoreVerdict KernelNames::decide(std::string_view name) {
  const std::span<const KernelNameRule> rules = kernel_name_rules();
  if (patterns_.empty()) {
    // value() is safe: a test ensures that each pattern of the table compiles.
    for (const KernelNameRule& rule : rules) {
      patterns_.push_back(Regex::compile(rule.pattern).value());
    }
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!patterns_[i].search(name)) continue;
    const bool is_undecided = rules[i].use == TensorCoreUse::unknown;
    return {rules[i].use, is_undecided ? TensorCoreEvidence::none : TensorCoreEvidence::name,
            rules[i].id};
  }
  return {};
}

Status KernelNameSink::consume(const Activity& activity) {
  const Attributes& attributes = activity.attributes;
  const bool needs_verdict =
      activity.kind == ActivityKind::kernel && attributes.find(Attribute::tensor_cores) == nullptr;
  if (!needs_verdict) return next_.consume(activity);
  const TensorCoreVerdict verdict =
      names_.tensor_cores(activity.name, attributes.text(Attribute::long_name));
  if (verdict.use == TensorCoreUse::unknown) return next_.consume(activity);
  copy_ = activity;
  copy_.attributes.set(Attribute::tensor_cores, format_verdict(verdict));
  return next_.consume(copy_);
}

namespace {

struct UseCounts {
  std::int64_t used = 0, not_used = 0, unknown = 0;
  std::int64_t all() const { return used + not_used + unknown; }
};

// Formats "used by 12 of 14 kernels". If some are unknown, the others are not all "not used", so
// each count is stated: "used by 5 of 285 kernels, not used by 10, unknown for 270".
std::string format_counts(const UseCounts& counts) {
  std::string text = fmt::format("used by {} of {} kernels", counts.used, counts.all());
  if (counts.unknown == 0) return text;
  if (counts.not_used > 0) text += fmt::format(", not used by {}", counts.not_used);
  return text + fmt::format(", unknown for {}", counts.unknown);
}

}  // namespace

std::optional<std::string> tensor_cores_by_name(std::span<const Activity> activities) {
  KernelNames names;
  std::set<std::string_view> rules;  // rules that identified kernels on tensor cores
  std::set<std::string> texts;
  UseCounts counts;
  for (const Activity& kernel : activities) {
    const bool computes = kernel.kind == ActivityKind::kernel &&
                          kernel.attributes.find(Attribute::auxiliary) == nullptr;
    if (!computes) continue;
    const TensorCoreVerdict verdict =
        names.tensor_cores(kernel.name, kernel.attributes.text(Attribute::long_name));
    texts.insert(format_verdict(verdict));
    switch (verdict.use) {
      case TensorCoreUse::used:
        ++counts.used;
        rules.insert(verdict.rule);
        break;
      case TensorCoreUse::not_used:
        ++counts.not_used;
        break;
      case TensorCoreUse::unknown:
        ++counts.unknown;
        break;
    }
  }
  if (counts.all() == 0) return std::nullopt;
  if (texts.size() == 1) return *texts.begin();
  if (counts.used > 0) {
    return fmt::format("{} (name: {})", format_counts(counts), fmt::join(rules, ", "));
  }
  if (texts.contains(format_verdict({}))) return format_verdict({});
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace bench
