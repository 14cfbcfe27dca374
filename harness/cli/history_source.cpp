// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/history_source.hpp"

#include "base/quote.hpp"
#include "harness/cli/baseline_actions.hpp"
#include "harness/store/database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace bench {
namespace {

// More runs than this take minutes to judge, and each takes some kilobytes of memory.
constexpr std::int64_t kMaxJudgedRuns = 50'000;

class StoreSource : public HistorySource {
 public:
  explicit StoreSource(const Arguments& arguments)
      : folder_(make_store(arguments).folder()), option_(format_store_option(arguments)) {}

  Result<SourceHistories> read() override {
    const BaselineStore store(folder_);
    if (const auto files = store.list(); !files.ok()) return files.error();
    BENCH_ASSIGN_OR_RETURN(const StoreSelection selection, open_baselines(folder_));
    SourceHistories found;
    for (const StoreFile& file : selection.files) {
      auto history = selection.store.read(file);
      if (!history.ok()) {
        found.problems.push_back(history.error().message());
        continue;
      }
      std::ranges::copy(history->problems, std::back_inserter(found.problems));
      found.classes[file.folder_name].push_back(*std::move(history));
    }
    return found;
  }
  std::string name() const override { return folder_; }
  std::string list_command() const override { return "baseline list"; }
  std::string show_command() const override { return "baseline show"; }
  std::string save_command() const override { return "bench baseline save"; }
  std::string option() const override { return option_; }

 private:
  std::string folder_, option_;
};

class DatabaseSource : public HistorySource {
 public:
  DatabaseSource(const Arguments& arguments, IdSelection selection, const DatabaseUrl& url,
                 Database database)
      : cases_(arguments.inputs),
        selection_(std::move(selection)),
        url_(url.shown()),
        database_(std::move(database)) {}

  Result<SourceHistories> read() override {
    BENCH_ASSIGN_OR_RETURN(std::vector<StoredSeries> list, database_.list());
    BENCH_RETURN_IF_ERROR(check_cases(list));
    std::erase_if(list, [&](const StoredSeries& series) { return !is_selected(series); });
    std::int64_t runs = 0;
    for (const StoredSeries& series : list) runs += series.runs;
    if (runs > kMaxJudgedRuns)
      return Error{fmt::format("{} series with {} runs are too many to judge at once; the limit is "
                               "{} runs",
                               list.size(), runs, kMaxJudgedRuns),
                   url_, "choose some with --filter or CASE; --list lists all series"};
    SourceHistories found;
    for (const StoredSeries& series : list) {
      BENCH_ASSIGN_OR_RETURN(BaselineHistory history, database_.read(series));
      std::ranges::copy(history.problems, std::back_inserter(found.problems));
      found.classes[series.machine_class].push_back(std::move(history));
    }
    return found;
  }
  std::string name() const override { return url_; }
  std::string list_command() const override { return "history --list"; }
  std::string show_command() const override { return "history --json"; }
  std::string save_command() const override { return "bench history" + option() + " --save"; }
  std::string option() const override { return " --db " + shell_quoted(url_); }

 private:
  Status check_cases(const std::vector<StoredSeries>& list) const {
    std::vector<std::string_view> ids;
    for (const StoredSeries& series : list) ids.push_back(series.id);
    for (const std::string& id : cases_) {
      if (std::ranges::find(ids, id) == ids.end())
        return unknown_stored_case(ids, id, url_, "bench history --list" + option());
    }
    return Done{};
  }
  bool is_selected(const StoredSeries& series) const {
    const bool is_named = cases_.empty() || std::ranges::find(cases_, series.id) != cases_.end();
    return is_named && selection_.has(series.id);
  }

  std::vector<std::string> cases_;
  IdSelection selection_;
  std::string url_;
  Database database_;
};

}  // namespace

Result<std::unique_ptr<HistorySource>> HistorySource::open(const Arguments& arguments) {
  if (!arguments.history.database)
    return std::unique_ptr<HistorySource>(std::make_unique<StoreSource>(arguments));
  BENCH_ASSIGN_OR_RETURN(IdSelection selection, IdSelection::compile(arguments.filters));
  BENCH_ASSIGN_OR_RETURN(const DatabaseUrl url, DatabaseUrl::parse(*arguments.history.database));
  BENCH_ASSIGN_OR_RETURN(Database database, Database::open(url, Database::Missing::fail));
  return std::unique_ptr<HistorySource>(
      std::make_unique<DatabaseSource>(arguments, std::move(selection), url, std::move(database)));
}

}  // namespace bench
