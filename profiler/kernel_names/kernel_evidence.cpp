// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/kernel_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <set>

namespace bench {

std::optional<std::string> tensor_cores_by_name(std::span<const Activity> activities) {
  KernelNames names;
  std::set<std::string_view> rules;  // rules that identified kernels on tensor cores
  std::set<std::string> texts;
  std::int64_t used = 0, all = 0;
  for (const Activity& kernel : activities) {
    const bool computes = kernel.kind == ActivityKind::kernel &&
                          kernel.attributes.find(Attribute::auxiliary) == nullptr;
    if (!computes) continue;
    const TensorCoreVerdict verdict =
        names.tensor_cores(kernel.name, kernel.attributes.text(Attribute::long_name));
    ++all;
    texts.insert(format_verdict(verdict));
    if (verdict.use != TensorCoreUse::used) continue;
    ++used;
    rules.insert(verdict.rule);
  }
  if (all == 0) return std::nullopt;
  if (texts.size() == 1) return *texts.begin();
  if (used > 0) {
    return fmt::format("used by {} of {} kernels (name: {})", used, all, fmt::join(rules, ", "));
  }
  if (texts.contains(format_verdict({}))) return format_verdict({});
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace bench
