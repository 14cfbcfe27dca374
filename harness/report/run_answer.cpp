// SPDX-License-Identifier: Apache-2.0
#include "harness/report/run_answer.hpp"

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/console.hpp"
#include "harness/result/advice.hpp"
#include "harness/result/recoverable.hpp"
#include "harness/result/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bench {
namespace {

// Five processes are the fewest with an interval of the median (result/summary.hpp).
constexpr std::int64_t kProcessesOfAnInterval = 5;
// Four times the processes halve the interval, since it shrinks with their square root.
constexpr std::int64_t kMoreProcesses = 4;
// The largest value of measure.processes.
constexpr std::int64_t kMaxAdvisedProcesses = 1000;

std::string_view to_string(Flag flag) { return flag_names()[static_cast<std::size_t>(flag)]; }

// Returns "1 case" or "3 cases".
template <class Count>
std::string count_cases(Count count) {
  return fmt::format("{} case{}", count, count == 1 ? "" : "s");
}

// Rounds to what a reader of a terminal needs: "41.2 s", "640 ms".
std::string format_elapsed(const Report& report) {
  Nanoseconds wall{0};
  for (const EndRecord& end : report.ends) wall = saturated_sum(wall, end.accounting.wall);
  if (wall <= Nanoseconds(0)) return "";
  const std::chrono::duration<double> seconds = wall;
  return seconds.count() < 1 ? fmt::format(" in {:.0f} ms", 1000 * seconds.count())
                             : fmt::format(" in {:.1f} s", seconds.count());
}

// For each case, the number of processes whose medians make its time. One pass counts those of all
// cases, since a run may have tens of thousands.
std::vector<std::int64_t> count_processes(const Report& report,
                                          const std::vector<const CaseRecord*>& cases) {
  std::vector<std::int64_t> counts(cases.size());
  std::unordered_map<std::string_view, std::size_t> uncounted;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& quiet = cases[i]->quiet;
    if (quiet && quiet->processes > 0) {
      counts[i] = quiet->processes;
    } else {
      uncounted.emplace(cases[i]->id, i);
    }
  }
  if (uncounted.empty()) return counts;
  for (const ProcessRecord& process : report.processes) {
    const auto found = uncounted.find(process.id);
    if (found == uncounted.end() || process.samples.empty()) continue;
    if (process.run_id == cases[found->second]->run_id) ++counts[found->second];
  }
  return counts;
}

// The id without its cache mode.
std::string problem_of_id(std::string_view id) {
  const IdSegments part = split_id(id);
  return fmt::format("{}/{}/{}/{}/{}/{}/{}", part.op, part.direction, part.parameters, part.dtype,
                     part.backend, part.device, part.options);
}

// The cases whose times a sum may contain. A network as a whole would count its layers twice, and
// so would a layer that was measured with several cache modes: the first of them counts.
struct SummedCases {
  std::vector<const CaseRecord*> cases;
  std::size_t other_modes = 0;  // left out because an earlier case differs in the cache mode alone
};

SummedCases summed_cases(const Report& report) {
  std::set<std::string> with_layers;
  for (const CaseRecord& record : report.cases) {
    if (record.network && record.time) with_layers.insert(*record.network);
  }
  const auto is_covered = [&](const CaseRecord& record) {
    const IdSegments id = split_id(record.id);
    return id.op == "network" && std::ranges::any_of(with_layers, [&](const std::string& name) {
             return id.parameters == name || id.parameters.starts_with(name + "-") ||
                    id.parameters.starts_with(name + "+");
           });
  };
  SummedCases summed;
  std::set<std::string> problems;
  for (const CaseRecord& record : report.cases) {
    const bool has_ceiling = record.time && record.roofline && record.roofline->ideal.count() >= 0;
    if (!has_ceiling || is_covered(record)) continue;
    if (problems.insert(problem_of_id(record.id)).second) {
      summed.cases.push_back(&record);
    } else {
      ++summed.other_modes;
    }
  }
  return summed;
}

// The times of one case in a sum over all cases.
struct CaseGain {
  const CaseRecord* record = nullptr;
  Nanoseconds median{0}, ideal{0};
  Nanoseconds time() const { return std::max(median - ideal, Nanoseconds(0)); }
};

std::vector<CaseGain> gains_of_cases(const SummedCases& summed) {
  std::vector<CaseGain> times;
  for (const CaseRecord* record : summed.cases) {
    const auto count = static_cast<std::size_t>(std::max(record->multiplicity.value_or(1), 1));
    times.push_back({record, saturated_product(record->time->median, count),
                     saturated_product(record->roofline->ideal, count)});
  }
  std::ranges::stable_sort(times, std::greater<>(), &CaseGain::time);
  return times;
}

double compute_fraction(Nanoseconds part, Nanoseconds whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

// "20 bound by compute, 8 by memory", in the order of the bounds.
std::string format_bounds(const std::vector<CaseGain>& times) {
  std::map<Bound, int> counts;
  for (const CaseGain& entry : times) ++counts[entry.record->roofline->bound];
  std::string text;
  for (const auto& [bound, count] : counts) {
    text +=
        fmt::format("{}{} {} {}", text.empty() ? "" : ", ", count, text.empty() ? "bound by" : "by",
                    bound_names()[static_cast<std::size_t>(bound)]);
  }
  return text;
}

// Names the cache mode that a sum counts if other cases differ in the cache mode alone. Empty
// without such cases.
std::string format_modes(const std::vector<CaseGain>& times, std::size_t other_modes) {
  if (other_modes == 0) return "";
  const std::string first = split_id(times.front().record->id).cache;
  const bool is_one = std::ranges::all_of(
      times, [&](const CaseGain& entry) { return split_id(entry.record->id).cache == first; });
  return is_one ? fmt::format(" with cache {}", first) : " (each in its first cache mode)";
}

std::string peak_note(const Report& report, const std::vector<CaseGain>& times,
                      std::size_t other_modes) {
  if (times.empty()) {
    const bool has_rate = std::ranges::any_of(
        report.cases, [](const CaseRecord& record) { return record.flops_per_s.has_value(); });
    return has_rate ? "How near these times are to this machine's ceilings is unknown; "
                      "`bench peak` measures the ceilings."
                    : "";
  }
  Nanoseconds median{0}, ideal{0};
  for (const CaseGain& entry : times) {
    median = saturated_sum(median, entry.median);
    ideal = saturated_sum(ideal, entry.ideal);
  }
  if (median <= Nanoseconds(0)) return "";
  const auto timed = static_cast<std::size_t>(std::ranges::count_if(
      report.cases, [](const CaseRecord& record) { return record.time.has_value(); }));
  const bool is_complete = times.size() + other_modes == timed;
  const std::string subject =
      is_complete && timed == 1 ? "The case runs"
      : is_complete ? fmt::format("All cases{} together run", format_modes(times, other_modes))
                    : fmt::format("{} with known ceilings{} run{}", count_cases(times.size()),
                                  format_modes(times, other_modes), times.size() == 1 ? "s" : "");
  return fmt::format(
      "{} at {:.0f} % of what this machine's ceilings permit: {} instead of {} ({}).", subject,
      100 * compute_fraction(ideal, median), format_time(median), format_time(ideal),
      format_bounds(times));
}

std::string recoverable_note(const std::vector<CaseGain>& times) {
  constexpr std::size_t kFirst = 3;
  Nanoseconds all{0}, first{0};
  for (std::size_t i = 0; i < times.size(); ++i) {
    all = saturated_sum(all, times[i].time());
    if (i < kFirst) first = saturated_sum(first, times[i].time());
  }
  if (times.size() < 2 || all <= Nanoseconds(0)) return "";
  std::string text =
      fmt::format("Of the {} that could be saved, {} has the most ({:.0f} %)", format_time(all),
                  times.front().record->id, 100 * compute_fraction(times.front().time(), all));
  if (times.size() > kFirst) {
    text +=
        fmt::format("; the first three cases have {:.0f} %", 100 * compute_fraction(first, all));
  }
  return text + ".";
}

// A note per network and cache mode: which layers hold what the network could gain.
std::vector<std::string> network_notes(const Report& report) {
  std::vector<std::string> notes;
  for (const RecoverableTime& network : recoverable_times(report)) {
    if (network.layers.size() < 2) continue;
    notes.push_back(fmt::format("cache {}: {}", network.cache, recoverable_sentence(network)));
  }
  return notes;
}

// The advice of the most important rule that has any, in the words for its first case.
std::string advice_note(const Report& report) {
  std::map<std::string, std::vector<std::string>> texts;
  for (const CaseRecord& record : report.cases) {
    for (const Advice& advice : advice_in(record)) texts[advice.id].push_back(advice.text);
  }
  for (const std::string_view id : advice_ids()) {
    const std::vector<std::string>& found = texts[std::string(id)];
    if (!found.empty())
      return fmt::format("{}, {}: {}", id, count_cases(found.size()), found.front());
  }
  return "";
}

std::string missing_interval_note(const Report& report) {
  std::vector<const CaseRecord*> cases;
  for (const CaseRecord& record : report.cases) {
    if (record.time && !record.time->low && !has_flag(record, Flag::noisy))
      cases.push_back(&record);
  }
  std::int64_t missing = 0;
  std::int64_t fewest = kProcessesOfAnInterval;
  for (const std::int64_t processes : count_processes(report, cases)) {
    if (processes <= 0 || processes >= kProcessesOfAnInterval) continue;
    ++missing;
    fewest = std::min(fewest, processes);
  }
  if (missing == 0) return "";
  return fmt::format(
      "{} ha{} no interval: {} process{} {} too few for one; `--set measure.processes={}` gives "
      "one.",
      count_cases(missing), missing == 1 ? "s" : "ve", fewest, fewest == 1 ? "" : "es",
      fewest == 1 ? "is" : "are", kProcessesOfAnInterval);
}

// What a flag means, and what makes the time surer.
struct FlagMeaning {
  Flag flag;
  std::string_view reason;
};
// `noisy` has a sentence with numbers, and `disturbed` is part of format_quiet_samples().
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

// What reduces the interval of a case. More processes do not help if even four times as many would
// leave it wide.
std::string format_remedy(double half, std::int64_t processes) {
  constexpr double kUseless = 0.2;
  const std::int64_t more = std::min(kMoreProcesses * processes, kMaxAdvisedProcesses);
  if (more <= processes) return "";
  const double expected =
      half * std::sqrt(static_cast<double>(processes) / static_cast<double>(more));
  if (expected > kUseless) return "; only an idle machine can make it narrower";
  return fmt::format("; `--set measure.processes={}` would give about +-{:.1f} %", more,
                     100 * expected);
}

struct NoisyCases {
  std::int64_t count = 0;
  std::int64_t without_interval = 0;
  const CaseRecord* widest = nullptr;
};

// Intervals of disturbed cases are those of the disturbance; format_quiet_samples() counts these
// cases.
NoisyCases find_noisy(const Report& report) {
  NoisyCases noisy;
  for (const CaseRecord& record : report.cases) {
    if (!has_flag(record, Flag::noisy)) continue;
    ++noisy.count;
    const auto half = record.time ? interval_half_width(*record.time) : std::nullopt;
    if (!half) {
      ++noisy.without_interval;
    } else if (!has_flag(record, Flag::disturbed) &&
               (noisy.widest == nullptr || *half > *interval_half_width(*noisy.widest->time))) {
      noisy.widest = &record;
    }
  }
  return noisy;
}

// What is known about the widest interval, then about those that are missing.
std::vector<std::string> noisy_notes(const Report& report) {
  const NoisyCases noisy = find_noisy(report);
  if (noisy.count == 0) return {};
  std::vector<std::string> notes;
  std::string text = fmt::format("noisy, {}:", count_cases(noisy.count));
  if (noisy.widest != nullptr) {
    const double half = *interval_half_width(*noisy.widest->time);
    const std::int64_t processes = count_processes(report, {noisy.widest}).front();
    text +=
        fmt::format(" the {}interval is +-{:.1f} %{}{}.", noisy.count == 1 ? "" : "widest ",
                    100 * half, processes > 0 ? fmt::format(" with {} processes", processes) : "",
                    processes > 0 ? format_remedy(half, processes) : "");
  }
  if (noisy.widest == nullptr && noisy.without_interval == 0) {
    text += " the machine was disturbed throughout.";
  }
  if (!text.ends_with(':')) notes.push_back(std::move(text));
  if (noisy.without_interval > 0) {
    notes.push_back(fmt::format(
        "noisy, {} without an interval: fewer than {} processes were quiet; repeat the run on an "
        "idle machine, or with `--set measure.processes=20`.",
        count_cases(noisy.without_interval), kProcessesOfAnInterval));
  }
  return notes;
}

// A report shows the two most important flags; the table shows all.
std::vector<std::string> flag_notes(const Report& report) {
  constexpr std::size_t kShown = 2;
  std::vector<std::string> notes = noisy_notes(report);
  for (const FlagMeaning& meaning : kFlagMeanings) {
    const auto count = std::ranges::count_if(
        report.cases, [&](const CaseRecord& record) { return has_flag(record, meaning.flag); });
    if (count == 0 || notes.size() >= kShown) continue;
    notes.push_back(
        fmt::format("{}, {}: {}.", to_string(meaning.flag), count_cases(count), meaning.reason));
  }
  return notes;
}

}  // namespace

std::string answer_sentence(const Report& report) {
  if (auto nothing = nothing_measured_sentence(report)) return *std::move(nothing);
  std::size_t measured = 0;
  std::map<Flag, int> flags;
  std::map<Outcome, int> others;
  for (const CaseRecord& record : report.cases) {
    if (record.time) ++measured;
    for (const Flag flag : record.flags) ++flags[flag];
    if (record.outcome != Outcome::ok) ++others[record.outcome];
  }
  std::string text =
      measured == report.cases.size()
          ? fmt::format("Measured {}", count_cases(measured))
          : fmt::format("Measured {} of {}", measured, count_cases(report.cases.size()));
  text += format_elapsed(report);
  for (const auto& [flag, count] : flags) text += fmt::format(", {} {}", count, to_string(flag));
  std::string_view separator = "; ";
  for (const auto& [outcome, count] : others) {
    text += fmt::format("{}{} {}", separator, count, to_string(outcome));
    separator = ", ";
  }
  return text + ".";
}

namespace {

// The questions that notes answer, the most important first.
enum class NoteTopic { quality, certainty, gain, other };

struct AnswerNote {
  NoteTopic topic = NoteTopic::other;
  std::string text;
};

// All notes in reading order. The first note of a topic answers its question; the others only add
// to it.
class AnswerNotes {
 public:
  void add(NoteTopic topic, std::string text) {
    if (text.empty()) return;
    const bool is_answered = std::ranges::count(notes_, topic, &AnswerNote::topic) > 0;
    notes_.push_back({is_answered ? NoteTopic::other : topic, std::move(text)});
  }
  void add(NoteTopic topic, std::vector<std::string> texts) {
    for (std::string& text : texts) add(topic, std::move(text));
  }
  std::vector<AnswerNote> take() && { return std::move(notes_); }

 private:
  std::vector<AnswerNote> notes_;
};

std::vector<AnswerNote> make_notes(const Report& report) {
  const bool is_measured = std::ranges::any_of(
      report.cases, [](const CaseRecord& record) { return record.time.has_value(); });
  if (!is_measured) return {};
  const SummedCases summed = summed_cases(report);
  const std::vector<CaseGain> times = gains_of_cases(summed);
  std::vector<std::string> networks = network_notes(report);
  AnswerNotes notes;
  notes.add(NoteTopic::quality, peak_note(report, times, summed.other_modes));
  // A network's layers hold more of its time than any case alone.
  notes.add(networks.empty() ? NoteTopic::gain : NoteTopic::other, recoverable_note(times));
  notes.add(NoteTopic::certainty, missing_interval_note(report));
  notes.add(NoteTopic::gain, std::move(networks));
  notes.add(NoteTopic::other, advice_note(report));
  notes.add(NoteTopic::certainty, flag_notes(report));
  notes.add(NoteTopic::certainty, format_quiet_samples(report));
  notes.add(NoteTopic::certainty, format_canaries(report));
  return std::move(notes).take();
}

std::size_t count_lines(const std::string& note, std::size_t width) {
  return static_cast<std::size_t>(std::ranges::count(wrap(note, width, kBulletIndent), '\n'));
}

}  // namespace

std::vector<std::string> answer_notes(const Report& report) {
  std::vector<std::string> texts;
  for (AnswerNote& note : make_notes(report)) texts.push_back(std::move(note.text));
  return texts;
}

LeadingNotes leading_notes(const Report& report, std::size_t width) {
  std::vector<AnswerNote> notes = make_notes(report);
  std::vector<bool> is_shown(notes.size());
  std::size_t left = kMaxNoteLines;
  for (const NoteTopic topic :
       {NoteTopic::quality, NoteTopic::certainty, NoteTopic::gain, NoteTopic::other}) {
    for (std::size_t i = 0; i < notes.size(); ++i) {
      if (notes[i].topic != topic) continue;
      const std::size_t lines = count_lines(notes[i].text, width);
      if (lines > left) continue;
      is_shown[i] = true;
      left -= lines;
    }
  }
  LeadingNotes leading;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (is_shown[i]) {
      leading.texts.push_back(std::move(notes[i].text));
    } else {
      ++leading.left_out;
    }
  }
  return leading;
}

}  // namespace bench
