// SPDX-License-Identifier: Apache-2.0
// `bench history --db URL --save` and `--list`.
#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/cli/baseline_actions.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/history_source.hpp"
#include "harness/report/short_id.hpp"
#include "harness/report/trend_text.hpp"
#include "harness/result/report.hpp"
#include "harness/store/database.hpp"
#include "harness/store/from_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <ostream>
#include <set>
#include <utility>

namespace bench {
namespace {

// One transaction: a writer must not keep others waiting for long.
constexpr std::size_t kMaxRecordsPerSave = 10'000;

// Collects the records of result files and stores, and saves them in parts.
class HistorySaver {
 public:
  HistorySaver(const Arguments& arguments, IdSelection selection, Database& database)
      : arguments_(arguments), selection_(std::move(selection)), database_(database) {}

  Status add(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored) ? add_store(path) : add_result(path);
  }

  const SavedRecords& saved() const { return saved_; }
  const std::vector<RefusedCase>& refused() const { return refused_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  std::size_t cases() const { return cases_.size(); }

 private:
  Status add_result(const std::string& path) {
    BENCH_ASSIGN_OR_RETURN(Report report, read_report(path));
    std::ranges::copy(report.warnings, std::back_inserter(warnings_));
    std::erase_if(report.cases, [&](const CaseRecord& entry) { return !selection_.has(entry.id); });
    ReportBaselines baselines =
        make_baselines(report, {arguments_.reason, arguments_.anchor, path}, {});
    std::ranges::move(baselines.refused, std::back_inserter(refused_));
    return save(baselines.records, KnownRun::keep);
  }

  Status add_store(const std::string& path) {
    BENCH_ASSIGN_OR_RETURN(const StoreSelection stored, open_baselines(path));
    std::vector<BaselineRecord> records;
    for (const StoreFile& file : stored.files) {
      BENCH_ASSIGN_OR_RETURN(BaselineHistory history, stored.store.read(file));
      std::ranges::move(history.problems, std::back_inserter(warnings_));
      std::erase_if(history.records, [&](const BaselineRecord& record) {
        return !selection_.has(record.measured.id);
      });
      std::ranges::move(history.records, std::back_inserter(records));
      if (records.size() < kMaxRecordsPerSave) continue;
      BENCH_RETURN_IF_ERROR(save(records, KnownRun::update));
      records.clear();
    }
    return save(records, KnownRun::update);
  }

  Status save(const std::vector<BaselineRecord>& records, KnownRun known) {
    BENCH_ASSIGN_OR_RETURN(const SavedRecords saved, database_.save(records, known));
    saved_.added += saved.added;
    saved_.known += saved.known;
    for (const BaselineRecord& record : records) cases_.insert(record.measured.id);
    return Done{};
  }

  const Arguments& arguments_;
  IdSelection selection_;
  Database& database_;
  SavedRecords saved_;
  std::vector<RefusedCase> refused_;
  std::vector<std::string> warnings_;
  std::set<std::string> cases_;
};

std::string format_saver_json(const HistorySaver& saver) {
  return printed_json([&](JsonWriter& writer) {
    writer.required("added", saver.saved().added);
    writer.required("known", saver.saved().known);
    writer.required_list("refused", saver.refused(), [](JsonWriter& row, const RefusedCase& entry) {
      row.required("id", entry.id);
      row.required("reason", entry.reason);
    });
  });
}

std::string format_saver(const HistorySaver& saver, const std::string& url,
                         const Arguments& arguments, const ConsoleOptions& console) {
  std::string text =
      wrap(fmt::format("{} of {} saved in {}; it had {} of them before, and {} refused.",
                       pluralise(saver.saved().added, "record", "records"),
                       pluralise(saver.cases(), "case", "cases"), url, saver.saved().known,
                       pluralise(saver.refused().size(), "case was", "cases were")),
           console.width, 0);
  if (!saver.refused().empty()) {
    std::vector<TextRow> rows;
    for (const RefusedCase& entry : saver.refused())
      rows.push_back({{{entry.id}, {"refused"}}, entry.reason});
    shorten_ids(rows);
    const std::vector<TextColumn> columns = {{"case", Align::left, kMinId}, {"result"}};
    text += '\n' + render_table(columns, rows, console.width, console.colour);
  }
  return text + format_next_command(
                    "what changed over the stored runs",
                    fmt::format("{} history --db {}", arguments.program, shell_quoted(url)));
}

std::string format_series_json(const std::vector<StoredSeries>& list) {
  return printed_json([&](JsonWriter& writer) {
    writer.required_list("series", list, [](JsonWriter& row, const StoredSeries& series) {
      row.required("id", series.id);
      row.required("machine_class", series.machine_class);
      row.required("runs", series.runs);
      row.required("first_run", series.first_time);
      row.required("last_run", series.last_time);
      row.required("last_ns", series.last_median);
    });
  });
}

std::string format_series(const std::vector<StoredSeries>& list, const std::string& url,
                          const Arguments& arguments, const ConsoleOptions& console) {
  std::map<std::string, std::vector<TextRow>> classes;
  std::int64_t runs = 0;
  std::string first = list.front().first_time, last;
  for (const StoredSeries& series : list) {
    runs += series.runs;
    first = std::min(first, series.first_time);
    last = std::max(last, series.last_time);
    classes[series.machine_class].push_back({{{series.id},
                                              {std::to_string(series.runs)},
                                              {series.first_time.substr(0, 10)},
                                              {series.last_time.substr(0, 10)},
                                              {format_time(series.last_median)}},
                                             ""});
  }
  std::string text = wrap(fmt::format("{} of {} on {} in {}, from {} to {}.",
                                      pluralise(static_cast<std::size_t>(runs), "run", "runs"),
                                      pluralise(list.size(), "series", "series"),
                                      pluralise(classes.size(), "machine class", "machine classes"),
                                      url, first.substr(0, 10), last.substr(0, 10)),
                          console.width, 0);
  const std::vector<TextColumn> columns = {{"case", Align::left, kMinId},
                                           {"runs", Align::right},
                                           {"first run", Align::right},
                                           {"last run", Align::right},
                                           {"last median", Align::right}};
  for (auto& [machine_class, rows] : classes) {
    shorten_ids(rows);
    text += fmt::format("\n{}\n{}", printable(machine_class),
                        render_table(columns, rows, console.width, console.colour));
  }
  return text + format_next_command("the changes of a case",
                                    fmt::format("{} history {} --db {}", arguments.program,
                                                shell_quoted(list.front().id), shell_quoted(url)));
}

}  // namespace

Result<ExitStatus> save_history(const Arguments& arguments, Env& env) {
  if (arguments.inputs.empty())
    return Error{"needs result files, or a folder of stored baselines", "--save",
                 "for example bench history --db sqlite:history.db --save r.jsonl"};
  BENCH_ASSIGN_OR_RETURN(IdSelection selection, IdSelection::compile(arguments.filters));
  BENCH_ASSIGN_OR_RETURN(const DatabaseUrl url, DatabaseUrl::parse(*arguments.history.database));
  BENCH_ASSIGN_OR_RETURN(Database database, Database::open(url, Database::Missing::create));
  HistorySaver saver(arguments, std::move(selection), database);
  for (const std::string& path : arguments.inputs) BENCH_RETURN_IF_ERROR(saver.add(path));
  if (arguments.verbosity == Verbosity::normal) {
    for (const std::string& warning : saver.warnings())
      print_line(*env.err, "bench history: " + warning);
  }
  *env.out << (arguments.output == Output::json
                   ? format_saver_json(saver)
                   : format_saver(saver, url.shown(), arguments, console_options(env)));
  if (saver.saved().added + saver.saved().known > 0) return ExitStatus::success;
  return Error{"none of the cases can be saved", arguments.inputs.front(),
               saver.refused().empty() ? "it contains none, or --filter excludes all"
                                       : "the table says why"};
}

Result<ExitStatus> list_history(const Arguments& arguments, Env& env) {
  if (!arguments.inputs.empty())
    return Error{"does not accept a case", "--list", "--filter GLOB chooses cases"};
  BENCH_ASSIGN_OR_RETURN(const IdSelection selection, IdSelection::compile(arguments.filters));
  BENCH_ASSIGN_OR_RETURN(const DatabaseUrl url, DatabaseUrl::parse(*arguments.history.database));
  BENCH_ASSIGN_OR_RETURN(Database database, Database::open(url, Database::Missing::fail));
  BENCH_ASSIGN_OR_RETURN(std::vector<StoredSeries> list, database.list());
  std::erase_if(list, [&](const StoredSeries& series) { return !selection.has(series.id); });
  const ConsoleOptions console = console_options(env);
  if (arguments.output == Output::json) {
    *env.out << format_series_json(list);
  } else if (list.empty()) {
    *env.out << wrap(fmt::format("No series of such a case in {}.", url.shown()), console.width, 0);
  } else {
    *env.out << format_series(list, url.shown(), arguments, console);
  }
  return ExitStatus::success;
}

}  // namespace bench
