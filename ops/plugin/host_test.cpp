// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/host.hpp"

#include "ops/onednn/aligned_buffer.hpp"
#include "ops/plugin/bench_plugin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct PartNames final : StepObserver {
  void begins(std::size_t) noexcept override {}
  void enqueued(std::size_t) noexcept override {}
  void done(std::size_t) noexcept override {}
  void part_begins(std::string_view name) noexcept override { names.emplace_back(name); }
  void part_ends() noexcept override { names.emplace_back("ends"); }
  std::vector<std::string> names;
};

TEST(HostTest, ABuiltInKernelComputesAndIsAPart) {
  const auto built_in = make_onednn_backend();
  Host host("mine", *built_in);
  const plugin::BuiltInKernel kernel = plugin::Host(host.get()).kernel("gemm", "m2n2k3");
  const plugin::Problem problem = kernel.problem();
  EXPECT_EQ(problem.op(), "gemm");
  EXPECT_EQ(problem.count("k"), 3);
  ASSERT_EQ(problem.tensor_count(), 3U);
  std::vector<AlignedBuffer> memory;
  std::vector<void*> buffers;
  for (std::size_t i = 0; i < 3; ++i) {
    memory.emplace_back(static_cast<std::size_t>(kernel.bytes(i)));
    buffers.push_back(memory.back().data());
  }
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 0, 1, 1, 1};
  kernel.pack(0, a.data(), buffers[0]);
  kernel.pack(1, b.data(), buffers[1]);
  const plugin::BuiltInInvocation invocation(kernel, buffers);
  PartNames parts;
  host.observe(&parts);
  invocation.run();
  host.observe(nullptr);
  EXPECT_THAT(parts.names, ElementsAre("gemm", "ends"));
  std::vector<float> product(4);
  kernel.unpack(2, buffers[2], product.data());
  EXPECT_THAT(product, ElementsAre(4, 5, 10, 11));
}

TEST(HostTest, RefusesWhatTheBackendRefuses) {
  const auto built_in = make_onednn_backend();
  Host host("mine", *built_in);
  const plugin::Host services(host.get());
  const auto refused = [&](const char* op, const char* tokens, std::int32_t dtype) {
    try {
      static_cast<void>(services.kernel(op, tokens, dtype));
    } catch (const plugin::Error& error) {
      return std::to_string(error.status) + " " + error.what();
    }
    return std::string();
  };
  EXPECT_EQ(refused("scale_shift", "", BENCH_F32), "3 no built-in operator `scale_shift`");
  EXPECT_THAT(refused("conv", "n2c8h6w6k16r3s3p1", BENCH_F64), HasSubstr("1 "));
}

}  // namespace
}  // namespace bench::ops
