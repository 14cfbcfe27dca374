// SPDX-License-Identifier: Apache-2.0
#include "harness/report/console.hpp"

#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/case_sum.hpp"
#include "harness/report/regret.hpp"
#include "harness/report/run_answer.hpp"
#include "harness/report/serving.hpp"
#include "harness/report/short_id.hpp"
#include "harness/result/device_samples.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

namespace bench {

namespace {

// Ids of the cases that ran on a device with its own clock. The processor's speed does not change
// their times.
std::set<std::string_view> device_cases(const Report& report) {
  std::set<std::string_view> ids;
  for (const CaseRecord& record : report.cases) {
    if (!record.device.empty() && record.device != "cpu") ids.insert(record.id);
  }
  return ids;
}

// Returns how much the clock of a device differed between samples. Empty if it was steady or if no
// case was measured on a device.
std::string format_device_clock(const Report& report) {
  constexpr double kSteady = 1.03;  // ratio of clocks that are called equal
  constexpr double kGiga = 1e9, kMega = 1e6;
  std::vector<double> clocks;
  for (const ProcessRecord& process : report.processes) {
    for (const std::int64_t hertz : process.device.clock_hz) {
      clocks.push_back(static_cast<double>(hertz));
    }
  }
  if (clocks.empty()) return "";
  std::ranges::sort(clocks);
  const double low = clocks[clocks.size() / 10], high = clocks[clocks.size() * 9 / 10];
  if (high <= kSteady * low) return "";
  return fmt::format(
      "The GPU's clock varied: {:.2f} to {:.2f} GHz in 80 % of the samples. `sudo nvidia-smi -lgc "
      "{:.0f}` locks it to the lower one, `sudo nvidia-smi -rgc` unlocks it.",
      low / kGiga, high / kGiga, low / kMega);
}

std::string format_host_speed(const Report& report) {
  // Canaries that differ by less show a steady machine.
  constexpr double kSteady = 1.1;
  const std::set<std::string_view> on_device = device_cases(report);
  std::map<int, std::vector<Nanoseconds>> canaries;  // by number of threads
  for (const ProcessRecord& process : report.processes) {
    if (on_device.contains(process.id)) continue;
    std::vector<Nanoseconds>& times = canaries[process.canaries.threads.value_or(0)];
    std::ranges::copy_if(process.canaries.times, std::back_inserter(times),
                         [](Nanoseconds time) { return time > Nanoseconds(0); });
  }
  const auto most =
      std::ranges::max_element(canaries, {}, [](const auto& entry) { return entry.second.size(); });
  if (most == canaries.end() || most->second.empty()) return "";
  const Nanoseconds fast = *quantile(most->second, 0.1), slow = *quantile(most->second, 0.9);
  const auto extrapolated = std::ranges::count_if(
      report.cases, [](const CaseRecord& record) { return has_flag(record, Flag::disturbed); });
  const bool is_steady =
      static_cast<double>(slow.count()) <= kSteady * static_cast<double>(fast.count());
  if (is_steady && extrapolated == 0) return "";
  std::string text = fmt::format(
      "The machine's speed varied (its canary took {} to {}); times are stated, and runs are "
      "compared, at equal speed",
      format_time(fast), format_time(slow));
  if (extrapolated > 0) {
    text += fmt::format(", which {} never had (flag `disturbed`)", pluralise(extrapolated, "case"));
  }
  return text + ".";
}

}  // namespace

std::string format_speed(const Report& report) {
  const std::string host = format_host_speed(report), device = format_device_clock(report);
  return host + (host.empty() || device.empty() ? "" : " ") + device;
}

std::optional<std::string> nothing_measured_sentence(const Report& report) {
  std::map<Outcome, int> counts;
  for (const CaseRecord& record : report.cases) ++counts[record.outcome];
  if (counts.empty() || counts.contains(Outcome::ok)) return std::nullopt;
  std::string text;
  for (const auto& [outcome, count] : counts) {
    text += text.empty() ? fmt::format("{} of {} {}", count, pluralise(report.cases.size(), "case"),
                                       to_string(outcome))
                         : fmt::format(", {} {}", count, to_string(outcome));
  }
  return fmt::format("Nothing was measured: {}; the reason{} below.", text,
                     report.cases.size() == 1 ? " is" : "s are");
}

bool has_only_skipped_cases(const Report& report) {
  return !report.cases.empty() && std::ranges::all_of(report.cases, [](const CaseRecord& record) {
    return record.outcome == Outcome::skipped || record.outcome == Outcome::unsupported;
  });
}

namespace {

// From this width on, the table omits a less important column rather than shorten the ids.
constexpr std::size_t kWideTerminal = 100;
constexpr std::size_t kMinIdOnWideTerminal = 44;

// Formats a fraction as "+1.2%", and with two decimals below one per cent: "-0.35%".
std::string format_signed_fraction(double fraction) {
  if (!std::isfinite(fraction)) return std::string(kUnknown);
  const double percent = fraction * 100;
  return fmt::format("{:+.{}f}%", percent, std::abs(percent) < 0.995 ? 2 : 1);
}

std::string format_relative_width(double fraction) {
  const double percent = 100 * fraction;
  return fmt::format("{:.{}f}%", percent, percent < 0.995 ? 2 : 1);
}

// Formats the half width of the interval, relative to the median: "1.7%". If there are too few
// processes for an interval, formats half the range of their medians: "(0.40%)".
std::string format_half_width(const std::optional<TimeSummary>& time,
                              const std::optional<double>& half_range) {
  const auto half = time ? interval_half_width(*time) : std::nullopt;
  if (half) return format_relative_width(*half);
  return time && half_range ? fmt::format("({})", format_relative_width(*half_range))
                            : std::string(kUnknown);
}

std::string format_median(const std::optional<TimeSummary>& time) {
  return time ? format_time(time->median) : std::string(kUnknown);
}

// Formats a rate in the unit of its column's heading.
template <class Rate>
std::string format_giga(const std::optional<Rate>& rate) {
  return rate ? format_significant(rate->value / 1e9) : std::string(kUnknown);
}

Tone outcome_tone(const CaseRecord& record) {
  switch (record.outcome) {
    case Outcome::ok:
      return record.flags.empty() ? Tone::good : Tone::warning;
    case Outcome::unsupported:
    case Outcome::skipped:
      return Tone::warning;
    case Outcome::wrong_result:
    case Outcome::crashed:
    case Outcome::timed_out:
    case Outcome::failed:
      return Tone::bad;
  }
  return Tone::plain;
}

// "ok noisy interrupted", or "ok noisy +1" if that does not fit.
TextCell outcome_cell(const CaseRecord& record) {
  const std::string_view outcome = to_string(record.outcome);
  TextCell cell{std::string(outcome), outcome_tone(record)};
  for (Flag flag : record.flags) cell.text += fmt::format(" {}", to_string(flag));
  if (record.flags.size() > 1) {
    const std::string_view first = to_string(record.flags.front());
    cell.shorter = {fmt::format("{} {} +{}", outcome, first, record.flags.size() - 1)};
  }
  return cell;
}

TextCell id_cell(const std::string& id, const IdShortener& ids) {
  return {id, Tone::plain, ids.forms(id)};
}

std::string format_note(const CaseRecord& record) {
  if (record.reason || !record.voided) return record.reason.value_or("");
  return fmt::format("{}, most often: {}", pluralise(record.voided->count, "discarded sample"),
                     most_frequent_reason(*record.voided));
}

// Returns half the range of the medians of a case's processes, relative to their mean, by case. Of
// a case with one process, nothing is known.
std::map<std::string, double> process_half_ranges(const Report& report) {
  std::map<std::string, std::vector<double>> medians;
  for (const ProcessRecord& process : report.processes) {
    const auto typical = median(process.samples);
    if (!typical || process.iterations_per_sample <= 0) continue;
    medians[process.id].push_back(static_cast<double>(typical->count()) /
                                  static_cast<double>(process.iterations_per_sample));
  }
  std::map<std::string, double> ranges;
  for (const auto& [id, values] : medians) {
    const auto [low, high] = std::ranges::minmax(values);
    if (values.size() > 1 && low + high > 0) ranges[id] = (high - low) / (high + low);
  }
  return ranges;
}

// What the cells of one row of the table are formed from.
struct ConsoleRow {
  const CaseRecord& record;
  const ConsoleOptions& options;
  const IdShortener& ids;
  std::optional<double> half_range;  // half the range of the medians of its processes
};

// A column of the table, with the rules of TextColumn for its width.
struct ConsoleField {
  std::string_view heading;
  Align align;
  std::optional<std::size_t> narrowest;
  int expendable;
  TextCell (*cell)(const ConsoleRow&);
  // The table has the column if this is true for any row; nullptr: always.
  bool (*has_value)(const ConsoleRow&) = nullptr;
};

// The host's time for a launch; the median is device time only. A graph launches many executions at
// once, so its share of the time is not the time of a launch.
bool has_launch(const ConsoleRow& row) {
  return row.record.host_launch && row.record.sample_method != "graph";
}
bool has_baseline(const ConsoleRow& row) { return !row.options.versus_baseline.empty(); }
bool has_roofline(const ConsoleRow& row) { return row.record.roofline.has_value(); }
bool has_energy(const ConsoleRow& row) { return row.record.energy.has_value(); }

TextCell launch_cell(const ConsoleRow& row) {
  return {has_launch(row) ? format_time(*row.record.host_launch) : std::string(kUnknown)};
}

TextCell baseline_cell(const ConsoleRow& row) {
  const auto found = row.options.versus_baseline.find(row.record.id);
  return {found == row.options.versus_baseline.end() ? std::string(kUnknown) : found->second};
}

TextCell peak_cell(const ConsoleRow& row) {
  return {format_or_unknown(row.record.roofline, [](const Roofline& value) {
    return fmt::format("{:.0f}", 100 * value.efficiency);
  })};
}

TextCell bound_cell(const ConsoleRow& row) {
  const std::optional<Roofline>& roofline = row.record.roofline;
  return {std::string(roofline ? to_string(roofline->bound) : kUnknown)};
}

TextCell millijoules_cell(const ConsoleRow& row) {
  return {format_or_unknown(row.record.energy, [](const Energy& energy) {
    return format_significant(1e3 * energy.joules_per_iteration);
  })};
}

TextCell flops_per_joule_cell(const ConsoleRow& row) {
  const auto rate = row.record.energy ? row.record.energy->flops_per_joule : std::nullopt;
  return {format_or_unknown(rate, [](double value) { return format_significant(1e-9 * value); })};
}

constexpr auto kConsoleFields = std::to_array<ConsoleField>({
    {"case", Align::left, kMinId, 0,
     [](const ConsoleRow& row) { return id_cell(row.record.id, row.ids); }},
    {"median",
     Align::right,
     {},
     0,
     [](const ConsoleRow& row) { return TextCell{format_median(row.record.time)}; }},
    {"launch", Align::right, {}, 5, launch_cell, has_launch},
    {"+-",
     Align::right,
     {},
     1,
     [](const ConsoleRow& row) {
       return TextCell{format_half_width(row.record.time, row.half_range)};
     }},
    {"vs baseline", Align::left, {}, 0, baseline_cell, has_baseline},
    {"GFLOP/s",
     Align::right,
     {},
     3,
     [](const ConsoleRow& row) { return TextCell{format_giga(row.record.flops_per_s)}; }},
    {"% peak", Align::right, {}, 2, peak_cell, has_roofline},
    {"bound", Align::left, {}, 4, bound_cell, has_roofline},
    {"GB/s",
     Align::right,
     {},
     7,
     [](const ConsoleRow& row) { return TextCell{format_giga(row.record.bytes_per_s)}; }},
    {"mJ", Align::right, {}, 2, millijoules_cell, has_energy},
    {"GFLOP/J", Align::right, {}, 5, flops_per_joule_cell, has_energy},
    {"implementation", Align::left, 20, 6,
     [](const ConsoleRow& row) {
       return TextCell{row.record.implementation.value_or(std::string(kUnknown))};
     }},
    {"outcome", Align::left, {}, 0, [](const ConsoleRow& row) { return outcome_cell(row.record); }},
});

// Beside the column `vs baseline`, which the user asked for, ids may become shorter than elsewhere.
// If they would have fewer columns than this, the intervals of that column are left out.
constexpr std::size_t kMinIdBesideIntervals = 30;
// If they would have even fewer columns than this, flags fold: "ok +1".
constexpr std::size_t kMinIdBesideFlags = 24;
constexpr std::size_t kMinIdBesideBaseline = 12;

struct ConsoleTable {
  std::vector<TextColumn> columns;
  std::vector<TextRow> rows;
};

ConsoleTable make_console_table(const Report& report, const ConsoleOptions& options) {
  std::vector<std::string_view> names;
  for (const CaseRecord& record : report.cases) names.push_back(record.id);
  const IdShortener ids(names);
  const std::map<std::string, double> half_ranges = process_half_ranges(report);
  std::vector<ConsoleRow> cases;
  for (const CaseRecord& record : report.cases) {
    const auto range = half_ranges.find(record.id);
    cases.push_back({record, options, ids,
                     range == half_ranges.end() ? std::nullopt : std::optional(range->second)});
  }
  ConsoleTable table;
  for (const CaseRecord& record : report.cases) table.rows.push_back({{}, format_note(record)});
  for (const ConsoleField& field : kConsoleFields) {
    if (field.has_value != nullptr && std::ranges::none_of(cases, field.has_value)) continue;
    table.columns.push_back(
        {std::string(field.heading), field.align, field.narrowest, field.expendable});
    for (std::size_t i = 0; i < cases.size(); ++i)
      table.rows[i].cells.push_back(field.cell(cases[i]));
  }
  if (options.width >= kWideTerminal) table.columns.front().narrowest = kMinIdOnWideTerminal;
  return table;
}

// Returns the width that is left for the ids beside the columns that are never removed.
std::size_t room_for_ids(const ConsoleTable& table, std::size_t width) {
  std::size_t used = 0;
  for (std::size_t i = 1; i < table.columns.size(); ++i) {
    if (table.columns[i].expendable == 0)
      used += kColumnGap + ColumnFitter(table.columns[i], table.rows, i).narrowest_width();
  }
  return width > used ? width - used : 0;
}

// Makes a table with the column `vs baseline` fit the width.
void make_room_beside_baseline(const Report& report, std::size_t width, ConsoleTable& table) {
  const auto column = std::ranges::find(table.columns, "vs baseline", &TextColumn::heading);
  const std::ptrdiff_t position = column - table.columns.begin();
  if (room_for_ids(table, width) < kMinIdBesideIntervals) {
    for (TextRow& row : table.rows) {
      std::string& text = row.cells[static_cast<std::size_t>(position)].text;
      text.resize(std::min(text.find(" ["), text.size()));
    }
  }
  if (room_for_ids(table, width) < kMinIdBesideFlags) {
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const CaseRecord& record = report.cases[i];
      if (record.flags.empty()) continue;
      table.rows[i].cells.back().shorter.push_back(
          fmt::format("{} +{}", to_string(record.outcome), record.flags.size()));
    }
  }
  std::optional<std::size_t>& narrowest = table.columns.front().narrowest;
  narrowest =
      std::clamp(room_for_ids(table, width), kMinIdBesideBaseline, narrowest.value_or(kMinId));
}

// Returns a note for each run that used a profiler (`--under`), since its times are not comparable
// with others.
std::string format_profiled_run_notes(const Report& report, std::size_t width) {
  std::string text;
  for (const RunRecord& run : report.runs) {
    if (!run.under) continue;
    text += wrap(fmt::format("run {} used `{}`: its times are for that tool; do not compare them "
                             "with other runs",
                             run.run_id, *run.under),
                 width, 2);
  }
  return text;
}

std::string network_title(const NetworkSummary& summary) {
  if (summary.layers_total == 0) return fmt::format("network {}", summary.network);
  return fmt::format("network {}, layers with cache {}", summary.network, summary.cache);
}

std::string signed_time(Nanoseconds time) {
  return (time.count() > 0 ? "+" : "") + format_time(time);
}

// The aligned parts of a line such as "sum of layers   27.50 ms   23 of 23 distinct layers". A long
// remark wraps within its column.
struct Fact {
  std::string name;
  std::string value;
  std::string remark;
};

std::string render_facts(const std::vector<Fact>& facts, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  constexpr std::size_t kName = 15;
  constexpr std::size_t kValue = 10;
  constexpr std::size_t kRemark = kIndent + kName + kValue + 2;
  std::string text;
  for (const Fact& fact : facts) {
    std::string line =
        fmt::format("{:{}}{:<{}}{:>{}}", "", kIndent, fact.name, kName, fact.value, kValue);
    std::string remark = wrap(fact.remark, width, kRemark);
    if (!remark.empty()) line += remark.substr(kRemark - 2);
    text += remark.empty() ? line + '\n' : line;
  }
  return text;
}

std::string coverage_remark(const NetworkSummary& summary) {
  const std::string total = pluralise(summary.layers_total, "distinct layer");
  if (!summary.missing.empty())
    return fmt::format("{} of {}: the others have no time", summary.layers_measured, total);
  if (!has_all_layers(summary))
    return fmt::format("{} with {:.1f} % of its work: others were not measured", total,
                       100 * *summary.covered_work);
  return total + ", each times its multiplicity";
}

std::string format_optional_time(const std::optional<Nanoseconds>& time) {
  return format_or_unknown(time, [](Nanoseconds value) { return format_time(value); });
}

// Returns the summary of the same layers with hot caches, or nullptr if there is none or a layer
// has no time. The difference to another cache mode is the cost of loading data from memory.
const NetworkSummary* find_hot_twin(const std::vector<NetworkSummary>& networks,
                                    const NetworkSummary& summary) {
  const auto twin =
      std::find_if(networks.begin(), networks.end(), [&](const NetworkSummary& other) {
        return other.cache == "hot" && other.network_id == summary.network_id &&
               other.network == summary.network && other.layers_total == summary.layers_total;
      });
  const bool is_comparable = twin != networks.end() && summary.cache != "hot" &&
                             has_all_layers(*twin) && has_all_layers(summary);
  return is_comparable ? &*twin : nullptr;
}

std::vector<Fact> network_facts(const NetworkSummary& summary, const NetworkSummary* hot) {
  std::vector<Fact> facts;
  facts.push_back({"network", format_optional_time(summary.network_time),
                   summary.network_id.empty() ? "not measured as a whole" : summary.network_id});
  if (summary.layers_total > 0) {
    facts.push_back({"sum of layers", format_time(summary.layers_time), coverage_remark(summary)});
    if (!summary.lacks.empty()) {
      facts.push_back({"not included", "", fmt::format("{}", fmt::join(summary.lacks, "; "))});
    }
    if (hot != nullptr) {
      facts.push_back(
          {"cold caches", signed_time(summary.layers_time - hot->layers_time),
           fmt::format("{} against hot, {}", summary.cache, format_time(hot->layers_time))});
    }
    Fact unexplained{"unexplained", std::string(kUnknown), ""};
    if (summary.rest && summary.network_time) {
      unexplained.value = signed_time(*summary.network_time - summary.layers_time);
      unexplained.remark = fmt::format("{} of the network", format_signed_fraction(*summary.rest));
    }
    facts.push_back(std::move(unexplained));
  }
  return facts;
}

std::vector<Fact> setup_facts(const NetworkSummary& summary) {
  std::string creation = format_optional_time(summary.preparation.create);
  if (summary.first_creation) {
    creation = fmt::format("{} first, {} later", format_time(*summary.first_creation), creation);
  }
  return {{"creation", std::move(creation), "once, not in the times above"},
          {"reorders", format_optional_time(summary.preparation.reorder),
           "of inputs and weights, once"},
          {"first run", format_optional_time(summary.preparation.first_run), ""}};
}

std::string render_layers(const NetworkSummary& summary, const ConsoleOptions& options) {
  const std::vector<TextColumn> columns = {{"layer", Align::left, 12, 0},
                                           {"time", Align::right, std::nullopt, 0},
                                           {"share", Align::right, std::nullopt, 0},
                                           {"times", Align::right, std::nullopt, 1},
                                           {"case", Align::left, kMinId, 2}};
  std::vector<std::string_view> ids;
  for (const NetworkSummary::Entry& entry : summary.top) ids.push_back(entry.id);
  const IdShortener shortener(ids);
  std::vector<TextRow> rows;
  for (const NetworkSummary::Entry& entry : summary.top) {
    if (rows.size() == options.top_layers) break;
    const std::string names = format_layer_names(entry.layers, entry.direction);
    rows.push_back({{{names.empty() ? std::string(kUnknown) : names},
                     {format_time(entry.time)},
                     {fmt::format("{:.1f}%", entry.share * 100)},
                     {fmt::format("{}", entry.multiplicity)},
                     id_cell(entry.id, shortener)},
                    ""});
  }
  if (rows.empty()) return "";
  std::string text = render_table(columns, rows, options.width, options.colour);
  const std::size_t hidden = summary.top.size() - rows.size();
  if (hidden > 0) text += fmt::format("and {} more\n", pluralise(hidden, "distinct layer"));
  return text;
}

std::string render_missing(const NetworkSummary& summary, const ConsoleOptions& options) {
  std::string text;
  for (const std::string& id : summary.missing) text += wrap("no time: " + id, options.width, 2);
  return text;
}

}  // namespace

std::string console_table(const Report& report, const ConsoleOptions& options) {
  const std::size_t width = options.width;
  if (report.cases.empty())
    return has_unfinished_run(report) ? wrap(answer_sentence(report), width, 0) : "no cases\n";
  ConsoleTable table = make_console_table(report, options);
  if (!options.versus_baseline.empty()) make_room_beside_baseline(report, width, table);
  const std::string lead = lead_sentences(report);
  const std::string served = serving_table(report, width, options.colour);
  const std::string tuned = regret_table(report, width, options.colour);
  return (lead.empty() ? "" : wrap(lead, width, 0)) + wrap(answer_sentence(report), width, 0) +
         '\n' + render_table(table.columns, table.rows, width, options.colour) +
         (served.empty() ? "" : '\n' + served) + (tuned.empty() ? "" : '\n' + tuned) +
         format_profiled_run_notes(report, width);
}

std::string console_report(const Report& report, const ConsoleOptions& options) {
  std::string text = console_table(report, options);
  const std::string networks = console_networks(summarise_networks(report), options);
  if (!networks.empty()) text += '\n' + networks;
  std::vector<Note> notes = rank_answer_notes(report);
  for (const std::string& note : options.baseline_notes) {
    const bool is_first = &note == &options.baseline_notes.front();
    notes.push_back({is_first ? NoteTopic::validity : NoteTopic::other, note});
  }
  const std::string below = format_notes(notes, options.notes, options.width, "- ");
  return below.empty() ? text : text + '\n' + below;
}

std::string console_networks(const std::vector<NetworkSummary>& networks,
                             const ConsoleOptions& options) {
  std::string text;
  std::set<std::string_view> with_setup;  // networks whose setup times were shown
  for (const NetworkSummary& summary : networks) {
    if (!text.empty()) text += '\n';
    const std::string title = wrap(network_title(summary), options.width, 0);
    text += paint(title, Tone::heading, options.colour);
    text += render_facts(network_facts(summary, find_hot_twin(networks, summary)), options.width);
    if (!summary.network_id.empty() && with_setup.insert(summary.network_id).second)
      text += render_facts(setup_facts(summary), options.width);
    text += render_missing(summary, options);
    text += render_layers(summary, options);
  }
  return text;
}

}  // namespace bench
