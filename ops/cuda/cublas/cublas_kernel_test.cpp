// SPDX-License-Identifier: Apache-2.0
// Matrix products on a scripted device, with a fake cuBLAS.
#include "ops/cuda/cublas/cublas_kernel.hpp"

#include "ops/cuda/cublas/fake_cublas.hpp"
#include "ops/cuda/cublas/product_backend.hpp"
#include "ops/cuda/cublas/test_support.hpp"
#include "ops/cuda/runtime/test_support.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::problem;
using test::FakeCublas;
using test::FakeGemm;
using test::RuntimeScript;
using test::ScriptedDevice;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

struct Fixture {
  explicit Fixture(RuntimeScript script = {}) : device(std::move(script)) {
    fake.runtime = device.runtime;
    auto made = make_cublas_backend(test::product_setting(device), test::fake_cublas(fake));
    if (made) backend = *std::move(made);
  }
  // Executes the problem once.
  FakeGemm run(const Problem& given) {
    auto made = backend->create(given);
    if (!made) {
      ADD_FAILURE() << made.error().reason;
      return {};
    }
    kernel = *std::move(made);
    memory.clear();
    addresses.clear();
    for (const KernelBuffer& buffer : kernel->buffers()) {
      memory.push_back(*DeviceBuffer::create(*device.runtime, buffer.size));
      addresses.push_back(memory.back().data());
    }
    const auto invocation = kernel->bind(addresses);
    EXPECT_TRUE((*invocation)->run()) << (*invocation)->error();
    return fake.gemms.back();
  }

  ScriptedDevice device;
  FakeCublas fake;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Kernel> kernel;
  std::vector<DeviceBuffer> memory;
  std::vector<void*> addresses;
};

TEST(CublasKernel, SetsStreamAndThenWorkspaceOnce) {
  Fixture fixture;
  EXPECT_THAT(fixture.fake.calls, ElementsAre("create", "set_stream", "set_workspace 67108864"));
  fixture.run(problem("gemm", "m4n4k4"));
  EXPECT_EQ(fixture.fake.calls.size(), 3u);
  EXPECT_EQ(fixture.kernel->workspace(), Bytes{64 << 20});
  fixture.kernel.reset();
  fixture.backend.reset();
  EXPECT_EQ(fixture.fake.calls.back(), "destroy");
}

TEST(CublasKernel, CallsInColumnMajorOrder) {
  Fixture fixture;
  const FakeGemm call = fixture.run(problem("gemm", "m3n4k5+tb", DataType::f16));
  EXPECT_EQ(call.m, 4);
  EXPECT_EQ(call.n, 3);
  EXPECT_EQ(call.k, 5);
  EXPECT_EQ(call.a, fixture.addresses[1]);
  EXPECT_EQ(call.b, fixture.addresses[0]);
  EXPECT_EQ(call.d, fixture.addresses[2]);
  EXPECT_EQ(call.transa, CUBLAS_OP_T);
  EXPECT_EQ(call.transb, CUBLAS_OP_N);
  EXPECT_EQ(call.lda, 5);
  EXPECT_EQ(call.ldb, 5);
  EXPECT_EQ(call.ldd, 4);
  EXPECT_EQ(call.a_type, CUDA_R_16F);
  EXPECT_EQ(call.compute, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(call.alpha, 1);
  EXPECT_EQ(call.beta, 0);
  EXPECT_EQ(fixture.kernel->implementation(), "cublas:gemm_ex");
}

// Weights that all products share have a stride of 0.
TEST(CublasKernel, BatchesCanShareAMatrix) {
  Fixture fixture;
  const FakeGemm call = fixture.run(problem("gemm", "b7wb1m3n4k5"));
  EXPECT_EQ(call.batch, 7);
  EXPECT_EQ(call.stride_a, 0);
  EXPECT_EQ(call.stride_b, 15);
}

TEST(CublasKernel, AGroupedProductIsACallPerGroup) {
  Fixture fixture;
  fixture.run(problem("grouped_gemm", "3x16x3-n32k20+tb", DataType::f16));
  ASSERT_EQ(fixture.fake.gemms.size(), 3u);
  EXPECT_EQ(fixture.kernel->steps().size(), 3u);
  EXPECT_TRUE(fixture.kernel->has_device_clock());
  EXPECT_EQ(fixture.kernel->workspace(), Bytes{64 << 20});  // the handle's, which all calls share
  const auto offset = [&](std::size_t call, std::size_t tensor, const void* address) {
    EXPECT_EQ(fixture.fake.gemms[call].m, 32);
    return static_cast<const std::byte*>(address) -
           static_cast<const std::byte*>(fixture.addresses[tensor]);
  };
  const auto& gemms = fixture.fake.gemms;
  EXPECT_EQ(gemms[0].n, 3);
  EXPECT_EQ(gemms[1].n, 16);
  EXPECT_EQ(gemms[2].n, 3);
  // 3 x 20 and 16 x 20 of 2 bytes, each at a multiple of 64 bytes.
  EXPECT_EQ(offset(0, 0, gemms[0].b), 0);
  EXPECT_EQ(offset(1, 0, gemms[1].b), 128);
  EXPECT_EQ(offset(2, 0, gemms[2].b), 128 + 640);
  EXPECT_EQ(offset(2, 1, gemms[2].a), 2 * 20 * 32 * 2);
  EXPECT_EQ(offset(2, 2, gemms[2].d), 192 + 1024);
}

TEST(CublasKernel, AGroupedProductHasTheErrorOfItsProducts) {
  Fixture fixture;
  const auto refused = fixture.backend->create(problem("grouped_gemm", "4x8-n4k4+bias"));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().reason, HasSubstr("no epilogues"));
}

TEST(CublasKernel, BatchesAreStrided) {
  Fixture fixture;
  const FakeGemm call = fixture.run(problem("gemm", "b7m3n4k5"));
  EXPECT_EQ(call.batch, 7);
  EXPECT_EQ(call.stride_a, 20);
  EXPECT_EQ(call.stride_b, 15);
  EXPECT_EQ(call.stride_d, 12);
  EXPECT_EQ(fixture.kernel->implementation(), "cublas:gemm_strided_batched_ex");
}

TEST(CublasKernel, Tf32ModeIsSetOnlyForTf32Cases) {
  Fixture fixture;
  Problem fast = problem("gemm", "m4n4k4");
  fast.math = Math::tf32;
  EXPECT_EQ(fixture.run(fast).mode, CUBLAS_TF32_TENSOR_OP_MATH);
  EXPECT_EQ(fixture.fake.gemms.back().compute, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_THAT(fixture.kernel->details(), Contains(Pair("compute_type", "32F_FAST_TF32")));
  const FakeGemm plain = fixture.run(problem("gemm", "m4n4k4"));
  EXPECT_EQ(plain.mode, CUBLAS_DEFAULT_MATH);
  EXPECT_EQ(plain.compute, CUBLAS_COMPUTE_32F);
}

TEST(CublasKernel, PartialSumsOfNarrowTypesAreNotRounded) {
  Fixture fixture;
  EXPECT_EQ(fixture.run(problem("gemm", "m4n4k4", DataType::bf16)).mode,
            CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  EXPECT_EQ(fixture.run(problem("gemm", "m4n4k4")).mode, CUBLAS_DEFAULT_MATH);
}

TEST(CublasKernel, SumsInTheTypeOfTheProblem) {
  Fixture fixture;
  EXPECT_EQ(fixture.run(problem("gemm", "m4n4k4", DataType::f64)).alpha, 1);
  EXPECT_EQ(fixture.fake.gemms.back().compute, CUBLAS_COMPUTE_64F);
  EXPECT_EQ(fixture.run(problem("gemm", "m4n4k4", DataType::s8)).alpha, 1);
  EXPECT_EQ(fixture.fake.gemms.back().compute, CUBLAS_COMPUTE_32I);
  EXPECT_EQ(fixture.fake.gemms.back().d_type, CUDA_R_32I);
}

// cuBLAS reports unsupported layouts of 8-bit integers only when called.
TEST(CublasKernel, LayoutsOfIntegersThatAreRefusedWhenCalledAreUnsupported) {
  Fixture fixture;
  fixture.fake.gemm = CUBLAS_STATUS_NOT_SUPPORTED;
  const std::size_t before = fixture.device.runtime->live_allocations();
  const auto refused = fixture.backend->create(problem("gemm", "m4n4k4", DataType::s8));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(refused.error().reason, HasSubstr("cublasGemmEx: "));
  EXPECT_THAT(refused.error().reason, HasSubstr("NOT_SUPPORTED"));
  EXPECT_EQ(fixture.device.runtime->live_allocations(), before);
  fixture.fake.gemm = CUBLAS_STATUS_EXECUTION_FAILED;
  EXPECT_EQ(fixture.backend->create(problem("gemm", "m4n4k4", DataType::s8)).error().kind,
            BackendError::Kind::failed);
  // Other types are not tried.
  EXPECT_TRUE(fixture.backend->create(problem("gemm", "m4n4k4", DataType::f16)).ok());
  fixture.fake.gemm = CUBLAS_STATUS_SUCCESS;
  EXPECT_TRUE(fixture.backend->create(problem("gemm", "m4n4k4", DataType::s8)).ok());
}

TEST(CublasKernel, AResidualIsCopiedFirst) {
  Fixture fixture;
  fixture.device.runtime->forget_calls();
  const FakeGemm call = fixture.run(problem("gemm", "m4n4k4+add"));
  EXPECT_EQ(call.beta, 1);
  EXPECT_EQ(call.d, fixture.addresses[3]);
  const auto& calls = fixture.device.runtime->calls;
  const auto copy = std::find(calls.begin(), calls.end(), "copy_within");
  const auto product = std::find(calls.begin(), calls.end(), "launch gemm");
  EXPECT_LT(copy, product);
  EXPECT_THAT(fixture.kernel->details(), Contains(Key("residual")));
  fixture.run(problem("gemm", "m4n4k4"));
  EXPECT_THAT(fixture.kernel->details(), Not(Contains(Key("residual"))));
}

TEST(CublasKernel, RefusesSizesAbove32Bits) {
  Fixture fixture;
  const auto kernel = fixture.backend->create(problem("gemm", "m1n1k3000000000"));
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported);
  EXPECT_EQ(kernel.error().reason, "cuBLAS supports sizes up to 2147483647, not 3000000000");
}

TEST(CublasBackend, WithoutMemoryForTheWorkspaceIsSkipped) {
  RuntimeScript script;
  script.traits.memory = {1 << 20};
  ScriptedDevice device(script);
  FakeCublas fake;
  fake.runtime = device.runtime;
  const auto made = make_cublas_backend(test::product_setting(device), test::fake_cublas(fake));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, BackendError::Kind::skipped);
  EXPECT_EQ(fake.calls.back(), "destroy");
}

TEST(LibraryVariables, AreThoseThatAreSet) {
  EXPECT_TRUE(library_variables([](const std::string&) { return std::nullopt; }).empty());
  const auto some = library_variables([](const std::string& name) {
    return name == "CUBLAS_WORKSPACE_CONFIG" || name == "NVIDIA_TF32_OVERRIDE"
               ? std::optional<std::string>("0")
               : std::nullopt;
  });
  EXPECT_THAT(
      some, ElementsAre(Pair("environment", "CUBLAS_WORKSPACE_CONFIG=0, NVIDIA_TF32_OVERRIDE=0")));
}

}  // namespace
}  // namespace bench::ops::cuda
