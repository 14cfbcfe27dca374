// SPDX-License-Identifier: Apache-2.0
// The only source that knows SOCI. Its exceptions end here. SOCI loads the library of the kind of
// database when a session opens, so other commands do not load it.
#include "harness/store/database.hpp"

#include "base/quote.hpp"
#include "harness/result/measured.hpp"
#include "harness/store/database_schema.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>
#include <soci/soci-config.h>
// Debian's SOCI was built with Boost, but its package does not need it, and neither do we.
#undef SOCI_HAVE_BOOST
#undef SOCI_HAVE_BOOST_DATE_TIME
#include <soci/soci.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>

namespace bench {
namespace {

// How long a program waits for the others; a save of 10,000 records takes about a second.
constexpr std::chrono::seconds kBusy(60);
// Identifies the lock that PostgreSQL gives to one writer of a history at a time ("bench").
constexpr std::string_view kWriterLock = "422843470696";

std::string_view library_package(DatabaseKind kind) {
  return kind == DatabaseKind::sqlite ? "libsoci-sqlite3-4.0" : "libsoci-postgresql4.0";
}

std::string backend_name(DatabaseKind kind) {
  return kind == DatabaseKind::sqlite ? "sqlite3" : "postgresql";
}

// Returns what SOCI connects to. Its parameters of SQLite are quoted, so that a path may have
// spaces.
std::string connection_text(const DatabaseUrl& url) {
  if (url.kind() == DatabaseKind::postgresql) return url.target();
  return fmt::format("dbname=\"{}\" timeout={}", url.target(), kBusy.count());
}

// What the user can do about an error, found by a part of its text: neither SOCI nor the libraries
// below it classify them better.
struct Advice {
  std::string_view part, next;
};
constexpr std::array kAdvice = {
    Advice{"not a database", "name a file that `bench history --db sqlite:FILE --save` created"},
    Advice{"readonly", "check the permissions of the file and of its folder"},
    Advice{"unable to open", "check the path and the permissions of the folder"},
    Advice{"disk is full", "free some space"},
    Advice{"locked", "another program writes to it; try again later"},
    Advice{"password",
           "state a user with access: postgresql://USER:PASSWORD@HOST/DATABASE, or "
           "put the password into ~/.pgpass"},
    Advice{"role \"", "name an existing user: postgresql://USER@HOST/DATABASE"},
    Advice{"database \"", "create it with `createdb`, or name another one"},
    Advice{"permission denied", "ask the owner of the database for the right to read and write"},
    Advice{"connection to server",
           "check that the server runs and that the host and port are "
           "right"},
    Advice{"invalid", "expected postgresql://USER@HOST:PORT/DATABASE"},
};

std::string first_line(std::string_view text) {
  const std::size_t end =
      text.find('\n', text.starts_with("Cannot establish") ? text.find('\n') + 1 : 0);
  std::string line(text.substr(0, end));
  std::ranges::replace(line, '\n', ' ');
  // SOCI puts the name of its function in front: "sqlite3_statement_backend::prepare: ".
  constexpr std::string_view kFunction = "_backend::";
  if (const std::size_t function = line.find(kFunction); function != std::string::npos) {
    if (const std::size_t message = line.find(": ", function); message != std::string::npos)
      line.erase(0, message + 2);
  }
  return line;
}

Error database_error(const soci::soci_error& error, const DatabaseUrl& url) {
  const std::string what = url.redact(error.get_error_message());
  if (what.find("Failed to find shared library") != std::string::npos ||
      what.find("Failed to open") != std::string::npos)
    return {
        fmt::format("SOCI's library for {} is not installed", to_string(url.kind())), url.shown(),
        fmt::format("install it (Debian: sudo apt-get install {})", library_package(url.kind()))};
  for (const Advice& advice : kAdvice) {
    if (what.find(advice.part) != std::string::npos)
      return {first_line(what), url.shown(), std::string(advice.next)};
  }
  return {first_line(what), url.shown(), "check the address and the state of the database"};
}

}  // namespace

class Database::Connection {
 public:
  explicit Connection(const DatabaseUrl& address)
      : url(address), sql(backend_name(address.kind()), connection_text(address)) {
    if (url.kind() != DatabaseKind::sqlite) return;
    // A record has about 3 KB: pages of 4 KB, the default, would be half empty.
    run("pragma page_size = 16384");
    // Readers do not wait for the writer. A file system without shared memory keeps its journal.
    run_when_free("pragma journal_mode = wal");
  }

  void run(const std::string& statement) { sql << statement; }

  // Repeats a statement for which SQLite does not wait while another program writes to the file:
  // the change of the journal fails at once, for it could wait for a program that waits for it.
  void run_when_free(const std::string& statement) {
    const auto deadline = std::chrono::steady_clock::now() + kBusy;
    for (;;) {
      try {
        return run(statement);
      } catch (const soci::soci_error& error) {
        const bool locked = error.get_error_message().find("locked") != std::string::npos;
        if (!locked || std::chrono::steady_clock::now() >= deadline) throw;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  // Calls `work` in a transaction that only one writer executes at a time.
  template <class Work>
  auto write(Work work) {
    if (url.kind() == DatabaseKind::sqlite) {
      run("begin immediate");
    } else {
      run("begin");
      run(fmt::format("select pg_advisory_xact_lock({})", kWriterLock));
    }
    try {
      auto result = work();
      run("commit");
      return result;
    } catch (...) {
      try {
        run("rollback");
      } catch (const soci::soci_error&) {
        // The connection is lost, which ends the transaction too.
      }
      throw;
    }
  }

  // Returns the version of the schema; 0 if the database has no history.
  std::int64_t version() {
    std::int64_t tables = 0;
    sql << (url.kind() == DatabaseKind::sqlite
                ? "select count(*) from sqlite_master where type = 'table' and name = "
                  "'bench_schema'"
                : "select count(*) from pg_class where oid = to_regclass('bench_schema')"),
        soci::into(tables);
    if (tables == 0) return 0;
    std::int64_t version = 0;
    sql << "select max(version) from bench_schema", soci::into(version);
    return version;
  }

  // Returns the version that it leads to.
  std::int64_t migrate() {
    // Another writer may have migrated before this one had the lock.
    for (std::int64_t next = version() + 1; next <= database_version(); ++next) {
      for (const std::string& statement : migration(next, url.kind())) run(statement);
      sql << "update bench_schema set version = :version", soci::use(next);
    }
    return database_version();
  }

  const DatabaseUrl url;
  soci::session sql;
};

namespace {

// A series while records are added to it.
struct OpenSeries {
  std::int64_t number = 0, epoch = 0;
};

// Adds records within one transaction.
class RecordWriter {
 public:
  RecordWriter(soci::session& sql, KnownRun known)
      : sql_(sql),
        known_(known),
        insert_((sql.prepare << insert_text(known), soci::use(series_), soci::use(run_id_),
                 soci::use(epoch_), soci::use(time_), soci::use(median_), soci::use(line_))) {
    sql_ << "select coalesce(max(number), 0) from bench_record", soci::into(last_);
    // Not a soci::row, whose types differ between databases.
    std::string machine_class, id;
    OpenSeries series;
    soci::statement rows =
        (sql_.prepare << "select series, machine_class, id, epoch from bench_series",
         soci::into(series.number), soci::into(machine_class), soci::into(id),
         soci::into(series.epoch));
    for (bool is_row = rows.execute(true); is_row; is_row = rows.fetch())
      open_[{machine_class, id}] = series;
  }

  void add(BaselineRecord record) {
    OpenSeries& series = find_series(record);
    if (known_ == KnownRun::keep) record.epoch = series.epoch;
    if (record.epoch > series.epoch) {
      sql_ << "update bench_series set epoch = :epoch where series = :series",
          soci::use(record.epoch), soci::use(series.number);
      series.epoch = record.epoch;
    }
    series_ = series.number;
    run_id_ = record.run_id;
    epoch_ = record.epoch;
    time_ = record.time;
    median_ = median_iteration(record.measured).value_or(0);
    line_ = to_json_line(record);
    insert_.execute(true);
  }

  // Updates the counts of the series. Returns the number of records that were added.
  std::size_t finish() {
    sql_ << "update bench_series set runs = bench_series.runs + added.runs, first_number = "
            "coalesce(bench_series.first_number, added.first_number), last_number = "
            "added.last_number from (select series, count(*) as runs, min(number) as "
            "first_number, max(number) as last_number from bench_record where number > :last "
            "group by series) as added where bench_series.series = added.series",
        soci::use(last_);
    long long added = 0;
    sql_ << "select count(*) from bench_record where number > :last", soci::use(last_),
        soci::into(added);
    return static_cast<std::size_t>(added);
  }

 private:
  static std::string insert_text(KnownRun known) {
    return fmt::format(
        "insert into bench_record (series, run_id, epoch, time, median_ns, line) values (:series, "
        ":run_id, :epoch, :time, :median, :line) on conflict (series, run_id) do {}",
        known == KnownRun::keep
            ? "nothing"
            : "update set epoch = excluded.epoch, time = excluded.time, median_ns = "
              "excluded.median_ns, line = excluded.line where bench_record.line <> excluded.line");
  }

  OpenSeries& find_series(const BaselineRecord& record) {
    const std::string& machine_class = record.environment.machine_class;
    const std::string& id = record.measured.id;
    const auto [entry, is_new] = open_.try_emplace({machine_class, id});
    if (!is_new) return entry->second;
    sql_ << "insert into bench_series (machine_class, id, epoch) values (:class, :id, 0)",
        soci::use(machine_class), soci::use(id);
    sql_ << "select series from bench_series where machine_class = :class and id = :id",
        soci::use(machine_class), soci::use(id), soci::into(entry->second.number);
    return entry->second;
  }

  soci::session& sql_;
  KnownRun known_;
  std::map<std::pair<std::string, std::string>, OpenSeries> open_;  // by machine class and id
  long long last_ = 0;  // number of the last record before
  // The values of insert_
  long long series_ = 0, epoch_ = 0;
  double median_ = 0;
  std::string run_id_, time_, line_;
  soci::statement insert_;
};

Status check_file(const DatabaseUrl& url, Database::Missing missing) {
  if (url.kind() != DatabaseKind::sqlite) return Done{};
  if (url.target().find('"') != std::string::npos)
    return Error{"the name of the file must not contain a quotation mark", url.shown(),
                 "rename the file"};
  std::error_code code;
  if (std::filesystem::is_directory(url.target(), code))
    return Error{"is a folder, not a file", url.shown(), "name a file in it"};
  if (missing == Database::Missing::create || std::filesystem::exists(url.target(), code))
    return Done{};
  return Error{"there is no such file", url.shown(),
               fmt::format("create a history with `bench history --db {} --save RESULT...`",
                           shell_quoted(url.shown()))};
}

}  // namespace

Database::Database(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Database::Database(Database&& other) noexcept = default;
Database& Database::operator=(Database&& other) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const DatabaseUrl& url, Missing missing) {
  BENCH_RETURN_IF_ERROR(check_file(url, missing));
  try {
    auto connection = std::make_unique<Connection>(url);
    const std::int64_t version = connection->version();
    if (version > database_version())
      return Error{fmt::format("was written by a newer bench: its schema has version {}, and this "
                               "program reads up to {}",
                               version, database_version()),
                   url.shown(), "use a newer bench"};
    if (version == 0 && missing == Missing::fail)
      return Error{"contains no history of bench", url.shown(),
                   fmt::format("store runs with `bench history --db {} --save RESULT...`",
                               shell_quoted(url.shown()))};
    if (version < database_version()) connection->write([&] { return connection->migrate(); });
    return Database(std::move(connection));
  } catch (const soci::soci_error& error) {
    return database_error(error, url);
  }
}

Result<std::vector<StoredSeries>> Database::list() {
  try {
    std::vector<StoredSeries> list;
    StoredSeries series;
    double median = 0;
    soci::statement rows =
        (connection_->sql.prepare
             << "select s.series, s.machine_class, s.id, s.runs, f.time, l.time, l.median_ns from "
                "bench_series s join bench_record f on f.number = s.first_number join "
                "bench_record l on l.number = s.last_number order by s.machine_class, s.id",
         soci::into(series.number), soci::into(series.machine_class), soci::into(series.id),
         soci::into(series.runs), soci::into(series.first_time), soci::into(series.last_time),
         soci::into(median));
    for (bool is_row = rows.execute(true); is_row; is_row = rows.fetch()) {
      series.last_median = Nanoseconds(std::llround(median));
      list.push_back(series);
    }
    return list;
  } catch (const soci::soci_error& error) {
    return database_error(error, connection_->url);
  }
}

Result<BaselineHistory> Database::read(const StoredSeries& series) {
  try {
    std::string text;
    soci::rowset<std::string> lines =
        (connection_->sql.prepare
             << "select line from bench_record where series = :series order by number",
         soci::use(series.number));
    for (const std::string& line : lines) text += line + '\n';
    return parse_baseline_file(
        text, fmt::format("{}: {}/{}", connection_->url.shown(), series.machine_class, series.id),
        BaselineStore::case_file(series.machine_class, series.id));
  } catch (const soci::soci_error& error) {
    return database_error(error, connection_->url);
  }
}

Result<SavedRecords> Database::save(std::span<const BaselineRecord> records, KnownRun known) {
  try {
    return connection_->write([&] {
      RecordWriter writer(connection_->sql, known);
      for (const BaselineRecord& record : records) writer.add(record);
      const std::size_t added = writer.finish();
      return SavedRecords{added, records.size() - added};
    });
  } catch (const soci::soci_error& error) {
    return database_error(error, connection_->url);
  }
}

}  // namespace bench
