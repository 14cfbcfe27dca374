// SPDX-License-Identifier: Apache-2.0
#include "harness/report/comparison_text.hpp"

#include "base/json_fields.hpp"
#include "base/markup.hpp"
#include "base/printable.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/judge/comparison.hpp"
#include "harness/judge/evidence_fields.hpp"
#include "harness/report/cause_text.hpp"
#include "harness/report/page.hpp"
#include "harness/report/parameter_text.hpp"
#include "harness/report/program_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace bench {

void fields(JsonWriter& writer, const ComparedCase& compared) {
  BENCH_MEMBERS(writer, compared, id, group, verdict, (base, "base_ns"),
                (candidate, "candidate_ns"), ratio, low, high, confidence, at_canary,
                (reason, kOptional), (changes, kOptional));
  write_cause(writer, compared.cause);
}
BENCH_FIELDS(GroupRatio, group, cases, ratio, low, high, verdict);
BENCH_FIELDS(CountedRatio, cases, (base, "base_ns"), (candidate, "candidate_ns"), ratio, low, high,
             verdict);

namespace {

// A narrower id is not informative enough, so the table removes time columns first.
constexpr std::size_t kMinComparedId = 30;

// A comment of a pull request is limited to 64 KiB.
constexpr std::size_t kMaxMarkdownRows = 200;

// Formats with one decimal below 10 and without decimals above: "3.0", "30".
std::string short_number(double value) {
  return fmt::format("{:.{}f}", value, std::abs(value) < 9.95 ? 1 : 0);
}

// Describes an effect, and its interval in the same unit and direction.
class Effect {
 public:
  Effect(double ratio, EffectDirection direction)
      : ratio_(ratio), direction_(direction), is_slower_(ratio >= 1) {}

  bool rounds_to_zero() const { return percent(ratio_) == "0.0"; }

  std::string describe() const {
    const std::string size = is_factor() ? factor(ratio_) + "x" : signed_percent(ratio_) + " %";
    if (direction_ == EffectDirection::open) return size;
    if (rounds_to_zero()) return "no change";
    return fmt::format("{} {}", size, is_slower_ ? "slower" : "faster");
  }

  // Returns "2.0 to 4.0", or nullopt unless both bounds are positive.
  std::optional<std::string> describe_interval(const std::optional<double>& low,
                                               const std::optional<double>& high) const {
    if (!low || !high || *low <= 0 || *high <= 0) return std::nullopt;
    const bool is_mirrored = direction_ == EffectDirection::certain && !is_slower_;
    const double near = is_mirrored ? *high : *low;
    const double far = is_mirrored ? *low : *high;
    return is_factor() ? fmt::format("{} to {}", factor(near), factor(far))
                       : fmt::format("{} to {}", signed_percent(near), signed_percent(far));
  }

 private:
  bool is_factor() const { return std::max(ratio_, 1 / ratio_) >= kMinFactor; }
  // An open direction has the ratio itself, which needs two decimals below 1.
  std::string factor(double ratio) const {
    if (direction_ == EffectDirection::certain) return short_number(is_slower_ ? ratio : 1 / ratio);
    return ratio < 0.995 ? fmt::format("{:.2f}", ratio) : short_number(ratio);
  }
  std::string percent(double ratio) const {
    const bool is_mirrored = direction_ == EffectDirection::certain && !is_slower_;
    const std::string text = short_number(100 * (is_mirrored ? 1 - ratio : ratio - 1));
    return text == "-0.0" ? "0.0" : text;
  }
  std::string signed_percent(double ratio) const {
    const std::string text = percent(ratio);
    const bool has_sign = direction_ == EffectDirection::certain || text == "0.0" || text[0] == '-';
    return has_sign ? text : "+" + text;
  }

  double ratio_;
  EffectDirection direction_;
  bool is_slower_;
};

EffectDirection effect_direction(const ComparedCase& entry) {
  return has_direction(entry.verdict) ? EffectDirection::certain : EffectDirection::open;
}

std::string format_interval(const ComparedCase& entry) {
  if (!entry.ratio || !(*entry.ratio > 0)) return std::string(kUnknown);
  return Effect(*entry.ratio, effect_direction(entry))
      .describe_interval(entry.low, entry.high)
      .value_or(std::string(kUnknown));
}

// Returns the effect without its interval, which has a column of its own.
std::string format_change(const ComparedCase& entry) {
  return entry.ratio
             ? format_effect(*entry.ratio, std::nullopt, std::nullopt, effect_direction(entry))
             : std::string(kUnknown);
}

std::string format_case_effect(const ComparedCase& entry) {
  return entry.ratio ? format_effect(*entry.ratio, entry.low, entry.high, effect_direction(entry))
                     : std::string(kUnknown);
}

std::string format_change(const Change& change) {
  return fmt::format("{}: {}", change.field, format_values(change));
}

std::string format_reason_and_changes(const ComparedCase& entry) {
  std::string text = entry.reason;
  for (const Change& change : entry.changes) {
    text += (text.empty() ? "" : "; ") + format_change(change);
  }
  return text;
}

// "3 slower, 1 faster, 40 same".
std::string format_counts(const Comparison& comparison) {
  std::string text;
  for (std::size_t i = 0; i < enumerator_names<CaseVerdict>().size(); ++i) {
    const std::size_t count = comparison.count(static_cast<CaseVerdict>(i));
    if (count == 0) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", count, enumerator_names<CaseVerdict>()[i]);
  }
  return text.empty() ? "no cases" : text;
}

// Returns the mean. If its direction is open, its interval says why.
template <class Ratio>
std::string format_mean(const Ratio& group) {
  return has_direction(group.verdict)
             ? format_effect(group.ratio, std::nullopt, std::nullopt, EffectDirection::certain)
             : format_effect(group.ratio, group.low, group.high, EffectDirection::open);
}

std::string format_groups(const Comparison& comparison) {
  std::string text;
  for (const GroupRatio& group : comparison.groups) {
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", group.group, format_mean(group),
                        group.cases);
  }
  return text;
}

// Returns "changed    cpu: A -> B"; further lines are indented to the first one's text.
std::string changed_line(const Change& change, std::size_t width) {
  constexpr std::string_view kName = "changed    ";
  const std::string lines = wrap(format_change(change), width, kName.size());
  return lines.empty() ? "" : std::string(kName) + lines.substr(kName.size());
}

constexpr std::array<ComparisonFormat, 4> kComparisonFormats = {{
    {"text", "a table", format_comparison, format_parameter_comparison},
    {"markdown", "for a comment or a step summary",
     [](const Comparison& comparison, const ConsoleOptions&) {
       return comparison_markdown(comparison);
     },
     [](const ParameterComparison& comparison, const ConsoleOptions&) {
       return parameter_markdown(comparison);
     }},
    {"html", "a page with plots",
     [](const Comparison& comparison, const ConsoleOptions&) {
       return comparison_page(comparison);
     },
     [](const ParameterComparison& comparison, const ConsoleOptions&) {
       return parameter_page(comparison);
     }},
    {"json", "all of it",
     [](const Comparison& comparison, const ConsoleOptions&) {
       return comparison_json(comparison);
     },
     [](const ParameterComparison& comparison, const ConsoleOptions&) {
       return parameter_json(comparison);
     }},
}};

template <auto Member>
TableCell compared_time(const ComparedCase& entry) {
  return {format_compared_time(entry.*Member), to_cell(entry.*Member)};
}
template <auto Member>
TableCell compared_change(const ComparedCase& entry) {
  return make_change_cell(entry.*Member ? std::optional(*(entry.*Member) - 1) : std::nullopt);
}

// Returns the reason and the changes as a page shows them.
TableCell page_notes(const ComparedCase& entry) {
  const std::string changes = format_changes(entry.changes);
  const std::string_view separator = entry.reason.empty() || changes.empty() ? "" : "; ";
  return {fmt::format("{}{}{}", entry.reason, separator, changes)};
}

constexpr unsigned kEveryTable = in_text | in_markdown | in_page;
using enum ColumnKind;

constexpr auto kComparisonFields = std::to_array<TableField<ComparedCase>>({
    {kEveryTable, "verdict", text,
     [](const ComparedCase& c) {
       return make_text_cell(to_string(c.verdict), verdict_tone(c.verdict));
     }},
    {kEveryTable, "case", id, [](const ComparedCase& c) { return TableCell{c.id}; },
     kMinComparedId},
    {kEveryTable, "base", number, compared_time<&ComparedCase::base>, {}, 3},
    {kEveryTable, "candidate", number, compared_time<&ComparedCase::candidate>, {}, 2},
    {in_text, "change", text, [](const ComparedCase& c) { return TableCell{format_change(c)}; }},
    {in_text,
     "interval",
     text,
     [](const ComparedCase& c) { return TableCell{format_interval(c)}; },
     {},
     1},
    {in_markdown, "change", text,
     [](const ComparedCase& c) { return TableCell{format_case_effect(c)}; }},
    {in_markdown, "what changed", prose,
     [](const ComparedCase& c) { return TableCell{format_reason_and_changes(c)}; }},
    {in_page, "change", number, compared_change<&ComparedCase::ratio>},
    {in_page, "low", number, compared_change<&ComparedCase::low>},
    {in_page, "high", number, compared_change<&ComparedCase::high>},
    {in_page, "notes", prose, page_notes},
});

// Says what the times in the columns are. Empty if no case has a ratio.
std::string describe_compared_times(const Comparison& comparison) {
  const auto ratios = std::ranges::count_if(
      comparison.cases, [](const ComparedCase& entry) { return entry.ratio.has_value(); });
  const auto at_speed = std::ranges::count_if(
      comparison.cases, [](const ComparedCase& entry) { return entry.ratio && entry.at_canary; });
  if (ratios == 0) return "";
  if (at_speed == ratios)
    return "Times of both sides are those at equal speed of the machine (docs/compare.md).";
  constexpr std::string_view kOthers =
      "`base` is a median, and `candidate` is that time multiplied by the ratio (docs/compare.md).";
  return at_speed == 0 ? fmt::format("In each row, {}", kOthers)
                       : fmt::format(
                             "Times of {} of {} cases are those at equal speed of the machine; in "
                             "the other rows, {}",
                             at_speed, ratios, kOthers);
}

}  // namespace

std::string format_compared_time(const std::optional<double>& nanoseconds) {
  constexpr double kMinWithoutFraction = 1000;
  return format_or_unknown(nanoseconds, [](double value) {
    return value < kMinWithoutFraction
               ? fmt::format("{:.4g} ns", value)
               : format_time(Nanoseconds(static_cast<std::int64_t>(std::llround(value))));
  });
}

EffectDirection effect_direction(const std::optional<double>& low,
                                 const std::optional<double>& high) {
  return low && high && (*low > 1 || *high < 1) ? EffectDirection::certain : EffectDirection::open;
}

namespace {

// Returns why no case has comparable times: the most frequent reason of the cases that both sides
// have, or that the sides have no case in common. Empty if a case has them or failed, or if whole
// programs are compared: these are answers.
std::string describe_incomparable(const Comparison& comparison) {
  if (comparison.cases.empty() || comparison.has_comparable_case() || comparison.programs ||
      comparison.count(CaseVerdict::failed) > 0)
    return "";
  constexpr std::string_view kNoTimes = "the cases in common have no times on both sides";
  std::map<std::string_view, std::size_t> reasons;
  for (const ComparedCase& entry : comparison.cases) {
    const bool is_shared =
        entry.verdict != CaseVerdict::removed && entry.verdict != CaseVerdict::added;
    if (is_shared) ++reasons[entry.reason.empty() ? kNoTimes : std::string_view(entry.reason)];
  }
  const auto usual =
      std::ranges::max_element(reasons, {}, [](const auto& row) { return row.second; });
  return fmt::format("Nothing can be compared: {}; ",
                     usual == reasons.end() ? "the two have no case in common" : usual->first);
}

}  // namespace

std::string format_counted(const Comparison& comparison) {
  if (!comparison.counted) return "";
  const CountedRatio& sum = *comparison.counted;
  return fmt::format("As often as the program executes them, {} take{} {} instead of {}: {}.",
                     pluralise(sum.cases, "case"), sum.cases == 1 ? "s" : "",
                     format_compared_time(sum.candidate), format_compared_time(sum.base),
                     format_mean(sum));
}

std::string format_comparison_answer(const Comparison& comparison) {
  const auto all = std::ranges::find(comparison.groups, "all", &GroupRatio::group);
  std::string text = describe_incomparable(comparison) + format_counts(comparison);
  if (all != comparison.groups.end() && all->cases > 1) {
    const bool is_unchanged = all->verdict == CaseVerdict::same &&
                              Effect(all->ratio, EffectDirection::open).rounds_to_zero();
    text += is_unchanged ? "; no change in the geometric mean"
                         : fmt::format("; the geometric mean is {}", format_mean(*all));
  }
  text += ".";
  if (const auto largest = comparison.largest_same()) {
    const std::size_t same = comparison.count(CaseVerdict::same);
    text += fmt::format(" {} `same` changed by at most {} %.",
                        same == 1 ? "The case that is" : "The cases that are",
                        short_number(100 * *largest));
  }
  return text;
}

std::string format_effect(double ratio, const std::optional<double>& low,
                          const std::optional<double>& high, EffectDirection direction) {
  if (!(ratio > 0)) return std::string(kUnknown);
  const Effect effect(ratio, direction);
  const std::string text = effect.describe();
  const auto interval = effect.describe_interval(low, high);
  return interval ? fmt::format("{} ({})", text, *interval) : text;
}

Tone verdict_tone(CaseVerdict verdict) {
  constexpr std::array<Tone, enumerator_names<CaseVerdict>().size()> kTones = {
      Tone::bad,     Tone::good, Tone::plain,   Tone::warning,
      Tone::warning, Tone::bad,  Tone::warning, Tone::plain};
  return kTones[static_cast<std::size_t>(verdict)];
}

Table comparison_table(const Comparison& comparison, InFormat format) {
  return make_table(kComparisonFields, format, comparison.cases);
}

namespace {

std::vector<std::string> comparison_causes(const Comparison& comparison) {
  CauseSummary summary;
  for (const ComparedCase& entry : comparison.cases) summary.add(entry.cause);
  std::vector<std::string> sentences = summary.sentences();
  for (std::string& sentence : sentences) sentence = as_sentence(std::move(sentence));
  return sentences;
}

}  // namespace

std::string format_comparison(const Comparison& comparison, const ConsoleOptions& console) {
  const std::size_t width = console.width;
  // What holds for the primitives need not hold for the program, so the program comes first.
  std::string text =
      comparison.programs ? wrap(program_answer(*comparison.programs), width, 0) : "";
  text += wrap(format_comparison_answer(comparison), width, 0);
  for (const std::string& cause : comparison_causes(comparison)) text += wrap(cause, width, 0);
  text += fmt::format("base       {}\ncandidate  {}\n", printable(comparison.base),
                      printable(comparison.candidate));
  for (const Change& change : comparison.changes) text += changed_line(change, width);
  Table table = comparison_table(comparison, in_text);
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    table.rows[i].note = format_reason_and_changes(comparison.cases[i]);
  text += '\n' + text_table(table, width, console.colour);
  const std::string times = describe_compared_times(comparison);
  if (!times.empty()) text += '\n' + wrap(times, width, 0);
  if (!comparison.groups.empty()) {
    text += '\n' + wrap(fmt::format("geometric mean: {}", format_groups(comparison)), width, 0);
  }
  if (comparison.counted) text += '\n' + wrap(format_counted(comparison), width, 0);
  if (comparison.programs) text += format_program_tables(*comparison.programs, console);
  return text;
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text = fmt::format(
      "**{}** against **{}**: {}\n\n", escape_markdown(comparison.candidate),
      escape_markdown(comparison.base), markdown_sentence(format_comparison_answer(comparison)));
  if (comparison.programs) {
    text += markdown_sentence(program_answer(*comparison.programs)) + "\n\n";
  }
  for (const std::string& cause : comparison_causes(comparison))
    text += fmt::format("- {}\n", escape_markdown(cause));
  for (const Change& change : comparison.changes) {
    text += fmt::format("- changed: {}\n", escape_markdown(format_change(change)));
  }
  Table table = comparison_table(comparison, in_markdown);
  table.rows.resize(std::min(table.rows.size(), kMaxMarkdownRows));
  text += "\n" + markdown_table(table, "---:");
  if (comparison.cases.size() > kMaxMarkdownRows) {
    text += fmt::format("\n{} left out.\n", pluralise(comparison.cases.size() - kMaxMarkdownRows,
                                                      "more case is", "more cases are"));
  }
  if (!comparison.groups.empty()) {
    text += fmt::format("\nGeometric mean: {}\n", escape_markdown(format_groups(comparison)));
  }
  if (comparison.counted)
    text += fmt::format("\n{}\n", escape_markdown(format_counted(comparison)));
  if (comparison.programs) text += program_markdown(*comparison.programs);
  return text;
}

std::string comparison_json(const Comparison& comparison) {
  const auto document = [&](JsonWriter& writer) {
    writer.constant("schema", "bench.comparison/1");
    BENCH_MEMBERS(writer, comparison, base, candidate, changes, cases, groups, counted, programs);
  };
  return json_object(document, kGateReportStyle) + "\n";
}

std::span<const ComparisonFormat> comparison_formats() { return kComparisonFormats; }

namespace {

constexpr const char* kNoBaseline = "no baseline";
constexpr const char* kIncomparable = "incomparable";

// "+1.2%" for a ratio of 1.012.
std::string format_ratio_change(double ratio) {
  const double percent = 100 * (ratio - 1);
  return fmt::format("{:+.{}f}%", percent, std::abs(percent) < 0.995 ? 2 : 1);
}

std::string format_ratio(const ComparedCase& entry) {
  const std::string ratio = format_ratio_change(*entry.ratio);
  if (!entry.low || !entry.high) return ratio;
  return fmt::format("{} [{}, {}]", ratio, format_ratio_change(*entry.low),
                     format_ratio_change(*entry.high));
}

// Collects the cells and notes of the column `vs baseline`.
class BaselineColumn {
 public:
  void set(const std::string& id, std::string text, const std::string& reason) {
    if (!reason.empty()) ++reasons_[fmt::format("{}: {}", text, reason)];
    result_.cells[id] = std::move(text);
  }
  bool has(const std::string& id) const { return result_.cells.contains(id); }
  void note(std::string text) { result_.notes.push_back(std::move(text)); }

  VersusBaseline finish() {
    for (const auto& [reason, count] : reasons_)
      note(fmt::format("vs baseline, {}: {}", pluralise(count, "case"), reason));
    // If no case has a baseline, the note says so. The column would only displace others.
    const auto lacks_baseline = [](const auto& cell) { return cell.second == kNoBaseline; };
    if (std::ranges::all_of(result_.cells, lacks_baseline)) result_.cells.clear();
    return std::move(result_);
  }

 private:
  VersusBaseline result_;
  std::map<std::string, std::size_t> reasons_;  // number of cases by reason
};

// Returns the environment of a run that the store has of the machine class; nullopt if it has none
// that can be read.
std::optional<EnvironmentRecord> find_environment(const BaselineStore& store,
                                                  const std::vector<StoreFile>& files,
                                                  const std::string& folder_name) {
  for (const StoreFile& file : files) {
    if (file.folder_name != folder_name) continue;
    const auto history = store.read(file);
    if (history.ok() && history->last() != nullptr) return history->last()->environment;
  }
  return std::nullopt;
}

// Explains why the store has no baseline for a case, and says what to do.
std::string explain_missing_baseline(const BaselineStore& store,
                                     const EnvironmentRecord& environment) {
  const std::string& machine_class = environment.machine_class;
  if (store.holds(machine_class))
    return fmt::format("{} has no run of this case; add this one with `bench baseline save`",
                       store.folder());
  std::set<std::string> others;
  const auto files = store.list();
  if (files.ok()) {
    for (const StoreFile& file : *files) others.insert(file.folder_name);
  }
  std::string text =
      fmt::format("{} has no run of the machine class {}{}", store.folder(), machine_class,
                  others.empty() ? "" : fmt::format(", only of {}", fmt::join(others, ", ")));
  if (others.empty()) return text;
  const auto other = find_environment(store, *files, *others.begin());
  if (!other) return text;
  return text + fmt::format("; {} differs in: {}", *others.begin(),
                            describe_class_changes(*other, environment));
}

// Returns the stored runs of the report's cases. If a file is unreadable, sets the case's cell. If
// only some lines are unreadable, adds a note.
std::vector<BaselineHistory> read_histories(const Report& report, const BaselineStore& store,
                                            const std::string& machine_class,
                                            BaselineColumn& column) {
  std::vector<BaselineHistory> histories;
  for (const CaseRecord& record : report.cases) {
    if (record.outcome != Outcome::ok) continue;
    auto history = store.read(BaselineStore::case_file(machine_class, record.id));
    if (!history.ok()) {
      column.set(record.id, kIncomparable, history.error().message());
      continue;
    }
    if (history->records.empty() && !history->problems.empty()) {
      column.set(record.id, kIncomparable, history->problems.front());
    } else if (!history->problems.empty()) {
      column.note(history->problems.front());
    }
    histories.push_back(*std::move(history));
  }
  return histories;
}

}  // namespace

VersusBaseline versus_baseline(const Report& report, const BaselineStore& store) {
  BaselineColumn column;
  const EnvironmentRecord environment =
      report.runs.empty() ? EnvironmentRecord() : report.runs.back().environment;
  std::vector<BaselineHistory> histories =
      read_histories(report, store, environment.machine_class, column);
  const Measurement candidate = make_measurement(report, "this run");
  if (const auto left_out = leave_out_runs(candidate.run_ids, histories))
    column.note("vs baseline: " + *left_out);
  const Measurement base = make_measurement(histories, store.folder());
  const std::string missing_reason = explain_missing_baseline(store, environment);
  for (const ComparedCase& entry : compare(base, candidate, {}).cases) {
    if (column.has(entry.id) || entry.verdict == CaseVerdict::failed) continue;
    if (!base.facts.contains("machine_class") || entry.verdict == CaseVerdict::added) {
      if (entry.candidate) column.set(entry.id, kNoBaseline, missing_reason);
    } else if (!entry.ratio) {
      column.set(entry.id, kIncomparable, entry.reason);
    } else {
      column.set(entry.id, format_ratio(entry), "");
    }
  }
  return column.finish();
}

}  // namespace bench
