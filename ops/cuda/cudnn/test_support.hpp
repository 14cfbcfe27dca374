// SPDX-License-Identifier: Apache-2.0
// For tests that ask this machine's cuDNN about devices that the machine does not have.
#pragma once

#include "base/env.hpp"
#include "base/file.hpp"
#include "ops/cuda/cudnn/forms.hpp"
#include "ops/cuda/cudnn/planning.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda::cudnn_test {

// Returns the places that tests search for cuDNN.
inline std::vector<SearchStep> search_of_this_machine() {
  return library_search_path(environment_variable, "");
}

// Returns cuDNN, or why it cannot be loaded.
inline Result<std::shared_ptr<const CudnnApi>, LoadFailure> cudnn_of_this_machine() {
  return load_cudnn(search_of_this_machine());
}

// Returns the properties of a device of an architecture ("sm_90"), as JSON from testdata/.
inline std::string device_json(const std::string& architecture) {
  constexpr std::int64_t kLimit = 1 << 20;
  const auto text = read_file(
      std::string(BENCH_SOURCE_DIR) + "/ops/cuda/cudnn/testdata/" + architecture + ".json", kLimit);
  EXPECT_TRUE(text.ok()) << architecture;
  return text.ok() ? *text : std::string();
}

// Whether a described device hides the engines that the device has: cuDNN offers none for gradients
// of fp8 on a described sm_90, but an H100 ran both gradients in both layouts (cuDNN 9.19, driver
// 580).
inline bool is_hidden_by_description(const Problem& problem, std::string_view architecture) {
  if (architecture != "sm_90" || problem.op->name != "conv") return false;
  const bool is_s8_data_gradient =
      problem.dtype == DataType::s8 && problem.direction == Direction::backward_data;
  if (!is_fp8(problem.dtype) && !is_s8_data_gradient) return false;
  const auto form = conv_form(conv_part(problem, problem.dtype));
  return form.ok() && form->kind != ConvKind::forward;
}

struct ConvCase {
  std::string tokens;
  DataType dtype = DataType::f16;
  Layout layout = Layout::nhwc;
  Direction direction = Direction::forward;
  Math math = Math::standard;
};

inline Problem conv_problem(const ConvCase& conv_case) {
  Problem problem =
      bench::ops::op_test::problem("conv", conv_case.tokens, conv_case.dtype, conv_case.direction);
  problem.layout = conv_case.layout;
  problem.math = conv_case.math;
  return problem;
}

// Returns the engine that cuDNN prefers for a problem on a described device. Finishes one plan
// only, because finishing plans takes most of a query's 0.1 s.
inline Result<PlannedEngine, BackendError> first_choice(const std::shared_ptr<const CudnnApi>& api,
                                                        const Problem& problem,
                                                        const std::string& json) {
  const auto engines = planned_engines(api, problem, json, {1, 1});
  if (!engines) return engines.error();
  return engines->front();
}

}  // namespace bench::ops::cuda::cudnn_test

// Skips a test with a message if this machine has no cuDNN; otherwise defines `api`.
#define BENCH_NEED_CUDNN(api)                                                     \
  auto loaded_cudnn = ::bench::ops::cuda::cudnn_test::cudnn_of_this_machine();    \
  if (!loaded_cudnn) GTEST_SKIP() << "no cuDNN: " << loaded_cudnn.error().reason; \
  const std::shared_ptr<const ::bench::ops::cuda::CudnnApi> api = *std::move(loaded_cudnn)
