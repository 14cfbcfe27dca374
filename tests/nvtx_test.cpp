// SPDX-License-Identifier: Apache-2.0
// Scopes as NVTX ranges, seen by an injection library such as vendors' tools have. No GPU is
// needed.
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace bench::test::nvtx_test {
namespace {

using ::testing::ElementsAre;

// NVTX calls in order; key: thread.
using Calls = std::map<std::string, std::vector<std::string>>;

class Nvtx : public ::testing::Test {
 protected:
  Calls record_calls(const std::vector<std::string>& command,
                     std::map<std::string, std::string> environment = {}) {
    environment["NVTX_INJECTION64_PATH"] = BENCH_NVTX_INJECTION;
    environment["BENCH_NVTX_LOG"] = folder_.file("log");
    EXPECT_EQ(run_program({command, folder_.path(), environment}).status, 0);
    std::istringstream lines(read_text(folder_.file("log")));
    Calls calls;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t space = line.find(' ');
      calls[line.substr(0, space)].push_back(line.substr(space + 1));
    }
    return calls;
  }

  TemporaryFolder folder_;
};

void expect_case(const std::vector<std::string>& calls) {
  EXPECT_THAT(
      calls,
      ElementsAre("push layer:conv/forward/c64/f32/onednn/cpu/hot", "push layer:layer1", "pop",  //
                  "push layer:fails", "pop",  // left by an error
                  "push layer:outer", "push layer:throws:twice", "pop", "pop", "pop"));
}

TEST_F(Nvtx, ScopesWithoutARecorderAreBalancedRanges) {
  const Calls calls = record_calls({BENCH_NVTX_SCOPES});
  EXPECT_EQ(calls.size(), 2U);
  for (const auto& [thread, lines] : calls) expect_case(lines);
}

TEST_F(Nvtx, ScopesWithARecorderAreTheSameRanges) {
  const Calls calls = record_calls({BENCH_NVTX_SCOPES, "recorder"});
  EXPECT_EQ(calls.size(), 2U);
  for (const auto& [thread, lines] : calls) expect_case(lines);
}

TEST_F(Nvtx, ScopesOfUserCodeAreRangesWhetherTheProfilerRunsOrNot) {
  for (const char* mode : {"scopes", "start-scopes"}) {
    const Calls calls = record_calls({BENCH_PROFILED_PROGRAM, mode});
    ASSERT_EQ(calls.size(), 1U) << mode;
    EXPECT_THAT(calls.begin()->second,
                ElementsAre("push layer:encoder", "push layer:a:b", "pop", "pop"))
        << mode;
    std::remove(folder_.file("log").c_str());
  }
}

}  // namespace
}  // namespace bench::test::nvtx_test
