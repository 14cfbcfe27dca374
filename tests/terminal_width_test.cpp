// SPDX-License-Identifier: Apache-2.0
// Tables of the built program in terminals of several widths, simulated by COLUMNS.
#include "base/folder.hpp"
#include "base/text.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace bench::test::terminal_width_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Ids that differ in their middle, and one that is longer than a narrow terminal.
constexpr const char* kSuite = R"(version: 1
name: widths
defaults:
  warmup: { iterations: 1, time: 1ms }
  measure: { processes: 1, min_iterations: 3, max_time: 2ms }
cases:
  - op: conv
    sweep: { n: [1, 2] }
    c: 16
    h: 14
    k: 16
    r: 3
    pad: 1
    bias: true
    post_ops: [relu]
    cache: [hot, cold_weights]
  - { op: gemm, m: 16, n: 16, k: 16, bias: true, trans_b: true, post_ops: [relu, add] }
)";

ProgramResult bench_in(int width, std::vector<std::string> arguments, const std::string& folder) {
  arguments.insert(arguments.begin(), BENCH_BINARY);
  std::map<std::string, std::string> environment;
  if (width > 0) environment["COLUMNS"] = std::to_string(width);
  return run_program({std::move(arguments), folder, std::move(environment)});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Returns all lines except the command after a line that announces it. The command is for copying
// and never folds, and its length depends on the folder of the build.
std::vector<std::string> folding_lines_of(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  for (const char* announcement :
       {"reproduce", "repeat the measurement of the first case listed:", "every run of a case:"}) {
    const auto heading = std::ranges::find(lines, announcement);
    if (heading != lines.end()) lines.erase(heading + 1, heading + 2);
  }
  std::erase_if(lines, [](const std::string& line) {
    return line.starts_with(std::string("  ") + BENCH_BINARY);
  });
  return lines;
}

class TerminalWidth : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("widths.yaml", kSuite);
    for (const char* file : {"a.jsonl", "b.jsonl"}) {
      const ProgramResult run = bench_in(
          0, {"run", "widths.yaml", "--quiet", "--profile", "--out", file}, folder_.path());
      ASSERT_EQ(run.status, 0) << run.err;
    }
    const ProgramResult saved =
        bench_in(0, {"baseline", "save", "a.jsonl", "--reason", "the first run of these cases"},
                 folder_.path());
    ASSERT_EQ(saved.status, 0) << saved.err;
  }

  const std::vector<std::vector<std::string>> tables_ = {
      {"report", "a.jsonl"},
      {"list", "widths.yaml"},
      {"compare", "a.jsonl", "b.jsonl"},
      {"compare", "a.jsonl", "--by", "n"},
      {"compare", "a.jsonl", "--by", "cache"},
      {"analyze", "a.jsonl"},
      {"analyze", "a.jsonl", "--aggregate-by", "type"},
      {"analyze", "a.jsonl", "--summary"},
      {"baseline", "list"},
      {"history"},
      {"baseline", "save", "a.jsonl", "--reason", "again"},
      {"explain", "gemm/forward/m16n16k16/f32/onednn/cpu/hot"},
      {"doctor", "--watch", "0s"}};
  TemporaryFolder folder_;
};

TEST_F(TerminalWidth, EveryTableFits) {
  for (const int width : {80, 120, 200}) {
    for (const auto& command : tables_) {
      const ProgramResult result = bench_in(width, command, folder_.path());
      EXPECT_EQ(result.status, 0) << result.err;
      for (const std::string& line : folding_lines_of(result.out)) {
        EXPECT_LE(display_width(line), static_cast<std::size_t>(width))
            << fmt::format("{}", fmt::join(command, " ")) << ":\n"
            << line;
      }
    }
  }
}

// Lines above or below a table used to be printed without folding. Examples are the profiles of a
// run, the changes between the sides of a duet, the heading of an analysis, the reasons of a gate.
TEST_F(TerminalWidth, EverySentenceFits) {
  const std::string id = "gemm/forward/m16n16k16/f32/onednn/cpu/hot";
  const std::string file = "a_result_with_a_name_that_says_what_was_measured.jsonl";
  const std::vector<std::vector<std::string>> commands = {
      {"run", "widths.yaml", "--profile", "--quiet", "--out", file},
      {"analyze", file},
      {"explain", id, "--arch", "sm_90"},
      {"duet", id, "--cand-env", "ONEDNN_MAX_CPU_ISA=SSE41", "--duets", "6", "--quiet"},
      {"gate", "widths.yaml", "--quiet", "--budget", "2s", "--out", "evidence"}};
  for (const auto& command : commands) {
    const ProgramResult result = bench_in(80, command, folder_.path());
    EXPECT_FALSE(result.out.empty()) << result.err;
    for (const std::string& line : folding_lines_of(result.out)) {
      EXPECT_LE(display_width(line), 80u) << fmt::format("{}", fmt::join(command, " ")) << ":\n"
                                          << line;
    }
  }
}

TEST_F(TerminalWidth, NoTwoCasesLookAlike) {
  for (const char* command : {"report a.jsonl", "list widths.yaml"}) {
    const std::string text = command;
    const std::size_t blank = text.find(' ');
    const ProgramResult result =
        bench_in(80, {text.substr(0, blank), text.substr(blank + 1)}, folder_.path());
    std::set<std::string> ids;
    int rows = 0;
    for (const std::string& line : lines_of(result.out)) {
      if (!line.starts_with("conv") && !line.starts_with("gemm")) continue;
      ids.insert(line.substr(0, line.find(' ')));
      ++rows;
    }
    EXPECT_EQ(rows, 5) << result.out;
    EXPECT_EQ(ids.size(), 5u) << result.out;
  }
}

TEST_F(TerminalWidth, IntoAPipeNothingIsCut) {
  const std::string id = "conv/forward/n2c16h14w14k16r3s3p1+bias+relu/f32/onednn/cpu/cold_weights";
  for (const auto& command : tables_) {
    // These show no id, or another one.
    const std::set<std::string> others = {"analyze", "explain", "doctor"};
    const bool is_by = std::ranges::find(command, "--by") != command.end();
    if (is_by || others.contains(command.front())) continue;
    const ProgramResult result = bench_in(0, command, folder_.path());
    EXPECT_THAT(result.out, HasSubstr("conv/forward/n2c16h14w14k16r3s3p1+bias+relu/f32/"))
        << command.front();
    EXPECT_THAT(result.out, Not(HasSubstr("..."))) << command.front();
  }
  EXPECT_THAT(bench_in(0, {"report", "a.jsonl"}, folder_.path()).out, HasSubstr(id));
}

}  // namespace
}  // namespace bench::test::terminal_width_test
