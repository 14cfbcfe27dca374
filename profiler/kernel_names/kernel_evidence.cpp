// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/kernel_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <set>

namespace bench {

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
