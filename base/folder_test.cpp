// SPDX-License-Identifier: Apache-2.0
#include "base/folder.hpp"

#include "base/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace bench {
namespace {

TEST(Folder, IsCreatedWithItsParentsOnce) {
  const auto folder = TemporaryFolder::create("folder-test");
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->file("a/b");
  EXPECT_TRUE(create_folder(path).ok());
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_TRUE(create_folder(path).ok());
}

TEST(Folder, AFileInItsPlaceIsAnErrorWithThePath) {
  const auto folder = TemporaryFolder::create("folder-test");
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(write_file(folder->file("file"), "text", Existing::refuse).ok());
  const Status status = create_folder(folder->file("file/b"));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message(),
              testing::StartsWith(folder->file("file/b") + ": cannot create the folder: "));
}

TEST(Folder, TheCheckOfAnOutputFolderLeavesNothing) {
  const auto folder = TemporaryFolder::create("folder-test");
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(check_output_folder(folder->file("a/b/")).ok());
  EXPECT_TRUE(check_output_folder(folder->file("")).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder->file("")));
  std::filesystem::create_directory(folder->file("a"));
  EXPECT_TRUE(check_output_folder(folder->file("a/b")).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder->file("a")));
}

TEST(Folder, TheCheckOfAnOutputFolderReportsWhatIsInItsPlace) {
  const auto folder = TemporaryFolder::create("folder-test");
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(write_file(folder->file("file"), "text", Existing::refuse).ok());
  for (const char* name : {"file", "file/b"})
    EXPECT_FALSE(check_output_folder(folder->file(name)).ok()) << name;
  EXPECT_FALSE(check_output_folder("/proc/x").ok());
}

}  // namespace
}  // namespace bench
