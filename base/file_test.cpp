// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLimit = 1 << 20;

std::string slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void spill(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

// A separate folder for each test, removed afterwards.
class Files : public testing::Test {
 protected:
  Files() {
    std::string pattern = (fs::temp_directory_path() / "bench-file-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Files() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }

  fs::path folder_;
};

// Lowers the file size limit while it lives. A write beyond it is short, then fails with EFBIG, as
// on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

using ReadFile = Files;
using WriteFile = Files;
using OutputFiles = Files;
using Records = Files;

TEST(FolderOf, IsWhatStandsBeforeTheLastSlash) {
  EXPECT_EQ(parent_folder("a/b/c"), "a/b");
  EXPECT_EQ(parent_folder("/a"), "/");
  EXPECT_EQ(parent_folder("a"), ".");
}

TEST_F(ReadFile, WholeContentUpToTheLimit) {
  const std::string content = std::string(100'000, 'x') + std::string("\0y", 2);
  spill(path("a"), content);
  const auto size = static_cast<std::int64_t>(content.size());
  EXPECT_EQ(read_file(path("a"), kLimit).value(), content);
  EXPECT_EQ(read_file(path("a"), size).value(), content);
  const auto refused = read_file(path("a"), size - 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what, "the file is larger than the limit of 97.66 KiB");
  EXPECT_EQ(refused.error().where, path("a"));
}

TEST_F(ReadFile, NamesWhatIsWrong) {
  EXPECT_EQ(read_file(path("none"), kLimit).error().message(),
            path("none") + ": cannot open the file: No such file or directory; check the path");
  EXPECT_EQ(read_file(folder_.string(), kLimit).error().message(),
            folder_.string() + ": cannot read the file: Is a directory; name a file");
}

TEST_F(ReadFile, SuggestsTheNearestNameForAMissingFile) {
  const auto advice = [](const std::string& name) { return read_file(name, kLimit).error().next; };
  ASSERT_TRUE(write_file(path("resnet.yaml"), "a", Existing::refuse).ok());
  EXPECT_EQ(advice(path("resnett.yaml")), "did you mean `" + path("resnet.yaml") + "`?");
  EXPECT_EQ(advice(path("gemm.yaml")), "check the path");
  std::filesystem::create_directory(path("configs"));
  EXPECT_EQ(advice(path("config/resnet.yaml")), "did you mean `" + path("configs") + "`?");
  EXPECT_EQ(advice(path("results/a.json")), "the folder `" + path("results") + "` does not exist");
  EXPECT_EQ(advice(""), "check the path");
}

TEST_F(ReadFile, WhatIsNoRegularFileIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  fs::create_symlink("fifo", path("link"));
  for (const char* name : {"fifo", "link"}) {
    const auto fifo = read_file(path(name), kLimit);  // without a writer, opening it would block
    ASSERT_FALSE(fifo.ok());
    EXPECT_EQ(fifo.error().message(),
              path(name) +
                  ": is a FIFO, not a regular file; name a file; pass a command's output as "
                  "`<(command)`");
  }
  EXPECT_EQ(read_file("/dev/zero", kLimit).error().what,
            "is a character device, not a regular file");
}

TEST_F(ReadFile, NamesOfOpenDescriptorsAreReadWhateverTheyAre) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "piped", 5), 5);
  ::close(ends[1]);
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"}) {
    fs::remove(path("link"));
    fs::create_symlink(folder + std::to_string(ends[0]), path("link"));
    EXPECT_EQ(read_file(path("link"), kLimit, OpenDescriptors::refuse).error().what,
              "is a FIFO, not a regular file");
    const auto text = read_file(path("link"), kLimit);
    ASSERT_TRUE(text.ok()) << text.error().message();
    EXPECT_EQ(*text, folder == "/dev/fd/" ? "piped" : "");  // a pipe can be read only once
  }
  ::close(ends[0]);
}

TEST_F(ReadFile, LinksInACircleAreAnError) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  EXPECT_FALSE(read_file(path("a"), kLimit).ok());
  EXPECT_FALSE(write_file(path("a"), "x", Existing::replace).ok());
}

TEST_F(WriteFile, CreatesAndReplaces) {
  ASSERT_TRUE(write_file(path("a"), "one", Existing::refuse).ok());
  EXPECT_EQ(slurp(path("a")), "one");
  const Status refused = write_file(path("a"), "two", Existing::refuse);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(
      refused.error().message(),
      path("a") + ": the file exists already; replace it with --force or choose another name");
  EXPECT_EQ(slurp(path("a")), "one");
  ASSERT_TRUE(write_file(path("a"), "three", Existing::replace).ok());
  EXPECT_EQ(slurp(path("a")), "three");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, ReplacesAtomically) {
  spill(path("a"), "old");
  std::ifstream reader(path("a"));  // keeps the old file open
  ASSERT_TRUE(write_file(path("a"), "new content", Existing::replace).ok());
  std::string seen;
  std::getline(reader, seen);
  EXPECT_EQ(seen, "old");
  EXPECT_EQ(slurp(path("a")), "new content");
}

TEST_F(WriteFile, AFailedWriteKeepsTheOldContentAndLeavesNothing) {
  spill(path("a"), "old");
  const FileSizeLimit limit(1000);
  const Status status = write_file(path("a"), std::string(2000, 'x'), Existing::replace);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(),
            path("a") +
                ": cannot write the file: File too large; raise the limit of the file size "
                "(ulimit -f)");
  EXPECT_EQ(slurp(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, KeepsModeAndSymbolicLinks) {
  spill(path("real"), "old");
  ASSERT_EQ(::chmod(path("real").c_str(), 0640), 0);
  fs::create_symlink("real", path("link"));
  ASSERT_TRUE(write_file(path("link"), "new", Existing::replace).ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(slurp(path("real")), "new");
  struct stat status {};
  ASSERT_EQ(::stat(path("real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_F(WriteFile, ALinkToNothingStaysAndItsTargetIsMade) {
  fs::create_directory(path("folder"));
  fs::create_symlink("folder/real", path("link"));
  ASSERT_TRUE(write_file(path("link"), "new", Existing::refuse).ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(slurp(path("folder/real")), "new");
}

TEST_F(WriteFile, NamesOfOpenDescriptorsAreWrittenInPlace) {
  spill(path("a"), "before ");
  const int file = ::open(path("a").c_str(), O_WRONLY | O_APPEND);
  const std::string name = "/dev/fd/" + std::to_string(file);
  ASSERT_TRUE(write_file(name, "written", Existing::refuse).ok());
  ASSERT_EQ(::write(file, " after", 6), 6);  // still the open file
  ::close(file);
  EXPECT_EQ(slurp(path("a")), "before written after");
}

TEST_F(WriteFile, PassesOverALeftOverTemporaryFile) {
  spill(path("a") + ".tmp-" + std::to_string(::getpid()) + "-0", "left over");
  ASSERT_TRUE(write_file(path("a"), "new", Existing::refuse).ok());
  EXPECT_EQ(slurp(path("a")), "new");
}

TEST_F(WriteFile, DevicesAreWrittenInPlace) {
  EXPECT_TRUE(write_file("/dev/null", "x", Existing::refuse).ok());
  const Status full = write_file("/dev/full", "x", Existing::replace);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().message(),
            "/dev/full: cannot write the file: No space left on device; free some space or choose "
            "another file system");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(WriteFile, MissingFolderOrFolderAsTargetIsAnError) {
  EXPECT_FALSE(write_file(path("none/a"), "x", Existing::refuse).ok());
  EXPECT_FALSE(write_file(folder_.string(), "x", Existing::replace).ok());
}

TEST_F(WriteFile, FolderThatDoesNotAllowNewFilesIsAnError) {
  // No user, not even root, can create files in /proc.
  const Status status = write_file("/proc/bench-test", "x", Existing::refuse);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().where, "/proc/bench-test");
  EXPECT_TRUE(status.error().what.starts_with("cannot create a file in /proc: "));
  EXPECT_FALSE(RecordFile::create("/proc/bench-test", Existing::refuse).ok());
}

TEST_F(OutputFiles, AreThereOnlyAfterTheCommit) {
  auto file = OutputFile::create(path("a"), Existing::refuse);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->append("one ").ok());
  OutputFile moved = std::move(*file);
  ASSERT_TRUE(moved.append("two").ok());
  EXPECT_FALSE(fs::exists(path("a")));
  ASSERT_TRUE(moved.commit().ok());
  EXPECT_EQ(slurp(path("a")), "one two");
  EXPECT_EQ(entries(), 1u);
  EXPECT_FALSE(OutputFile::create(path("a"), Existing::refuse).ok());
}

TEST_F(OutputFiles, LeaveNothingWithoutACommit) {
  spill(path("a"), "old");
  {
    auto file = OutputFile::create(path("a"), Existing::replace);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->append("new").ok());
  }
  EXPECT_EQ(slurp(path("a")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, CanBeCheckedBeforeTheWork) {
  spill(path("old"), "old");
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_TRUE(check_output(path("new"), Existing::refuse).ok());
  EXPECT_TRUE(check_output(path("old"), Existing::replace).ok());
  // Opening a FIFO without a reader would block, so the check must not open it.
  EXPECT_TRUE(check_output(path("fifo"), Existing::refuse).ok());
  EXPECT_EQ(check_output(path("old"), Existing::refuse).error().what, "the file exists already");
  EXPECT_FALSE(check_output(path("none/new"), Existing::replace).ok());
  EXPECT_FALSE(check_output(folder_.string(), Existing::replace).ok());
  EXPECT_EQ(entries(), 2u);
}

TEST_F(Records, AppendsLines) {
  auto file = RecordFile::create(path("r"), Existing::refuse);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->path(), path("r"));
  ASSERT_TRUE(file->append("one").ok());
  EXPECT_EQ(slurp(path("r")), "one\n");
  ASSERT_TRUE(file->append("").ok());
  ASSERT_TRUE(file->append("three").ok());
  EXPECT_EQ(slurp(path("r")), "one\n\nthree\n");
}

TEST_F(Records, RefusesOrReplaces) {
  spill(path("r"), "old\n");
  ASSERT_EQ(::chmod(path("r").c_str(), 0640), 0);
  EXPECT_FALSE(RecordFile::create(path("r"), Existing::refuse).ok());
  EXPECT_EQ(slurp(path("r")), "old\n");
  auto file = RecordFile::create(path("r"), Existing::replace);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(slurp(path("r")), "old\n");  // unchanged until there is a record
  ASSERT_TRUE(file->append("new").ok());
  EXPECT_EQ(slurp(path("r")), "new\n");
  ASSERT_TRUE(file->append("more").ok());
  EXPECT_EQ(slurp(path("r")), "new\nmore\n");
  EXPECT_EQ(fs::status(path("r")).permissions(), fs::perms(0640));
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Records, WithoutARecordNothingIsMadeAndNothingIsLost) {
  { ASSERT_TRUE(RecordFile::create(path("new"), Existing::refuse).ok()); }
  EXPECT_EQ(entries(), 0u);
  spill(path("old"), "old\n");
  { ASSERT_TRUE(RecordFile::create(path("old"), Existing::replace).ok()); }
  EXPECT_EQ(slurp(path("old")), "old\n");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Records, AFirstRecordThatDoesNotFitKeepsTheOldFile) {
  spill(path("r"), "old\n");
  auto file = RecordFile::create(path("r"), Existing::replace);
  ASSERT_TRUE(file.ok());
  const FileSizeLimit limit(5);
  const Status status = file->append("does not fit");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().what, "cannot append to the file: File too large");
  EXPECT_EQ(slurp(path("r")), "old\n");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Records, AreWrittenThroughALinkWhichStays) {
  spill(path("real"), "old\n");
  fs::create_symlink("real", path("link"));
  fs::create_symlink("missing", path("dangling"));
  auto file = RecordFile::create(path("link"), Existing::replace);
  auto made = RecordFile::create(path("dangling"), Existing::refuse);
  ASSERT_TRUE(file.ok() && made.ok());
  EXPECT_EQ(slurp(path("real")), "old\n");
  ASSERT_TRUE(file->append("new").ok());
  ASSERT_TRUE(made->append("made").ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("dangling")));
  EXPECT_EQ(slurp(path("real")), "new\n");
  EXPECT_EQ(slurp(path("missing")), "made\n");
}

TEST_F(Records, WritesIntoAFifoWithoutReplacingIt) {
  ASSERT_EQ(::mkfifo(path("f").c_str(), 0600), 0);
  const int reader = ::open(path("f").c_str(), O_RDONLY | O_NONBLOCK);
  {
    auto file = RecordFile::create(path("f"), Existing::refuse);
    ASSERT_TRUE(file.ok());
  }
  EXPECT_TRUE(fs::is_fifo(path("f")));
  auto file = RecordFile::create(path("f"), Existing::replace);
  ASSERT_TRUE(file.ok() && file->append("x").ok());
  char got[3] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 2);
  EXPECT_TRUE(fs::is_fifo(path("f")));
  ::close(reader);
}

TEST_F(Records, AShortWriteIsCutBack) {
  auto file = RecordFile::create(path("r"), Existing::refuse);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->append("whole").ok());
  {
    const FileSizeLimit limit(10);
    const Status status = file->append("does not fit");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().what, "cannot append to the file: File too large");
    EXPECT_EQ(slurp(path("r")), "whole\n");
  }
  ASSERT_TRUE(file->append("fits again").ok());
  EXPECT_EQ(slurp(path("r")), "whole\nfits again\n");
}

TEST_F(Records, AFullDeviceIsAnError) {
  auto file = RecordFile::create("/dev/full", Existing::refuse);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->append("x").error().what, "cannot append to the file: No space left on device");
}

TEST_F(Records, ReopenRemovesATruncatedLastLine) {
  spill(path("r"), "one\ntwo\n{\"record\": \"proc");
  auto file = RecordFile::reopen(path("r"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(slurp(path("r")), "one\ntwo\n");
  ASSERT_TRUE(file->append("three").ok());
  EXPECT_EQ(slurp(path("r")), "one\ntwo\nthree\n");
}

TEST_F(Records, ReopenKeepsWholeFiles) {
  for (const std::string content : {"", "one\n", "one\n\n"}) {
    spill(path("r"), content);
    ASSERT_TRUE(RecordFile::reopen(path("r")).ok());
    EXPECT_EQ(slurp(path("r")), content);
  }
}

TEST_F(Records, ReopenFindsTheLastNewlineInAnyBlock) {
  constexpr std::size_t kBlock = 65536;
  for (std::size_t incomplete_line : {std::size_t{1}, kBlock - 1, kBlock, kBlock + 1, 3 * kBlock}) {
    const std::string whole = std::string(100'000, 'a') + "\n";
    spill(path("r"), whole + std::string(incomplete_line, 'b'));
    ASSERT_TRUE(RecordFile::reopen(path("r")).ok());
    EXPECT_EQ(slurp(path("r")), whole) << incomplete_line;
    spill(path("r"), std::string(incomplete_line, 'b'));
    ASSERT_TRUE(RecordFile::reopen(path("r")).ok());
    EXPECT_EQ(slurp(path("r")), "") << incomplete_line;
  }
}

TEST_F(Records, ReopenNeedsAFile) {
  EXPECT_EQ(RecordFile::reopen(path("none")).error().message(),
            path("none") +
                ": cannot open the file for writing: No such file or directory; check the path");
}

TEST_F(Records, TwoWritersAreRefused) {
  auto first = RecordFile::create(path("r"), Existing::refuse);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(first->append("one").ok());
  EXPECT_EQ(RecordFile::reopen(path("r")).error().what, "another process is writing this file");
  EXPECT_FALSE(RecordFile::create(path("r"), Existing::replace).ok());
  EXPECT_EQ(slurp(path("r")), "one\n");
  { const RecordFile closed = std::move(first).value(); }
  EXPECT_TRUE(RecordFile::reopen(path("r")).ok());
}

TEST_F(Records, WriterOfTheFirstRecordKeepsTheFile) {
  for (const Existing existing : {Existing::refuse, Existing::replace}) {
    const std::string name = path(existing == Existing::refuse ? "a" : "b");
    auto first = RecordFile::create(name, existing);
    auto second = RecordFile::create(name, existing);
    ASSERT_TRUE(first.ok() && second.ok());
    ASSERT_TRUE(second->append("second").ok());
    const Status late = first->append("first");
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().what, existing == Existing::refuse
                                     ? "the file exists already"
                                     : "another process is writing this file");
    ASSERT_TRUE(second->append("more").ok());
    EXPECT_EQ(slurp(name), "second\nmore\n");
  }
  EXPECT_EQ(entries(), 2u);
}

TEST_F(Records, TwoThatReplaceOneFileAreRefused) {
  spill(path("r"), "old\n");
  auto first = RecordFile::create(path("r"), Existing::replace);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(RecordFile::create(path("r"), Existing::replace).error().what,
            "another process is writing this file");
  ASSERT_TRUE(first->append("new").ok());
  EXPECT_EQ(slurp(path("r")), "new\n");
}

TEST_F(Records, ReopenRefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo(path("f").c_str(), 0600), 0);
  EXPECT_EQ(RecordFile::reopen(path("f")).error().what,
            "cannot be continued: it is not a regular file");
}

int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

TEST(DescriptorTest, IsClosedAtTheEnd) {
  int number = -1;
  {
    const Descriptor file(open_null());
    number = file.get();
    ASSERT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(DescriptorTest, WhatIsReleasedStaysOpen) {
  int number = -1;
  {
    Descriptor file(open_null());
    number = file.release();
    EXPECT_LT(file.get(), 0);
  }
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

TEST(DescriptorTest, AMoveTakesTheOwnership) {
  const auto moved = [](Descriptor file) { return Descriptor(std::move(file)); };
  int number = -1;
  {
    const Descriptor file = moved(Descriptor(open_null()));
    number = file.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

// close(-1) would set errno.
TEST(DescriptorTest, ANegativeNumberIsNotClosed) {
  {
    const Descriptor none(-1);
    EXPECT_EQ(none.get(), -1);
    errno = 0;
  }
  EXPECT_EQ(errno, 0);
}

}  // namespace
}  // namespace bench
