// SPDX-License-Identifier: Apache-2.0
// Runs the examples of docs/coming_from.md in the folder that it names: what the document shows is
// what the program prints.
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace bench::test::coming_from_test {
namespace {

using Lines = std::vector<std::string>;

Lines split_lines(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string document() { return read_text(BENCH_SOURCE_DIR "/docs/coming_from.md"); }

struct Example {
  std::string command;
  Lines shown;  // `...` stands for any number of lines
};

// Commands (`$ ...`) of fenced blocks, each with the lines below it.
std::vector<Example> examples(const std::string& text) {
  std::vector<Example> found;
  bool in_block = false;
  for (const std::string& line : split_lines(text)) {
    if (line.starts_with("```")) {
      in_block = !in_block;
    } else if (in_block && line.starts_with("$ ")) {
      found.push_back({line.substr(2), {}});
    } else if (in_block && !found.empty()) {
      found.back().shown.push_back(line);
    }
  }
  // An empty line above the next command separates two examples.
  for (Example& example : found) {
    if (!example.shown.empty() && example.shown.back().empty()) example.shown.pop_back();
  }
  return found;
}

// The lines between two `...` are printed one after another.
std::vector<Lines> passages(const Lines& shown) {
  std::vector<Lines> found(1);
  for (const std::string& line : shown) {
    if (line == "...") {
      found.emplace_back();
    } else {
      found.back().push_back(line);
    }
  }
  return found;
}

// Returns the first passage that is not printed where the example shows it, else nothing.
Lines first_difference(const Lines& shown, const Lines& printed) {
  const std::vector<Lines> parts = passages(shown);
  auto from = printed.begin();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto at = std::search(from, printed.end(), parts[i].begin(), parts[i].end());
    const bool is_absent = at == printed.end() && !parts[i].empty();
    if (is_absent || (i == 0 && at != from)) return parts[i];
    from = at + static_cast<std::ptrdiff_t>(parts[i].size());
  }
  const bool ends_early = !parts.back().empty() && from != printed.end();
  return ends_early ? Lines{"(the end)", *from} : Lines{};
}

TEST(ComingFrom, ItsExamplesPrintWhatItShows) {
  const std::vector<Example> all = examples(document());
  ASSERT_GE(all.size(), 8U);
  for (const Example& example : all) {
    const ProgramResult result = run_program(
        {{"/bin/bash", "-c", "set -o pipefail; bench() { \"$BENCH\" \"$@\"; }; " + example.command},
         BENCH_SOURCE_DIR "/profiler/readers/testdata",
         {{"BENCH", BENCH_BINARY}, {"COLUMNS", "80"}}});
    EXPECT_EQ(result.status, 0) << example.command << "\n" << result.err;
    EXPECT_THAT(first_difference(example.shown, split_lines(result.out)), testing::IsEmpty())
        << example.command << "\nprints\n"
        << result.out;
  }
}

TEST(ComingFrom, OptionsInItsColumnHereExist) {
  const ProgramResult manual = run_program({{BENCH_BINARY, "man"}, ".", {}});
  ASSERT_EQ(manual.status, 0) << manual.err;
  for (const std::string& line : split_lines(document())) {
    if (!line.starts_with("| ") || line.starts_with("| there")) continue;
    const std::string_view row(line);
    const std::string_view here = row.substr(row.find(" | ") + 3);
    for (std::size_t at = here.find("--"); at != here.npos; at = here.find("--", at + 2)) {
      const std::size_t end = here.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
      const std::string_view option = here.substr(at, end - at);
      if (option.size() <= 2) continue;  // `--` before a command
      EXPECT_THAT(manual.out, testing::HasSubstr(std::string(option))) << line;
    }
  }
}

}  // namespace
}  // namespace bench::test::coming_from_test
