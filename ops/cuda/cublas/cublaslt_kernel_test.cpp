// SPDX-License-Identifier: Apache-2.0
// Products by cuBLASLt with its own descriptors, on a scripted device.
#include "ops/cuda/cublas/cublaslt_kernel.hpp"

#include "ops/cuda/cublas/fake_cublas.hpp"
#include "ops/cuda/cublas/product_backend.hpp"
#include "ops/cuda/cublas/test_support.hpp"
#include "ops/cuda/runtime/test_support.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;
using bench::ops::op_test::problem;
using test::FakeCublas;
using test::FakeMatmul;
using test::RuntimeScript;
using test::ScriptedDevice;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

struct CublasLtFixture {
  explicit CublasLtFixture(std::shared_ptr<const CublasLtApi> real, RuntimeScript script = {})
      : device(std::move(script)) {
    fake.runtime = device.runtime;
    fake.algorithms = {{.id = 66, .time = 40us, .workspace = 1024}};
    api = test::fake_cublaslt(std::move(real), fake);
    ProductSetting setting = test::product_setting(device);
    setting.variables = [](const std::string& name) {
      return name == "NVIDIA_TF32_OVERRIDE" ? std::optional<std::string>("0") : std::nullopt;
    };
    auto made = make_cublaslt_backend(setting, api);
    if (made) backend = *std::move(made);
  }
  Result<std::unique_ptr<Kernel>, BackendError> create(const char* tokens,
                                                       DataType dtype = DataType::f32) {
    return backend->create(problem("gemm", tokens, dtype));
  }
  // Allocates memory for every buffer of the kernel.
  std::vector<void*> allocate(const Kernel& kernel) {
    std::vector<void*> addresses;
    for (const KernelBuffer& buffer : kernel.buffers()) {
      memory.push_back(*DeviceBuffer::create(*device.runtime, buffer.size));
      addresses.push_back(memory.back().data());
    }
    return addresses;
  }

  ScriptedDevice device;
  FakeCublas fake;
  std::shared_ptr<const CublasLtApi> api;
  std::unique_ptr<Backend> backend;
  std::vector<DeviceBuffer> memory;
};

TEST(CublasLtKernel, CallsWithTheTensorsInTheirPlaces) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  auto kernel = fixture.create("m3n4k5+bias+add+relu");
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  const auto at = fixture.allocate(**kernel);  // source, weights, bias, residual, destination
  ASSERT_EQ(at.size(), 5u);
  auto invocation = (*kernel)->bind(at);
  ASSERT_TRUE(invocation.ok()) << invocation.error().message();
  ASSERT_TRUE((*invocation)->run()) << (*invocation)->error();
  ASSERT_EQ(fixture.fake.matmuls.size(), 1u);
  const FakeMatmul& call = fixture.fake.matmuls[0];
  EXPECT_EQ(call.a, at[1]);  // row-major: the weights come first
  EXPECT_EQ(call.b, at[0]);
  EXPECT_EQ(call.bias, at[2]);
  EXPECT_EQ(call.c, at[3]);
  EXPECT_EQ(call.d, at[4]);
  EXPECT_EQ(call.alpha, 1);
  EXPECT_EQ(call.beta, 1);
  EXPECT_EQ(call.algorithm, 66);
  EXPECT_NE(call.workspace, nullptr);
  EXPECT_EQ(call.workspace_bytes, 1024u);
  EXPECT_EQ(call.stream, fixture.device.runtime->stream());
  EXPECT_EQ(call.a_scale, nullptr);
  EXPECT_EQ((*kernel)->workspace(), Bytes{1024});
}

TEST(CublasLtKernel, AScaleIsTheFactorOfTheCall) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  for (const DataType dtype : {DataType::f64, DataType::f16, DataType::f32}) {
    auto kernel = fixture.create("b2m4n4k4+scale0.125", dtype);
    ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
    ASSERT_TRUE((*(*kernel)->bind(fixture.allocate(**kernel)))->run());
    EXPECT_EQ(fixture.fake.matmuls.back().alpha, 0.125);
  }
}

// An H100 gave wrong results: the sum was rounded to 16 bits before and after gelu_erf.
TEST(CublasLtKernel, AResultOf16BitsIsRoundedOnceAfterItsEpilogue) {
  BENCH_NEED_CUBLASLT(real);
  for (const DataType dtype : {DataType::f16, DataType::bf16}) {
    CublasLtFixture fixture(real);
    auto kernel = fixture.create("m8n8k8+bias+gelu_erf", dtype);
    ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
    EXPECT_GE((*kernel)->workspace(), Bytes{8 * 8 * 4});
    const auto at = fixture.allocate(**kernel);  // source, weights, bias, destination
    ASSERT_TRUE((*(*kernel)->bind(at))->run());
    const FakeMatmul& call = fixture.fake.matmuls.back();
    EXPECT_NE(call.d, at[3]);
    EXPECT_EQ(call.d_type, CUDA_R_32F);
  }
}

// The fake product leaves what it finds in the result.
TEST(CublasLtKernel, ANativeKernelComputesWhatIsNotFused) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  auto kernel = fixture.create("m2n2k4+bias+square+add");
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  const auto at = fixture.allocate(**kernel);  // source, weights, bias, residual, destination
  ASSERT_EQ(at.size(), 5u);
  auto* residual = static_cast<float*>(at[3]);
  auto* result = static_cast<float*>(at[4]);
  for (int i = 0; i < 4; ++i) residual[i] = 100.0F, result[i] = static_cast<float>(i);
  const auto invocation = (*kernel)->bind(at);
  ASSERT_TRUE(invocation.ok());
  ASSERT_TRUE((*invocation)->run()) << (*invocation)->error();
  EXPECT_EQ(fixture.fake.matmuls.back().bias, at[2]);
  EXPECT_EQ(fixture.fake.matmuls.back().d, result);
  EXPECT_THAT(std::vector<float>(result, result + 4), ElementsAre(100, 101, 104, 109));
  EXPECT_THAT((*kernel)->implementation(), HasSubstr("bench:elementwise"));
  ASSERT_EQ((*kernel)->steps().size(), 2u);
  EXPECT_EQ((*kernel)->steps()[0].kind, "gemm");
  EXPECT_EQ((*kernel)->steps()[1].kind, "epilogue");
}

TEST(CublasLtKernel, WithoutAResidualNothingIsAdded) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  for (const DataType dtype : {DataType::f64, DataType::f16, DataType::s8}) {
    auto kernel = fixture.create("m4n4k4", dtype);
    ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
    const auto at = fixture.allocate(**kernel);
    ASSERT_TRUE((*(*kernel)->bind(at))->run());
    const FakeMatmul& call = fixture.fake.matmuls.back();
    EXPECT_EQ(call.alpha, 1);  // in the type of the sums
    EXPECT_EQ(call.beta, 0);
    EXPECT_EQ(call.c, call.d);
    EXPECT_EQ(call.bias, nullptr);
  }
}

TEST(CublasLtKernel, PartialSumsOfNarrowTypesAreNotRounded) {
  BENCH_NEED_CUBLASLT(real);
  for (const DataType dtype : {DataType::f16, DataType::bf16}) {
    CublasLtFixture fixture(real);
    ASSERT_TRUE(fixture.create("m4n4k4", dtype).ok());
    EXPECT_EQ(fixture.fake.reduction_schemes, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
  }
  CublasLtFixture wide(real);
  ASSERT_TRUE(wide.create("m4n4k4").ok());
  EXPECT_EQ(wide.fake.reduction_schemes, std::nullopt);
}

TEST(CublasLtKernel, ProductsOfFp8SayHowTheyAccumulate) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  const auto kernel = fixture.create("m16n16k16+tb", DataType::f8_e4m3);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  EXPECT_THAT((*kernel)->details(), Contains(Pair("accumulation", "f32, not fast")));
  Problem given = problem("gemm", "m16n16k16+tb", DataType::f8_e4m3);
  given.math = Math::fast_accumulation;
  const auto fast = fixture.backend->create(given);
  ASSERT_TRUE(fast.ok()) << fast.error().reason;
  EXPECT_THAT((*fast)->details(), Contains(Pair("accumulation", "fast")));
  const auto other = fixture.create("m16n16k16", DataType::f16);
  ASSERT_TRUE(other.ok()) << other.error().reason;
  EXPECT_THAT((*other)->details(), Not(Contains(Key("accumulation"))));
}

TEST(CublasLtKernel, EachInvocationHasItsOwnBias) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  auto kernel = fixture.create("m4n4k4+bias");
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  const auto first = fixture.allocate(**kernel);
  const auto second = fixture.allocate(**kernel);
  const auto one = (*kernel)->bind(first);
  const auto two = (*kernel)->bind(second);
  ASSERT_TRUE((*one)->run() && (*two)->run() && (*one)->run());
  ASSERT_EQ(fixture.fake.matmuls.size(), 3u);
  EXPECT_EQ(fixture.fake.matmuls[0].bias, first[2]);
  EXPECT_EQ(fixture.fake.matmuls[1].bias, second[2]);
  EXPECT_EQ(fixture.fake.matmuls[2].bias, first[2]);
}

// On an H100, cuBLASLt left the split to itself: int32 -1, shown as 4294967295.
TEST(CublasLtKernel, WhatCublasLtChoosesItselfIsAutomatic) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  for (test::FakeAlgorithm& algorithm : fixture.fake.algorithms) algorithm.split = -1;
  const auto kernel = fixture.create("m4n4k4", DataType::bf16);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  EXPECT_THAT((*kernel)->details(), Contains(Pair("split_k", "auto")));
  EXPECT_EQ((*kernel)->implementation(), "cublaslt:66:tile20:stages36:split_k_auto");
}

TEST(CublasLtKernel, TellsWhatItChose) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  const auto kernel = fixture.create("m4n4k4", DataType::bf16);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  EXPECT_EQ((*kernel)->implementation(), "cublaslt:66:tile20:stages36:split_k3");
  const auto details = (*kernel)->details();
  EXPECT_THAT(details, Contains(Pair("algorithm", "66")));
  EXPECT_THAT(details, Contains(Pair("tile", "20")));
  EXPECT_THAT(details, Contains(Pair("split_k", "3")));
  EXPECT_THAT(details, Contains(Pair("workspace_bytes", "1024")));
  EXPECT_THAT(details, Contains(Pair("compute_type", "32F")));
  EXPECT_THAT(details, Contains(Pair("environment", "NVIDIA_TF32_OVERRIDE=0")));
  EXPECT_THAT(details, Contains(Pair("library.cublaslt", StartsWith("13."))));
  EXPECT_THAT(details, Contains(Pair("library.cublaslt.path", real->path)));
  EXPECT_THAT(details, Contains(Key("setup.plan_ns")));
  EXPECT_THAT(details, Contains(Key("setup.library_ns")));  // the first kernel of the process
  EXPECT_THAT(details, Not(Contains(Key("custom"))));       // the library does not report it
  EXPECT_THAT(details, Not(Contains(Key("tuned"))));
  const auto second = fixture.create("m4n4k4", DataType::bf16);
  EXPECT_THAT((*second)->details(), Not(Contains(Key("setup.library_ns"))));
}

TEST(CublasLtKernel, LimitsTheWorkspaceByTheDevice) {
  BENCH_NEED_CUBLASLT(real);
  for (const auto& [major, mebi] : {std::pair(8, 32u), std::pair(9, 64u), std::pair(10, 64u)}) {
    RuntimeScript script;
    script.traits.major = major;
    CublasLtFixture fixture(real, script);
    ASSERT_TRUE(fixture.create("m4n4k4").ok());
    EXPECT_EQ(fixture.fake.workspace_limit, std::uint64_t{mebi} << 20);
    EXPECT_THAT(fixture.fake.alignments, Each(64u));
    EXPECT_EQ(fixture.fake.requested, 1);
  }
}

TEST(CublasLtKernel, TuningTakesTheFastestThatRuns) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  fixture.fake.algorithms = {{.id = 1, .time = 60us},
                             {.id = 2, .time = 10us, .runs = CUBLAS_STATUS_NOT_SUPPORTED},
                             {.id = 3, .time = 30us, .workspace = 4096},
                             {.id = 4, .time = 40us},
                             {.id = 5, .time = 5us, .state = CUBLAS_STATUS_NOT_SUPPORTED}};
  fixture.backend->set_tuning(8);
  const std::size_t before = fixture.device.runtime->live_allocations();
  const auto kernel = fixture.create("m4n4k4");
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  EXPECT_EQ(fixture.fake.requested, 8);
  EXPECT_THAT((*kernel)->details(), Contains(Pair("algorithm", "3")));
  EXPECT_THAT((*kernel)->details(),
              Contains(Pair("tuned", "default 60.00 us, chosen 30.00 us: 3 of 4")));
  EXPECT_EQ((*kernel)->details().at("tuned_candidates"),
            "cublaslt:1:tile20:stages36:split_k3 60.00 us; "
            "cublaslt:2:tile20:stages36:split_k3 failed: cublasLtMatmul: "
            "CUBLAS_STATUS_NOT_SUPPORTED (15); "
            "cublaslt:3:tile20:stages36:split_k3 30.00 us; "
            "cublaslt:4:tile20:stages36:split_k3 40.00 us");
  EXPECT_THAT((*kernel)->details(), Contains(Key("setup.tuning_ns")));
  EXPECT_EQ((*kernel)->workspace(), Bytes{4096});
  // The memory for measuring is released; the workspace is kept.
  EXPECT_EQ(fixture.device.runtime->live_allocations(), before + 1);
}

TEST(CublasLtKernel, WithoutMemoryForMeasuringTheFirstIsTaken) {
  BENCH_NEED_CUBLASLT(real);
  RuntimeScript script;
  script.traits.memory = {20'000};  // the tensors, and the workspace of the first
  CublasLtFixture fixture(real, script);
  fixture.fake.algorithms = {{.id = 1, .time = 60us}, {.id = 2, .time = 30us, .workspace = 10'000}};
  fixture.backend->set_tuning(2);
  const auto kernel = fixture.create("m32n32k32");
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  EXPECT_THAT((*kernel)->details(), Contains(Pair("algorithm", "1")));
  EXPECT_THAT((*kernel)->details().at("tuned"), HasSubstr("no: not enough memory"));
}

TEST(CublasLtKernel, WithoutAnAlgorithmThereIsNoKernel) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  fixture.fake.heuristics = CUBLAS_STATUS_NOT_SUPPORTED;
  auto kernel = fixture.create("m4n4k4");
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported);
  EXPECT_EQ(kernel.error().reason,
            "cuBLASLt: no algorithm for this product: CUBLAS_STATUS_NOT_SUPPORTED (15)");
  fixture.fake.heuristics = CUBLAS_STATUS_SUCCESS;
  fixture.fake.algorithms[0].state = CUBLAS_STATUS_NOT_SUPPORTED;
  EXPECT_EQ(fixture.create("m4n4k4").error().kind, BackendError::Kind::unsupported);
  fixture.fake.algorithms.clear();
  EXPECT_EQ(fixture.create("m4n4k4").error().kind, BackendError::Kind::unsupported);
  fixture.fake.heuristics = CUBLAS_STATUS_INTERNAL_ERROR;
  EXPECT_EQ(fixture.create("m4n4k4").error().kind, BackendError::Kind::failed);
}

TEST(CublasLtKernel, WithoutMemoryItIsSkippedWithTheSizes) {
  BENCH_NEED_CUBLASLT(real);
  RuntimeScript script;
  script.traits.memory = {16 << 10};
  CublasLtFixture fixture(real, script);
  auto kernel = fixture.create("m64n64k64");  // 48 KiB
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::skipped);
  EXPECT_EQ(kernel.error().reason,
            "not enough memory: the product needs 48.00 KiB, the device has 16.00 KiB of 16.00 KiB "
            "free");
  fixture.fake.algorithms[0].workspace = 1 << 20;
  kernel = fixture.create("m4n4k4");
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::skipped);
  EXPECT_THAT(kernel.error().reason, HasSubstr("1.000 MiB requested"));
}

TEST(CublasLtKernel, Fp8IsMultipliedByOne) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  auto kernel = fixture.create("m16n16k16+tb", DataType::f8_e4m3);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  const auto at = fixture.allocate(**kernel);
  ASSERT_TRUE((*(*kernel)->bind(at))->run());
  const FakeMatmul& call = fixture.fake.matmuls[0];
  ASSERT_NE(call.a_scale, nullptr);
  EXPECT_EQ(*static_cast<const float*>(call.a_scale), 1.0f);
  EXPECT_EQ(call.b_scale, call.a_scale);
  EXPECT_EQ(call.d_scale, call.a_scale);
  EXPECT_EQ(call.c_type, CUDA_R_16BF);
  EXPECT_EQ(call.c, nullptr);
}

TEST(CublasLtKernel, Fp8NeedsADeviceThatHasIt) {
  BENCH_NEED_CUBLASLT(real);
  RuntimeScript old;
  old.traits.major = 8;
  old.traits.minor = 6;
  CublasLtFixture ampere(real, old);
  EXPECT_THAT(ampere.create("m16n16k16+tb", DataType::f8_e4m3).error().reason, HasSubstr("8.9"));
}

TEST(CublasLtKernel, PacksTheBiasInTheTypeInWhichItIsAdded) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  auto kernel = fixture.create("m2n3k2+bias", DataType::bf16);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  const auto at = fixture.allocate(**kernel);
  EXPECT_EQ((*kernel)->buffers()[2].size, Bytes{6});
  const float bias[] = {1.5f, -2.0f, 3.25f};
  ASSERT_TRUE((*kernel)->pack(2, bias, at[2]).ok());
  EXPECT_EQ(load_element(DataType::bf16, at[2], 2), 3.25);
  float back[3] = {};
  ASSERT_TRUE((*kernel)->unpack(2, at[2], back).ok());
  EXPECT_THAT(back, ElementsAre(1.5f, -2.0f, 3.25f));
  const std::uint16_t source[] = {1, 2, 3, 4};  // the others are unchanged
  std::uint16_t copied[4] = {};
  ASSERT_TRUE((*kernel)->pack(0, source, at[0]).ok());
  ASSERT_TRUE((*kernel)->unpack(0, at[0], copied).ok());
  EXPECT_THAT(copied, ElementsAre(1, 2, 3, 4));
}

TEST(CublasLtKernel, SaysWhyAProductFailed) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  auto kernel = fixture.create("m4n4k4");
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  fixture.fake.algorithms[0].runs = CUBLAS_STATUS_NOT_SUPPORTED;
  const auto invocation = (*kernel)->bind(fixture.allocate(**kernel));
  EXPECT_FALSE((*invocation)->run());
  EXPECT_EQ((*invocation)->error(), "cublasLtMatmul: CUBLAS_STATUS_NOT_SUPPORTED (15)");
}

TEST(CublasLtKernel, BindsNoBufferThatItsAlgorithmWasNotChosenFor) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  auto kernel = fixture.create("m4n4k4");
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  auto at = fixture.allocate(**kernel);
  at[1] = static_cast<char*>(at[1]) + 16;
  EXPECT_THAT((*kernel)->bind(at).error().what, HasSubstr("buffer 1 is not aligned to 64"));
  at.pop_back();
  EXPECT_FALSE((*kernel)->bind(at).ok());
}

TEST(CublasLtKernel, TakesSamplesOnTheDevice) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  auto kernel = fixture.create("m4n4k4");
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  const auto invocation = (*kernel)->bind(fixture.allocate(**kernel));
  Invocation* const rotation[] = {invocation->get()};
  const auto sample = (*kernel)->sample({rotation, 0, 10, SampleMethod::any});
  ASSERT_TRUE(sample.ok()) << sample.error().message();
  EXPECT_EQ(sample->device, 400us);
}

TEST(CublasLtBackend, HasMatrixProductsAlone) {
  BENCH_NEED_CUBLASLT(real);
  CublasLtFixture fixture(real);
  const auto kernel = fixture.backend->create(problem("pointwise", "relu-1x2x3x4"));
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(kernel.error().reason, HasSubstr("use backend cudnn for pointwise"));
}

TEST(CublasLtBackend, IsNotMadeWithoutAHandle) {
  BENCH_NEED_CUBLASLT(real);
  ScriptedDevice device;
  FakeCublas fake;
  fake.runtime = device.runtime;
  fake.create = CUBLAS_STATUS_NOT_INITIALIZED;
  const auto made =
      make_cublaslt_backend(test::product_setting(device), test::fake_cublaslt(real, fake));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().reason, "cublasLtCreate: CUBLAS_STATUS_NOT_INITIALIZED (1)");
}

}  // namespace
}  // namespace bench::ops::cuda
