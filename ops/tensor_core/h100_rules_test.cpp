// SPDX-License-Identifier: Apache-2.0
// Compares the rules with the tensor operations that an H100 counted in 122 cases
// (profiler/kernel_names/testdata/h100_shapes.tsv).
#include "base/data_type.hpp"
#include "ops/tensor_core/test_support.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace bench::ops::op_test {
namespace {

using testing::UnorderedElementsAre;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

struct CountedCase {
  std::string id;
  double operations = 0;  // of tensor cores, over all types
};

std::vector<CountedCase> counted_cases() {
  constexpr std::size_t kFirstType = 5, kTypes = 6;  // columns of the counted operations
  std::istringstream text(test::read_text(std::string(BENCH_SOURCE_DIR) +
                                          "/profiler/kernel_names/testdata/h100_shapes.tsv"));
  std::vector<CountedCase> cases;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> fields = split(line, '\t');
    CountedCase& counted = cases.emplace_back(fields.at(0));
    for (std::size_t i = 0; i < kTypes; ++i)
      counted.operations += std::stod(fields.at(kFirstType + i));
  }
  return cases;
}

// Assesses the case of an ID: OP/DIRECTION/PARAMETERS/DTYPE/BACKEND/DEVICE/CACHE[/LAYOUT][/MATH].
TensorCoreEligibility assess_id(const std::string& id) {
  const std::vector<std::string> segments = split(id, '/');
  const auto has = [&](std::string_view word) { return std::ranges::count(segments, word) > 0; };
  CaseSettings settings{.dtype = *data_type_from_name(segments.at(3))};
  const auto directions = enumerator_names<Direction>();
  settings.direction =
      static_cast<Direction>(std::ranges::find(directions, segments.at(1)) - directions.begin());
  if (has("nchw")) settings.layout = Layout::nchw;
  if (has("nhwc")) settings.layout = Layout::nhwc;
  if (has("tf32")) settings.math = Math::tf32;
  return assess(segments.at(0), segments.at(2), "sm_90", settings);
}

// A case that is eligible without using tensor cores is missed, not contradicted: eligible means
// that the library has kernels for it.
TEST(H100Rules, NoCounterContradictsARule) {
  std::size_t cases = 0;
  std::vector<std::string> missed;
  for (const CountedCase& counted : counted_cases()) {
    ++cases;
    const TensorCoreEligibility verdict = assess_id(counted.id);
    const bool used = counted.operations > 0;
    EXPECT_TRUE(is_eligible(verdict) || !used) << counted.id << ": " << verdict.reason;
    if (is_eligible(verdict) && !used) missed.push_back(counted.id);
  }
  EXPECT_EQ(cases, 122u);
  EXPECT_THAT(missed, UnorderedElementsAre(
                          "conv/forward/n8c3h28w28k64r3s3p1/f16/cudnn/cuda/hot/nchw",
                          "conv/forward/n8c3h28w28k64r3s3p1/bf16/cudnn/cuda/hot/nchw",
                          "conv/forward/n8c4h28w28k64r3s3p1/f16/cudnn/cuda/hot/nchw",
                          "conv/forward/n8c4h28w28k64r3s3p1/bf16/cudnn/cuda/hot/nchw",
                          "conv/forward/n8c8h28w28k8r3s3p1/f16/cudnn/cuda/hot/nchw",
                          "conv/forward/n8c8h28w28k8r3s3p1/bf16/cudnn/cuda/hot/nchw",
                          "conv/forward/n8c8h28w28k8r3s3p1/bf16/cudnn/cuda/hot/nhwc",
                          "conv/forward/n8c64h28w28k64r1s1p1/f32/cudnn/cuda/hot/nchw/tf32",
                          "conv/forward/n8c64h28w28k64r1s1p1/f32/cudnn/cuda/hot/nhwc/tf32"));
}

TEST(H100Rules, FewChannelsInNchwAreToldWhichLayoutTakesTensorCores) {
  for (const CountedCase& counted : counted_cases()) {
    const bool is_missed_in_nchw = counted.operations == 0 && counted.id.ends_with("/nchw") &&
                                   counted.id.find("/f32/") == counted.id.npos;
    if (!is_missed_in_nchw) continue;
    EXPECT_THAT(assess_id(counted.id).hints,
                testing::Contains(testing::HasSubstr("`layout: nhwc`")))
        << counted.id;
  }
}

}  // namespace
}  // namespace bench::ops::op_test
