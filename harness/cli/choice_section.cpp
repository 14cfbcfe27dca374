// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/explain_sections.hpp"
#include "harness/report/regret.hpp"
#include "harness/result/fields.hpp"
#include "ops/regret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <variant>

namespace bench {
namespace {

// The backends whose libraries offer several ways to compute an operator (docs/configuration.md,
// `tune`).
constexpr std::array<std::string_view, 3> kTunedBackends = {"onednn", "cudnn", "cublaslt"};
constexpr std::size_t kIndent = 2;

std::optional<ops::Regret> find_regret(const PreparedReply& prepared) {
  std::map<std::string, std::string> details = prepared.details;
  return ops::take_regret(details);
}

std::string find_detail(const PreparedReply& prepared, const std::string& name) {
  const auto found = prepared.details.find(name);
  return found == prepared.details.end() ? "" : found->second;
}

std::string format_offer(const Case& spec) {
  const bool is_operator = std::holds_alternative<ops::Problem>(spec.work);
  const bool has_choice = std::ranges::count(kTunedBackends, spec.key.backend) > 0;
  if (spec.measure.tune != 0 || !is_operator || !has_choice) return "";
  return "\nchoice\n  the library's own; `--set tune=true` measures its other candidates too\n";
}

}  // namespace

std::string format_choice(const Case& spec, const PreparedReply& prepared) {
  const auto regret = find_regret(prepared);
  const std::string tuned = find_detail(prepared, "tuned");
  if (!regret && tuned.empty()) return format_offer(spec);
  if (!regret) return fmt::format("\nchoice\n  tuned: {}\n", tuned);
  const std::string caches = find_detail(prepared, "tuned_caches");
  return fmt::format("\nchoice\n  {}\n{}{}", describe_regret(*regret),
                     caches.empty() ? "" : fmt::format("  measured with caches {}\n", caches),
                     format_candidates(*regret, 2 * kIndent));
}

void write_choice(JsonWriter& writer, const PreparedReply& prepared) {
  writer.optional("regret", find_regret(prepared));
}

}  // namespace bench
