// SPDX-License-Identifier: Apache-2.0
#include "profiler/scope_path.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(ScopePath, NamesSurviveWhateverTheyHold) {
  const std::vector<std::vector<std::string>> paths = {
      {"a"}, {"a", "b"}, {"layer:a:b", "c"}, {"\\", ":", "\\:"}, {"", "x"}, {"ends\\"}};
  for (const auto& names : paths) {
    std::string path;
    for (const std::string& name : names) path = append_scope(path, name);
    if (names.front().empty()) continue;  // appending an empty name to an empty path adds nothing
    EXPECT_EQ(split_scope(path), names) << path;
  }
  EXPECT_EQ(append_scope("a", "b"), "a:b");
  EXPECT_EQ(append_scope("a", "b:c"), "a:b\\:c");
}

TEST(ScopePath, ForeignPathsAreReadAsTheyCome) {
  EXPECT_TRUE(split_scope("").empty());
  EXPECT_EQ(split_scope("a:"), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(split_scope("a\\"), (std::vector<std::string>{"a\\"}));
}

}  // namespace
}  // namespace bench
