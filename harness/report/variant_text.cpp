// SPDX-License-Identifier: Apache-2.0
#include "harness/report/variant_text.hpp"

#include "base/json_fields.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/report/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bench {
namespace {

struct VariantRow {
  const Case& spec;
  const PlannedVariant& planned;
  const VariantResult& result;

  // nullopt without an effect
  std::optional<VariantVerdict> verdict() const {
    return result.effect ? std::optional(judge_variant(*result.effect)) : std::nullopt;
  }
  bool is_worthwhile() const {
    return verdict() == VariantVerdict::faster && result.effect->ratio <= 1 - kMinGain;
  }
};

// The fastest first, then those without an effect.
std::vector<VariantRow> sort_rows(const VariantReport& report) {
  std::vector<VariantRow> rows;
  std::vector<std::size_t> order(report.results.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::less<>(), [&](std::size_t i) {
    const auto& effect = report.results[i].effect;
    return std::pair(!effect, effect ? effect->ratio : 0.0);
  });
  for (const std::size_t i : order)
    rows.push_back({report.spec, report.variants[i], report.results[i]});
  return rows;
}

std::string format_ratio(const VariantEffect& effect) {
  return format_effect(effect.ratio, {}, {},
                       judge_variant(effect) == VariantVerdict::uncertain
                           ? EffectDirection::open
                           : EffectDirection::certain);
}

std::string format_interval(const std::optional<double>& low, const std::optional<double>& high) {
  if (!low || !high) return std::string(kUnknown);
  return fmt::format("{:.3f} to {:.3f}", *low, *high);
}

constexpr std::array<TableField<VariantRow>, 4> kVariantFields = {{
    {in_text, "variant", ColumnKind::text,
     [](const VariantRow& row) { return make_text_cell(row.planned.variant.name); }},
    {in_text, "effect", ColumnKind::number,
     [](const VariantRow& row) {
       return make_text_cell(row.result.effect ? format_ratio(*row.result.effect) : kUnknown,
                             row.is_worthwhile() ? Tone::good : Tone::plain);
     }},
    {in_text, "time / case's time", ColumnKind::number,
     [](const VariantRow& row) {
       const auto& effect = row.result.effect;
       return make_text_cell(effect ? format_interval(effect->low, effect->high) : kUnknown);
     }},
    {in_text, "in a later duet", ColumnKind::number,
     [](const VariantRow& row) {
       const auto& effect = row.result.effect;
       return make_text_cell(effect ? format_interval(effect->later_low, effect->later_high)
                                    : kUnknown);
     }},
}};

// Returns why the variant may help and what it costs, or why it has no effect.
std::string make_note(const VariantRow& row) {
  if (!row.result.effect) return fmt::format("Not measured: {}.", row.result.reason);
  std::string text = row.planned.variant.why;
  const Variant& variant = row.planned.variant;
  if (!variant.cost.empty()) text += fmt::format(" It costs: {}.", variant.cost);
  if (const auto change = find_memory_change(row.spec, row.planned)) {
    text += fmt::format(" The tensors are {} {}.", format_bytes({std::abs(change->count)}),
                        change->count < 0 ? "smaller" : "larger");
  }
  if (!row.result.reason.empty())
    text += fmt::format(" Only {} of its duets were measured: {}.", row.result.effect->duets,
                        row.result.reason);
  return text;
}

std::string make_answer(const std::vector<VariantRow>& rows) {
  const auto is_measured = [](const VariantRow& row) { return row.result.effect.has_value(); };
  const auto measured = std::ranges::count_if(rows, is_measured);
  if (rows.empty()) return "No rule proposes a change of this case.";
  if (measured == 0) return "No change of this case could be measured.";
  std::vector<std::string> others;
  for (const VariantRow& row : rows) {
    if (&row != &rows.front() && row.is_worthwhile())
      others.push_back(
          fmt::format("{} ({})", row.planned.variant.name, format_ratio(*row.result.effect)));
  }
  const VariantRow& best = rows.front();
  if (!best.is_worthwhile()) {
    return fmt::format("{} certain to make this case {:g} % faster or more.",
                       measured == 1
                           ? fmt::format("The change to {} is not", best.planned.variant.name)
                           : fmt::format("None of the {} changes is", measured),
                       100 * kMinGain);
  }
  std::string text = fmt::format("With {}, this case is {}.", best.planned.variant.name,
                                 format_ratio(*best.result.effect));
  if (!others.empty())
    text += fmt::format(" Also faster: {}.", fmt::join(others, ", "));
  else if (measured > 1)
    text += fmt::format(" No other change is certain to gain {:g} % or more.", 100 * kMinGain);
  return text;
}

}  // namespace

const PlannedVariant* find_best_variant(const VariantReport& report) {
  const std::vector<VariantRow> rows = sort_rows(report);
  return !rows.empty() && rows.front().is_worthwhile() ? &rows.front().planned : nullptr;
}

std::string format_variants(const VariantReport& report, const ConsoleOptions& options) {
  const std::vector<VariantRow> rows = sort_rows(report);
  const auto stopped = std::ranges::find_if(
      report.results, [](const VariantResult& result) { return result.stopped.has_value(); });
  std::string sentences = make_answer(rows);
  if (stopped != report.results.end())
    sentences =
        fmt::format("The measurement was {}. {}", format_stop_cause(stopped->stopped), sentences);
  const std::string answer = wrap(sentences, options.width, 0);
  if (rows.empty()) return answer;
  Table table = make_table(kVariantFields, in_text, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].note = make_note(rows[i]);
  return answer + "\n" + text_table(table, options.width, options.colour);
}

void write_variants(JsonWriter& writer, const VariantReport& report) {
  writer.required_list("variants", sort_rows(report), [](JsonWriter& entry, const VariantRow& row) {
    const Variant& variant = row.planned.variant;
    entry.required("name", variant.name);
    entry.required("why", variant.why);
    entry.required("id", row.planned.spec.id);
    if (variant.tune != 0) entry.required("tune", variant.tune);
    if (variant.batches != 1) entry.required("batches", variant.batches);
    if (row.planned.saved) entry.required("saved_id", row.planned.saved->id);
    if (const auto& effect = row.result.effect) {
      entry.required("ratio", effect->ratio);
      entry.optional("low", effect->low);
      entry.optional("high", effect->high);
      entry.optional("later_low", effect->later_low);
      entry.optional("later_high", effect->later_high);
      entry.required("duets", effect->duets);
      entry.required("case_ns", effect->case_time);
      entry.optional("saved_ns", effect->saved_time);
      entry.required("variant_ns", effect->variant_time);
    }
    if (!row.result.reason.empty()) entry.required("reason", row.result.reason);
    entry.required("cost", variant.cost);
    if (const auto change = find_memory_change(row.spec, row.planned))
      entry.required("tensor_bytes_change", change->count);
  });
}

}  // namespace bench
