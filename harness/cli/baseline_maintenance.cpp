// SPDX-License-Identifier: Apache-2.0
// `bench baseline remove` and `adopt`: undo a run, and take over the runs of another machine class.
#include "base/json_writer.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "harness/cli/baseline_actions.hpp"
#include "harness/host/environment.hpp"
#include "harness/judge/measurement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

namespace bench {
namespace {

// One case that an action changes.
struct ChangedCase {
  std::string id, path, run_id;  // no run_id: all runs
  std::size_t runs = 0;
};

// Returns "removed" or, with --dry-run, "would be removed".
std::string format_action(std::string_view participle, const Arguments& arguments) {
  return fmt::format("{}{}", arguments.dry_run ? "would be " : "", participle);
}

void print_changed_cases(const std::vector<ChangedCase>& cases, const std::string& sentence,
                         const Arguments& arguments, Env& env) {
  if (arguments.output == Output::json) {
    *env.out << printed_json([&](JsonWriter& writer) {
      writer.required_list("cases", cases, [](JsonWriter& row, const ChangedCase& entry) {
        row.required("id", entry.id);
        row.required("path", entry.path);
        row.optional("run_id", entry.run_id);
        row.required("runs", entry.runs);
      });
    });
    return;
  }
  *env.out << sentence << '\n';
  if (!arguments.dry_run) return;
  for (const ChangedCase& entry : cases) print_line(*env.out, fmt::format("  {}", entry.path));
}

Error unknown_run(const std::string& run_id, const StoreContents& contents) {
  std::vector<std::string_view> known;
  for (const StoreEntry& entry : contents.cases) {
    for (const BaselineRecord& record : entry.history.records) known.push_back(record.run_id);
  }
  const auto near = nearest_name(run_id, known);
  return {fmt::format("{} contains no such run", contents.store.folder()), run_id,
          near ? fmt::format("did you mean `{}`?", *near)
               : "`bench baseline show CASE` names the runs of a case"};
}

// Returns the cases that have the run, or an error if none has it, or if it has an anchor that
// --force must give up.
Result<std::vector<const StoreEntry*>> find_cases_of_run(const std::string& run_id,
                                                         const StoreContents& contents,
                                                         const Arguments& arguments) {
  std::vector<const StoreEntry*> cases;
  for (const StoreEntry& entry : contents.cases) {
    const auto& records = entry.history.records;
    const auto found = std::ranges::find(records, run_id, &BaselineRecord::run_id);
    if (found == records.end()) continue;
    if (found->anchor && !arguments.force)
      return Error{fmt::format("has the anchor `{}`", *found->anchor), run_id,
                   "--force removes it all the same"};
    cases.push_back(&entry);
  }
  if (cases.empty()) return unknown_run(run_id, contents);
  return cases;
}

// The machine class to adopt: its folder, and the environment of one of its runs.
struct ForeignClass {
  std::vector<const StoreEntry*> cases;
  EnvironmentRecord environment;
};

Result<ForeignClass> find_class(const std::string& name, const StoreContents& contents) {
  ForeignClass found;
  std::set<std::string_view> classes;
  for (const StoreEntry& entry : contents.cases) {
    const EnvironmentRecord& environment = entry.history.last()->environment;
    classes.insert(environment.machine_class);
    if (environment.machine_class != name && entry.file.folder_name != name) continue;
    found.cases.push_back(&entry);
    found.environment = environment;
  }
  if (found.cases.empty())
    return Error{fmt::format("{} has no runs of this machine class", contents.store.folder()), name,
                 fmt::format("it has those of {}", fmt::join(classes, ", "))};
  return found;
}

// Returns an error if the machine class is this one, or if its machines are of another kind.
Status check_adoption(const ForeignClass& foreign, const EnvironmentRecord& own,
                      const Arguments& arguments) {
  const std::string& name = foreign.environment.machine_class;
  if (name == own.machine_class)
    return Error{"is the class of this machine", name, "there is nothing to adopt"};
  std::vector<Change> changes = class_changes(foreign.environment, own);
  std::erase_if(changes, is_of_build);
  if (changes.empty() || arguments.force) return Done{};
  return Error{fmt::format("is the class of another kind of machine: {}", format_changes(changes)),
               name, "its times are not comparable; --force adopts them all the same"};
}

// Copies the ceilings of the class to this one, if this one has none. Returns their number.
Result<std::size_t> adopt_ceilings(const BaselineStore& store, const std::string& from,
                                   const std::string& to, const Arguments& arguments) {
  BENCH_ASSIGN_OR_RETURN(PeakHistory ceilings, store.peaks(from));
  BENCH_ASSIGN_OR_RETURN(const PeakHistory own, store.peaks(to));
  if (ceilings.records.empty() || !own.records.empty()) return std::size_t{0};
  for (PeakRecord& record : ceilings.records) record.machine_class = to;
  if (!arguments.dry_run) BENCH_RETURN_IF_ERROR(store.add_peaks(ceilings.records));
  return ceilings.records.size();
}

Result<std::vector<ChangedCase>> adopt_cases(const ForeignClass& foreign,
                                             const BaselineStore& store,
                                             const std::string& machine_class,
                                             const Arguments& arguments) {
  std::vector<ChangedCase> cases;
  for (const StoreEntry* entry : foreign.cases) {
    const std::string& id = entry->history.last()->measured.id;
    const StoreFile target = BaselineStore::case_file(machine_class, id);
    BENCH_ASSIGN_OR_RETURN(const BaselineHistory present, store.read(target));
    if (present.last() != nullptr) continue;
    if (!arguments.dry_run) {
      BENCH_ASSIGN_OR_RETURN(const Adopted adopted, store.adopt(entry->file, machine_class));
      if (adopted.result == Adopted::Result::present) continue;
    }
    cases.push_back({id, store.file_path(target), "", entry->history.records.size()});
  }
  return cases;
}

}  // namespace

Result<ExitStatus> remove_baselines(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const StoreContents contents, read_store_contents(arguments));
  std::vector<std::pair<std::string, std::vector<const StoreEntry*>>> runs;
  // Finds all runs before it removes the first one.
  for (const std::string& run_id : arguments.inputs) {
    BENCH_ASSIGN_OR_RETURN(auto cases, find_cases_of_run(run_id, contents, arguments));
    runs.emplace_back(run_id, std::move(cases));
  }
  std::vector<ChangedCase> changed;
  for (const auto& [run_id, cases] : runs) {
    for (const StoreEntry* entry : cases) {
      if (!arguments.dry_run) BENCH_RETURN_IF_ERROR(contents.store.remove_run(entry->file, run_id));
      changed.push_back(
          {entry->history.last()->measured.id, contents.store.file_path(entry->file), run_id, 1});
    }
  }
  print_changed_cases(
      changed,
      fmt::format("{} of {} {}", pluralise(runs.size(), "run"), pluralise(changed.size(), "case"),
                  format_action("removed", arguments)),
      arguments, env);
  warn_of_problems(contents.problems, arguments, env);
  return ExitStatus::success;
}

Result<ExitStatus> adopt_baselines(const Arguments& arguments, Env& env) {
  if (arguments.inputs.size() != 1)
    return Error{"`adopt` needs one machine class", "",
                 "adopt several classes one after the other"};
  BENCH_ASSIGN_OR_RETURN(const StoreContents contents, read_store_contents(arguments));
  BENCH_ASSIGN_OR_RETURN(const ForeignClass foreign,
                         find_class(arguments.inputs.front(), contents));
  const EnvironmentRecord own = read_environment(SystemRoot{}, read_cpu(SystemRoot{}));
  BENCH_RETURN_IF_ERROR(check_adoption(foreign, own, arguments));
  BENCH_ASSIGN_OR_RETURN(const std::vector<ChangedCase> cases,
                         adopt_cases(foreign, contents.store, own.machine_class, arguments));
  BENCH_ASSIGN_OR_RETURN(const std::size_t ceilings,
                         adopt_ceilings(contents.store, foreign.environment.machine_class,
                                        own.machine_class, arguments));
  std::size_t runs = 0;
  for (const ChangedCase& entry : cases) runs += entry.runs;
  const std::size_t present = foreign.cases.size() - cases.size();
  print_changed_cases(
      cases,
      fmt::format(
          "{} of {} and {} {} from {} to {}{}", pluralise(runs, "run"),
          pluralise(cases.size(), "case"), pluralise(ceilings, "ceiling"),
          format_action("adopted", arguments), printable(foreign.environment.machine_class),
          own.machine_class,
          present == 0 ? "" : fmt::format("; {} had runs already", pluralise(present, "case"))),
      arguments, env);
  warn_of_problems(contents.problems, arguments, env);
  return ExitStatus::success;
}

}  // namespace bench
