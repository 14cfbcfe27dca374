// SPDX-License-Identifier: Apache-2.0
#include "harness/config/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

Result<Plan, std::vector<Diagnostic>> load_streams(const std::string& text) {
  LoadRequest request;
  request.read = [text](const std::string&) -> Result<std::string> { return text; };
  request.arguments = {"a.yaml"};
  return load_plan(request);
}

TEST(ConfiguredStreams, AreAnAxis) {
  const auto plan = load_streams(
      "version: 1\ncases:\n  - {op: gemm, m: 4, n: 4, k: 4, threads: [2, all], streams: [1, 2]}\n");
  ASSERT_TRUE(plan.ok());
  std::vector<std::string> ids;
  for (const Case& entry : plan->cases) ids.push_back(entry.id);
  const std::string gemm = "gemm/forward/m4n4k4/f32/onednn/cpu/hot";
  EXPECT_THAT(ids, testing::ElementsAre(gemm + "/t2", gemm + "/t2/st2", gemm, gemm + "/st2"));
}

TEST(ConfiguredStreams, MoreStreamsThanThreadsAreRefusedOnceWithTheNextStep) {
  const auto refused = load_streams(
      "version: 1\ndefaults: {threads: 2}\ncases:\n  - op: gemm\n    sweep: {m: [4, 8]}\n"
      "    n: 4\n    k: 4\n    streams: [2, 4]\n");
  ASSERT_FALSE(refused.ok());
  ASSERT_EQ(refused.error().size(), 1u);
  EXPECT_EQ(
      refused.error().front().message(),
      "a.yaml:8:18: 4 streams need at least 4 threads, found 2; use `streams: 2` or fewer, or "
      "`threads: 4` or more");
}

}  // namespace
}  // namespace bench
