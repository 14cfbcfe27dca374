// SPDX-License-Identifier: Apache-2.0
// Histories in SQLite. ci/database_check.sh tests the same with PostgreSQL.
#include "harness/store/database.hpp"

#include "harness/store/database_schema.hpp"
#include "tests/fakes/baseline_records.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace bench {
namespace {

using test::baseline;
using testing::AllOf;
using testing::HasSubstr;

class DatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!BENCH_HAS_SOCI) GTEST_SKIP() << "this build has no SOCI";
  }
  DatabaseUrl url() const { return *DatabaseUrl::parse("sqlite:" + file()); }
  std::string file() const { return folder_.file("my history.db"); }
  Database open() const {
    auto database = Database::open(url(), Database::Missing::create);
    EXPECT_TRUE(database.ok()) << database.error().message();
    return *std::move(database);
  }
  // Executes SQL on the file, as another program.
  void execute(const std::string& statement) const {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(raw, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(raw) << ": " << statement;
    sqlite3_close(raw);
  }
  static BaselineRecord run(int number, std::int64_t epoch = 0) {
    return baseline(number, epoch, Nanoseconds(1000 + number));
  }
  static std::vector<std::string> runs_of(Database& database) {
    std::vector<std::string> runs;
    const auto list = database.list();
    EXPECT_TRUE(list.ok()) << list.error().message();
    for (const StoredSeries& series : *list) {
      const auto history = database.read(series);
      EXPECT_TRUE(history.ok()) << history.error().message();
      EXPECT_THAT(history->problems, testing::IsEmpty());
      EXPECT_EQ(history->records.size(), static_cast<std::size_t>(series.runs));
      for (const BaselineRecord& record : history->records)
        runs.push_back(fmt::format("{} {}", record.epoch, record.run_id));
    }
    return runs;
  }

  test::TemporaryFolder folder_;
};

TEST_F(DatabaseTest, RecordsComeBackAsTheyWereSaved) {
  const std::vector<BaselineRecord> records = {run(1), run(2), run(3, 1)};
  ASSERT_TRUE(open().save(records, KnownRun::update).ok());
  Database database = open();
  const auto list = database.list();
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 1u);
  EXPECT_EQ((*list)[0].id, test::kStoredCase);
  EXPECT_EQ((*list)[0].machine_class, test::kStoredMachine);
  EXPECT_EQ((*list)[0].runs, 3);
  EXPECT_EQ((*list)[0].first_time, test::time_of_day(1));
  EXPECT_EQ((*list)[0].last_time, test::time_of_day(3));
  EXPECT_EQ((*list)[0].last_median, Nanoseconds(1003));
  const auto history = database.read((*list)[0]);
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->records, records);
}

TEST_F(DatabaseTest, AKnownRunIsKeptOrUpdatedAndCountsOnce) {
  Database database = open();
  ASSERT_TRUE(database.save(std::vector{run(1), run(2)}, KnownRun::keep).ok());
  const auto again = database.save(std::vector{run(2), run(3)}, KnownRun::keep);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->added, 1u);
  EXPECT_EQ(again->known, 1u);
  // Someone accepted run 3 in the store in git, which opened an epoch there.
  ASSERT_TRUE(database.save(std::vector{run(3, 1)}, KnownRun::update).ok());
  EXPECT_THAT(runs_of(database), testing::ElementsAre("0 run-01", "0 run-02", "1 run-03"));
  // A result file that is saved later belongs to the current epoch.
  ASSERT_TRUE(database.save(std::vector{run(4)}, KnownRun::keep).ok());
  EXPECT_THAT(runs_of(database),
              testing::ElementsAre("0 run-01", "0 run-02", "1 run-03", "1 run-04"));
}

TEST_F(DatabaseTest, EveryEarlierVersionIsMigratedAndKeepsItsRecords) {
  for (std::int64_t version = 1; version < database_version(); ++version) {
    std::filesystem::remove(file());
    for (std::int64_t step = 1; step <= version; ++step) {
      for (const std::string& statement : migration(step, DatabaseKind::sqlite)) execute(statement);
    }
    execute(fmt::format("update bench_schema set version = {}", version));
    execute(
        fmt::format("insert into bench_series (series, machine_class, id, epoch) values (7, "
                    "'{}', '{}', 0)",
                    test::kStoredMachine, test::kStoredCase));
    for (const int number : {1, 2}) {
      execute(
          fmt::format("insert into bench_record (series, run_id, epoch, time, median_ns, line) "
                      "values (7, 'run-0{}', 0, '{}', 1000, '{}')",
                      number, test::time_of_day(number), to_json_line(run(number))));
    }
    Database database = open();
    EXPECT_THAT(runs_of(database), testing::ElementsAre("0 run-01", "0 run-02"));
    ASSERT_TRUE(database.save(std::vector{run(3)}, KnownRun::keep).ok());
    EXPECT_EQ(runs_of(database).size(), 3u);
  }
}

TEST_F(DatabaseTest, ANewerVersionIsRefused) {
  { Database database = open(); }
  execute("update bench_schema set version = 99");
  const auto newer = Database::open(url(), Database::Missing::create);
  ASSERT_FALSE(newer.ok());
  EXPECT_THAT(newer.error().message(), AllOf(HasSubstr("newer bench"), HasSubstr("99")));
}

TEST_F(DatabaseTest, ForeignFilesAreRefusedWithWhatToDo) {
  const auto message = [&] {
    const auto opened = Database::open(url(), Database::Missing::fail);
    return opened.ok() ? std::string("opened") : opened.error().message();
  };
  EXPECT_THAT(message(), AllOf(HasSubstr("there is no such file"), HasSubstr("--save RESULT")));
  EXPECT_FALSE(std::filesystem::exists(file()));
  folder_.write("my history.db", std::string(4096, 'x'));
  EXPECT_THAT(message(), AllOf(HasSubstr("not a database"), HasSubstr("--save")));
  std::filesystem::remove(file());
  execute("create table other (a)");
  EXPECT_THAT(message(), HasSubstr("contains no history of bench"));
}

// SQLite does not wait when it changes the journal of a file to which another program writes.
TEST_F(DatabaseTest, OpeningWaitsForAnotherProgramThatWritesToTheNewFile) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file().c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "begin immediate", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(sqlite3_exec(raw, "commit", nullptr, nullptr, nullptr), SQLITE_OK);
  });
  const auto opened = Database::open(url(), Database::Missing::create);
  writer.join();
  sqlite3_close(raw);
  EXPECT_TRUE(opened.ok()) << opened.error().message();
}

// Each writer has its own connection, as several processes have.
TEST_F(DatabaseTest, ConcurrentWritersLoseNothing) {
  constexpr int kWriters = 4, kRuns = 20;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      Database database = open();
      for (int i = 0; i < kRuns; ++i) {
        const auto saved = database.save(std::vector{run(1 + writer * kRuns + i)}, KnownRun::keep);
        EXPECT_TRUE(saved.ok()) << saved.error().message();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  Database database = open();
  EXPECT_EQ(runs_of(database).size(), static_cast<std::size_t>(kWriters * kRuns));
}

}  // namespace
}  // namespace bench
