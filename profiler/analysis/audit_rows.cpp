// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/audit_rows.hpp"

#include "base/text.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/saturating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bench::analysis {
namespace {

// Above this, times are wrong and not only inexact: a kernel is often shorter.
constexpr Nanoseconds kWrongClock = std::chrono::milliseconds(1);
// Tracing that costs more than this changes which part is the slowest; at 1 it costs more than what
// it measures.
constexpr double kDoubtfulCost = 0.1, kBrokenCost = 1;
// Two processes differ by up to this on a busy machine.
constexpr double kDoubtfulDistance = 0.25;
// The share of malformed records. A program may print into a few lines; more mean that the file is
// broken.
constexpr double kBrokenShare = 0.01;

AuditRow make_count_row(std::string check, std::int64_t expected, std::int64_t found) {
  return {std::move(check), format_with_commas(expected), format_with_commas(found),
          AuditVerdict::ok, ""};
}

AuditRow uncheckable(std::string check, std::string reason) {
  return {std::move(check), "", "", AuditVerdict::not_checkable, std::move(reason)};
}

std::optional<std::int64_t> find_number(const ReadReport& report, std::string_view name) {
  const auto found = report.facts.find(std::string(name));
  return found == report.facts.end() ? std::nullopt : parse_number<std::int64_t>(found->second);
}

std::string find_text(const ReadReport& report, std::string_view name) {
  const auto found = report.facts.find(std::string(name));
  return found == report.facts.end() ? std::string() : found->second;
}

// Returns which groups were recorded if these have no work of devices; else an empty text.
std::string groups_without_device(const ReadReport& report) {
  std::string kinds = find_text(report, kKindsFact);
  for (const auto& [id, pass] : report.passes) {
    if (kinds.empty()) kinds = pass.kinds;
  }
  return kinds.find("device") == std::string::npos ? kinds : std::string();
}

struct LaunchRow {
  std::string_view check;
  AuditVerdict missing;       // the verdict if some are missing
  std::string_view harmless;  // why a call may have no record
};
constexpr std::array<LaunchRow, kLaunchKinds> kLaunchRows = {{
    {"kernel launches", AuditVerdict::broken, ""},
    {"copies", AuditVerdict::doubtful, "; copies of 0 bytes have none"},
    {"memsets", AuditVerdict::doubtful, "; memsets of 0 bytes have none"},
    {"graph launches", AuditVerdict::doubtful, "; graphs without work of a device have none"},
}};

// Says where the missing calls are: a profiler that starts late loses the first ones, one whose
// buffers are full the last ones.
std::string describe_missing(const LaunchCount& count, const LaunchRow& row) {
  const std::int64_t missing = count.calls - count.found;
  const bool is_run = count.last_missing - count.first_missing + 1 == missing;
  std::string where;
  if (count.found == 0) {
    where = "that is all of them";
  } else if (missing == 1) {
    where = fmt::format("number {} of {}", count.first_missing, count.calls);
  } else if (is_run && count.first_missing == 1) {
    where = "the first ones";
  } else if (is_run && count.last_missing == count.calls) {
    where = "the last ones";
  } else {
    where = fmt::format("between number {} and {}", count.first_missing, count.last_missing);
  }
  return fmt::format("{} of {} {} {} no record: {}{}", format_with_commas(missing),
                     format_with_commas(count.calls), row.check, missing == 1 ? "has" : "have",
                     where, row.harmless);
}

void add_call_rows(const LaunchMatch& match, const ReadReport& report, ProfileAudit& audit) {
  const std::string groups = groups_without_device(report);
  ProfileAudit::Completeness sum{"launches have a record", 0, 0};
  for (std::size_t i = 0; i < kLaunchKinds; ++i) {
    const LaunchCount& count = match.kinds[i];
    if (count.calls == 0) continue;
    AuditRow row = make_count_row(std::string(kLaunchRows[i].check), count.calls, count.found);
    if (!groups.empty() && match.records == 0) {
      row.verdict = AuditVerdict::not_checkable;
      row.reason = fmt::format("work of devices was not to be recorded (kinds: {})", groups);
    } else if (count.found < count.calls) {
      row.verdict = kLaunchRows[i].missing;
      row.reason = describe_missing(count, kLaunchRows[i]);
    } else if (match.unchecked > 0) {
      row.verdict = AuditVerdict::not_checkable;
      row.reason = fmt::format("only the first {} launches were checked; none of these is missing",
                               format_with_commas(LaunchMatcher::kMaxLaunches));
    }
    if (row.verdict != AuditVerdict::not_checkable) {
      sum.expected += count.calls;
      sum.found += count.found;
    }
    audit.rows.push_back(std::move(row));
  }
  if (sum.expected > 0) audit.completeness = sum;
}

}  // namespace

void add_launch_rows(const LaunchMatch& match, const ReadReport& report, ProfileAudit& audit) {
  add_call_rows(match, report, audit);
  if (match.records == 0) return;
  if (!match.has_calls) {
    audit.rows.push_back(uncheckable(
        "launches", "the profile has no calls that launch work, so nothing counts its kernels"));
  } else {
    AuditRow row = make_count_row("device records with a launch", match.records,
                                  match.records - match.without_call);
    if (match.without_call > 0) {
      row.verdict = match.unchecked > 0 ? AuditVerdict::not_checkable : AuditVerdict::doubtful;
      row.reason = fmt::format(
          "{} without a call: launched before the recording, or their calls are missing",
          pluralise(match.without_call, "kernel, copy or memset is",
                    "kernels, copies or memsets are"));
    }
    audit.rows.push_back(std::move(row));
  }
  AuditRow row =
      make_count_row("device records with a time", match.records, match.records - match.untimed);
  if (match.untimed > 0) {
    row.verdict = AuditVerdict::broken;
    row.reason = fmt::format(
        "{} no time: they did not finish, or the tracer could not measure them",
        pluralise(match.untimed, "kernel, copy or memset has", "kernels, copies or memsets have"));
  }
  audit.rows.push_back(std::move(row));
}

namespace {

// The records of a result file, against the numbers in its profile_pass records.
void add_pass_rows(const ReadReport& report, ProfileAudit& audit) {
  std::int64_t stated = 0, read = 0, passes = 0, ended = 0, failed = 0, unread = 0;
  std::string open_case, failure;
  for (const auto& [id, pass] : report.passes) {
    read += pass.read;
    if (id.empty() || (!pass.has_ended && pass.read == 0)) continue;
    ++passes;
    if (!pass.has_ended && open_case.empty()) open_case = id;
    ended += pass.has_ended ? 1 : 0;
    stated += pass.activities;
    unread += pass.unread;
    if (pass.failure.empty()) continue;
    ++failed;
    if (failure.empty()) failure = fmt::format("{}: {}", id, pass.failure);
  }
  if (passes == 0) return;
  AuditRow ends = make_count_row("profiling passes with an end", passes, ended);
  if (ended < passes) {
    ends.verdict = AuditVerdict::broken;
    ends.reason = fmt::format("the pass of {} did not end: the run was killed, or the file is cut",
                              open_case);
  }
  AuditRow records =
      make_count_row("records that the passes state", stated, std::min(read, stated));
  if (read < stated) {
    records.verdict = AuditVerdict::broken;
    records.reason =
        fmt::format("{} missing in the file", pluralise(stated - read, "record is", "records are"));
  }
  AuditRow outcomes = make_count_row("profiling passes without a fault", ended, ended - failed);
  if (failed > 0) {
    outcomes.verdict = AuditVerdict::broken;
    outcomes.reason = failure;
  }
  AuditRow lines = make_count_row("unread lines of oneDNN", 0, unread);
  if (unread > 0) {
    lines.verdict = AuditVerdict::doubtful;
    lines.reason = fmt::format("{} not understood; the contents are missing",
                               pluralise(unread, "line was", "lines were"));
  }
  if (!audit.completeness && ended == passes && stated > 0)
    audit.completeness = {"records are in the file", stated, std::min(read, stated)};
  audit.rows.insert(audit.rows.end(), {ends, records, outcomes, lines});
}

// The records of a profile, against the number in its last record.
void add_end_row(const ReadReport& report, ProfileAudit& audit) {
  if (report.stated_activities) {
    const std::int64_t stated = *report.stated_activities;
    AuditRow row = make_count_row("records that the profile states", stated, report.activities);
    if (report.activities != stated) {
      row.verdict = AuditVerdict::broken;
      row.reason =
          report.activities < stated
              ? fmt::format("{} missing in the file",
                            pluralise(stated - report.activities, "record is", "records are"))
              : "the file has more records than it states";
    }
    audit.rows.push_back(std::move(row));
    if (!audit.completeness)
      audit.completeness = {"records are in the file", stated, std::min(stated, report.activities)};
  } else if (report.facts.contains(std::string(kEndFact))) {
    audit.rows.push_back({"end of the profile", "1", "0", AuditVerdict::broken,
                          "the file lacks its last record: it is cut"});
  } else if (report.passes.empty()) {
    audit.rows.push_back(uncheckable("records that the profile states",
                                     "the file does not state how many records it has"));
  }
}

void add_loss(const ReadReport& report, std::string_view fact, std::string check,
              std::string_view lost, std::vector<AuditRow>& rows) {
  const auto count = find_number(report, fact);
  if (!count || *count <= 0) return;
  rows.push_back({std::move(check), "0", format_with_commas(*count), AuditVerdict::broken,
                  fmt::format("{} {}", format_with_commas(*count), lost)});
}

void add_loss_rows(const ReadReport& report, std::vector<AuditRow>& rows) {
  const std::size_t before = rows.size();
  add_loss(report, "gpu.dropped", "dropped device records",
           "records were dropped: the tracer had no room for them", rows);
  add_loss(report, kLostSamplesFact, "lost samples",
           "samples were lost: they were not written fast enough", rows);
  if (const auto killed = find_number(report, kKilledFact); killed && *killed > 0) {
    rows.push_back({"traced processes with an end", "", "", AuditVerdict::doubtful,
                    fmt::format("{} or called _exit: its last device records may be missing",
                                pluralise(*killed, "traced process was killed",
                                          "traced processes were killed"))});
  }
  if (std::string faults = find_text(report, "gpu.faults"); !faults.empty())
    rows.push_back({"faults of the tracer", "none", "", AuditVerdict::broken, std::move(faults)});
  if (std::string lack = find_text(report, "incomplete"); !lack.empty())
    rows.push_back({"written records", "all", "", AuditVerdict::broken, std::move(lack)});
  if (rows.size() != before) return;
  const bool states_losses = report.format == "profile" || report.format == "result";
  if (states_losses) {
    rows.push_back({"dropped records", "0", "0", AuditVerdict::ok, ""});
  } else {
    rows.push_back(
        uncheckable("dropped records", "the format does not state what its profiler dropped"));
  }
}

}  // namespace

void add_record_rows(const ReadReport& report, ProfileAudit& audit) {
  add_pass_rows(report, audit);
  add_end_row(report, audit);
  add_loss_rows(report, audit.rows);
  const std::int64_t malformed = report.malformed + find_number(report, kMalformedFact).value_or(0);
  const std::int64_t unknown = report.unknown + find_number(report, kUnknownFact).value_or(0);
  AuditRow row = make_count_row("malformed records", 0, malformed);
  if (malformed > 0) {
    // Not of the lines: a JSON document may have one.
    const std::int64_t records = saturating_sum(report.activities, malformed);
    const bool is_broken =
        static_cast<double>(malformed) > kBrokenShare * static_cast<double>(records);
    row.verdict = is_broken ? AuditVerdict::broken : AuditVerdict::doubtful;
    row.reason = fmt::format("{} could not be read; the contents are missing",
                             pluralise(malformed, "record"));
  }
  audit.rows.push_back(std::move(row));
  row = make_count_row("unknown records", 0, unknown);
  if (unknown > 0) {
    row.verdict = AuditVerdict::doubtful;
    row.reason = fmt::format("{} of a kind that this version does not know",
                             pluralise(unknown, "record or field is", "records or fields are"));
  }
  audit.rows.push_back(std::move(row));
}

void add_sum_rows(const ReadReport& report, const std::map<std::string, Nanoseconds>& iterations,
                  std::vector<AuditRow>& rows) {
  std::int64_t checked = 0, fitting = 0;
  std::string reason;
  for (const auto& [id, pass] : report.passes) {
    if (!pass.has_ended || !pass.wall || !pass.attributed || !pass.unattributed) continue;
    ++checked;
    const Nanoseconds parts = saturating_sum(*pass.attributed, *pass.unattributed);
    const auto recorded = iterations.find(id);
    // The iterations of a case of several files are those of all.
    const bool has_ranges = recorded != iterations.end() && report.repeated_passes == 0;
    if (parts == *pass.wall && (!has_ranges || recorded->second == *pass.wall)) {
      ++fitting;
    } else if (reason.empty() && parts != *pass.wall) {
      reason = fmt::format("attributed and unattributed time of {} are {}, its wall time is {}", id,
                           format_time(parts), format_time(*pass.wall));
    } else if (reason.empty()) {
      reason = fmt::format("the iterations of {} took {}, its wall time is {}", id,
                           format_time(recorded->second), format_time(*pass.wall));
    }
  }
  if (checked == 0) return;
  AuditRow row = make_count_row("sums of times that fit", checked, fitting);
  if (fitting < checked) row.verdict = AuditVerdict::broken;
  row.reason = std::move(reason);
  rows.push_back(std::move(row));
}

namespace {

AuditVerdict judge_contradictions(const Contradictions& found) {
  if (found.count == 0) return AuditVerdict::ok;
  return found.largest > kWrongClock ? AuditVerdict::broken : AuditVerdict::doubtful;
}

// The end of a sentence that begins with a count.
struct CountedWords {
  std::string_view one, several;
};

AuditRow contradiction_row(std::string check, std::int64_t total, const Contradictions& found,
                           const CountedWords& words) {
  AuditRow row = make_count_row(std::move(check), total, total - found.count);
  row.verdict = judge_contradictions(found);
  if (found.count > 0) {
    row.reason =
        fmt::format("{} {}, by up to {}", format_with_commas(found.count),
                    found.count == 1 ? words.one : words.several, format_time(found.largest));
  }
  return row;
}

}  // namespace

void add_order_rows(const TimeOrderFindings& order, const ReadReport& report,
                    std::vector<AuditRow>& rows) {
  if (order.timed == 0) return;
  if (report.starts == StartTimes::computed) {
    rows.push_back(uncheckable("order of times", "the file has no start times"));
    return;
  }
  AuditRow reversed =
      make_count_row("ends after their starts", order.timed, order.timed - order.reversed);
  if (order.reversed > 0) {
    reversed.verdict = AuditVerdict::broken;
    reversed.reason = fmt::format("{} before it starts",
                                  pluralise(order.reversed, "activity ends", "activities end"));
  }
  rows.push_back(std::move(reversed));
  if (order.nested > 0) {
    rows.push_back(contradiction_row("activities within those around them", order.nested,
                                     order.crossing,
                                     {"activity begins within another one of its thread and ends "
                                      "after it",
                                      "activities begin within another one of their thread and end "
                                      "after it"}));
    AuditRow sorted = make_count_row("records in the order of time", order.nested,
                                     order.nested - order.backwards);
    if (order.backwards > 0) {
      sorted.verdict = AuditVerdict::doubtful;
      sorted.reason =
          fmt::format("{} not in the order of time: self times may include nested activities",
                      pluralise(order.backwards, "record is", "records are"));
    }
    rows.push_back(std::move(sorted));
  }
  if (order.processes == 0) {
    rows.push_back(uncheckable("activities within the recording",
                               "the profile does not state when its recording began and ended"));
    return;
  }
  // A process that is killed does not state its end, and other tools state their window roughly, so
  // this is never a proof.
  AuditRow early =
      contradiction_row("processes without earlier activities", order.processes, order.before_start,
                        {"process has activities from before the recording",
                         "processes have activities from before the recording"});
  early.verdict = std::min(early.verdict, AuditVerdict::doubtful);
  rows.push_back(std::move(early));
  AuditRow late =
      contradiction_row("processes without later activities", order.processes, order.after_end,
                        {"process has activities that end after the recording",
                         "processes have activities that end after the recording"});
  late.verdict = std::min(late.verdict, AuditVerdict::doubtful);
  // An activity that begins in a window is recorded to its end.
  if (late.verdict != AuditVerdict::ok && report.facts.contains("window")) {
    late.verdict = AuditVerdict::not_checkable;
    late.reason = "what begins in a window may end after it";
  }
  rows.push_back(std::move(late));
}

namespace {

// The clock of the device moved if both quarters exclude each other's bounds.
AuditRow drift_row(const LaunchMatch& match) {
  constexpr std::string_view kCheck = "drift of the device's clock";
  const ClockBounds& begin = match.begin;
  const ClockBounds& end = match.end;
  if (!begin.at_most || !end.at_most)
    return uncheckable(std::string(kCheck), "too few launches have a record");
  Nanoseconds drift{0};
  if (begin.at_least) drift = std::max(drift, saturating_difference(*begin.at_least, *end.at_most));
  if (end.at_least) drift = std::max(drift, saturating_difference(*end.at_least, *begin.at_most));
  AuditRow row{std::string(kCheck), "", "", AuditVerdict::ok, ""};
  if (drift > kDeviceClockError) {
    row.expected = "0";
    row.found = format_time(drift);
    row.verdict = drift > kWrongClock ? AuditVerdict::broken : AuditVerdict::doubtful;
    row.reason =
        fmt::format("the clocks of host and device moved apart by {} or more during the recording",
                    format_time(drift));
  } else if (!begin.at_least || !end.at_least) {
    row.verdict = AuditVerdict::not_checkable;
    row.reason = "no copy that the host waits for bounds how late the device's clock may be";
  } else {
    row.expected = "0";
    row.found = fmt::format(
        "up to {}", format_time(std::max(saturating_difference(*end.at_most, *begin.at_least),
                                         saturating_difference(*begin.at_most, *end.at_least))));
  }
  return row;
}

}  // namespace

void add_clock_rows(const LaunchMatch& match, const ReadReport& report,
                    std::vector<AuditRow>& rows) {
  std::int64_t found = 0;
  for (const LaunchCount& count : match.kinds) found += count.found;
  if (found > 0) {
    rows.push_back(contradiction_row("work that begins after its launch", found, match.early,
                                     {"activity of a device begins before its launch: the clocks "
                                      "of host and device disagree",
                                      "activities of devices begin before their launch: the clocks "
                                      "of host and device disagree"}));
    rows.push_back(contradiction_row("copies that end before their call", found, match.late,
                                     {"copy ends after the call that waited for it: the clocks of "
                                      "host and device disagree",
                                      "copies end after the call that waited for them: the clocks "
                                      "of host and device disagree"}));
    rows.push_back(drift_row(match));
  }
  const auto step = find_number(report, kClockStepFact);
  if (!step) return;
  const Nanoseconds size = std::chrono::abs(Nanoseconds(*step));
  AuditRow row{"step of the system's clock", "0", format_time(size), AuditVerdict::ok, ""};
  if (size > kWrongClock) {
    row.verdict = AuditVerdict::doubtful;
    row.reason = fmt::format(
        "the system's clock was set by {} during the recording: times of other machines or tools "
        "do not fit",
        format_time(size));
  }
  rows.push_back(std::move(row));
}

namespace {

// A device measures its work with its own clock, so that tracing makes only times of the host
// wrong.
AuditVerdict judge_cost(double cost, const TracerTime& tracer) {
  if (cost > kBrokenCost && tracer.device_records == 0) return AuditVerdict::broken;
  return cost > kDoubtfulCost ? AuditVerdict::doubtful : AuditVerdict::ok;
}

std::string format_cost(double cost) {
  return cost < 0.001 ? "less than 0.1 %" : fmt::format("{:.1f} %", 100 * cost);
}

AuditRow cost_row(std::string check, double cost, std::string_view how, const TracerTime& tracer) {
  AuditRow row{std::move(check), fmt::format("at most {:.0f} %", 100 * kDoubtfulCost),
               format_cost(cost), judge_cost(cost, tracer), ""};
  if (row.verdict != AuditVerdict::ok) {
    row.reason = fmt::format("tracing cost {} of the time ({}){}", format_cost(cost), how,
                             row.verdict == AuditVerdict::broken ? ": more than what it measured"
                             : tracer.device_records > 0
                                 ? ": times of the host are too long; those of devices are not"
                                 : ": times are too long, those of short activities most");
  }
  return row;
}

double part_of(Nanoseconds part, Nanoseconds whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

// Iterations of the passes beside other times of the same cases. A pass has few iterations, so that
// one case alone proves nothing: the sums are judged.
struct PassComparison {
  Nanoseconds profiled{0}, other{0};  // sums over the cases
  std::int64_t cases = 0;
  double worst = 0;        // largest difference of a case
  std::string worst_case;  // its id

  // difference: of the profiled time from the other one, as a part of the latter.
  void add(const std::string& id, Nanoseconds of_pass, Nanoseconds of_other, double difference) {
    ++cases;
    profiled = saturating_sum(profiled, of_pass);
    other = saturating_sum(other, of_other);
    if (worst_case.empty() || difference > worst) worst_case = id;
    worst = std::max(worst, difference);
  }
  std::string name() const { return cases == 1 ? worst_case : pluralise(cases, "case", "cases"); }
};

// The row of the worst of several cases is a remark at most.
void add_worst_case(AuditRow row, std::string remark, std::vector<AuditRow>& rows) {
  if (row.verdict != AuditVerdict::ok) {
    row.verdict = AuditVerdict::not_checkable;
    row.reason = std::move(remark);
  }
  rows.push_back(std::move(row));
}

bool is_stated(const std::optional<Nanoseconds>& time) { return time && *time > Nanoseconds(0); }

// Compares the iterations of the passes with and without collectors.
void add_pass_costs(const ReadReport& report, const TracerTime& tracer, ProfileAudit& audit) {
  PassComparison found;
  for (const auto& [id, pass] : report.passes) {
    if (!is_stated(pass.profiled) || !is_stated(pass.unprofiled)) continue;
    found.add(id, *pass.profiled, *pass.unprofiled, part_of(*pass.profiled, *pass.unprofiled) - 1);
  }
  if (found.cases == 0) return;
  const double cost = std::max(0.0, part_of(found.profiled, found.other) - 1);
  audit.cost = {cost, ProfileAudit::Cost::Extent::all};
  audit.rows.push_back(cost_row("cost of tracing", cost,
                                fmt::format("{}, by iterations without it", found.name()), tracer));
  if (found.cases == 1) return;
  add_worst_case(cost_row("cost of tracing, worst case", found.worst, "", tracer),
                 fmt::format("{} took {} longer with tracing; the few iterations of one case may "
                             "differ by as much without it",
                             found.worst_case, format_cost(found.worst)),
                 audit.rows);
}

double distance_of(Nanoseconds a, Nanoseconds b) {
  const double ratio = part_of(a, b);
  return ratio < 1 ? 1 / ratio - 1 : ratio - 1;
}

AuditRow distance_row(std::string check, double distance, std::string reason) {
  AuditRow row{std::move(check), fmt::format("within {:.0f} %", 100 * kDoubtfulDistance),
               fmt::format("{:.0f} %", 100 * distance), AuditVerdict::ok, ""};
  if (distance > kDoubtfulDistance) {
    row.verdict = AuditVerdict::doubtful;
    row.reason = std::move(reason);
  }
  return row;
}

// Compares the iterations of the passes with the measurement, if that was steady.
void add_distance_rows(const ReadReport& report, std::vector<AuditRow>& rows) {
  constexpr std::string_view kCheck = "profiled time against the measurement";
  PassComparison found;
  std::int64_t unsteady = 0;
  bool has_passes = false;
  for (const auto& [id, pass] : report.passes) {
    if (!is_stated(pass.profiled)) continue;
    has_passes = true;
    if (!is_stated(pass.measured)) continue;
    if (pass.is_unsteady) {
      ++unsteady;
      continue;
    }
    found.add(id, *pass.profiled, *pass.measured, distance_of(*pass.profiled, *pass.measured));
  }
  if (!has_passes) return;
  if (found.cases == 0) {
    rows.push_back(uncheckable(
        std::string(kCheck), unsteady > 0
                                 ? fmt::format("the run marks the measured time of {} as unsteady",
                                               pluralise(unsteady, "case", "cases"))
                                 : "the file has no measured time of these cases"));
    return;
  }
  rows.push_back(distance_row(
      std::string(kCheck), distance_of(found.profiled, found.other),
      fmt::format("an iteration of {} took {} in the pass and {} in the measurement", found.name(),
                  format_time(found.profiled), format_time(found.other))));
  if (found.cases == 1) return;
  const StatedPass& worst = report.passes.at(found.worst_case);
  add_worst_case(
      distance_row(fmt::format("{}, worst case", kCheck), found.worst, ""),
      fmt::format("an iteration of {} took {} in the pass and {} in the measurement; the few "
                  "iterations of one case may differ by as much",
                  found.worst_case, format_time(*worst.profiled), format_time(*worst.measured)),
      rows);
}

}  // namespace

void add_cost_rows(const ReadReport& report, const TracerTime& tracer, ProfileAudit& audit) {
  add_pass_costs(report, tracer, audit);
  add_distance_rows(report, audit.rows);
  const auto each = find_number(report, kRecordCostFact);
  const auto records = find_number(report, kRecordCountFact);
  const auto wall = find_number(report, kRecordedWallFact);
  if (each && records && wall && *wall > 0) {
    const Nanoseconds spent(saturating_product(*each, *records));
    const double cost = part_of(spent, Nanoseconds(*wall));
    audit.cost = {cost, ProfileAudit::Cost::Extent::at_least};
    audit.rows.push_back(
        cost_row("cost of tracing", cost,
                 fmt::format("{} {} of {}; {}", format_with_commas(*records),
                             *records == 1 ? "record" : "records", format_time(Nanoseconds(*each)),
                             find_text(report, kCostMethodFact)),
                 tracer));
  }
  if (tracer.stated && tracer.recorded > Nanoseconds(0)) {
    const double cost = part_of(*tracer.stated, tracer.recorded);
    // Iterations with and without collectors contain this time.
    if (report.passes.empty()) {
      const double known = audit.cost ? audit.cost->part : 0;
      audit.cost = {known + cost, ProfileAudit::Cost::Extent::at_least};
    }
    audit.rows.push_back(cost_row("tracer's own time", cost, "as the tracer states", tracer));
  }
  if (!audit.cost) {
    audit.rows.push_back(
        uncheckable("cost of tracing", "the file does not state what tracing cost"));
  }
}

}  // namespace bench::analysis
