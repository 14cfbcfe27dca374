// SPDX-License-Identifier: Apache-2.0
#include "base/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

namespace bench {
namespace {

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
