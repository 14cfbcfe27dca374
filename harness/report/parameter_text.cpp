// SPDX-License-Identifier: Apache-2.0
#include "harness/report/parameter_text.hpp"

#include "base/json_fields.hpp"
#include "base/markup.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/report/short_id.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

using enum ColumnKind;

// The ratio of one value's time or speed to the other's, with its interval.
struct Factor {
  double value = 1;
  std::optional<double> low, high;
  // Whether it is certain that the factor is above 1, or that it is below.
  bool is_certain() const {
    if (low && high) return *low > 1 || *high < 1;
    return value > 0 && is_evident_ratio(value);
  }
};

// time_factor() compares times, which suits pairs with equal work. speed_factor() compares the work
// per time, which suits all pairs.
std::optional<Factor> time_factor(const ParameterEffect& effect) {
  if (!effect.compared.ratio) return std::nullopt;
  return Factor{*effect.compared.ratio, effect.compared.low, effect.compared.high};
}
std::optional<Factor> speed_factor(const ParameterEffect& effect) {
  const auto value = effect.speed_up();
  return value ? std::optional(Factor{*value, effect.low(), effect.high()}) : std::nullopt;
}

std::string format_factor_number(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : 1);
}

std::string format_factor(const Factor& factor) { return format_factor_number(factor.value) + "x"; }

std::string format_factor_interval(const Factor& factor) {
  if (!factor.low || !factor.high) return std::string(kUnknown);
  return fmt::format("{} to {}", format_factor_number(*factor.low),
                     format_factor_number(*factor.high));
}

// Returns the value with the name of its parameter, "batch=8", or a clear word alone, "bf16".
std::string format_value(const ParameterComparison& comparison, const std::string& value) {
  const bool is_word = !value.empty() &&
                       std::string_view("0123456789").find(value.front()) == std::string_view::npos;
  // "all" and "true" mean nothing without the parameter's name.
  const bool is_clear = is_word && value != "all" && value != "true" && value != "false";
  return is_clear ? value : fmt::format("{}={}", comparison.parameter, value);
}

Factor speed_factor(const MeanSpeedUp& mean) { return {mean.value, mean.low, mean.high}; }
Factor time_factor(const MeanSpeedUp& mean) {
  return {1 / mean.value, 1 / mean.high, 1 / mean.low};
}

// Returns "bf16 takes 0.65x the time of f32 (0.6 to 0.7)", or that no direction is certain.
// `basis`: how the factor was computed; may be empty.
std::string format_pair_effect(const ParameterComparison& comparison, const Factor& factor,
                               const std::string& basis) {
  const std::string value = format_value(comparison, comparison.values.front());
  const std::string against = format_value(comparison, comparison.against);
  const std::string_view measure = comparison.is_work_equal ? "the time" : "the work per time";
  const bool has_interval = factor.low && factor.high;
  // The interval of a mean is in the sentence only if it explains why nothing is certain.
  const bool shows_interval = has_interval && (basis.empty() || !factor.is_certain());
  std::vector<std::string> details;
  if (shows_interval) details.push_back(format_factor_interval(factor));
  if (!basis.empty()) details.push_back(basis);
  const std::string end =
      details.empty() ? ", without an interval" : fmt::format(" ({})", fmt::join(details, "; "));
  if (!factor.is_certain()) {
    return fmt::format("Whether {} or {} {} is not certain: {} {}{}.", value, against,
                       comparison.is_work_equal ? "takes longer" : "does more work per time",
                       format_factor(factor), measure, end);
  }
  return fmt::format("{} {} {} {} of {}{}.", value, comparison.is_work_equal ? "takes" : "does",
                     format_factor(factor), measure, against, end);
}

// Returns a sentence with the effect of the only pair, or with the mean over all pairs.
std::string pair_sentence(const ParameterComparison& comparison) {
  const auto& mean = comparison.means.front();
  if (!mean) {
    return fmt::format("{} and {} cannot be compared; the reasons are below.",
                       format_value(comparison, comparison.values.front()),
                       format_value(comparison, comparison.against));
  }
  if (comparison.groups.size() > 1) {
    return format_pair_effect(
        comparison, comparison.is_work_equal ? time_factor(*mean) : speed_factor(*mean),
        fmt::format("geometric mean of {}", pluralise(comparison.groups.size(), "pair")));
  }
  const ParameterEffect& only = *comparison.groups.front().effects.front();
  return format_pair_effect(
      comparison, comparison.is_work_equal ? *time_factor(only) : *speed_factor(only), "");
}

std::string sweep_sentence(const ParameterComparison& comparison) {
  std::string text =
      fmt::format("Speed-up against {}", format_value(comparison, comparison.against));
  std::vector<std::string> uncertain;
  for (std::size_t i = 0; i < comparison.values.size(); ++i) {
    const auto& mean = comparison.means[i];
    const std::string value = format_value(comparison, comparison.values[i]);
    text += fmt::format("{} {} {}", i == 0 ? ":" : ",", value,
                        format_or_unknown(mean, [](const MeanSpeedUp& known) {
                          return format_factor(speed_factor(known));
                        }));
    if (mean && !speed_factor(*mean).is_certain()) uncertain.push_back(value);
  }
  if (comparison.groups.size() > 1) {
    text += fmt::format(" (geometric means of {} rows)", comparison.groups.size());
  }
  text += comparison.is_work_equal ? "." : "; it is that of the work per time.";
  if (uncertain.empty()) return text;
  return text + fmt::format(" Not certain: {}.", fmt::join(uncertain, ", "));
}

// Returns "mkl 5, onednn 2; 1 is too close to call".
std::string format_wins(const ValueRanking& ranking) {
  std::string text;
  for (const ValueRanking::Place& place : ranking.places) {
    if (place.wins == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", place.value, place.wins);
  }
  if (ranking.ties == 0) return text;
  return fmt::format("{}{}{} too close to call", text, text.empty() ? "" : "; ",
                     pluralise(ranking.ties, "is", "are"));
}

// Returns which value is the fastest, and how many cases each of them wins.
std::string ranking_sentence(const ValueRanking& ranking) {
  const std::string& first = ranking.places[0].value;
  const std::string& second = ranking.places[1].value;
  const Factor lead{ranking.lead.value, ranking.lead.low, ranking.lead.high};
  const bool has_one_case = ranking.cases == 1;
  const std::string basis = has_one_case
                                ? "in the only case"
                                : fmt::format("by geometric mean over {} cases", ranking.cases);
  const std::string wins =
      has_one_case ? "" : fmt::format(" Fastest in: {}.", format_wins(ranking));
  if (!ranking.is_certain()) {
    return fmt::format("Whether {} or {} is the fastest is not certain {}: {} the speed ({}).{}",
                       first, second, basis, format_factor(lead), format_factor_interval(lead),
                       wins);
  }
  return fmt::format("{} is the fastest {}: {} the speed of {} ({}).{}", first, basis,
                     format_factor(lead), second, format_factor_interval(lead), wins);
}

// Returns one line per value without times; empty if there is none.
std::string format_unmeasured(const ParameterComparison& comparison, std::size_t width) {
  std::string text;
  for (const UnmeasuredValue& value : comparison.unmeasured)
    text += wrap(fmt::format("{} has no times: {}", value.value, value.reason), width, 0);
  return text;
}

bool is_sweep(const ParameterComparison& comparison) { return comparison.values.size() > 1; }

std::string format_parameter_answer(const ParameterComparison& comparison) {
  if (comparison.ranking) return ranking_sentence(*comparison.ranking);
  return is_sweep(comparison) ? sweep_sentence(comparison) : pair_sentence(comparison);
}

std::string format_unpaired(const ParameterComparison& comparison) {
  if (comparison.unpaired == 0) return "";
  return fmt::format("{} no partner that differs in `{}` alone.",
                     pluralise(comparison.unpaired, "case has", "cases have"),
                     comparison.parameter);
}

// Returns why effects of the group are missing or uncertain; empty if there is no reason.
std::string format_reasons(const ParameterComparison& comparison, const ParameterGroup& group) {
  std::string text;
  for (std::size_t i = 0; i < group.effects.size(); ++i) {
    const auto& effect = group.effects[i];
    if (!effect || effect->compared.reason.empty()) continue;
    if (!text.empty()) text += "; ";
    if (is_sweep(comparison)) text += format_value(comparison, comparison.values[i]) + ": ";
    text += effect->compared.reason;
  }
  return text;
}

TableColumn base_column(const ParameterComparison& comparison) {
  return {fmt::format("case with {}", format_value(comparison, comparison.against)), id, kMinId};
}

Table pair_table(const ParameterComparison& comparison) {
  Table table{{base_column(comparison),
               {format_value(comparison, comparison.against), number, std::nullopt, 3},
               {format_value(comparison, comparison.values.front()), number, std::nullopt, 2},
               {comparison.is_work_equal ? "time" : "work per time", number},
               {"interval", number, std::nullopt, 1}},
              {}};
  for (const ParameterGroup& group : comparison.groups) {
    const auto& effect = group.effects.front();
    const auto factor = !effect                    ? std::nullopt
                        : comparison.is_work_equal ? time_factor(*effect)
                                                   : speed_factor(*effect);
    table.rows.push_back(
        {{{group.base_id},
          {format_compared_time(group.base)},
          {format_compared_time(effect ? effect->compared.candidate : std::nullopt)},
          {format_or_unknown(factor, format_factor)},
          {format_or_unknown(factor, format_factor_interval)}},
         format_reasons(comparison, group)});
  }
  return table;
}

std::string format_speed(const std::optional<ParameterEffect>& effect) {
  const auto factor = effect ? speed_factor(*effect) : std::nullopt;
  return format_or_unknown(factor, format_factor);
}

std::string speed_with_interval(const std::optional<ParameterEffect>& effect) {
  const auto factor = effect ? speed_factor(*effect) : std::nullopt;
  if (!factor || !factor->low || !factor->high) return format_speed(effect);
  return fmt::format("{} ({})", format_factor(*factor), format_factor_interval(*factor));
}

Table sweep_table(const ParameterComparison& comparison, InFormat format) {
  const bool is_text = format == in_text;
  Table table{{is_text ? base_column(comparison) : TableColumn{"case", id},
               {"time", number, std::nullopt, 1}},
              {}};
  for (const std::string& value : comparison.values) {
    table.columns.push_back(
        {(is_text ? "" : "speed-up with ") + format_value(comparison, value), number});
  }
  for (const ParameterGroup& group : comparison.groups) {
    TableRow row{{{group.base_id}, {format_compared_time(group.base)}},
                 format_reasons(comparison, group)};
    for (const auto& effect : group.effects)
      row.cells.push_back({is_text ? format_speed(effect) : speed_with_interval(effect)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// An effect with its base case and its value of the parameter.
struct NamedEffect {
  const std::string& base_id;
  const std::string& value;
  const ParameterEffect& effect;
};

std::vector<NamedEffect> list_effects(const ParameterComparison& comparison) {
  std::vector<NamedEffect> effects;
  for (const ParameterGroup& group : comparison.groups) {
    for (std::size_t i = 0; i < group.effects.size(); ++i) {
      if (group.effects[i])
        effects.push_back({group.base_id, comparison.values[i], *group.effects[i]});
    }
  }
  return effects;
}

void write_effect(JsonWriter& writer, const NamedEffect& row) {
  const auto& compared = row.effect.compared;
  writer.required("base_id", row.base_id);
  writer.required("id", compared.id);
  writer.required("value", row.value);
  writer.required("work_ratio", row.effect.work_ratio);
  BENCH_MEMBERS(writer, compared, (base, "base_ns"), (candidate, "candidate_ns"), ratio);
  writer.optional("speed_up", row.effect.speed_up());
  writer.optional("speed_up_low", row.effect.low());
  writer.optional("speed_up_high", row.effect.high());
  writer.optional("confidence", compared.confidence);
  writer.optional("reason", compared.reason);
}

void write_ranking(JsonWriter& writer, const ParameterComparison& comparison) {
  const ValueRanking& ranking = *comparison.ranking;
  BENCH_MEMBERS(writer, ranking, (cases, "ranked_cases"), ties);
  writer.required_list("ranking", ranking.places,
                       [](JsonWriter& row, const ValueRanking::Place& place) {
                         BENCH_MEMBERS(row, place, value, mean_time, wins);
                       });
  writer.required_list("unmeasured", comparison.unmeasured,
                       [](JsonWriter& row, const UnmeasuredValue& value) {
                         BENCH_MEMBERS(row, value, value, reason);
                       });
}

}  // namespace

std::string format_parameter_comparison(const ParameterComparison& comparison,
                                        const ConsoleOptions& console) {
  std::string text = wrap(format_parameter_answer(comparison), console.width, 0) + '\n';
  text +=
      text_table(is_sweep(comparison) ? sweep_table(comparison, in_text) : pair_table(comparison),
                 console.width, console.colour);
  const std::string unpaired = format_unpaired(comparison);
  const std::string unmeasured = format_unmeasured(comparison, console.width);
  if (!unpaired.empty() || !unmeasured.empty()) text += '\n';
  if (!unpaired.empty()) text += wrap(unpaired, console.width, 0);
  return text + unmeasured;
}

std::string parameter_markdown(const ParameterComparison& comparison) {
  std::string text = markdown_sentence(format_parameter_answer(comparison)) + "\n\n" +
                     markdown_table(sweep_table(comparison, in_markdown), "---:");
  const std::string unpaired = format_unpaired(comparison);
  if (!unpaired.empty()) text += "\n" + markdown_sentence(unpaired) + "\n";
  for (const UnmeasuredValue& value : comparison.unmeasured) {
    text += fmt::format("\n{} has no times: {}\n", escape_markdown(value.value),
                        markdown_sentence(value.reason));
  }
  return text;
}

std::string parameter_json(const ParameterComparison& comparison) {
  return printed_json([&](JsonWriter& writer) {
    writer.constant("schema", "bench.parameter_comparison/1");
    BENCH_MEMBERS(writer, comparison, (name, "result"), parameter, against, unpaired);
    if (comparison.ranking) write_ranking(writer, comparison);
    writer.required_list("rows", list_effects(comparison), write_effect);
  });
}

}  // namespace bench
