// SPDX-License-Identifier: Apache-2.0
#include "harness/host/system_files.hpp"

#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

namespace bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(ProcessFiles, AreTheProgramAndTheLibrariesWhoseCodeIsMapped) {
  test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("proc/7"));
  std::filesystem::create_symlink("/opt/bench/bin/bench", folder.file("proc/7/exe"));
  folder.write("proc/7/maps",
               "5581-5582 r--p 00000000 08:01 11      /opt/bench/bin/bench\n"
               "5582-5583 r-xp 00001000 08:01 11      /opt/bench/bin/bench\n"
               "7f00-7f01 r-xp 00000000 08:01 12      /opt/my libraries/libdnnl.so.3.2\n"
               "7f01-7f02 r-xp 00000000 08:01 13      /lib/libc.so.6\n"
               "7f02-7f03 r-xp 00002000 08:01 13      /lib/libc.so.6\n"
               "7f03-7f04 r--p 00000000 08:01 14      /usr/lib/locale/locale-archive\n"
               "7f04-7f05 rwxp 00000000 00:00 0 \n"
               "7f05-7f06 r-xp 00000000 00:00 0       [vdso]\n"
               "short\n");
  const auto files = read_process_files(SystemRoot{folder.path()}, 7);
  ASSERT_TRUE(files);
  EXPECT_EQ(files->program, "/opt/bench/bin/bench");
  EXPECT_THAT(files->libraries, ElementsAre("/lib/libc.so.6", "/opt/my libraries/libdnnl.so.3.2"));
  EXPECT_FALSE(read_process_files(SystemRoot{folder.path()}, 8));
}

TEST(ProcessFiles, OfThisProcessContainTheLibraryOfTheSystem) {
  const auto files = read_process_files(SystemRoot{}, getpid());
  ASSERT_TRUE(files);
  EXPECT_EQ(files->program, std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_THAT(files->libraries, Contains(HasSubstr("libc.so")));
  EXPECT_THAT(files->libraries, Not(Contains(files->program)));
}

TEST(DigestOfAFile, IsThatOfItsContentWhateverItsNameAndEndsWithItsSize) {
  test::TemporaryFolder folder;
  const std::string large(300'000, 'x');  // more than one part
  folder.write("a", large);
  folder.write("b", large);
  folder.write("longer", large + std::string(1, '\0'));
  folder.write("other", large.substr(1) + "y");
  folder.write("empty", "");
  const auto digest = digest_file(folder.file("a"));
  ASSERT_TRUE(digest);
  EXPECT_EQ(digest->size(), 16U);
  EXPECT_EQ(digest, digest_file(folder.file("b")));
  EXPECT_NE(digest, digest_file(folder.file("longer")));
  EXPECT_NE(digest, digest_file(folder.file("other")));
  EXPECT_TRUE(digest_file(folder.file("empty")));
  EXPECT_FALSE(digest_file(folder.file("missing")));
  EXPECT_FALSE(digest_file(folder.path())) << "a folder";
}

}  // namespace
}  // namespace bench
