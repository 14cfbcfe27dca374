// SPDX-License-Identifier: Apache-2.0
#include "harness/store/store.hpp"

#include "harness/store/baseline_file.hpp"
#include "tests/fakes/baseline_records.hpp"
#include "tests/fakes/speed_samples.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace bench {
namespace {

namespace fs = std::filesystem;
using test::baseline;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const StoreFile kFile = BaselineStore::case_file(test::kStoredMachine, test::kStoredCase);

class StoreTest : public testing::Test {
 protected:
  Appended append(const BaselineRecord& record, EpochPolicy policy = EpochPolicy::current) {
    auto appended = store_.append(record, policy);
    EXPECT_TRUE(appended.ok()) << (appended.ok() ? "" : appended.error().message());
    return appended.ok() ? *appended : Appended{};
  }
  BaselineHistory history() {
    auto read = store_.read(kFile);
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message());
    return read.ok() ? *read : BaselineHistory{};
  }
  std::string path() const { return store_.file_path(kFile); }
  void write(const std::string& text) { std::ofstream(path(), std::ios::app) << text; }

  test::TemporaryFolder folder_;
  BaselineStore store_{folder_.file("baselines")};
};

using Result = Appended::Result;

TEST_F(StoreTest, ARunThatIsAppendedIsReadAgain) {
  EXPECT_FALSE(store_.holds(test::kStoredMachine));
  EXPECT_THAT(history().records, IsEmpty());
  const BaselineRecord record = baseline(1, 7, Nanoseconds(5));
  const Appended appended = append(record);
  EXPECT_EQ(appended.result, Result::appended);
  EXPECT_EQ(appended.epoch, 0);  // the store assigns epochs
  EXPECT_EQ(appended.path, folder_.file("baselines/test-2c-00000000/"
                                        "gemm__forward__m16n16k16__f32__onednn__cpu__hot.jsonl"));
  EXPECT_TRUE(store_.holds(test::kStoredMachine));
  ASSERT_EQ(history().records.size(), 1u);
  EXPECT_EQ(history().records[0], baseline(1, 0, Nanoseconds(5)));
  EXPECT_EQ(test::read_text(path()), to_json_line(baseline(1, 0, Nanoseconds(5))) + "\n");
}

// Later runs may see other speeds, but all times are stated at the level of the first one.
TEST_F(StoreTest, ItsLevelOfSpeedIsThatOfTheFirstRun) {
  EXPECT_TRUE(store_.speed_levels(test::kStoredMachine).empty());
  for (const int run : {2, 1, 3}) {
    BaselineRecord record = baseline(run, {Nanoseconds(100)});
    test::set_by_speed(record.measured, test::times_at(100, Nanoseconds(1300 - 100 * run)));
    append(record);
  }
  EXPECT_EQ(history().records.back().measured.at->canary, Nanoseconds(1000));
  EXPECT_EQ(store_.speed_levels(test::kStoredMachine), (SpeedLevels{{2, Nanoseconds(1100)}}));
  // The first run of most cases counts, whatever their clocks said.
  for (const char* id : {"pool/x", "softmax/y"}) {
    BaselineRecord record = baseline(4, {Nanoseconds(100)});
    record.measured.id = id;
    test::set_by_speed(record.measured, test::times_at(100, Nanoseconds(1300)));
    append(record);
  }
  EXPECT_EQ(store_.speed_levels(test::kStoredMachine), (SpeedLevels{{2, Nanoseconds(1300)}}));
  EXPECT_TRUE(store_.speed_levels("another-2c-01234567").empty());
}

TEST_F(StoreTest, EpochsAreOpenedByAccepting) {
  EXPECT_EQ(append(baseline(1, 0, Nanoseconds(5)), EpochPolicy::new_epoch).epoch, 0);
  EXPECT_EQ(append(baseline(2, 0, Nanoseconds(5))).epoch, 0);
  EXPECT_EQ(append(baseline(3, 0, Nanoseconds(6)), EpochPolicy::new_epoch).epoch, 1);
  EXPECT_EQ(append(baseline(4, 0, Nanoseconds(6))).epoch, 1);
  EXPECT_EQ(history().last()->run_id, "run-04");
}

TEST_F(StoreTest, AKnownRunIsWrittenAgainOnlyForMore) {
  append(baseline(1, 0, Nanoseconds(5)));
  append(baseline(2, 0, Nanoseconds(9)));
  EXPECT_EQ(append(baseline(2, 0, Nanoseconds(9))).result, Result::duplicate);
  BaselineRecord named = baseline(2, 0, Nanoseconds(9));
  named.anchor = "release-1.4";
  EXPECT_EQ(append(named).result, Result::appended);
  EXPECT_EQ(append(named).result, Result::duplicate);
  // Accepting a saved run moves it with its anchor; doing so again changes nothing.
  EXPECT_EQ(append(baseline(2, 0, Nanoseconds(9)), EpochPolicy::new_epoch).epoch, 1);
  EXPECT_EQ(append(baseline(2, 0, Nanoseconds(9)), EpochPolicy::new_epoch).result,
            Result::duplicate);
  ASSERT_EQ(history().records.size(), 2u);
  EXPECT_EQ(history().last()->epoch, 1);
  EXPECT_EQ(history().last()->anchor, "release-1.4");
}

TEST_F(StoreTest, AnEpochHoldsOneCase) {
  append(baseline(1, 0, Nanoseconds(5)));
  BaselineRecord other = baseline(2, 0, Nanoseconds(5));
  other.measured.case_hash = "fedcba9876543210";
  const Appended refused = append(other);
  EXPECT_EQ(refused.result, Result::refused);
  EXPECT_THAT(refused.reason, AllOf(HasSubstr("case_hash"), HasSubstr("fedcba9876543210"),
                                    HasSubstr("bench baseline accept")));
  EXPECT_EQ(history().records.size(), 1u);
  EXPECT_EQ(append(other, EpochPolicy::new_epoch).epoch, 1);
}

TEST_F(StoreTest, ATornLastLineCostsItself) {
  append(baseline(1, 0, Nanoseconds(5)));
  write("{\"schema\":\"bench.base");
  const Appended appended = append(baseline(2, 0, Nanoseconds(5)));
  EXPECT_THAT(appended.problems, ElementsAre(StartsWith(path() + ":2: record refused")));
  EXPECT_EQ(history().records.size(), 2u);
  EXPECT_THAT(history().problems, ElementsAre(StartsWith(path() + ":2: ")));
}

// An editor removed the last newline: the record still counts.
TEST_F(StoreTest, ALastLineWithoutNewlineIsKept) {
  append(baseline(1, 0, Nanoseconds(5)));
  write(to_json_line(baseline(2, 0, Nanoseconds(5))));
  append(baseline(3, 0, Nanoseconds(5)));
  EXPECT_EQ(history().records.size(), 3u);
  EXPECT_THAT(history().problems, IsEmpty());
}

TEST_F(StoreTest, WhatCouldNotBeReadAgainIsNotWritten) {
  BaselineRecord record = baseline(1, 0, Nanoseconds(5));
  record.measured.processes.clear();
  EXPECT_FALSE(store_.append(record, EpochPolicy::current).ok());
  record = baseline(1, 0, Nanoseconds(5));
  record.measured.id = "gemm/\xff";
  EXPECT_FALSE(store_.append(record, EpochPolicy::current).ok());
  record.measured.id = "";
  EXPECT_FALSE(store_.append(record, EpochPolicy::current).ok());
  EXPECT_THAT(store_.list()->size(), 0u);
}

TEST_F(StoreTest, HostileNamesStayInTheFolder) {
  const std::string inside = folder_.file("inside");
  const BaselineStore store(inside + "/baselines");
  for (const std::string& name :
       {std::string(".."), std::string("../../x"), std::string("/tmp/x"), std::string("a\nb"),
        std::string("x\0/../y", 7), std::string(5000, '.'),
        std::string("../") + std::string(300, 'y')}) {
    BaselineRecord by_id = baseline(1, 0, Nanoseconds(5));
    by_id.measured.id = name;
    BaselineRecord by_machine = baseline(1, 0, Nanoseconds(5));
    by_machine.environment.machine_class = name;
    for (const BaselineRecord& record : {by_id, by_machine}) {
      const auto appended = store.append(record, EpochPolicy::current);
      ASSERT_TRUE(appended.ok()) << appended.error().message();
      const auto file =
          BaselineStore::case_file(record.environment.machine_class, record.measured.id);
      EXPECT_EQ(store.read(file)->records.size(), 1u);
    }
  }
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    const bool within = entry.path().string().starts_with(inside);
    EXPECT_TRUE(within) << entry.path();
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 14u);
  EXPECT_EQ(store.list()->size(), 14u);
}

// Root may read every folder, so this acts as another user if the test runs as root.
class WithoutPrivileges {
 public:
  explicit WithoutPrivileges(const std::string& folder) {
    constexpr ::uid_t kNobody = 65534;
    if (::geteuid() != 0) return;
    EXPECT_EQ(::chown(folder.c_str(), kNobody, static_cast<::gid_t>(-1)), 0);
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      EXPECT_EQ(::chown(entry.path().c_str(), kNobody, static_cast<::gid_t>(-1)), 0);
    }
    EXPECT_EQ(::seteuid(kNobody), 0);
    changed_ = true;
  }
  ~WithoutPrivileges() {
    if (!changed_) return;
    EXPECT_EQ(::seteuid(0), 0);
  }
  WithoutPrivileges(const WithoutPrivileges&) = delete;
  WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;

 private:
  bool changed_ = false;
};

TEST_F(StoreTest, AnUnreadableFolderOfAnotherClassLeavesTheLevelsOfSpeed) {
  BaselineRecord record = baseline(1, {Nanoseconds(100)});
  test::set_by_speed(record.measured, test::times_at(100, Nanoseconds(1000)));
  append(record);
  const std::string locked = folder_.file("baselines/lost+found");
  fs::create_directory(locked);
  fs::permissions(locked, fs::perms::none);
  {
    const WithoutPrivileges user(folder_.path());
    EXPECT_FALSE(store_.list().ok());  // so the folder is indeed unreadable
    EXPECT_EQ(store_.speed_levels(test::kStoredMachine).at(2), Nanoseconds(1000));
  }
  fs::permissions(locked, fs::perms::owner_all);
}

TEST_F(StoreTest, TheAdviceForALinkNamesWhatItLeadsTo) {
  fs::create_directories(folder_.file("outside"));
  fs::create_directories(folder_.file("baselines"));
  fs::create_directory_symlink(folder_.file("outside"), folder_.file("baselines/test-2c-00000000"));
  EXPECT_THAT(store_.read(kFile).error().message(), HasSubstr("put the folder itself there"));
  fs::remove(folder_.file("baselines/test-2c-00000000"));
  fs::create_directories(folder_.file("baselines/test-2c-00000000"));
  fs::create_symlink(folder_.write("outside.jsonl", ""), path());
  EXPECT_THAT(store_.read(kFile).error().message(), HasSubstr("put the file itself there"));
}

TEST_F(StoreTest, LinksAreRefused) {
  const std::string outside = folder_.write("outside.jsonl", "precious\n");
  fs::create_directories(folder_.file("baselines/test-2c-00000000"));
  fs::create_symlink(outside, path());
  const auto appended = store_.append(baseline(1, 0, Nanoseconds(5)), EpochPolicy::current);
  ASSERT_FALSE(appended.ok());
  EXPECT_THAT(appended.error().message(), AllOf(HasSubstr(path()), HasSubstr("symbolic link")));
  EXPECT_FALSE(store_.read(kFile).ok());
  EXPECT_FALSE(store_.prune(kFile, Malformed::drop).ok());
  EXPECT_EQ(test::read_text(outside), "precious\n");
  fs::create_directory_symlink(folder_.path(), folder_.file("baselines/linked"));
  BaselineRecord record = baseline(1, 0, Nanoseconds(5));
  record.environment.machine_class = "linked";
  EXPECT_FALSE(store_.append(record, EpochPolicy::current).ok());
}

TEST_F(StoreTest, PruneKeepsTheLastRunsOfEachEpochAndAnchors) {
  for (int i = 1; i <= 35; ++i) {
    BaselineRecord record = baseline(i, 0, Nanoseconds(5));
    if (i == 2) record.anchor = "release-1.4";
    append(record, i == 33 ? EpochPolicy::new_epoch : EpochPolicy::current);
  }
  BaselineRecord again = baseline(20, 0, Nanoseconds(5));
  write(to_json_line(again) + "\n");
  const auto pruned = store_.prune(kFile, Malformed::refuse);
  ASSERT_TRUE(pruned.ok()) << pruned.error().message();
  // Epoch 0: 32 runs, of which the anchor and the last 30 stay; epoch 1: 3 runs.
  EXPECT_EQ(pruned->kept, 34u);
  EXPECT_EQ(pruned->dropped, 1u);
  const BaselineHistory left = history();
  ASSERT_EQ(left.records.size(), 34u);
  EXPECT_EQ(left.records[0].anchor, "release-1.4");
  EXPECT_EQ(left.records[1].run_id, "run-03");
  const std::string text = test::read_text(path());
  EXPECT_EQ(std::ranges::count(text, '\n'), 34);
  EXPECT_EQ(store_.prune(kFile, Malformed::refuse)->dropped, 0u);
}

// Regression test: runs that were saved while the clock was wrong used to be the first that prune
// removed.
TEST_F(StoreTest, PruneKeepsTheRunsThatWereSavedLastWhateverTheClockSays) {
  for (int i = 1; i <= 33; ++i) {
    BaselineRecord record = baseline(i, 0, Nanoseconds(5));
    if (i > 31) record.time = "1970-01-01T00:00:00Z";
    append(record);
  }
  EXPECT_EQ(store_.prune(kFile, Malformed::refuse)->dropped, 3u);
  EXPECT_EQ(history().records.front().run_id, "run-04");
  EXPECT_EQ(history().last()->run_id, "run-33");
}

TEST_F(StoreTest, RemovingARunKeepsEveryOtherLine) {
  append(baseline(1, 0, Nanoseconds(5)));
  append(baseline(2, 0, Nanoseconds(9)));
  append(baseline(2, 0, Nanoseconds(9)), EpochPolicy::new_epoch);
  write("rubbish\n");
  EXPECT_EQ(*store_.remove_run(kFile, "run-03"), 0u);
  EXPECT_EQ(*store_.remove_run(kFile, "run-02"), 2u);
  EXPECT_EQ(test::read_text(path()), to_json_line(baseline(1, 0, Nanoseconds(5))) + "\nrubbish\n");
  EXPECT_EQ(history().last()->epoch, 0);
}

TEST_F(StoreTest, RemovingTheOnlyRunRemovesTheFile) {
  append(baseline(1, 0, Nanoseconds(5)));
  EXPECT_EQ(*store_.remove_run(kFile, "run-01"), 1u);
  EXPECT_FALSE(fs::exists(path()));
  EXPECT_FALSE(store_.holds(test::kStoredMachine));
}

TEST_F(StoreTest, AdoptingAClassCopiesItsRunsWithTheirEpochs) {
  append(baseline(1, 0, Nanoseconds(5)));
  append(baseline(2, 0, Nanoseconds(9)), EpochPolicy::new_epoch);
  EXPECT_EQ(store_.adopt(kFile, "new-2c-11111111")->runs, 2u);
  const StoreFile target = BaselineStore::case_file("new-2c-11111111", test::kStoredCase);
  const BaselineHistory adopted = *store_.read(target);
  EXPECT_THAT(adopted.problems, IsEmpty());
  ASSERT_EQ(adopted.records.size(), 2u);
  EXPECT_EQ(adopted.records[1].epoch, 1);
  EXPECT_EQ(adopted.records[1].adopted_from, test::kStoredMachine);
  EXPECT_EQ(history().records.size(), 2u);
  EXPECT_EQ(store_.adopt(kFile, "new-2c-11111111")->result, Adopted::Result::present);
  // A second adoption still names the class that measured.
  EXPECT_EQ(store_.adopt(target, "third-2c-22222222")->runs, 2u);
  const auto third = store_.read(BaselineStore::case_file("third-2c-22222222", test::kStoredCase));
  EXPECT_EQ(third->records[0].adopted_from, test::kStoredMachine);
}

TEST_F(StoreTest, PruneDropsDamagedLinesOnlyWhenTold) {
  append(baseline(1, 0, Nanoseconds(5)));
  write("rubbish\n");
  // Fields of a later version survive.
  std::string newer = to_json_line(baseline(2, 0, Nanoseconds(5)));
  newer.insert(1, R"("mood":"good",)");
  write(newer + "\n");
  const auto refused = store_.prune(kFile, Malformed::refuse);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message(), AllOf(HasSubstr(path() + ":2: "), HasSubstr("--force")));
  ASSERT_TRUE(store_.prune(kFile, Malformed::drop).ok());
  EXPECT_EQ(test::read_text(path()),
            to_json_line(baseline(1, 0, Nanoseconds(5))) + "\n" + newer + "\n");
}

TEST_F(StoreTest, ListsItsFilesInOrder) {
  EXPECT_THAT(store_.list().error().message(), HasSubstr("bench baseline save"));
  for (const char* machine : {"b-1c", "a-1c"}) {
    for (const char* id : {"y/1", "x/2"}) {
      BaselineRecord record = baseline(1, 0, Nanoseconds(5));
      record.measured.id = id;
      record.environment.machine_class = machine;
      append(record);
    }
  }
  folder_.write("baselines/README.md", "policy");
  folder_.write("baselines/a-1c/notes.txt", "");
  std::vector<std::string> paths;
  const auto files = store_.list();
  for (const StoreFile& file : *files) paths.push_back(file.folder_name + "/" + file.file_name);
  EXPECT_THAT(paths, ElementsAre("a-1c/x__2.jsonl", "a-1c/y__1.jsonl", "b-1c/x__2.jsonl",
                                 "b-1c/y__1.jsonl"));
  // The folder of one machine class can be selected, too.
  const auto selection = open_store(folder_.file("baselines/b-1c/"));
  ASSERT_TRUE(selection.ok()) << selection.error().message();
  ASSERT_EQ(selection->files.size(), 2u);
  EXPECT_EQ(selection->store.read(selection->files[0])->records.size(), 1u);
  EXPECT_EQ(open_store(folder_.file("baselines"))->files.size(), 4u);
  EXPECT_FALSE(open_store(folder_.file("nowhere")).ok());
}

constexpr int kRunsAWriter = 40;

void write_runs(const BaselineStore& store, int first) {
  for (int i = first; i < first + kRunsAWriter; ++i) {
    if (!store.append(baseline(i, 0, Nanoseconds(5)), EpochPolicy::current).ok()) std::abort();
  }
}

TEST_F(StoreTest, TwoThreadsWriteAtTheSameTime) {
  std::thread other([&] { write_runs(store_, 100); });
  write_runs(store_, 200);
  other.join();
  EXPECT_EQ(history().records.size(), 2u * kRunsAWriter);
  EXPECT_THAT(history().problems, IsEmpty());
}

TEST_F(StoreTest, TwoProcessesWriteWhileAThirdPrunes) {
  append(baseline(1, 0, Nanoseconds(5)));
  const ::pid_t child = ::fork();
  if (child == 0) {
    write_runs(store_, 100);
    ::_exit(0);
  }
  std::thread other([&] { write_runs(store_, 200); });
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(store_.prune(kFile, Malformed::refuse).ok());
  other.join();
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(history().problems, IsEmpty());
  const auto last = history().last();
  ASSERT_NE(last, nullptr);
  EXPECT_TRUE(store_.prune(kFile, Malformed::refuse).ok());
  EXPECT_EQ(history().records.size(), kRunsPerEpoch);
}

TEST(AppendTest, AWholeLineIsRefusedByAFullDevice) {
  const Status status = append_line("/dev/full", "x");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message(), AllOf(HasSubstr("/dev/full"), HasSubstr("No space")));
}

}  // namespace
}  // namespace bench
