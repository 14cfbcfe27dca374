// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/explain_sections.hpp"
#include "harness/report/choice_gap.hpp"
#include "harness/report/regret.hpp"
#include "harness/result/fields.hpp"
#include "ops/regret.hpp"

#include <fmt/format.h>

#include <map>
#include <variant>

namespace bench {
namespace {

constexpr std::size_t kIndent = 2;

std::optional<ops::Regret> find_regret(const PreparedReply& prepared) {
  std::map<std::string, std::string> details = prepared.details;
  return ops::take_regret(details);
}

std::string find_detail(const PreparedReply& prepared, const std::string& name) {
  const auto found = prepared.details.find(name);
  return found == prepared.details.end() ? "" : found->second;
}

// Names the option that measures the other candidates. Empty if there are none.
std::string format_offer(const Case& spec) {
  const bool is_operator = std::holds_alternative<ops::Problem>(spec.work);
  if (!is_operator || !offers_choice(spec.key.backend)) return "";
  return "\nchoice\n  the library's own; `--set tune=true` measures its other candidates too\n";
}

// Formats why there is no other candidate to compare with, and what to do. Empty if there is one.
std::string format_gap(const Case& spec, const PreparedReply& prepared,
                       const std::optional<ops::Regret>& regret) {
  const auto gap = find_choice_gap({spec.key.op, spec.key.backend, spec.key.device,
                                    prepared.details, regret ? &*regret : nullptr});
  return gap ? fmt::format("  {};\n  {}\n", gap->reason, gap->next_step) : "";
}

}  // namespace

std::string format_choice(const Case& spec, const PreparedReply& prepared) {
  const auto regret = find_regret(prepared);
  const bool is_tuned = spec.measure.tune != 0 || prepared.details.contains("tuned");
  if (!regret && !is_tuned) return format_offer(spec);
  const std::string gap = format_gap(spec, prepared, regret);
  if (!regret) return "\nchoice\n  no other candidate was measured\n" + gap;
  const std::string caches =
      regret->is_compared() ? find_detail(prepared, "tuned_caches") : std::string();
  return fmt::format("\nchoice\n  {}\n{}{}{}", describe_regret(*regret),
                     caches.empty() ? "" : fmt::format("  measured with caches {}\n", caches), gap,
                     format_candidates(*regret, 2 * kIndent));
}

void write_choice(JsonWriter& writer, const PreparedReply& prepared) {
  writer.optional("regret", find_regret(prepared));
}

}  // namespace bench
