// SPDX-License-Identifier: Apache-2.0
#include "tests/support/golden.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace bench::test {
namespace {

bool approving() {
  const char* value = std::getenv("BENCH_APPROVE");
  return value != nullptr && std::string_view(value) == "1";
}

void approve(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << text;
  ASSERT_TRUE(out.flush().good()) << "cannot write " << file;
}

}  // namespace

void expect_golden(const std::string& path, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(BENCH_SOURCE_DIR) / path;
  if (approving()) return approve(file, text);
  std::ifstream in(file, std::ios::binary);
  ASSERT_TRUE(in) << "no golden file " << path << "; ci/approve writes it";
  std::ostringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(expected.str(), text) << path << " differs; if the new text is right: ci/approve";
}

}  // namespace bench::test
