// SPDX-License-Identifier: Apache-2.0
#include "tests/support/generated.hpp"

#include "tests/support/golden.hpp"
#include "tests/support/program.hpp"

#include <gtest/gtest.h>

#include <set>

namespace bench::test {

void expect_generated(const std::string& path, const std::map<std::string, std::string>& texts) {
  constexpr std::string_view kBegin = "<!-- generated: ";
  constexpr std::string_view kEnd = "<!-- end -->";
  const std::string manual = read_text(std::string(BENCH_SOURCE_DIR) + "/" + path);
  std::string expected;
  std::size_t position = 0;
  std::set<std::string> seen;
  for (std::size_t begin; (begin = manual.find(kBegin, position)) != std::string::npos;) {
    const std::size_t line_end = manual.find('\n', begin);
    const std::size_t at = begin + kBegin.size();
    const std::string name = manual.substr(at, manual.find(' ', at) - at);
    const std::size_t end = manual.find(kEnd, begin);
    ASSERT_NE(end, std::string::npos) << path << ": section " << name << " has no end";
    ASSERT_TRUE(texts.contains(name)) << path << ": nothing is generated for section " << name;
    expected += manual.substr(position, line_end + 1 - position);
    expected += "\n" + texts.at(name) + "\n";
    position = end;
    seen.insert(name);
  }
  EXPECT_EQ(seen.size(), texts.size()) << path << " lacks a section";
  expect_golden(path, expected + manual.substr(position));
}

std::string markdown_cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace bench::test
