// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/kit.hpp"

#include "base/folder.hpp"
#include "base/lines.hpp"
#include "base/markup.hpp"
#include "base/text.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/profile_phase.hpp"
#include "harness/run/worker_session.hpp"
#include "harness/stats/summary.hpp"
#include "harness/store/iteration_sink.hpp"
#include "profiler/activity_json.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/analysis/kinds.hpp"
#include "profiler/export/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

namespace {

// Maximum difference, as a fraction, between the effect computed from the profiled totals and the
// verdict's effect. If it is larger, the text states that the verdict's effect is decisive. For
// effects above twice this value, half the effect is the limit.
constexpr double kKitTolerance = 0.05;

// Identifies an activity across iterations: the second reorder of a layer differs from the first.
struct ActivityKey {
  std::string scope, name;
  int occurrence = 0;  // number of earlier ones with this scope and name in the iteration
  auto operator<=>(const ActivityKey&) const = default;
};
// The times of one activity on one side.
struct ActivityTimes {
  std::vector<Nanoseconds> times;  // one per iteration that has the activity
  std::string implementation;
};

std::map<ActivityKey, ActivityTimes> collect_activity_times(const KitSide& side) {
  std::map<ActivityKey, ActivityTimes> result;
  std::map<std::pair<std::int64_t, ActivityKey>, int> counts;  // by iteration
  for (const Activity& activity : side.activities) {
    if (!analysis::is_work(activity.kind) || !activity.duration) continue;
    ActivityKey key{activity.scope, activity.name, 0};
    const auto iteration = activity.attributes.integer(Attribute::iteration).value_or(0);
    key.occurrence = counts[{iteration, key}]++;
    ActivityTimes& entry = result[key];
    entry.times.push_back(*activity.duration);
    entry.implementation = activity.attributes.text(Attribute::implementation);
  }
  return result;
}

KitRow::Change classify_change(const KitRow& row, double tolerance) {
  if (!row.base) return KitRow::Change::appeared;
  if (!row.candidate) return KitRow::Change::vanished;
  const double base = static_cast<double>(row.base->count());
  const double candidate = static_cast<double>(row.candidate->count());
  if (candidate > base * (1 + tolerance)) return KitRow::Change::slower;
  if (base > candidate * (1 + tolerance)) return KitRow::Change::faster;
  return KitRow::Change::same;
}

std::int64_t compute_difference(const KitRow& row) {
  return std::abs(row.candidate.value_or(Nanoseconds(0)).count() -
                  row.base.value_or(Nanoseconds(0)).count());
}

KitRow make_row(const ActivityKey& key, const ActivityTimes* base, const ActivityTimes* candidate,
                double tolerance) {
  KitRow row;
  row.scope = key.scope;
  row.name = key.occurrence == 0 ? key.name : fmt::format("{} #{}", key.name, key.occurrence + 1);
  if (base != nullptr) {
    row.base = median(base->times);
    row.base_implementation = base->implementation;
  }
  if (candidate != nullptr) {
    row.candidate = median(candidate->times);
    row.candidate_implementation = candidate->implementation;
  }
  row.change = classify_change(row, tolerance);
  return row;
}

std::string time_cell(const std::optional<Nanoseconds>& time) {
  return time ? format_time(*time) : "";
}

std::string implementation_cell(const KitRow& row) {
  if (row.base_implementation == row.candidate_implementation) return row.base_implementation;
  if (row.base_implementation.empty()) return row.candidate_implementation;
  if (row.candidate_implementation.empty()) return row.base_implementation;
  return row.base_implementation + " -> " + row.candidate_implementation;
}

// Returns the label of the side and its number of iterations: "base (medians of 20 iterations)".
std::string format_side_heading(const KitSide& side) {
  std::set<std::int64_t> iterations;
  for (const Activity& activity : side.activities) {
    if (const auto number = activity.attributes.integer(Attribute::iteration)) {
      iterations.insert(*number);
    }
  }
  const std::string label = escape_markdown(side.label);
  return iterations.size() < 2
             ? label
             : fmt::format("{} (medians of {} iterations)", label, iterations.size());
}

// Returns the heading of the table. At least one side has a profile.
std::string format_table_heading(const Kit& kit) {
  constexpr std::string_view kTimes = "Times of one iteration";
  if (!kit.base) {
    return fmt::format("{}: {}. The base has no profile.", kTimes,
                       format_side_heading(*kit.candidate));
  }
  if (!kit.candidate) {
    return fmt::format("{}: {}. The candidate has no profile.", kTimes,
                       format_side_heading(*kit.base));
  }
  return fmt::format("{}: {} and {}.", kTimes, format_side_heading(*kit.base),
                     format_side_heading(*kit.candidate));
}

// Describes the files that write_kit() writes beside README.md.
std::string describe_kit_files(const Kit& kit) {
  constexpr std::string_view kSamples = "`samples.jsonl` contains every sample of the case.";
  if (!kit.base && !kit.candidate) return fmt::format("There is no profile. {}", kSamples);
  const std::string shown =
      kit.base && kit.candidate
          ? std::string("both sides as two processes that start")
          : fmt::format("the {} as a process that starts", kit.base ? "base" : "candidate");
  return fmt::format(
      "`timeline.html` shows {} at 0; `trace.json` is the same for\nui.perfetto.dev. {}", shown,
      kSamples);
}

std::string format_table(const std::vector<KitRow>& rows) {
  std::string text =
      "| change | layer | activity | base | candidate | implementation |\n"
      "|---|---|---|--:|--:|---|\n";
  for (const KitRow& row : rows) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", to_string(row.change),
                        escape_markdown(row.scope), escape_markdown(row.name), time_cell(row.base),
                        time_cell(row.candidate), escape_markdown(implementation_cell(row)));
  }
  return text;
}

// A trace gives such a process a number of its own.
constexpr std::int64_t kUnknownProcess = -1;

// Returns the numbers of the side's processes.
std::set<std::int64_t> collect_processes(const KitSide& side) {
  std::set<std::int64_t> processes;
  for (const Activity& activity : side.activities) processes.insert(activity.track.pid);
  return processes;
}

Status write_trace(const Kit& kit, const std::string& path, Existing existing) {
  TraceOptions options;
  options.title = kit.judgement->id;
  options.metadata = {{"case", kit.judgement->id},
                      {"verdict", std::string(to_string(kit.judgement->verdict))}};
  BENCH_ASSIGN_OR_RETURN(auto trace, ChromeTrace::create(path, existing, options));
  std::set<std::int64_t> taken;
  for (const auto* side : {&kit.base, &kit.candidate}) {
    if (!*side) continue;
    for (Activity activity : (*side)->activities) {
      // Linux may give a later process the same number. Both sides would then be one process.
      if (taken.contains(activity.track.pid)) activity.track.pid = kUnknownProcess;
      BENCH_RETURN_IF_ERROR(trace->consume(activity));
    }
    taken.merge(collect_processes(**side));
  }
  return trace->finish();
}

// Returns the lines of the gate's file that belong to the case.
std::string extract_samples(std::string_view gate_text, const std::string& id) {
  const std::string field = fmt::format("\"id\":\"{}\"", id);
  std::string samples;
  for (const NumberedLine& line : Lines(gate_text)) {
    if (line.text.find(field) == std::string_view::npos) continue;
    samples += line.text;
    samples += '\n';
  }
  return samples;
}

}  // namespace

KitSide make_kit_side(std::string label, const std::vector<Activity>& profile) {
  KitSide side;
  side.label = std::move(label);
  const auto is_in_iteration = [](const Activity& activity) {
    return activity.attributes.integer(Attribute::iteration).has_value();
  };
  const bool has_iterations = std::ranges::any_of(profile, is_in_iteration);
  Nanoseconds first = Nanoseconds::max();
  for (const Activity& activity : profile) {
    if (has_iterations && !is_in_iteration(activity)) continue;
    first = std::min(first, activity.start);
    Activity& kept = side.activities.emplace_back(activity);
    kept.attributes.set(Attribute::process_name, side.label);
    kept.correlation.reset();  // correlation numbers are not comparable between two processes
  }
  for (Activity& activity : side.activities) activity.start -= first;
  return side;
}

KitSide make_kit_side(std::string label, const StoredProfile& stored, const std::string& case_id) {
  KitSide side;
  side.label = std::move(label);
  for (const StoredActivity& entry : stored.activities) {
    Activity& activity = side.activities.emplace_back();
    activity.kind =
        enumerator_from_name<ActivityKind>(entry.kind).value_or(ActivityKind::primitive);
    activity.name = entry.name;
    activity.start = entry.start;
    activity.duration = entry.duration;
    activity.track = {kUnknownProcess, kUnknownProcess, std::nullopt, std::nullopt};
    activity.case_id = case_id;
    activity.scope = entry.scope;
    activity.attributes.set(Attribute::process_name, side.label);
    if (!entry.implementation.empty()) {
      activity.attributes.set(Attribute::implementation, entry.implementation);
    }
    if (entry.flops) activity.attributes.set(Attribute::flops, *entry.flops);
    if (entry.bytes) activity.attributes.set(Attribute::bytes, *entry.bytes);
  }
  return side;
}

std::vector<KitRow> compare_sides(const KitSide& base, const KitSide& candidate, double tolerance) {
  const auto base_entries = collect_activity_times(base);
  const auto candidate_entries = collect_activity_times(candidate);
  std::vector<KitRow> rows;
  for (const auto& [key, entry] : base_entries) {
    const auto other = candidate_entries.find(key);
    rows.push_back(make_row(
        key, &entry, other == candidate_entries.end() ? nullptr : &other->second, tolerance));
  }
  for (const auto& [key, entry] : candidate_entries) {
    if (!base_entries.contains(key)) rows.push_back(make_row(key, nullptr, &entry, tolerance));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const KitRow& a, const KitRow& b) {
    return compute_difference(a) > compute_difference(b);
  });
  return rows;
}

std::string describe_kit_total(const Kit& kit, const std::vector<KitRow>& rows) {
  if (!kit.base || !kit.candidate || !kit.judgement->effect) return "";
  Nanoseconds base{0}, candidate{0};
  for (const KitRow& row : rows) {
    base += row.base.value_or(Nanoseconds(0));
    candidate += row.candidate.value_or(Nanoseconds(0));
  }
  if (base <= Nanoseconds(0)) return "";
  const double total_effect =
      static_cast<double>(candidate.count()) / static_cast<double>(base.count()) - 1;
  std::string text = fmt::format("Together the activities take {} and {} ({:+.1f}%)",
                                 format_time(base), format_time(candidate), 100 * total_effect);
  const double effect = *kit.judgement->effect;
  if (std::abs(total_effect - effect) > std::max(kKitTolerance, std::abs(effect) / 2)) {
    text += fmt::format(
        "; the verdict's {:+.1f}% is decisive: it comes from many more samples without a profiler",
        100 * effect);
  }
  return text + ".";
}

std::string describe_kit_changes(const Kit& kit, const std::vector<KitRow>& rows) {
  std::vector<Change> changes = kit.judgement->changes;
  if (kit.base && kit.candidate) {
    const std::vector<Change> facts =
        case_changes({"", kit.base->facts}, {"", kit.candidate->facts});
    changes.insert(changes.end(), facts.begin(), facts.end());
  }
  for (const Change& change : kit.gate->evidence.changes) changes.push_back(change);
  const auto changed_steps = std::ranges::count_if(rows, [](const KitRow& row) {
    return !row.base_implementation.empty() && !row.candidate_implementation.empty() &&
           row.base_implementation != row.candidate_implementation;
  });
  std::string text = changes.empty() ? std::string("No other known property changed")
                                     : "What else changed: " + format_changes(changes);
  if (changed_steps > 0)
    text += fmt::format("; {} of {} steps run another implementation", changed_steps, rows.size());
  return text + ".";
}

std::string format_kit(const Kit& kit, const std::vector<KitRow>& rows) {
  const CaseAssessment& judgement = *kit.judgement;
  std::string text =
      fmt::format("# {}: {}\n\n", to_string(judgement.verdict), escape_markdown(judgement.id));
  const std::string effect = describe_effect(judgement);
  if (!effect.empty()) text += effect + ".\n";
  if (!judgement.reason.empty()) text += fmt::format("{}.\n", markdown_sentence(judgement.reason));
  text += escape_markdown(describe_kit_changes(kit, rows)) + "\n\n";
  text += "- " + escape_markdown(format_side("candidate", kit.gate->facts.candidate)) + "\n";
  if (kit.gate->facts.base)
    text += "- " + escape_markdown(format_side("base", *kit.gate->facts.base)) + "\n";
  if (!judgement.source.empty())
    text += "- configured at " + escape_markdown(judgement.source) + "\n";
  for (const auto* side : {&kit.base, &kit.candidate}) {
    if (*side && (*side)->end)
      text += fmt::format("- {} ended: {}\n", escape_markdown((*side)->label),
                          escape_markdown(*(*side)->end));
  }
  for (const std::string& note : kit.notes) text += "- " + markdown_sentence(note) + "\n";
  text += fmt::format("\n{}\n", describe_kit_files(kit));
  text += fmt::format("\nMeasure it again:\n\n    {}\n", reproduction(*kit.gate, judgement));
  if (!rows.empty()) {
    const std::string total = describe_kit_total(kit, rows);
    text += fmt::format("\n{}{}{}\n\n{}", format_table_heading(kit), total.empty() ? "" : " ",
                        total, format_table(rows));
  }
  return text;
}

Status write_kit(const Kit& kit, const std::string& folder, std::string_view gate_text,
                 Existing existing) {
  BENCH_RETURN_IF_ERROR(create_folder(folder));
  std::vector<KitRow> rows;
  if (kit.base || kit.candidate) {
    const KitSide nothing;
    rows = compare_sides(kit.base.value_or(nothing), kit.candidate.value_or(nothing),
                         kit.gate->evidence.settings.detect);
    BENCH_RETURN_IF_ERROR(write_trace(kit, folder + "/trace.json", existing));
    BENCH_RETURN_IF_ERROR(write_trace(kit, folder + "/timeline.html", existing));
  }
  BENCH_RETURN_IF_ERROR(write_file(folder + "/README.md", format_kit(kit, rows), existing));
  return write_file(folder + "/samples.jsonl", extract_samples(gate_text, kit.judgement->id),
                    existing);
}

namespace {

// A kit profiles as many iterations as fit into kKitTime, within the two limits. Medians of fewer
// iterations vary too much, and a timeline of more iterations is hard to read.
constexpr Nanoseconds kKitTime = std::chrono::milliseconds(300);
constexpr std::int64_t kMinKitIterations = 5;
constexpr std::int64_t kMaxKitIterations = 25;

IterationWindow choose_iterations(const std::optional<Nanoseconds>& iteration_time) {
  const Nanoseconds time = std::max(iteration_time.value_or(kKitTime), Nanoseconds(1));
  IterationWindow window;
  window.last = window.first - 1 +
                std::clamp<std::int64_t>(kKitTime / time, kMinKitIterations, kMaxKitIterations);
  return window;
}

class ActivityList final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    all.push_back(activity);
    return Done{};
  }
  std::vector<Activity> all;
};

// Collects the activities of a profile pass, and its record. A case that failed before writes each
// activity twice: when it begins and when it ends. The merger joins the two.
class KitSink final : public RecordSink {
 public:
  Status append(const Record& record) override {
    if (const auto* pass_record = std::get_if<ProfilePassRecord>(&record)) pass = *pass_record;
    return Done{};
  }
  Status append_activity(std::string_view line) override {
    if (parser_.parse(line).kind != LineKind::activity) return Done{};
    return merger_.consume(parser_.activity());
  }
  Result<std::vector<Activity>> finish() {
    BENCH_RETURN_IF_ERROR(merger_.finish());
    return std::move(list_.all);
  }
  std::optional<ProfilePassRecord> pass;

 private:
  ActivityLineParser parser_;
  ActivityList list_;
  BeginRecordMerger merger_{list_};
};

}  // namespace

Result<KitSide> profile_side(const WorkerFactory& start, const HelloRequest& hello,
                             const std::function<bool()>& interrupted, const KitRequest& request,
                             Env& env) {
  WorkerSession session(start, hello, interrupted, *env.clock);
  BENCH_RETURN_IF_ERROR(session.ensure(worker_threads(request.spec->key)));
  RunOptions options;
  options.seed = request.seed;
  options.run_id = "kit";
  options.interrupted = interrupted;
  options.profile.emplace().iterations = choose_iterations(request.iteration_time);
  KitSink sink;
  const ProfileReason reason =
      is_failure(request.outcome) ? ProfileReason::failed : ProfileReason::wanted;
  const auto pass = profile_case({session, sink, env, options},
                                 {request.spec, request.input_layouts, reason, request.choices});
  session.finish();
  if (!pass) return pass.error();
  BENCH_ASSIGN_OR_RETURN(const std::vector<Activity> activities, sink.finish());
  KitSide side = make_kit_side(request.label, activities);
  if (sink.pass) {
    side.facts = sink.pass->details;
    if (sink.pass->reason) side.end = *sink.pass->reason;
  }
  return side;
}

}  // namespace bench
