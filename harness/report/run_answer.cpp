// SPDX-License-Identifier: Apache-2.0
#include "harness/report/run_answer.hpp"

#include "base/text.hpp"
#include "harness/report/case_sum.hpp"
#include "harness/report/console.hpp"
#include "harness/report/regret.hpp"
#include "harness/report/serving.hpp"
#include "harness/result/advice.hpp"
#include "harness/result/ceilings.hpp"
#include "harness/result/recoverable.hpp"
#include "harness/result/shard_coverage.hpp"
#include "harness/result/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bench {
namespace {

// The advice is to use this many times as many processes. That halves the interval, since its width
// shrinks with the square root of their number.
constexpr std::int64_t kProcessFactor = 4;
// The largest value of measure.processes.
constexpr std::int64_t kMaxAdvisedProcesses = 1000;

// Returns the elapsed time of all runs: " in 41.2 s", " in 640 ms". Empty if it is unknown.
std::string format_elapsed(const Report& report) {
  Nanoseconds wall{0};
  for (const EndRecord& end : report.ends) wall = saturated_sum(wall, end.accounting.wall);
  if (wall <= Nanoseconds(0)) return "";
  const std::chrono::duration<double> seconds = wall;
  return seconds.count() < 1 ? fmt::format(" in {:.0f} ms", 1000 * seconds.count())
                             : fmt::format(" in {:.1f} s", seconds.count());
}

// Returns for each case the number of its processes with samples. Counts all cases in one pass,
// since a run may have tens of thousands of processes.
std::vector<std::int64_t> count_processes(const Report& report,
                                          const std::vector<const CaseRecord*>& cases) {
  std::vector<std::int64_t> counts(cases.size());
  std::unordered_map<std::string_view, std::size_t> indices;
  for (std::size_t i = 0; i < cases.size(); ++i) indices.emplace(cases[i]->id, i);
  for (const ProcessRecord& process : report.processes) {
    const auto found = indices.find(process.id);
    if (found != indices.end() && !process.samples.empty()) ++counts[found->second];
  }
  return counts;
}

double compute_fraction(Nanoseconds part, Nanoseconds whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

// "20 bound by compute, 8 by memory", in the order of the bounds.
std::string format_bounds(const std::vector<SummedCase>& gains) {
  std::map<Bound, int> counts;
  for (const SummedCase& entry : gains) ++counts[entry.record->roofline->bound];
  std::string text;
  for (const auto& [bound, count] : counts) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", count,
                        text.empty() ? "bound by" : "by", to_string(bound));
  }
  return text;
}

// Says that the run has calibrated the ceilings, and how precisely; empty for other ceilings.
std::string calibration_sentence(const std::vector<SummedCase>& gains) {
  bool is_calibrated = false;
  std::optional<double> precision;  // the largest
  for (const SummedCase& entry : gains) {
    const Roofline& roofline = *entry.record->roofline;
    if (roofline.source != CeilingSource::calibrated) continue;
    is_calibrated = true;
    precision = std::max(precision, roofline.precision);
  }
  if (!is_calibrated) return "";
  return fmt::format(
      " These ceilings were calibrated in this run{}; `bench peak` measures them longer and stores "
      "them.",
      precision_suffix(precision));
}

std::string peak_note(const Report& report, const CaseSum& summed,
                      const std::vector<SummedCase>& gains) {
  if (gains.empty()) {
    const bool has_rate = std::ranges::any_of(
        report.cases, [](const CaseRecord& record) { return record.flops_per_s.has_value(); });
    return has_rate ? "How near these times are to this machine's ceilings is unknown; "
                      "`bench peak` measures the ceilings."
                    : "";
  }
  Nanoseconds median{0}, ideal{0};
  for (const SummedCase& entry : gains) {
    median = saturated_sum(median, entry.median);
    ideal = saturated_sum(ideal, *entry.ideal);
  }
  if (median <= Nanoseconds(0)) return "";
  const auto timed = static_cast<std::size_t>(std::ranges::count_if(
      report.cases, [](const CaseRecord& record) { return record.time.has_value(); }));
  const bool is_complete = gains.size() + summed.other_modes == timed;
  const auto repeated =
      std::ranges::find_if(gains, [](const SummedCase& entry) { return entry.multiplicity > 1; });
  const std::string_view weight = repeated == gains.end() ? ""
                                  : repeated->record->network
                                      ? ", each as often as its network has it,"
                                      : ", each as often as its program executes it,";
  const std::string subject =
      is_complete && timed == 1 ? fmt::format("The case{} runs", weight)
      : is_complete
          ? fmt::format("All cases{} together{} run", format_cache_mode(summed), weight)
          : fmt::format("{} with known ceilings{}{} {}", pluralise(gains.size(), "case"),
                        format_cache_mode(summed), weight, gains.size() == 1 ? "runs" : "run");
  return fmt::format(
      "{} at {:.0f} % of what this machine's ceilings permit: {} instead of {} ({}).{}", subject,
      100 * compute_fraction(ideal, median), format_time(median), format_time(ideal),
      format_bounds(gains), calibration_sentence(gains));
}

// Returns which operators take the time of the program that the counts of the cases stand for.
std::string program_note(const Report& report) {
  constexpr std::size_t kMaxNamedOperators = 3;
  const CaseSum sum = sum_cases(report, SumOf::timed);
  const auto is_counted = [](const SummedCase& entry) {
    return entry.record->multiplicity && !entry.record->network;
  };
  if (sum.cases.empty() || !std::ranges::all_of(sum.cases, is_counted)) return "";
  std::map<std::string, Nanoseconds> times;
  for (const SummedCase& entry : sum.cases) {
    Nanoseconds& time = times[entry.record->op];
    time = saturated_sum(time, entry.median);
  }
  std::vector<std::pair<std::string, Nanoseconds>> rows(times.begin(), times.end());
  std::ranges::stable_sort(rows, std::greater<>(), &std::pair<std::string, Nanoseconds>::second);
  std::string operators;
  for (std::size_t i = 0; i < std::min(rows.size(), kMaxNamedOperators); ++i)
    operators += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", rows[i].first,
                             100 * compute_fraction(rows[i].second, sum.median()));
  return fmt::format("As often as the program executes them, the cases{} take {}: {}.",
                     format_cache_mode(sum), format_time(sum.median()), operators);
}

std::string recoverable_note(const std::vector<SummedCase>& gains) {
  constexpr std::size_t kFirstCases = 3;
  Nanoseconds all{0}, first_cases{0};
  for (std::size_t i = 0; i < gains.size(); ++i) {
    all = saturated_sum(all, gains[i].recoverable());
    if (i < kFirstCases) first_cases = saturated_sum(first_cases, gains[i].recoverable());
  }
  if (gains.size() < 2 || all <= Nanoseconds(0)) return "";
  std::string text = fmt::format("Of the {} that could be saved, {} has the most ({:.0f} %)",
                                 format_time(all), gains.front().record->id,
                                 100 * compute_fraction(gains.front().recoverable(), all));
  if (gains.size() > kFirstCases) {
    text += fmt::format("; the first three cases have {:.0f} %",
                        100 * compute_fraction(first_cases, all));
  }
  return text + ".";
}

// Returns a note per network and cache mode: which layers contain most of the recoverable time.
std::vector<std::string> network_notes(const Report& report) {
  std::vector<std::string> notes;
  for (const RecoverableTime& network : recoverable_times(report)) {
    if (network.layers.size() < 2) continue;
    notes.push_back(fmt::format("cache {}: {}", network.cache, recoverable_sentence(network)));
  }
  return notes;
}

// The cases to which a rule of advice applies.
struct AdvisedCases {
  const CaseRecord* first = nullptr;
  std::string text;  // the advice for the first case
  std::size_t count = 0;
};

// Returns the advice of the most important rule that applies to any case, with the text for the
// first such case: "No AMX here. The case is gemm/x; 2 more have this advice (slow_type)."
std::string advice_note(const Report& report) {
  std::map<std::string, AdvisedCases> rules;
  for (const CaseRecord& record : report.cases) {
    for (Advice& advice : advice_in(record)) {
      AdvisedCases& cases = rules[advice.id];
      if (cases.count++ == 0) {
        cases.first = &record;
        cases.text = std::move(advice.text);
      }
    }
  }
  for (const std::string_view id : advice_ids()) {
    const auto found = rules.find(std::string(id));
    if (found == rules.end()) continue;
    const AdvisedCases& cases = found->second;
    const std::string others =
        cases.count == 1
            ? ""
            : fmt::format("; {} this advice", pluralise(cases.count - 1, "more has", "more have"));
    return fmt::format("{} The case is {}{} ({}).", cases.text, cases.first->id, others, id);
  }
  return "";
}

std::string beside_note(const Report& report) {
  std::vector<std::string> others;
  const auto add = [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (std::ranges::count(others, text) == 0) others.push_back(text);
    }
  };
  for (const RunRecord& run : report.runs) add(run.beside);
  for (const EndRecord& end : report.ends) add(end.beside);
  return beside_sentence(others);
}

// Says what the shards lack. The file of one shard is a part as expected.
std::vector<std::string> shard_notes(const Report& report) {
  ShardCoverage coverage = check_shards(report);
  return coverage.shards > 1 ? std::move(coverage.problems) : std::vector<std::string>{};
}

std::string missing_interval_note(const Report& report) {
  std::vector<const CaseRecord*> cases;
  for (const CaseRecord& record : report.cases) {
    if (record.time && !record.time->low && !has_flag(record, Flag::noisy))
      cases.push_back(&record);
  }
  std::int64_t missing = 0;
  std::int64_t fewest = kMinIntervalProcesses, most = 0;
  for (const std::int64_t processes : count_processes(report, cases)) {
    if (processes <= 0 || processes >= kMinIntervalProcesses) continue;
    ++missing;
    fewest = std::min(fewest, processes);
    most = std::max(most, processes);
  }
  if (missing == 0) return "";
  const std::string range =
      fewest == most ? std::to_string(most) : fmt::format("{} to {}", fewest, most);
  return fmt::format(
      "{} no interval: {} {} too few for one{}; `--set measure.processes={}` gives one.",
      pluralise(missing, "case has", "cases have"), range,
      most == 1 ? "process is" : "processes are",
      most > 1 ? ", so `+-` shows half the range of their medians in brackets" : "",
      kMinIntervalProcesses);
}

// The meaning of a flag and, if there is one, a remedy.
struct FlagMeaning {
  Flag flag;
  std::string_view reason;
};
// The list omits two flags: noisy_note() explains `noisy`, and format_speed() explains `disturbed`.
constexpr std::array<FlagMeaning, 6> kFlagMeanings = {{
    {Flag::interrupted,
     "fewer processes than requested; `bench run --resume FILE` measures the others"},
    {Flag::unsteady,
     "the times still changed when the warm-up ended; `--set warmup.time=1s` makes it longer"},
    {Flag::above_ceiling,
     "faster than the measured ceiling permits; `bench peak` measures the ceilings again"},
    {Flag::throttled, "the device lowered its clock; let it cool, or lock its clocks"},
    {Flag::launch_bound, "launching the work takes longer than the work itself"},
    {Flag::voided_samples,
     "the device gave samples that do not count, for the reason in the table"},
}};

// Returns how to reduce the interval of a case with this half width, a fraction, and this many
// processes. Does not advise more processes if the interval would remain wide. Empty if the case
// has the maximum number of processes.
std::string format_remedy(double half_width, std::int64_t processes) {
  constexpr double kMaxUsefulHalfWidth = 0.2;
  const std::int64_t more = std::min(kProcessFactor * processes, kMaxAdvisedProcesses);
  if (more <= processes) return "";
  const double expected =
      half_width * std::sqrt(static_cast<double>(processes) / static_cast<double>(more));
  if (expected > kMaxUsefulHalfWidth) return "; only an idle machine can make it narrower";
  return fmt::format("; `--set measure.processes={}` would give about +-{:.1f} %", more,
                     100 * expected);
}

// Returns a note about the widest interval of the noisy cases; empty if there are none.
std::string noisy_note(const Report& report) {
  const CaseRecord* widest = nullptr;
  std::int64_t count = 0;
  for (const CaseRecord& record : report.cases) {
    if (!has_flag(record, Flag::noisy)) continue;
    ++count;
    if (!record.time || !interval_half_width(*record.time)) continue;
    if (widest == nullptr ||
        *interval_half_width(*record.time) > *interval_half_width(*widest->time))
      widest = &record;
  }
  if (widest == nullptr) return "";
  const double half = *interval_half_width(*widest->time);
  const std::int64_t processes = count_processes(report, {widest}).front();
  return fmt::format("noisy, {}: the {}interval is +-{:.1f} %{}{}.", pluralise(count, "case"),
                     count == 1 ? "" : "widest ", 100 * half,
                     processes > 0 ? fmt::format(" with {} processes", processes) : "",
                     processes > 0 ? format_remedy(half, processes) : "");
}

// Returns the note about noisy cases, then notes about other flags as long as there are fewer than
// two notes. The table shows all flags.
std::vector<std::string> flag_notes(const Report& report) {
  constexpr std::size_t kMaxNotes = 2;
  std::vector<std::string> notes;
  if (std::string note = noisy_note(report); !note.empty()) notes.push_back(std::move(note));
  for (const FlagMeaning& meaning : kFlagMeanings) {
    const auto count = std::ranges::count_if(
        report.cases, [&](const CaseRecord& record) { return has_flag(record, meaning.flag); });
    if (count == 0 || notes.size() >= kMaxNotes) continue;
    notes.push_back(fmt::format("{}, {}: {}.", to_string(meaning.flag), pluralise(count, "case"),
                                meaning.reason));
  }
  return notes;
}

}  // namespace

std::string unfinished_run_sentence(const Report& report) {
  return has_unfinished_run(report) ? "The run has no end: it was killed, or it still measures. "
                                      "`bench run ... --resume FILE` measures what is missing."
                                    : "";
}

std::string answer_sentence(const Report& report) {
  const std::string unfinished = unfinished_run_sentence(report);
  if (report.cases.empty() && !unfinished.empty()) return "No case has a time yet. " + unfinished;
  if (auto nothing = nothing_measured_sentence(report)) return *std::move(nothing);
  std::size_t measured = 0;
  std::map<Flag, int> flags;
  std::map<Outcome, int> others;
  for (const CaseRecord& record : report.cases) {
    if (record.time) ++measured;
    for (const Flag flag : record.flags) ++flags[flag];
    if (record.outcome != Outcome::ok) ++others[record.outcome];
  }
  const std::size_t cases =
      report.cases.size() + static_cast<std::size_t>(count_unreached_cases(report));
  std::string text = measured == cases
                         ? fmt::format("Measured {}", pluralise(measured, "case"))
                         : fmt::format("Measured {} of {}", measured, pluralise(cases, "case"));
  text += format_elapsed(report);
  for (const auto& [flag, count] : flags) text += fmt::format(", {} {}", count, to_string(flag));
  std::string_view separator = "; ";
  for (const auto& [outcome, count] : others) {
    text += fmt::format("{}{} {}", separator, count, to_string(outcome));
    separator = ", ";
  }
  return text + (unfinished.empty() ? "." : ". " + unfinished);
}

std::string lead_sentences(const Report& report) {
  const std::string serving = serving_sentence(report), regret = regret_sentence(report);
  return serving + (serving.empty() || regret.empty() ? "" : " ") + regret;
}

namespace {

// Collects notes in reading order.
class AnswerNotes {
 public:
  void add(NoteTopic topic, std::string text) {
    if (text.empty()) return;
    const bool is_answered = std::ranges::count(notes_, topic, &Note::topic) > 0;
    notes_.push_back({is_answered ? NoteTopic::other : topic, std::move(text)});
  }
  void add(NoteTopic topic, std::vector<std::string> texts) {
    for (std::string& text : texts) add(topic, std::move(text));
  }
  std::vector<Note> take() && { return std::move(notes_); }

 private:
  std::vector<Note> notes_;
};

}  // namespace

std::vector<Note> rank_answer_notes(const Report& report) {
  const bool is_measured = std::ranges::any_of(
      report.cases, [](const CaseRecord& record) { return record.time.has_value(); });
  if (!is_measured) return {};
  const CaseSum summed = sum_cases(report, SumOf::with_ceiling);
  const std::vector<SummedCase> gains = sort_by_gain(summed);
  std::vector<std::string> networks = network_notes(report);
  AnswerNotes notes;
  notes.add(NoteTopic::validity, shard_notes(report));
  notes.add(NoteTopic::quality, program_note(report));
  notes.add(NoteTopic::quality, peak_note(report, summed, gains));
  // If the run has networks, the notes on their layers answer where most can be gained.
  notes.add(networks.empty() ? NoteTopic::gain : NoteTopic::other, recoverable_note(gains));
  notes.add(NoteTopic::certainty, beside_note(report));
  notes.add(NoteTopic::certainty, missing_interval_note(report));
  notes.add(NoteTopic::gain, std::move(networks));
  notes.add(NoteTopic::other, advice_note(report));
  notes.add(NoteTopic::certainty, flag_notes(report));
  notes.add(NoteTopic::certainty, format_speed(report));
  return std::move(notes).take();
}

std::vector<std::string> answer_notes(const Report& report) {
  std::vector<std::string> texts;
  for (Note& note : rank_answer_notes(report)) texts.push_back(std::move(note.text));
  return texts;
}

std::string_view describe_flag(Flag flag) {
  const auto row = std::ranges::find(kFlagMeanings, flag, &FlagMeaning::flag);
  if (row != kFlagMeanings.end()) return row->reason;
  return flag == Flag::disturbed
             ? "the machine never had the speed at which the time is stated; measure on a quiet one"
             : "the interval is wider than requested; more processes make it narrower";
}

namespace {

// The gain of all executions of the case. One below 0 stays as it is.
Nanoseconds weight_gain(const CaseRecord& record, Nanoseconds gain) {
  if (gain <= Nanoseconds(0)) return gain;
  return saturated_product(gain,
                           static_cast<std::size_t>(std::max(record.multiplicity.value_or(1), 1)));
}

}  // namespace

std::optional<InterestingCase> find_most_interesting_case(const Report& report) {
  InterestingCase certain{nullptr, "the case with the most time to gain"};
  InterestingCase uncertain{nullptr, "the case that may have the most time to gain"};
  InterestingCase longest{nullptr, "the case that takes longest"};
  Nanoseconds most_certain{0}, most_uncertain{-1}, most{-1};
  const auto keep = [](const CaseRecord& record, Nanoseconds time, Nanoseconds& maximum,
                       InterestingCase& found) {
    if (time <= maximum) return;
    maximum = time;
    found.record = &record;
  };
  for (const CaseRecord& record : report.cases) {
    if (!record.time) continue;
    keep(record, record.time->median, most, longest);
    if (!record.roofline) continue;
    const Nanoseconds ideal = record.roofline->ideal;
    keep(record, weight_gain(record, record.time->median - ideal), most_uncertain, uncertain);
    if (has_certain_interval(record))
      keep(record, weight_gain(record, *record.time->low - ideal), most_certain, certain);
  }
  for (const InterestingCase& found : {certain, uncertain, longest}) {
    if (found.record != nullptr) return found;
  }
  return std::nullopt;
}

}  // namespace bench
