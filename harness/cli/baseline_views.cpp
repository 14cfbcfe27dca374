// SPDX-License-Identifier: Apache-2.0
// `bench baseline list`, `show`, `prune` and `verify`: view and maintain the store.
#include "base/json_writer.hpp"
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

#include <cmath>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

namespace bench {
namespace {

// Minimum column width; a column that would be narrower is omitted.
constexpr std::size_t kMinText = 12;

// quantile of the differences between runs, as in the gate's screen
constexpr double kUsualPoint = 0.95;

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

struct StoreEntry {
  StoreFile file;
  BaselineHistory history;
};

// All files with a record that --filter selects, and the read errors of the other files.
struct Stored {
  BaselineStore store;
  std::vector<StoreEntry> cases;
  std::vector<std::string> problems;
};

Result<Stored> read_all(const Arguments& arguments) {
  BENCH_ASSIGN_OR_RETURN(const IdSelection selection, IdSelection::compile(arguments.filters));
  Stored stored{make_store(arguments), {}, {}};
  BENCH_ASSIGN_OR_RETURN(const std::vector<StoreFile> files, stored.store.list());
  if (auto foreign = stored.store.foreign_content()) return *std::move(foreign);
  for (const StoreFile& file : files) {
    auto history = stored.store.read(file);
    if (!history.ok()) {
      stored.problems.push_back(history.error().message());
      continue;
    }
    stored.problems.insert(stored.problems.end(), history->problems.begin(),
                           history->problems.end());
    const bool shown = history->last() != nullptr && selection.has(history->last()->measured.id);
    if (shown) stored.cases.push_back({file, *std::move(history)});
  }
  return stored;
}

void warn(const std::vector<std::string>& problems, const Arguments& arguments, Env& env) {
  if (arguments.verbosity != Verbosity::normal) return;
  for (const std::string& problem : problems) print_line(*env.err, "bench baseline: " + problem);
}

std::optional<Nanoseconds> median_time(const BaselineRecord& record) {
  const auto median = median_iteration(record.measured);
  if (!median) return std::nullopt;
  return Nanoseconds(std::llround(*median));
}

std::string format_record_time(const BaselineRecord& record) {
  return format_or_unknown(median_time(record), format_time);
}

std::string format_fraction(const std::optional<double>& share) {
  return format_or_unknown(share, [](double value) { return fmt::format("{:.2f}%", 100 * value); });
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

std::optional<double> compute_spread(const BaselineHistory& history) {
  return between_run_sigma(median_differences(run_statistics(history.records)));
}

TextRow list_row(const BaselineHistory& history, const IdShortener& shortener) {
  const BaselineRecord& last = *history.last();
  return {{{last.measured.id, Tone::plain, shortener.forms(last.measured.id)},
           {std::to_string(history.records.size())},
           {std::to_string(count_epochs(history))},
           {last.time},
           {last.commit},
           {format_record_time(last)},
           {format_fraction(compute_spread(history))},
           {fmt::format("{}", fmt::join(list_anchors(history), " "))}},
          ""};
}

std::string format_baseline_list(const Stored& stored, const ConsoleOptions& console) {
  const std::vector<TextColumn> columns = {{"case", Align::left, kMinId},
                                           {"runs", Align::right, std::nullopt, 3},
                                           {"epochs", Align::right, std::nullopt, 4},
                                           {"last run", Align::left, std::nullopt, 2},
                                           {"commit", Align::left, std::nullopt, 5},
                                           {"median", Align::right},
                                           {"spread", Align::right, std::nullopt, 1},
                                           {"anchors", Align::left, kMinText, 2}};
  std::string text;
  for (std::size_t i = 0; i < stored.cases.size();) {
    const std::string& machine = stored.cases[i].file.folder_name;
    const std::size_t first = i;
    std::vector<std::string_view> ids;
    for (; i < stored.cases.size() && stored.cases[i].file.folder_name == machine; ++i)
      ids.push_back(stored.cases[i].history.last()->measured.id);
    const IdShortener shortener(ids);
    std::vector<TextRow> rows;
    for (std::size_t entry = first; entry < i; ++entry)
      rows.push_back(list_row(stored.cases[entry].history, shortener));
    text += fmt::format("{}{}/{}\n", text.empty() ? "" : "\n", printable(stored.store.folder()),
                        printable(machine)) +
            render_table(columns, rows, console.width, console.colour);
  }
  return text.empty() ? "no baselines\n" : text;
}

std::string list_json(const Stored& stored) {
  return printed_json([&](JsonWriter& writer) {
    writer.required_list("cases", stored.cases, [](JsonWriter& row, const StoreEntry& entry) {
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

TextRow run_row(const BaselineRecord& record, const BaselineRecord* before) {
  const auto median = median_iteration(record.measured);
  const auto earlier = before != nullptr ? median_iteration(before->measured) : std::nullopt;
  const std::string change =
      median && earlier ? fmt::format("{:+.2f}%", 100 * (*median / *earlier - 1)) : "";
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

// Describes how much the runs differ, and which implementation ran last.
std::string history_facts(const BaselineHistory& history, const ConsoleOptions& console) {
  const std::vector<RunStatistics> levels = run_statistics(history.records);
  const std::vector<double> medians = median_differences(levels);
  std::vector<TextRow> rows;
  const auto add = [&](const std::string& name, std::string value) {
    rows.push_back({{{name}, {std::move(value)}}, ""});
  };
  add("spread between runs", fmt::format("{}, from {}", format_fraction(between_run_sigma(medians)),
                                         plural(medians.size(), "difference")));
  add("95% of differences below",
      format_fraction(difference_quantile(q25_differences(levels), kUsualPoint)));
  add("spread between processes", format_fraction(between_process_sigma(history.records)));
  const BaselineRecord& last = *history.last();
  const ExactProperties& exact = last.measured.exact;
  if (!exact.implementation.empty()) add("implementation", exact.implementation);
  for (const auto& [name, value] : facts_as_texts(exact)) add(name, value);
  for (const auto& [name, version] : library_facts(last.environment.libraries)) add(name, version);
  if (last.profile) {
    add("profile", fmt::format("{} executed in {}, {} left out",
                               plural(last.profile->activities.size(), "step"),
                               format_time(last.profile->duration), last.profile->left_out));
  }
  return render_table({{"fact"}, {"value", Align::left, kMinText}}, rows, console.width,
                      console.colour);
}

std::string format_baseline(const StoreEntry& entry, const ConsoleOptions& console) {
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
  const BaselineRecord* before = nullptr;
  for (const BaselineRecord& record : entry.history.records) {
    rows.push_back(run_row(record, before));
    before = &record;
  }
  return fmt::format("{}\n{}\n", printable(entry.history.last()->measured.id),
                     printable(entry.history.path)) +
         render_table(columns, rows, console.width, console.colour) + '\n' +
         history_facts(entry.history, console);
}

std::string show_json(const std::vector<StoreEntry>& cases) {
  std::vector<std::string> runs;
  for (const StoreEntry& entry : cases) {
    for (const BaselineRecord& record : entry.history.records) runs.push_back(to_json_line(record));
  }
  return fmt::format("{{\"runs\": [\n{}\n]}}\n", fmt::join(runs, ",\n"));
}

struct PrunedCase {
  std::string id;
  Pruned pruned;
};

std::string pruned_json(const std::vector<PrunedCase>& cases) {
  return printed_json([&](JsonWriter& writer) {
    writer.required_list("cases", cases, [](JsonWriter& row, const PrunedCase& entry) {
      row.required("id", entry.id);
      row.required("path", entry.pruned.path);
      row.required("kept", entry.pruned.kept);
      row.required("dropped", entry.pruned.dropped);
    });
  });
}

// Returns the named cases, in the order of the arguments, on every machine class.
Result<std::vector<StoreEntry>> named_cases(const Arguments& arguments, Stored stored) {
  std::vector<StoreEntry> named;
  for (const std::string& id : arguments.inputs) {
    const std::size_t before = named.size();
    for (StoreEntry& entry : stored.cases) {
      if (entry.history.last() != nullptr && entry.history.last()->measured.id == id)
        named.push_back(std::exchange(entry, {}));
    }
    if (named.size() == before)
      return Error{fmt::format("{} contains no run of this case", stored.store.folder()), id,
                   "`bench baseline list` names the cases"};
  }
  return named;
}

}  // namespace

Result<ExitStatus> list_baselines(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const Stored stored, read_all(arguments));
  *env.out << (arguments.output == Output::json
                   ? list_json(stored)
                   : format_baseline_list(stored, console_options(env)));
  warn(stored.problems, arguments, env);
  return ExitStatus::success;
}

Result<ExitStatus> show_baselines(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(Stored stored, read_all(arguments));
  BENCH_ASSIGN_OR_RETURN(const std::vector<StoreEntry> cases,
                         named_cases(arguments, std::move(stored)));
  if (arguments.output == Output::json) {
    *env.out << show_json(cases);
  } else {
    for (const StoreEntry& entry : cases)
      *env.out << (&entry == &cases.front() ? "" : "\n")
               << format_baseline(entry, console_options(env));
  }
  for (const StoreEntry& entry : cases) warn(entry.history.problems, arguments, env);
  return ExitStatus::success;
}

Result<ExitStatus> prune_baselines(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(const Stored stored, read_all(arguments));
  const Malformed malformed = arguments.force ? Malformed::drop : Malformed::refuse;
  std::vector<PrunedCase> cases;
  std::size_t dropped = 0;
  for (const StoreEntry& entry : stored.cases) {
    BENCH_ASSIGN_OR_RETURN(const Pruned pruned, stored.store.prune(entry.file, malformed));
    dropped += pruned.dropped;
    cases.push_back({entry.history.last()->measured.id, pruned});
  }
  if (arguments.output == Output::json) {
    *env.out << pruned_json(cases);
  } else {
    *env.out << fmt::format("{} of {} removed; {} of each epoch and every anchor remain\n",
                            plural(dropped, "run"), plural(cases.size(), "case"), kRunsPerEpoch);
  }
  if (malformed == Malformed::refuse) warn(stored.problems, arguments, env);
  return ExitStatus::success;
}

Result<ExitStatus> verify_baselines(const Arguments& arguments, Env& env) {
  BENCH_ASSIGN_OR_RETURN(Stored stored, read_all(arguments));
  const std::vector<std::string> peaks = stored.store.peak_problems();
  stored.problems.insert(stored.problems.end(), peaks.begin(), peaks.end());
  std::size_t runs = 0;
  for (const StoreEntry& entry : stored.cases) runs += entry.history.records.size();
  if (arguments.output == Output::json) {
    *env.out << printed_json(
        [&](JsonWriter& writer) { writer.required("problems", stored.problems); });
  } else {
    for (const std::string& problem : stored.problems) print_line(*env.out, problem);
    *env.out << fmt::format("{}, {}, {}\n", plural(stored.cases.size(), "case"),
                            plural(runs, "run"), plural(stored.problems.size(), "problem"));
  }
  return stored.problems.empty() ? ExitStatus::success : ExitStatus::usage;
}

}  // namespace bench
