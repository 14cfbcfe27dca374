// SPDX-License-Identifier: Apache-2.0
#include "base/folder.hpp"

#include "base/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

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

TEST(FileStem, KeepsAnOrdinaryName) {
  EXPECT_EQ(file_stem("resnet50_v1.5"), "resnet50_v1.5");
  EXPECT_EQ(file_stem("conv/forward/n8+relu/f32"), "conv-forward-n8+relu-f32");
  EXPECT_EQ(file_stem(""), "");
}

// `name: x/../../../../ESCAPED/x` of a configuration chose the folder of a gate.
TEST(FileStem, LeavesNoFolderAndHidesNothing) {
  EXPECT_EQ(file_stem("x/../../ESCAPED/x"), "x-..-..-ESCAPED-x");
  EXPECT_EQ(file_stem(".."), "-.");
  EXPECT_EQ(file_stem(".hidden"), "-hidden");
  EXPECT_EQ(file_stem("/etc/passwd"), "-etc-passwd");
  EXPECT_EQ(file_stem("a\x1b[31m\n\\ \xff"), "a--31m----");
  EXPECT_EQ(file_stem(std::string_view("a\0b", 3)), "a-b");
}

TEST(FileStem, LongTextsStayDifferentAndBelowTheLimitOfFileSystems) {
  const std::string text(1000, 'x');
  EXPECT_EQ(file_stem(text).size(), 166u);
  EXPECT_NE(file_stem(text), file_stem(text + "x"));
}

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class TemporaryFolderTest : public testing::Test {
 protected:
  TemporaryFolderTest() {
    if (const char* value = std::getenv("TMPDIR")) before_ = value;
  }
  ~TemporaryFolderTest() override {
    if (before_) setenv("TMPDIR", before_->c_str(), 1);
    if (!before_) unsetenv("TMPDIR");
  }
  std::optional<std::string> before_;
};

TEST_F(TemporaryFolderTest, LastsAsLongAsItsOwner) {
  std::string path;
  {
    auto folder = TemporaryFolder::create("test");
    ASSERT_TRUE(folder.ok());
    const TemporaryFolder owner = std::move(*folder);
    path = owner.file("content");
    std::ofstream(path) << "x";
    EXPECT_TRUE(fs::exists(path));
    EXPECT_THAT(path, HasSubstr("/bench-test-"));
    EXPECT_EQ(fs::status(fs::path(path).parent_path()).permissions(), fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(fs::path(path).parent_path()));
}

// An exception in the profile pass ended `bench`.
TEST_F(TemporaryFolderTest, ABadTmpdirIsAnError) {
  setenv("TMPDIR", "/nonexistent/folder", 1);
  const auto folder = TemporaryFolder::create("test");
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message(), AllOf(HasSubstr("/nonexistent/folder/bench-test-"),
                                              HasSubstr("No such file"), HasSubstr("TMPDIR")));
}

}  // namespace
}  // namespace bench
