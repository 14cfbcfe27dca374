// SPDX-License-Identifier: Apache-2.0
// `bench baseline list`, `show`, `prune` and `verify`: view and maintain the store.
#include "base/json_fields.hpp"
#include "base/json_writer.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/cli/baseline_actions.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/judge/change.hpp"
#include "harness/report/short_id.hpp"
#include "harness/store/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <utility>

namespace bench {
namespace {

// Minimum width of columns with free text, in characters. If the table is still too wide, it omits
// columns.
constexpr std::size_t kMinText = 12;

// Quantile of the differences between runs that `show` prints; also used by the gate's screening.
constexpr double kUsualQuantile = 0.95;

std::optional<Nanoseconds> median_time(const BaselineRecord& record) {
  const auto median = median_iteration(record.measured);
  if (!median) return std::nullopt;
  return Nanoseconds(std::llround(*median));
}

std::string format_record_time(const BaselineRecord& record) {
  return format_or_unknown(median_time(record), format_time);
}

std::string format_fraction(const std::optional<double>& fraction) {
  return format_or_unknown(fraction,
                           [](double value) { return fmt::format("{:.2f}%", 100 * value); });
}

std::vector<std::string> list_anchors(const BaselineHistory& history) {
  std::vector<std::string> names;
  for (const BaselineRecord& record : history.records) {
    if (record.anchor) names.push_back(*record.anchor);
  }
  return names;
}

std::size_t count_epochs(const BaselineHistory& history) {
  std::set<std::int64_t> epochs;
  for (const BaselineRecord& record : history.records) epochs.insert(record.epoch);
  return epochs.size();
}

// Returns the run-to-run variation of the medians as a fraction; nullopt if there are too few runs.
std::optional<double> compute_spread(const BaselineHistory& history) {
  return between_run_sigma(run_differences(run_statistics(history.records).runs));
}

TextRow make_list_row(const BaselineHistory& history) {
  const BaselineRecord& last = *history.last();
  return {{{last.measured.id},
           {std::to_string(history.records.size())},
           {std::to_string(count_epochs(history))},
           {last.time},
           {last.commit},
           {format_record_time(last)},
           {format_fraction(compute_spread(history))},
           {fmt::format("{}", fmt::join(list_anchors(history), " "))}},
          ""};
}

// Says why `bench history` shows other times of the same runs. Empty if it shows these. `history`
// is the command.
std::string describe_medians(std::span<const StoreEntry> entries, const std::string& history,
                             const ConsoleOptions& console) {
  std::size_t runs = 0, with_speed = 0;
  for (const StoreEntry& entry : entries) {
    for (const BaselineRecord& record : entry.history.records) {
      ++runs;
      with_speed += record.measured.by_speed ? 1 : 0;
    }
  }
  if (with_speed == 0) return "";
  const std::string_view which =
      with_speed == runs ? "the times at equal speed of the machine."
                         : "the times at equal speed of the machine if at least half of the runs "
                           "of a case state that speed.";
  return '\n' + wrap(fmt::format("Medians are as measured; `{}` shows {}", history, which),
                     console.width, 0);
}

std::string format_baseline_list(const StoreContents& contents, const std::string& history,
                                 const ConsoleOptions& console) {
  const std::vector<TextColumn> columns = {{"case", Align::left, kMinId},
                                           {"runs", Align::right, std::nullopt, 3},
                                           {"epochs", Align::right, std::nullopt, 4},
                                           {"last run", Align::left, std::nullopt, 2},
                                           {"commit", Align::left, std::nullopt, 5},
                                           {"median", Align::right},
                                           {"variation", Align::right, std::nullopt, 1},
                                           {"anchors", Align::left, kMinText, 2}};
  std::string text;
  for (std::size_t i = 0; i < contents.cases.size();) {
    const std::string& machine = contents.cases[i].file.folder_name;
    std::vector<TextRow> rows;
    for (; i < contents.cases.size() && contents.cases[i].file.folder_name == machine; ++i)
      rows.push_back(make_list_row(contents.cases[i].history));
    shorten_ids(rows);
    text += fmt::format("{}{}/{}\n", text.empty() ? "" : "\n", printable(contents.store.folder()),
                        printable(machine)) +
            render_table(columns, rows, console.width, console.colour);
  }
  return text.empty() ? "no baselines\n"
                      : text + describe_medians(contents.cases, history, console);
}

std::string list_json(const StoreContents& contents) {
  return printed_json([&](JsonWriter& writer) {
    writer.required_list("cases", contents.cases, [](JsonWriter& row, const StoreEntry& entry) {
      const BaselineRecord& last = *entry.history.last();
      row.required("id", last.measured.id);
      row.required("machine_class", last.environment.machine_class);
      row.required("path", entry.history.path);
      row.required("runs", entry.history.records.size());
      row.required("epochs", count_epochs(entry.history));
      row.required("last_run", last.time);
      row.required("commit", last.commit);
      row.optional("median_ns", median_time(last));
      row.optional("spread", compute_spread(entry.history));
      row.required("anchors", list_anchors(entry.history));
    });
  });
}

TextRow make_run_row(const BaselineRecord& record, const BaselineRecord* previous) {
  const auto median = median_iteration(record.measured);
  const auto previous_median =
      previous != nullptr ? median_iteration(previous->measured) : std::nullopt;
  const std::string change = median && previous_median
                                 ? fmt::format("{:+.2f}%", 100 * (*median / *previous_median - 1))
                                 : "";
  return {{{std::to_string(record.epoch)},
           {record.time},
           {record.run_id},
           {record.commit},
           {format_record_time(record)},
           {change},
           {std::to_string(record.measured.processes.size())},
           {record.anchor.value_or("")},
           {record.reason}},
          ""};
}

// Formats a table of properties: how much the runs differ, and implementation, libraries and
// profile of the last run.
std::string format_history_facts(const BaselineHistory& history, const ConsoleOptions& console) {
  const std::vector<double> differences = run_differences(run_statistics(history.records).runs);
  std::vector<TextRow> rows;
  const auto add_row = [&](const std::string& name, std::string value) {
    rows.push_back({{{name}, {std::move(value)}}, ""});
  };
  add_row("variation between runs",
          fmt::format("{}, from {}", format_fraction(between_run_sigma(differences)),
                      pluralise(differences.size(), "difference")));
  add_row("95% of differences below",
          format_fraction(difference_quantile(differences, kUsualQuantile)));
  add_row("variation between processes", format_fraction(between_process_sigma(history.records)));
  const BaselineRecord& last = *history.last();
  const ExactProperties& exact = last.measured.exact;
  if (!exact.implementation.empty()) add_row("implementation", exact.implementation);
  for (const auto& [name, value] : facts_as_texts(exact)) add_row(name, value);
  for (const auto& [name, version] : library_facts(last.environment.libraries))
    add_row(name, version);
  if (last.profile) {
    add_row("profile", fmt::format("{} executed in {}, {} left out",
                                   pluralise(last.profile->activities.size(), "step"),
                                   format_time(last.profile->duration), last.profile->left_out));
  }
  return render_table({{"property"}, {"value", Align::left, kMinText}}, rows, console.width,
                      console.colour);
}

std::string format_baseline(const StoreEntry& entry, const std::string& history,
                            const ConsoleOptions& console) {
  const std::vector<TextColumn> columns = {{"epoch", Align::right},
                                           {"time"},
                                           {"run", Align::left, std::nullopt, 4},
                                           {"commit", Align::left, std::nullopt, 2},
                                           {"median", Align::right},
                                           {"change", Align::right},
                                           {"processes", Align::right, std::nullopt, 5},
                                           {"anchor", Align::left, kMinText, 1},
                                           {"reason", Align::left, kMinText, 1}};
  std::vector<TextRow> rows;
  const BaselineRecord* previous = nullptr;
  for (const BaselineRecord& record : entry.history.records) {
    rows.push_back(make_run_row(record, previous));
    previous = &record;
  }
  return fmt::format("{}\n{}\n", printable(entry.history.last()->measured.id),
                     printable(entry.history.path)) +
         render_table(columns, rows, console.width, console.colour) +
         describe_medians(std::span(&entry, 1), history, console) + '\n' +
         format_history_facts(entry.history, console);
}

std::string show_json(const std::vector<StoreEntry>& cases) {
  std::vector<std::string> runs;
  for (const StoreEntry& entry : cases) {
    for (const BaselineRecord& record : entry.history.records) runs.push_back(to_json_line(record));
  }
  return fmt::format("{{\"runs\": [\n{}\n]}}\n", fmt::join(runs, ",\n"));
}

// Returns the command that shows the history of the same store.
std::string format_history_command(const Arguments& arguments) {
  return fmt::format("{} history{}", arguments.program, format_store_option(arguments));
}

struct PrunedCase {
  std::string id;
  Pruned pruned;
};

std::string pruned_json(const std::vector<PrunedCase>& cases) {
  return printed_json([&](JsonWriter& writer) {
    writer.required_list("cases", cases, [](JsonWriter& row, const PrunedCase& entry) {
      row.required("id", entry.id);
      BENCH_MEMBERS(row, entry.pruned, path, kept, dropped);
    });
  });
}

// Returns the cases that the operands name, in the order of the operands, for all machine classes.
// Returns an error if the store has no run of one of them.
Result<std::vector<StoreEntry>> select_named_cases(const Arguments& arguments,
                                                   StoreContents contents) {
  std::vector<StoreEntry> named;
  for (const std::string& id : arguments.inputs) {
    const std::size_t old_size = named.size();
    for (StoreEntry& entry : contents.cases) {
      if (entry.history.last() != nullptr && entry.history.last()->measured.id == id)
        named.push_back(std::exchange(entry, {}));
    }
    if (named.size() > old_size) continue;
    std::vector<std::string_view> ids;
    for (const StoreEntry& entry : contents.cases) {
      if (const BaselineRecord* last = entry.history.last()) ids.push_back(last->measured.id);
    }
    return unknown_stored_case(ids, id, contents.store.folder());
  }
  return named;
}

}  // namespace

Error unknown_stored_case(const std::vector<std::string_view>& ids, const std::string& written,
                          const std::string& folder, std::string_view list_command) {
  Error error{fmt::format("{} contains no run of this case", folder), written, ""};
  const auto near = nearest_name(written, ids);
  const auto with_word = std::ranges::find_if(
      ids, [&](std::string_view id) { return id.find(written) != std::string_view::npos; });
  if (ids.empty()) {
    error.next = "store accepted runs with `bench baseline save`";
  } else if (near) {
    error.next = fmt::format("did you mean `{}`?", *near);
  } else if (with_word != ids.end() && !written.empty()) {
    error.next = fmt::format("give the id of a case, for example `{}`; `{}` lists all", *with_word,
                             list_command);
  } else {
    error.next = fmt::format("give the id of a stored case, for example `{}`; `{}` lists all",
                             ids.front(), list_command);
  }
  return error;
}

Result<StoreContents> read_store_contents(const Arguments& arguments) {
  BENCH_ASSIGN_OR_RETURN(const IdSelection selection, IdSelection::compile(arguments.filters));
  StoreContents contents{make_store(arguments), {}, {}};
  BENCH_ASSIGN_OR_RETURN(const std::vector<StoreFile> files, contents.store.list());
  if (auto foreign = contents.store.foreign_content()) return *std::move(foreign);
  for (const StoreFile& file : files) {
    auto history = contents.store.read(file);
    if (!history.ok()) {
      contents.problems.push_back(history.error().message());
      continue;
    }
    contents.problems.insert(contents.problems.end(), history->problems.begin(),
                             history->problems.end());
    const bool is_selected =
        history->last() != nullptr && selection.has(history->last()->measured.id);
    if (is_selected) contents.cases.push_back({file, *std::move(history)});
  }
  return contents;
}

void warn_of_problems(const std::vector<std::string>& problems, const Arguments& arguments,
                      Env& env) {
  if (arguments.verbosity != Verbosity::normal) return;
  for (const std::string& problem : problems) print_sentence(env, "bench baseline: " + problem);
}

Result<ExitStatus> list_baselines(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const StoreContents contents, read_store_contents(arguments));
  *env.out << (arguments.output == Output::json
                   ? list_json(contents)
                   : format_baseline_list(contents, format_history_command(arguments),
                                          console_options(env)));
  warn_of_problems(contents.problems, arguments, env);
  return ExitStatus::success;
}

Result<ExitStatus> show_baselines(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(StoreContents contents, read_store_contents(arguments));
  BENCH_ASSIGN_OR_RETURN(const std::vector<StoreEntry> cases,
                         select_named_cases(arguments, std::move(contents)));
  if (arguments.output == Output::json) {
    *env.out << show_json(cases);
  } else {
    for (const StoreEntry& entry : cases)
      *env.out << (&entry == &cases.front() ? "" : "\n")
               << format_baseline(entry, format_history_command(arguments), console_options(env));
  }
  for (const StoreEntry& entry : cases) warn_of_problems(entry.history.problems, arguments, env);
  return ExitStatus::success;
}

Result<ExitStatus> prune_baselines(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const StoreContents contents, read_store_contents(arguments));
  const Malformed malformed = arguments.force ? Malformed::drop : Malformed::refuse;
  std::vector<PrunedCase> cases;
  std::size_t dropped = 0;
  for (const StoreEntry& entry : contents.cases) {
    BENCH_ASSIGN_OR_RETURN(const Pruned pruned, contents.store.prune(entry.file, malformed));
    dropped += pruned.dropped;
    cases.push_back({entry.history.last()->measured.id, pruned});
  }
  if (arguments.output == Output::json) {
    *env.out << pruned_json(cases);
  } else {
    *env.out << fmt::format("{} of {} removed; {} of each epoch and every anchor remain\n",
                            pluralise(dropped, "run"), pluralise(cases.size(), "case"),
                            kRunsPerEpoch);
  }
  if (malformed == Malformed::refuse) warn_of_problems(contents.problems, arguments, env);
  return ExitStatus::success;
}

Result<ExitStatus> verify_baselines(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(StoreContents contents, read_store_contents(arguments));
  const std::vector<std::string> peak_problems = contents.store.peak_problems();
  contents.problems.insert(contents.problems.end(), peak_problems.begin(), peak_problems.end());
  const std::vector<std::string> proof_problems = contents.store.proof_problems();
  contents.problems.insert(contents.problems.end(), proof_problems.begin(), proof_problems.end());
  std::size_t runs = 0;
  for (const StoreEntry& entry : contents.cases) runs += entry.history.records.size();
  if (arguments.output == Output::json) {
    *env.out << printed_json(
        [&](JsonWriter& writer) { writer.required("problems", contents.problems); });
  } else {
    for (const std::string& problem : contents.problems)
      *env.out << format_console_lines(problem, env);
    *env.out << fmt::format("{}, {}, {}\n", pluralise(contents.cases.size(), "case"),
                            pluralise(runs, "run"), pluralise(contents.problems.size(), "problem"));
  }
  return contents.problems.empty() ? ExitStatus::success : ExitStatus::usage;
}

}  // namespace bench
