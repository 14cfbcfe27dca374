// SPDX-License-Identifier: Apache-2.0
#include "harness/import/receipt.hpp"

#include "base/printable.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Places that the text names; --json names all of them.
constexpr std::size_t kMaxListedPlaces = 100;

struct Reason {
  std::string_view text;
  std::size_t count = 0;
  Nanoseconds time{0};  // sum over its executions, if it is a profile
  std::vector<const RefusedProblem*> problems;
};

// Returns the reasons: of a profile those that take the most time first, else the most frequent.
// Equal ones are in the order of the files.
std::vector<Reason> list_reasons(const Imported& found) {
  std::vector<Reason> reasons;
  std::map<std::string_view, std::size_t> index;
  for (const RefusedProblem& problem : found.refused) {
    const auto [entry, is_new] = index.emplace(problem.reason, reasons.size());
    if (is_new) reasons.push_back({.text = problem.reason, .problems = {}});
    if (problem.use) reasons[entry->second].time += problem.use->time;
    reasons[entry->second].count += problem.count;
    reasons[entry->second].problems.push_back(&problem);
  }
  std::ranges::stable_sort(reasons, std::greater(), [](const Reason& reason) {
    return std::pair(reason.time, reason.count);
  });
  return reasons;
}

std::string format_place(const Imported& found, const RefusedProblem& problem) {
  const std::string times = problem.count == 1 ? "" : fmt::format(" ({} times)", problem.count);
  return fmt::format("{}{}: {}", found.place_text(problem.place), times, problem.text);
}

// "(15.8 ms, 3.7 %)" of the time in primitives; empty without a profile.
std::string format_time_share(Nanoseconds time, const Imported& found) {
  if (!found.coverage) return {};
  return fmt::format(" ({}, {})", format_time(time), format_part(time, found.time()));
}

// "14 cases repeat 96.3 % of the time in primitives: 414.2 of 430.1 ms in 812 executions"
std::string profile_sentence(const Imported& found) {
  std::int64_t executions = 0;
  for (const ImportedCase& item : found.cases) executions += item.use->count;
  return fmt::format("{} {} {} of the {} that the program spent in primitives, {}",
                     pluralise(found.cases.size(), "case"),
                     found.cases.size() == 1 ? "repeats" : "repeat",
                     format_part(found.cases_time(), found.time()), format_time(found.time()),
                     pluralise(executions, "execution"));
}

}  // namespace

std::string receipt_sentence(const ImportKind& kind, const Imported& found) {
  if (found.coverage) return profile_sentence(found);
  const std::size_t taken = found.cases.size();
  const std::size_t all = taken + found.refused_count();
  return fmt::format("{} of {} {} {}", taken, pluralise(all, kind.noun), taken == 1 ? "is" : "are",
                     taken == 1 ? "a case" : "cases");
}

std::string format_receipt(const ImportKind& kind, const Imported& found, std::size_t cases,
                           std::size_t width) {
  const std::size_t refused = found.refused_count();
  std::string first = receipt_sentence(kind, found);
  if (cases != found.cases.size()) first += fmt::format(" ({} of them distinct)", cases);
  const Nanoseconds refused_time = found.time() - found.cases_time();
  first += refused == 0 ? "."
                        : fmt::format("; {}{} cannot be expressed:", refused,
                                      format_time_share(refused_time, found));
  std::string text;
  if (found.coverage) text = wrap(describe_coverage(*found.coverage), width, 0);
  text += wrap(first, width, 0);
  std::size_t listed = 0;
  for (const Reason& reason : list_reasons(found)) {
    text += wrap(fmt::format("{:>6}  {}{}", reason.count, printable(reason.text),
                             format_time_share(reason.time, found)),
                 width, 8);
    for (const RefusedProblem* problem : reason.problems) {
      if (++listed > kMaxListedPlaces) continue;
      text += "          " +
              shorten(printable(format_place(found, *problem)), width > 20 ? width - 10 : width) +
              "\n";
    }
  }
  if (listed > kMaxListedPlaces)
    text += wrap(
        fmt::format("{} more lines are not listed; --json lists all.", listed - kMaxListedPlaces),
        width, 0);
  return text;
}

void write_receipt(JsonWriter& writer, const Imported& found, std::size_t cases) {
  writer.required("found", static_cast<std::int64_t>(found.cases.size() + found.refused_count()));
  writer.required("imported", static_cast<std::int64_t>(found.cases.size()));
  writer.required("cases", static_cast<std::int64_t>(cases));
  if (found.coverage) {
    writer.required("primitives_ns", found.time());
    writer.required("imported_ns", found.cases_time());
  }
  writer.required_list("refused", found.refused,
                       [&](JsonWriter& row, const RefusedProblem& problem) {
                         row.required("file", found.files[problem.place.file]);
                         row.required("line", problem.place.line);
                         row.required("text", problem.text);
                         row.required("reason", problem.reason);
                         row.required("count", static_cast<std::int64_t>(problem.count));
                         if (!problem.use) return;
                         row.required("executions", problem.use->count);
                         row.required("time_ns", problem.use->time);
                       });
}

}  // namespace bench
