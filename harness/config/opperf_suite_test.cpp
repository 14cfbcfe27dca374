// SPDX-License-Identifier: Apache-2.0
// configs/opperf.yaml visits each operator of opperf that has a case, at two sizes.
#include "base/file.hpp"
#include "harness/config/load.hpp"
#include "ops/opperf_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

// Returns the text without its digits: cases that differ in sizes have the same.
std::string without_sizes(std::string_view tokens) {
  std::string text(tokens);
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

TEST(OpperfSuite, VisitsEachOperatorAtASmallAndALargeSize) {
  LoadRequest request;
  request.arguments = {std::string(BENCH_SOURCE_DIR) + "/configs/opperf.yaml"};
  request.read = [](const std::string& path) { return read_file(path, 10'000'000); };
  const auto plan = load_plan(request);
  ASSERT_TRUE(plan.ok()) << plan.error().front().what;
  for (const ops::OpperfName& row : ops::opperf_names()) {
    if (row.op.empty()) continue;
    int large = 0;
    int other = 0;
    for (const Case& spec : plan->cases) {
      if (spec.key.op != row.op) continue;
      if (spec.key.parameters == row.tokens) {
        ++large;
      } else if (without_sizes(spec.key.parameters) == without_sizes(row.tokens)) {
        ++other;
      }
    }
    EXPECT_EQ(large, 1) << row.name << ": " << row.op << ' ' << row.tokens;
    EXPECT_GE(other, 1) << row.name << ": no other size";
  }
}

}  // namespace
}  // namespace bench
