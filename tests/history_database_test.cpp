// SPDX-License-Identifier: Apache-2.0
// `bench history --db` on histories in SQLite, as a user calls it.
#include "harness/store/record.hpp"
#include "harness/store/store.hpp"
#include "tests/fakes/baseline_records.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::history_database_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Words = std::vector<std::string>;

constexpr const char* kSteady = "gemm/forward/m16n16k16/f32/onednn/cpu/hot";
constexpr const char* kSlower = "conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot";

class HistoryDatabase : public testing::Test {
 protected:
  void SetUp() override {
    if (!BENCH_HAS_SOCI) GTEST_SKIP() << "this build has no SOCI";
  }
  ProgramResult history(Words arguments) const {
    arguments.insert(arguments.begin(), {BENCH_BINARY, "history"});
    return run_program({std::move(arguments), folder_.path(), {{"COLUMNS", "80"}}});
  }
  // Writes two cases with 20 runs each into the store. One becomes 4 % slower on the 13th.
  void write_store() const {
    for (const char* id : {kSteady, kSlower}) {
      for (int day = 1; day <= 20; ++day) {
        const int time = (id == kSlower && day >= 13 ? 52000 : 50000) + 10 * (day * 37 % 11 - 5);
        BaselineRecord record = baseline(day, 0, Nanoseconds(time));
        record.measured.id = id;
        const std::string path = BaselineStore(folder_.file("baselines"))
                                     .file_path(BaselineStore::case_file(kStoredMachine, id));
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        std::ofstream(path, std::ios::app) << to_json_line(record) << "\n";
      }
    }
  }

  TemporaryFolder folder_;
};

TEST_F(HistoryDatabase, AStoreThatWasSavedHasTheSameHistory) {
  write_store();
  const ProgramResult saved = history({"--db", "sqlite:h.db", "--save", "baselines"});
  EXPECT_EQ(saved.status, 0) << saved.err;
  EXPECT_THAT(saved.out,
              StartsWith("40 records of 2 cases saved in sqlite:h.db; it had 0 of them"));
  json of_store = json::parse(history({"--json"}).out);
  json of_database = json::parse(history({"--db", "sqlite:h.db", "--json"}).out);
  for (json* answer : {&of_store, &of_database}) {
    for (json& entry : answer->at("cases")) entry.erase("path");
  }
  EXPECT_EQ(of_database, of_store);
  const std::string text = history({"--db", "sqlite:h.db"}).out;
  EXPECT_THAT(text, StartsWith("1 of 2 cases changed since 2026-11-01: conv/"));
  EXPECT_THAT(text, HasSubstr(std::string(" history ") + kSlower + " --db sqlite:h.db\n"));
  // Saving again adds nothing.
  EXPECT_THAT(history({"--db", "sqlite:h.db", "--save", "baselines"}).out,
              StartsWith("0 records of 2 cases saved in sqlite:h.db; it had 40 of them before"));
}

TEST_F(HistoryDatabase, ACaseAndAListAreShown) {
  write_store();
  ASSERT_EQ(history({"--db", "sqlite:h.db", "--save", "baselines"}).status, 0);
  EXPECT_THAT(history({kSlower, "--db", "sqlite:h.db"}).out,
              AllOf(StartsWith(std::string(kSlower) + " became"), HasSubstr("2026-11-13"),
                    HasSubstr("run-20"), Not(HasSubstr(kSteady))));
  EXPECT_THAT(history({"--list", "--db", "sqlite:h.db"}).out,
              AllOf(StartsWith("40 runs of 2 series on 1 machine class in sqlite:h.db, from "
                               "2026-11-01 to\n2026-11-20.\n"),
                    HasSubstr("last median")));
  const json list =
      json::parse(history({"--list", "--db", "sqlite:h.db", "--json"}).out).at("series");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].at("runs"), 20);
  EXPECT_EQ(history({"--db", "sqlite:h.db", "--fail-on", "regression"}).status, 1);
}

TEST_F(HistoryDatabase, WrongInputsAreExplained) {
  write_store();
  ASSERT_EQ(history({"--db", "sqlite:h.db", "--save", "baselines"}).status, 0);
  folder_.write("notes.txt", "This is a text and not a database, however long one makes it.");
  for (const auto& [words, message] : std::vector<std::pair<Words, std::string>>{
           {{"--db", "mysql://host/x"}, "is not the address of a database"},
           {{"--db", "sqlite:none.db"}, "sqlite:none.db: there is no such file; create"},
           {{"--db", "sqlite:notes.txt"}, "not a database"},
           {{"--db", "sqlite:."}, "is a folder"},
           {{"--db", "sqlite:none/h.db", "--save", "baselines"}, "check the path"},
           {{"--db", "sqlite:h.db", "conv/x"}, "sqlite:h.db contains no run of this case"},
           {{"--db", "sqlite:h.db", "--save"}, "needs result files"},
           {{"--db", "sqlite:h.db", "--save", "none.jsonl"}, "none.jsonl"},
           {{"--db", "sqlite:h.db", "--baseline", "x"}, "--baseline"},
           {{"--save", "r.jsonl"}, "--save: needs --db URL"},
           {{"--list"}, "--list: needs --db URL"},
           {{"--reason", "x"}, "--reason: needs --save"}}) {
    const ProgramResult result = history(words);
    EXPECT_EQ(result.status, 2) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(result.out, "") << message;
  }
}

// Needs no server: the address of none is enough.
TEST_F(HistoryDatabase, PasswordsAreNeverPrinted) {
  for (const char* url :
       {"postgresql://me:s3cr%65t@127.0.0.1:1/bench", "postgresql://me:s3cr%zzt@127.0.0.1:1/bench",
        "postgresql://me@127.0.0.1:1/bench?password=s3cret", "mysql://me:s3cret@host/bench"}) {
    const ProgramResult result = history({"--db", url});
    EXPECT_EQ(result.status, 2) << url;
    EXPECT_THAT(result.err + result.out, Not(HasSubstr("s3cr"))) << url;
  }
}

}  // namespace
}  // namespace bench::test::history_database_test
