// SPDX-License-Identifier: Apache-2.0
// Hostile and malformed databases.
#include "profiler/readers/sqlite_file.hpp"

#include "tests/fakes/sqlite_profile.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>

#include <array>

namespace bench {
namespace {

using test::kNsysSchema;
using test::read_sqlite;
using test::read_sqlite_bytes;
using test::sqlite_database;
using test::SqliteProfile;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(SqliteFile, AViewInThePlaceOfATableIsRefused) {
  const SqliteProfile profile = read_sqlite(
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "CREATE TABLE t (start INTEGER);"
      "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT start, start AS end, 0 AS deviceId, 0 AS "
      "streamId FROM t;");
  EXPECT_THAT(profile.error,
              AllOf(HasSubstr("table CUPTI_ACTIVITY_KIND_KERNEL: is a view or a virtual table"),
                    HasSubstr("name a file that nsys or nvprof wrote")));
}

TEST(SqliteFile, AVirtualTableIsRefused) {
  const SqliteProfile profile = read_sqlite(
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "CREATE VIRTUAL TABLE NVTX_EVENTS USING fts3(start, end, eventType, globalTid);");
  EXPECT_THAT(profile.error, HasSubstr("is a view or a virtual table"));
}

// A value that an expression computes would run the expression.
TEST(SqliteFile, AColumnThatCallsAFunctionIsNotComputed) {
  const SqliteProfile profile = read_sqlite(
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT AS (printf('%.9999c', 'x')));"
      "INSERT INTO StringIds (id) VALUES (1);");
  EXPECT_THAT(profile.error, HasSubstr("table StringIds: column `value` is missing"));
}

TEST(SqliteFile, ATriggerIsHarmless) {
  const SqliteProfile profile =
      read_sqlite(std::string(kNsysSchema) +
                  "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END;");
  EXPECT_EQ(profile.error, "");
}

TEST(SqliteFile, AnotherDatabaseIsNamedAsSuch) {
  const SqliteProfile profile = read_sqlite("CREATE TABLE moz_places (id INTEGER PRIMARY KEY);");
  EXPECT_THAT(profile.error, AllOf(HasSubstr("without the tables of Nsight Systems or nvprof"),
                                   HasSubstr("nsys export --type sqlite")));
}

TEST(SqliteFile, ATruncatedFileIsNamedAsSuch) {
  std::string rows = kNsysSchema;
  for (int i = 0; i < 2000; ++i)
    rows += "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 3, 'some text of a range');";
  const std::string whole = sqlite_database(rows);
  for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{4096}}) {
    const SqliteProfile profile = read_sqlite_bytes(whole.substr(0, size));
    EXPECT_THAT(profile.error,
                AllOf(StartsWith("p.sqlite: is truncated: "), HasSubstr("export it again")))
        << size;
  }
  EXPECT_THAT(read_sqlite_bytes(whole.substr(0, 50)).error,
              HasSubstr("is shorter than the header"));
}

TEST(SqliteFile, DamagedPagesGiveAnErrorOrNotesAndNeverMore) {
  std::string rows = kNsysSchema;
  for (int i = 0; i < 500; ++i)
    rows += "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 3, 'some text of a range');";
  const std::string whole = sqlite_database(rows);
  for (std::size_t at = 100; at < whole.size(); at += 997) {
    std::string malformed = whole;
    for (std::size_t i = at; i < std::min(at + 16, malformed.size()); ++i) malformed[i] ^= '\x5a';
    const SqliteProfile profile = read_sqlite_bytes(malformed);
    EXPECT_LE(profile.report.activities, 600) << at;
  }
}

TEST(SqliteFile, AFileIsReadWithItsOwnNameAlsoIfThatHasCharactersOfUris) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("a?b#c%20.sqlite", sqlite_database(kNsysSchema));
  const auto source = open_text(path);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->file(), path);
  const auto file = SqliteFile::open(**source);
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_TRUE(file->contains("NVTX_EVENTS"));
  EXPECT_TRUE(file->has_column("NVTX_EVENTS", "eventType"));
  EXPECT_FALSE(file->has_column("NVTX_EVENTS", "textId"));
}

TEST(SqliteFile, ValuesOfAnotherTypeAreAbsent) {
  const auto source = text_source_for_test(
      "p.sqlite", sqlite_database("CREATE TABLE t (a, b); INSERT INTO t VALUES ('x', 3.5), (7, "
                                  "x'00ff'), (NULL, 'text');"));
  const auto file = SqliteFile::open(*source);
  ASSERT_TRUE(file.ok()) << file.error().message();
  const std::array<SqliteColumn, 3> columns = {{{"a"}, {"b"}, {"c", SqliteColumn::Need::optional}}};
  auto rows = file->rows("t", columns);
  ASSERT_TRUE(rows.ok());
  ASSERT_TRUE(*rows->next());
  EXPECT_EQ(rows->integer(0), std::nullopt);
  EXPECT_EQ(rows->text(0), "x");
  EXPECT_EQ(rows->integer(1), std::nullopt);
  EXPECT_TRUE(rows->is_null(2));
  ASSERT_TRUE(*rows->next());
  EXPECT_EQ(rows->integer(0), 7);
  EXPECT_EQ(rows->bytes(1).size(), 2u);
  ASSERT_TRUE(*rows->next());
  EXPECT_TRUE(rows->is_null(0));
  EXPECT_EQ(rows->number(), 3);
  EXPECT_FALSE(*rows->next());
}

// Returns the notes of the reader, or its error, on a database with such a file beside it.
std::string read_beside(const std::string& suffix, const std::string& content,
                        const std::string& statements) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("p.sqlite", sqlite_database(statements));
  folder.write("p.sqlite" + suffix, content);
  const auto source = open_text(path);
  EXPECT_TRUE(source.ok());
  SqliteProfile profile;
  const auto report = read_activities(**source, profile);
  if (!report.ok()) return report.error().message();
  return report->notes.empty() ? "" : report->notes.front();
}

TEST(SqliteFile, NewerDataInALogBesideItIsStated) {
  const std::string log = "\x37\x7f\x06\x82" + std::string(96, 'x');
  EXPECT_THAT(read_beside("-wal", log, kNsysSchema),
              AllOf(HasSubstr("p.sqlite-wal beside it contains newer data, which is not read"),
                    HasSubstr("PRAGMA wal_checkpoint(TRUNCATE)")));
  EXPECT_THAT(read_beside("-wal", log, "CREATE TABLE other (id INTEGER);"),
              AllOf(HasSubstr("without the tables"), HasSubstr("p.sqlite-wal beside it contains")));
  EXPECT_THAT(read_beside("-journal", "\xd9\xd5\x05\xf9" + std::string(96, 'x'), kNsysSchema),
              HasSubstr("p.sqlite-journal beside it shows that a change of the file did not end"));
}

TEST(SqliteFile, AnEmptyLogBesideItContainsNothing) {
  EXPECT_EQ(read_beside("-wal", "", kNsysSchema), "");
  EXPECT_EQ(read_beside("-wal", std::string(32, 'x'), kNsysSchema), "");
  EXPECT_EQ(read_beside("-journal", std::string(512, '\0'), kNsysSchema), "");
  EXPECT_EQ(read_beside("-other", std::string(512, 'x'), kNsysSchema), "");
}

}  // namespace
}  // namespace bench
