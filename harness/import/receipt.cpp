// SPDX-License-Identifier: Apache-2.0
#include "harness/import/receipt.hpp"

#include "base/plural.hpp"
#include "base/printable.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace bench {
namespace {

// Places that the text names; --json names all of them.
constexpr std::size_t kMaxListedPlaces = 100;

struct Reason {
  std::string_view text;
  std::size_t count = 0;
  std::vector<const RefusedProblem*> problems;
};

// Returns the reasons, the most frequent first; equally frequent ones in the order of the files.
std::vector<Reason> list_reasons(const Imported& found) {
  std::vector<Reason> reasons;
  std::map<std::string_view, std::size_t> index;
  for (const RefusedProblem& problem : found.refused) {
    const auto [entry, is_new] = index.emplace(problem.reason, reasons.size());
    if (is_new) reasons.push_back({problem.reason, 0, {}});
    reasons[entry->second].count += problem.count;
    reasons[entry->second].problems.push_back(&problem);
  }
  std::ranges::stable_sort(reasons, std::greater(), &Reason::count);
  return reasons;
}

std::string format_place(const Imported& found, const RefusedProblem& problem) {
  const std::string times = problem.count == 1 ? "" : fmt::format(" ({} times)", problem.count);
  return fmt::format("{}{}: {}", found.place_text(problem.place), times, problem.text);
}

}  // namespace

std::string receipt_sentence(const ImportKind& kind, const Imported& found) {
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
  first += refused == 0 ? "." : fmt::format("; {} cannot be expressed:", refused);
  std::string text = wrap(first, width, 0);
  std::size_t listed = 0;
  for (const Reason& reason : list_reasons(found)) {
    text += wrap(fmt::format("{:>6}  {}", reason.count, printable(reason.text)), width, 8);
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
  writer.required_list("refused", found.refused,
                       [&](JsonWriter& row, const RefusedProblem& problem) {
                         row.required("file", found.files[problem.place.file]);
                         row.required("line", problem.place.line);
                         row.required("text", problem.text);
                         row.required("reason", problem.reason);
                         row.required("count", static_cast<std::int64_t>(problem.count));
                       });
}

}  // namespace bench
