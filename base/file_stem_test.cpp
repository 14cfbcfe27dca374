// SPDX-License-Identifier: Apache-2.0
#include "base/file_stem.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

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

}  // namespace
}  // namespace bench
