// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/kernel_names.hpp"

#include <fmt/format.h>

#include <cstddef>

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

}  // namespace bench
