// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "harness/cli/explain_sections.hpp"
#include "harness/result/roofline.hpp"
#include "harness/run/case_progress.hpp"

#include <fmt/format.h>

namespace bench {

std::optional<Roofline> compute_ideal(const Case& spec,
                                      const std::optional<PreparedReply>& prepared,
                                      const Ceilings& ceilings) {
  CaseRecord record = case_facts(spec);
  if (!ceilings.capability.empty()) {
    record.details = tensor_core_details(spec, ceilings.capability);
  }
  if (prepared) {
    record.memory = prepared->memory;
    record.details.insert(prepared->details.begin(), prepared->details.end());
  }
  record.time = TimeSummary{};
  // compute_roofline() needs a time, but only for the efficiency, which is not used here.
  record.time->median = Nanoseconds(1);
  const auto input = make_roofline_input(record, ceilings);
  return input ? compute_roofline(*input, ceilings) : std::nullopt;
}

std::string format_ideal(const Roofline& ideal) {
  std::string text = fmt::format("ceilings\n  ideal time  {}, bound by {}\n",
                                 format_time(ideal.ideal), to_string(ideal.bound));
  if (ideal.peak_flops_per_s) {
    text += fmt::format("  arithmetic  {}\n", format_rate(*ideal.peak_flops_per_s));
  }
  if (ideal.peak_bytes_per_s) {
    text += fmt::format("  {:<10}  {}\n", ideal.level, format_rate(*ideal.peak_bytes_per_s));
  }
  return text + "\n";
}

}  // namespace bench
