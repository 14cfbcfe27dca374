// SPDX-License-Identifier: Apache-2.0

#include "base/text.hpp"
#include "harness/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace bench {
namespace {

// The smallest share of the time that is a finding.
constexpr double kMinShare = 0.2, kMinOutside = 0.5;
// A share of samples is a finding only if it is this large without this many standard errors.
constexpr double kMinSampledShare = 0.1, kStandardErrors = 2;

double share_of(Nanoseconds part, Nanoseconds whole) {
  return whole > Nanoseconds(0)
             ? static_cast<double>(part.count()) / static_cast<double>(whole.count())
             : 0;
}

std::string profile_lead(const Summary& summary) {
  const Attribution attribution = summary.attribution();
  std::string text;
  if (attribution.coverage) {
    text = describe_coverage(*attribution.coverage);
  } else if (attribution.wall > Nanoseconds(0)) {
    text = fmt::format("The recorded iterations took {}; {} of it was in layers and operators.",
                       format_time(attribution.wall),
                       format_part(attribution.attributed, attribution.wall));
  }
  if (!summary.samples().empty())
    text += (text.empty() ? "" : " ") + describe_samples(summary.samples());
  return text.empty() ? "The profile has no activities." : text;
}

// The rows of the picture, and how to read it.
struct ProfilePicture {
  std::vector<ShareRow> rows;
  std::string caption;
};

std::vector<ShareRow> make_share_rows(const std::vector<TimeRow>& rows) {
  std::vector<ShareRow> shown;
  for (const TimeRow& row : rows) shown.push_back({row.name, row.total, row.share});
  return shown;
}

// Samples show what the program computed, also outside of what was recorded. Without them, the work
// of devices or, without these, of the host is the picture.
ProfilePicture choose_picture(const Summary& summary) {
  if (!summary.samples().empty()) {
    ProfilePicture picture{
        {},
        fmt::format("CPU time by library, from {}; the number is the share of all samples.",
                    pluralise(summary.samples().samples(), "sample"))};
    for (const SampleRow& row : summary.samples().objects())
      picture.rows.push_back({row.name, row.cpu, row.share});
    return picture;
  }
  if (const auto rows = summary.device_operators({}); !rows.empty()) {
    return {make_share_rows(rows),
            "Time of devices by operator; the number is the share of what devices executed."};
  }
  const std::string_view whole =
      is_wall_known(summary.attribution()) ? "the wall time" : "what was recorded";
  return {
      make_share_rows(summary.operators({})),
      fmt::format("Time by operator; the number is the share of {}. Rows in parentheses are time "
                  "outside of operators.",
                  whole)};
}

Plot profile_picture(const Summary& summary) {
  ProfilePicture picture = choose_picture(summary);
  if (picture.rows.empty()) picture.rows = make_share_rows(summary.layers({}));
  return shares_plot("profile-shares", "Where the time went", picture.caption, picture.rows);
}

std::optional<PageFinding> find_outside(const Summary& summary) {
  const Attribution attribution = summary.attribution();
  const double outside = share_of(attribution.outside, attribution.wall);
  const bool is_known = attribution.coverage && is_wall_known(attribution);
  if (!is_known || outside < kMinOutside || !summary.samples().empty()) return std::nullopt;
  return PageFinding{
      fmt::format("In {:.0f} % of the wall time, nothing was recorded; `bench profile "
                  "--sample` divides it by library and function.",
                  100 * outside),
      "Operators"};
}

// Returns a finding about the row with the most samples, if these are enough to be certain.
std::optional<PageFinding> find_sampled(const std::vector<SampleRow>& rows, std::int64_t samples) {
  if (rows.empty() || samples <= 0) return std::nullopt;
  const SampleRow& row = rows.front();
  const double error =
      kStandardErrors * std::sqrt(row.share * (1 - row.share) / static_cast<double>(samples));
  if (row.share - error < kMinSampledShare) return std::nullopt;
  return PageFinding{
      fmt::format("{} had {:.0f} % (+-{:.0f}) of the CPU time, by {} of {}.", row.name,
                  100 * row.share, 100 * error, row.samples, pluralise(samples, "sample")),
      row.name};
}

// Returns the functions without those that only repeat their object: "[jit] ([jit])".
std::vector<SampleRow> known_functions(const SampleTimes& samples) {
  std::vector<SampleRow> rows = samples.functions();
  std::erase_if(rows, [&](const SampleRow& row) {
    const std::size_t object = row.name.rfind(" (");
    return object != std::string::npos &&
           row.name.substr(object) == fmt::format(" ({})", row.name.substr(0, object));
  });
  return rows;
}

bool is_remainder(const TimeRow& row) { return row.name.starts_with('('); }

std::optional<PageFinding> find_operator(const std::vector<TimeRow>& rows, std::string_view whole) {
  const auto longest = std::ranges::find_if_not(rows, is_remainder);
  if (longest == rows.end() || longest->share.value_or(0) < kMinShare) return std::nullopt;
  return PageFinding{
      fmt::format("{} took {:.1f} % of {}: {} in {}.", longest->name, 100 * *longest->share, whole,
                  format_time(longest->total), pluralise(longest->count, "call")),
      longest->name};
}

PageFindings profile_findings(const Summary& summary) {
  const SampleTimes& samples = summary.samples();
  const std::string_view whole =
      is_wall_known(summary.attribution()) ? "the wall time" : "what was recorded";
  PageFindings findings;
  for (std::optional<PageFinding>& finding :
       std::vector{find_outside(summary), find_sampled(samples.objects(), samples.samples()),
                   find_sampled(known_functions(samples), samples.samples()),
                   find_operator(summary.device_operators({}), "what devices executed"),
                   find_operator(summary.operators({}), whole)}) {
    if (finding && findings.list.size() < kMaxFindings)
      findings.list.push_back(*std::move(finding));
  }
  if (findings.list.empty()) {
    findings.none = summary.empty() ? "There is no finding, since nothing was recorded."
                                    : fmt::format(
                                          "Nothing stands out: no operator took {:.0f} % "
                                          "or more of {}.",
                                          100 * kMinShare, whole);
  }
  return findings;
}

TableCell share_cell(const std::optional<double>& share) {
  if (!share) return {std::string(kUnknown)};
  return {fmt::format("{:.1f} %", 100 * *share), *share};
}

TableCell count_cell(std::int64_t count) {
  // A row that is not an activity has no count.
  if (count <= 0) return {std::string(kUnknown)};
  return {std::to_string(count), count};
}

TableCell number_cell(const std::optional<double>& value) {
  if (!value) return {std::string(kUnknown)};
  return {fmt::format("{:.6g}", *value), *value};
}

// Returns an empty table of names and numbers.
Table make_number_table(std::initializer_list<std::string_view> headings) {
  Table table;
  for (const std::string_view heading : headings) {
    const ColumnKind kind = table.columns.empty() ? ColumnKind::id : ColumnKind::number;
    table.columns.push_back({std::string(heading), kind});
  }
  return table;
}

void add_time_table(const std::vector<TimeRow>& rows, std::string_view share, Page& page) {
  Table table =
      make_number_table({"name", "count", "total", share, "self", "min", "p50", "p95", "max"});
  for (const TimeRow& row : rows) {
    table.rows.push_back({{{row.name},
                           count_cell(row.count),
                           make_time_cell(row.total),
                           share_cell(row.share),
                           make_time_cell(row.self),
                           make_time_cell(row.min),
                           make_time_cell(row.p50),
                           make_time_cell(row.p95),
                           make_time_cell(row.max)}});
  }
  page.table(table);
}

void add_times(std::string_view title, const std::vector<TimeRow>& rows, std::string_view share,
               Page& page) {
  if (rows.empty()) return;
  page.section(title, count_rows(rows.size()));
  add_time_table(rows, share, page);
}

void add_categories(const Summary& summary, Page& page) {
  const auto categories = summary.categories({});
  if (categories.empty()) return;
  page.section("Categories", "all activities by kind");
  for (const auto& [category, rows] : categories) {
    page.heading(category);
    add_time_table(rows, "of category", page);
  }
}

void add_samples(std::string_view title, const std::vector<SampleRow>& rows, Page& page) {
  if (rows.empty()) return;
  page.section(title, count_rows(rows.size()));
  Table table = make_number_table({"name", "samples", "CPU time", "of samples"});
  for (const SampleRow& row : rows) {
    table.rows.push_back(
        {{{row.name}, count_cell(row.samples), make_time_cell(row.cpu), share_cell(row.share)}});
  }
  page.table(table);
}

void add_memory(const std::vector<MemoryRow>& rows, Page& page) {
  if (rows.empty()) return;
  page.section("Memory", count_rows(rows.size()));
  Table table =
      make_number_table({"name", "count", "total bytes", "min bytes", "max bytes", "mean bytes"});
  const auto bytes = [](const std::optional<std::int64_t>& value) {
    return number_cell(value ? std::optional(static_cast<double>(*value)) : std::nullopt);
  };
  for (const MemoryRow& row : rows) {
    table.rows.push_back({{{row.name},
                           count_cell(row.count),
                           bytes(row.total_bytes),
                           bytes(row.min_bytes),
                           bytes(row.max_bytes),
                           number_cell(row.mean_bytes)}});
  }
  page.table(table);
}

void add_counters(const std::vector<CounterRow>& rows, Page& page) {
  if (rows.empty()) return;
  page.section("Counters", count_rows(rows.size()));
  Table table =
      make_number_table({"name", "unit", "count", "min", "max", "mean over time", "last"});
  table.columns[1].kind = ColumnKind::text;
  for (const CounterRow& row : rows) {
    table.rows.push_back({{{row.name},
                           {row.unit.empty() ? "1" : row.unit},
                           count_cell(row.count),
                           number_cell(row.min),
                           number_cell(row.max),
                           number_cell(row.mean),
                           number_cell(row.last)}});
  }
  page.table(table);
}

// The checks of the profile itself; those that fail come first.
void add_audit(const ProfileAudit& audit, Page& page) {
  if (audit.rows.empty()) return;
  page.section("Checks of the profile", count_rows(audit.rows.size()));
  Table table;
  for (const std::string_view heading : {"check", "expected", "found", "verdict", "reason"})
    table.columns.push_back(
        {std::string(heading), table.columns.empty() ? ColumnKind::id : ColumnKind::text});
  std::vector<AuditRow> rows = audit.rows;
  std::ranges::stable_sort(rows, std::ranges::greater(), &AuditRow::verdict);
  for (const AuditRow& row : rows) {
    table.rows.push_back({{{row.check},
                           {row.expected},
                           {row.found},
                           {std::string(to_string(row.verdict))},
                           {row.reason}}});
  }
  page.table(table);
}

void add_timeline(const ProfileView& view, Page& page) {
  page.section("Timeline", "what ran when");
  if (view.timeline.empty()) {
    page.paragraph(
        "The timeline is too large for this page; `bench trace PROFILE -o FILE.html` "
        "draws it.");
    return;
  }
  page.frame("Open the timeline", view.timeline);
}

}  // namespace

std::string profile_page(const ProfileView& view) {
  const Summary& summary = view.summary;
  const std::string verdict =
      view.audit.rows.empty() ? std::string() : describe_audit(view.audit) + " ";
  Page page(fmt::format("{}: profile", view.name), verdict + profile_lead(summary));
  page.open(profile_picture(summary), profile_findings(summary));
  const char* share = is_wall_known(summary.attribution()) ? "of wall time" : "of recorded";
  add_times("Operators", summary.operators({}), share, page);
  add_times("Layers", summary.layers({}), share, page);
  add_samples("Libraries, sampled", summary.samples().objects(), page);
  add_samples("Functions, sampled", summary.samples().functions(), page);
  add_times("Operators on devices", summary.device_operators({}), "of devices", page);
  add_times("Layers on devices", summary.device_layers({}), "of devices", page);
  add_categories(summary, page);
  add_memory(summary.memory({}), page);
  add_counters(summary.counters({}), page);
  add_timeline(view, page);
  add_audit(view.audit, page);
  return std::move(page).finish();
}

}  // namespace bench
