// SPDX-License-Identifier: Apache-2.0
// Tests kernels of plugins that contradict themselves or violate the interface.
#include "ops/plugin/plugin_kernel.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A valid kernel with two steps, which tests make invalid.
struct RawKernel {
  RawKernel() {
    for (bench_buffer& buffer : buffers) {
      buffer = {sizeof(bench_buffer), BENCH_ROLE_INPUT, 64, "ab"};
    }
    raw.size = sizeof raw;
    raw.self = this;
    raw.implementation = "raw";
    raw.buffers = buffer_rows.data();
    raw.buffer_count = buffer_rows.size();
    raw.steps = step_rows.data();
    raw.step_count = step_rows.size();
    raw.bind = [](void* self, void* const*, const bench_invocation** bound,
                  bench_message*) -> bench_status {
      *bound = &static_cast<RawKernel*>(self)->invocation;
      return BENCH_OK;
    };
    raw.destroy = [](void* self) { ++static_cast<RawKernel*>(self)->destroyed; };
    invocation.size = sizeof invocation;
    invocation.self = this;
    invocation.run = [](void*) -> bench_status { return BENCH_OK; };
    invocation.run_observed = [](void* self, const bench_observer* observer) -> bench_status {
      static_cast<RawKernel*>(self)->observed(*observer);
      return BENCH_OK;
    };
    invocation.destroy = [](void*) {};
  }

  bench_kernel raw{};
  bench_invocation invocation{};
  std::array<bench_buffer, 3> buffers{};
  std::array<const bench_buffer*, 3> buffer_rows = {&buffers[0], &buffers[1], &buffers[2]};
  std::array<bench_step, 2> steps = {
      {{sizeof(bench_step), "a", "", ""}, {sizeof(bench_step), "b", "", ""}}};
  std::array<const bench_step*, 2> step_rows = {&steps[0], &steps[1]};
  std::function<void(const bench_observer&)> observed;
  int destroyed = 0;
};

struct Steps final : StepObserver {
  void begins(std::size_t step) noexcept override {
    reported.push_back(10 + static_cast<int>(step));
  }
  void enqueued(std::size_t step) noexcept override {
    reported.push_back(20 + static_cast<int>(step));
  }
  void done(std::size_t step) noexcept override { reported.push_back(30 + static_cast<int>(step)); }
  std::vector<int> reported;
};

class PluginKernelTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Kernel>> take() {
    return take_kernel(kernel_.raw, gemm_.tensors, {host_, nullptr});
  }
  // Returns what is wrong with the kernel, and checks that it was destroyed.
  std::string fault() {
    const int before = kernel_.destroyed;
    const auto taken = take();
    if (taken.ok()) return "";
    EXPECT_EQ(kernel_.destroyed, before + 1);
    return taken.error().what;
  }

  std::unique_ptr<Backend> built_in_ = make_onednn_backend();
  Host host_{"raw", *built_in_};
  const Problem gemm_ = op_test::problem("gemm", "m4n4k4");
  RawKernel kernel_;
};

TEST_F(PluginKernelTest, TakesStructsOfItsOwnSize) {
  bench_detail detail = {sizeof detail, "engine", "7"};
  const bench_detail* const rows[] = {&detail, nullptr};
  kernel_.raw.details = rows;
  kernel_.raw.detail_count = 1;
  EXPECT_EQ(take().value()->details().at("engine"), "7");
  EXPECT_FALSE(take().value()->has_device_clock());
  kernel_.raw.size = sizeof(bench_kernel) - 1;
  EXPECT_THAT(fault(), HasSubstr("too short"));
  kernel_.raw.size = sizeof(bench_kernel) + 1;
  EXPECT_THAT(fault(), HasSubstr(std::to_string(sizeof(bench_kernel) + 1) +
                                 " bytes long, but this "
                                 "program supports " +
                                 std::to_string(sizeof(bench_kernel))));
  kernel_.raw.size = sizeof(bench_kernel);
  detail.size = sizeof detail + 8;
  EXPECT_THAT(fault(), HasSubstr("an invalid detail 0: it is "));
  detail.size = sizeof detail;
  kernel_.raw.detail_count = 2;
  EXPECT_THAT(fault(), HasSubstr("an invalid detail 1"));
}

// A plugin cannot know that the host may replace the content of inputs.
TEST_F(PluginKernelTest, IndicesAreKnownByTheirTensor) {
  const Problem lookup = op_test::problem("embedding", "r4d4i4");
  const auto kernel = take_kernel(kernel_.raw, lookup.tensors, {host_, nullptr});
  ASSERT_TRUE(kernel.ok()) << kernel.error().what;
  EXPECT_EQ((*kernel)->buffers()[0].role, BufferRole::input);  // as the plugin says
  EXPECT_EQ((*kernel)->buffers()[1].role, BufferRole::index);
}

TEST_F(PluginKernelTest, RefusesInvalidBuffersAndSteps) {
  kernel_.raw.buffer_count = 2;
  EXPECT_THAT(fault(), HasSubstr("2 buffers for 3 tensors"));
  kernel_.raw.buffer_count = 4;
  EXPECT_THAT(fault(), HasSubstr("4 buffers for 3 tensors"));
  kernel_.raw.buffer_count = 3;
  kernel_.buffers[1].bytes = 63;
  EXPECT_THAT(fault(), HasSubstr("buffer 1 that is too small"));
  kernel_.buffers[1].bytes = -1;
  EXPECT_THAT(fault(), HasSubstr("an invalid buffer 1"));
  kernel_.buffers[1] = {sizeof(bench_buffer), 7, 64, "ab"};
  EXPECT_THAT(fault(), HasSubstr("an invalid buffer 1"));
  kernel_.buffers[1].role = BENCH_ROLE_OUTPUT;
  kernel_.step_rows[1] = nullptr;
  EXPECT_THAT(fault(), HasSubstr("an invalid step 1"));
}

TEST_F(PluginKernelTest, StepsAreToldInTheirOrderOrTheExecutionFailed) {
  const auto taken = take();
  ASSERT_TRUE(taken.ok());
  auto bound = (*taken)->bind(std::vector<void*>(3));
  ASSERT_TRUE(bound.ok());
  Steps steps;
  kernel_.observed = [](const bench_observer& observer) {
    for (const std::size_t step : {0, 1}) {
      observer.begins(observer.self, step);
      observer.enqueued(observer.self, step);
      observer.done(observer.self, step);
    }
  };
  EXPECT_TRUE((*bound)->run_observed(steps));
  EXPECT_THAT(steps.reported, ElementsAre(10, 20, 30, 11, 21, 31));
  const std::vector<std::function<void(const bench_observer&)>> wrong = {
      [](const bench_observer& observer) { observer.begins(observer.self, 2); },
      [](const bench_observer& observer) { observer.done(observer.self, 0); },
      [](const bench_observer& observer) { observer.enqueued(observer.self, 0); },
      [](const bench_observer& observer) {
        observer.begins(observer.self, 0);
        observer.begins(observer.self, 1);
      },
      [](const bench_observer& observer) {  // the step is not awaited
        observer.begins(observer.self, 0);
        observer.enqueued(observer.self, 0);
      },
      [](const bench_observer& observer) { observer.begins(observer.self, 0); }};
  for (const auto& tell : wrong) {
    kernel_.observed = tell;
    EXPECT_FALSE((*bound)->run_observed(steps));
    EXPECT_THAT((*bound)->error(), HasSubstr("steps"));
  }
}

}  // namespace
}  // namespace bench::ops
