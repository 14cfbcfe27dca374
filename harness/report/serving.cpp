// SPDX-License-Identifier: Apache-2.0
#include "harness/report/serving.hpp"

#include "base/table.hpp"
#include "base/text.hpp"
#include "harness/judge/parameter_split.hpp"
#include "harness/report/short_id.hpp"
#include "harness/result/latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr std::string_view kStreams = "streams", kBatch = "batch";

// A case with streams, or the same case with one stream.
struct ServedCase {
  const CaseRecord* record;
  std::string problem;                // equal for cases that differ only in their streams
  const CaseRecord* alone = nullptr;  // the same case with one stream; null if it has no time
};

std::string problem_of(const CaseRecord& record) {
  const auto split = split_parameter(record.id, kStreams);
  return split ? split->rest : record.id;
}

// Returns the cases with streams and the same cases with one stream, in the order of the report.
std::vector<ServedCase> find_served(const Report& report) {
  std::map<std::string, const CaseRecord*> alone;  // by problem; null: not measured with a time
  for (const CaseRecord& record : report.cases) {
    if (record.streams) alone.emplace(problem_of(record), nullptr);
  }
  if (alone.empty()) return {};
  std::vector<ServedCase> served;
  for (const CaseRecord& record : report.cases) {
    std::string problem = problem_of(record);
    const auto found = alone.find(problem);
    if (found == alone.end()) continue;
    if (!record.streams && record.time) found->second = &record;
    served.push_back({&record, std::move(problem)});
  }
  for (ServedCase& entry : served) entry.alone = alone.at(entry.problem);
  return served;
}

// Returns what a case computes, whatever its batch and streams: "resnet50_v1_5", or an operator
// with its parameters.
std::string workload_of(const ServedCase& entry) {
  const IdSegments id = split_id(entry.record->id);
  if (id.op != "network") return fmt::format("{} {}", id.op, id.parameters);
  return id.parameters.substr(0, id.parameters.find_first_of("-+"));
}

std::string format_served_setting(const CaseRecord& record) {
  std::string text = pluralise(record.streams.value_or(1), "stream");
  const auto batch = split_parameter(record.id, kBatch);
  if (batch && batch->value != "1") text += fmt::format(" and batch {}", batch->value);
  return text;
}

std::string format_best(const std::string& workload, const CaseRecord& record,
                        ItemsPerSecond rate) {
  const std::string setting = format_served_setting(record);
  if (record.latency) {
    return fmt::format("{}: {} items/s with {}; 99 % of the iterations take at most {}.", workload,
                       format_significant(rate.value), setting,
                       format_time(record.latency->p99.time));
  }
  return fmt::format("{}: {} items/s with {}; an iteration takes {}.", workload,
                     format_significant(rate.value), setting, format_time(record.time->median));
}

std::string format_latency(const CaseRecord& record, const LatencyPercentileRow& row) {
  return record.latency ? format_time((*record.latency.*row.value).time) : std::string(kUnknown);
}

TextRow served_row(const ServedCase& entry, const ServedRates& rates) {
  const CaseRecord& record = *entry.record;
  const auto rate = rates.of(record);
  TextRow row{{{record.id},
               {fmt::to_string(record.streams.value_or(1))},
               {rate ? format_significant(rate->value) : std::string(kUnknown)}},
              ""};
  for (const LatencyPercentileRow& percentile : kLatencyPercentiles)
    row.cells.push_back({format_latency(record, percentile)});
  row.cells.push_back(
      {entry.alone != nullptr ? format_time(entry.alone->time->median) : std::string(kUnknown)});
  return row;
}

// Says what the columns are, and what reading the clock costs if it is not negligible.
std::string format_served_note(std::span<const ServedCase> served) {
  constexpr double kNegligible = 0.01;
  std::int64_t iterations = 0;
  Nanoseconds clock{0};
  bool is_noticeable = false;
  for (const ServedCase& entry : served) {
    if (!entry.record->latency) continue;
    const Latency& latency = *entry.record->latency;
    iterations += latency.iterations;
    clock = std::max(clock, latency.clock);
    is_noticeable =
        is_noticeable || static_cast<double>(latency.clock.count()) >
                             kNegligible * static_cast<double>(latency.p50.time.count());
  }
  std::string text =
      "items/s: of all streams together. p50, p90, p99: time of one iteration while all streams "
      "run; alone: with one stream that has all threads.";
  text += fmt::format(" They are of {}", pluralise(iterations, "iteration"));
  return text + (is_noticeable ? fmt::format("; each contains one reading of the clock, {}.",
                                             format_time(clock))
                               : ".");
}

}  // namespace

ServedRates::ServedRates(const std::vector<CaseRecord>& cases) {
  for (const CaseRecord& record : cases) {
    if (record.items) items_.emplace(problem_of(record), *record.items);
  }
}

std::optional<ItemsPerSecond> ServedRates::of(const CaseRecord& record) const {
  if (record.items_per_s || items_.empty()) return record.items_per_s;
  const auto found = items_.find(problem_of(record));
  if (found == items_.end()) return std::nullopt;
  CaseRecord with_items;
  with_items.items = found->second;
  with_items.time = record.time;
  return item_rate(with_items);
}

std::string serving_sentence(const Report& report) {
  constexpr std::size_t kMaxSentences = 2;
  struct Best {
    std::string workload;
    const CaseRecord* record;
    ItemsPerSecond rate;
  };
  const std::vector<ServedCase> served = find_served(report);
  const ServedRates rates(report.cases);
  std::vector<Best> best;  // in the order of the report
  for (const ServedCase& entry : served) {
    const auto rate = rates.of(*entry.record);
    if (!rate) continue;
    std::string workload = workload_of(entry);
    const auto found = std::ranges::find(best, workload, &Best::workload);
    if (found == best.end()) {
      best.push_back({std::move(workload), entry.record, *rate});
    } else if (*rate > found->rate) {
      *found = {std::move(workload), entry.record, *rate};
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(best.size(), kMaxSentences); ++i) {
    text += fmt::format("{}{}", text.empty() ? "" : " ",
                        format_best(best[i].workload, *best[i].record, best[i].rate));
  }
  if (best.size() > kMaxSentences)
    text += fmt::format(" {} more are below.", pluralise(best.size() - kMaxSentences, "workload"));
  return text;
}

std::string serving_table(const Report& report, std::size_t width, Colour colour) {
  constexpr std::size_t kMinServedId = 16;
  const std::vector<ServedCase> served = find_served(report);
  if (served.empty()) return "";
  std::vector<TextColumn> columns = {{"served case", Align::left, kMinServedId, 0},
                                     {"streams", Align::right, std::nullopt, 1},
                                     {"items/s", Align::right, std::nullopt, 0}};
  for (const LatencyPercentileRow& row : kLatencyPercentiles)
    columns.push_back(
        {std::string(row.name), Align::right, std::nullopt, row.name == "p90" ? 3 : 0});
  columns.push_back({"alone", Align::right, std::nullopt, 2});
  const ServedRates rates(report.cases);
  std::vector<TextRow> rows;
  for (const ServedCase& entry : served) rows.push_back(served_row(entry, rates));
  shorten_ids(rows);
  return render_table(columns, std::move(rows), width, colour) +
         wrap(format_served_note(served), width, 0);
}

}  // namespace bench
