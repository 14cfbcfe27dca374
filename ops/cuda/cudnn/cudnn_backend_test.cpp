// SPDX-License-Identifier: Apache-2.0
// Tests the backend on a scripted device with a scripted cuDNN: which engine is chosen, what is
// bound, what runs after it. If results are compared, the scripted engine computes the reference.
#include "ops/cuda/cudnn/cudnn_backend.hpp"

#include "ops/cuda/cudnn/backend_fixture.hpp"
#include "ops/cuda/cudnn/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::layer;
using bench::ops::op_test::problem;
using bench::ops::op_test::random_inputs;
using cudnn_test::CudnnBackendTest;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int32_t kTensorCore = 0;        // CUDNN_NUMERICAL_NOTE_TENSOR_CORE
constexpr std::int32_t kReducedPrecision = 2;  // CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION

TEST_F(CudnnBackendTest, SaysWhatItIs) {
  EXPECT_EQ(backend().name(), "cudnn");
  EXPECT_EQ(backend().device(), "cuda");
  EXPECT_EQ(backend().library().version, "9.19.0");
  EXPECT_EQ(cudnn_.stream, device_.runtime->stream());
}

TEST_F(CudnnBackendTest, NoHandleNoBackend) {
  cudnn_.rejects_handle = true;
  const auto made = make_cudnn_backend({device_.parts(), cudnn_.api(), nullptr, {}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, BackendError::Kind::failed);
  EXPECT_THAT(made.error().reason, HasSubstr("as the script says"));
}

TEST_F(CudnnBackendTest, TakesTheFirstEngineThatFinishes) {
  cudnn_.engines = {{.index = 4, .finishes = false}, {.index = 6, .workspace = 4096}, {.index = 9}};
  const auto kernel = create(problem("conv", "n2c4h5k6r3p1", DataType::f16));
  EXPECT_EQ(kernel->implementation(), "cudnn:engine_6");
  EXPECT_EQ(kernel->workspace().count, 4096);
  const auto details = kernel->details();
  EXPECT_EQ(details.at("engine"), "engine 6: workspace 4 KiB");
  EXPECT_EQ(details.at("knobs"), "7=2");
  EXPECT_TRUE(details.contains("setup.plan_ns"));
  EXPECT_TRUE(details.contains("setup.library_ns"));
  EXPECT_EQ(cudnn_.plans, 1);
}

TEST_F(CudnnBackendTest, FallsBackWhereNoneOfTheFirstDoes) {
  cudnn_.engines = {{.index = 4, .finishes = false}};
  cudnn_.fallbacks = {{.index = 1}};
  EXPECT_EQ(create(problem("conv", "n2c4h5k6r3p1", DataType::f16))->implementation(),
            "cudnn:engine_1");
  cudnn_.fallbacks = {};
  const auto none = backend().create(problem("conv", "n2c8h5k6r3p1", DataType::f16));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(none.error().reason, HasSubstr("as the script says"));
}

// The rule of planning.cpp also applies on a device.
TEST_F(CudnnBackendTest, EnginesThatRoundToTf32AreLeftOutUnlessAskedFor) {
  cudnn_.engines = {{.index = 5, .notes = {kTensorCore}}, {.index = 2}};
  Problem conv = problem("conv", "n2c4h5k6r3p1");
  EXPECT_EQ(create(conv)->implementation(), "cudnn:engine_2");
  conv.math = Math::tf32;
  EXPECT_EQ(create(conv)->implementation(), "cudnn:engine_5");
}

TEST_F(CudnnBackendTest, FastAccumulationIsRefused) {
  Problem conv = problem("conv", "n2c16h5k16r3p1", DataType::f8_e4m3);
  conv.math = Math::fast_accumulation;
  const auto refused = backend().create(conv);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, BackendError::Kind::unsupported);
  EXPECT_EQ(refused.error().reason,
            "only backend cublaslt supports fast accumulation of fp8; leave `math: "
            "fast_accumulation` out");
}

TEST_F(CudnnBackendTest, ASecondCreationTakesThePlanOfTheFirst) {
  const Problem conv = problem("conv", "n2c4h5k6r3p1", DataType::f16);
  const auto first = create(conv);
  const auto heuristics = cudnn_.heuristics;
  const auto second = create(conv);
  EXPECT_EQ(cudnn_.heuristics, heuristics);
  EXPECT_EQ(cudnn_.plans, 1);
  EXPECT_EQ(second->details().at("plan_cache"), "hit");
  EXPECT_FALSE(second->details().contains("setup.plan_ns"));
  EXPECT_FALSE(first->details().contains("plan_cache"));
  create(problem("conv", "n3c4h5k6r3p1", DataType::f16));
  EXPECT_EQ(cudnn_.plans, 2);
}

TEST_F(CudnnBackendTest, BindsEveryTensorToItsUid) {
  cudnn_.engines = {{.index = 1, .workspace = 512}};
  const Problem conv = problem("conv", "n2c4h5k6r3p1+bias+add+relu", DataType::f16);
  const auto kernel = create(conv);
  test::DeviceRun run(device_, *kernel, conv.tensors);
  ASSERT_TRUE(run.bind()->run());
  ASSERT_EQ(cudnn_.executions.size(), 1u);
  std::map<std::int64_t, void*> want;
  for (std::size_t i = 0; i < conv.tensors.size(); ++i) {
    want[static_cast<std::int64_t>(i) + 1] = run.addresses()[i];
  }
  EXPECT_EQ(cudnn_.executions[0], want);
  EXPECT_NE(cudnn_.workspaces[0], nullptr);
}

// cuDNN's precompiled engines read a bias of the tensors' 16 bits. Its values are unchanged.
TEST_F(CudnnBackendTest, AFusedBiasIsStoredInTheTensorsType) {
  for (const auto& [dtype, bytes] :
       {std::pair(DataType::f16, 2), std::pair(DataType::bf16, 2), std::pair(DataType::f32, 4)}) {
    const Problem conv = problem("conv", "n2c4h5k6r3p1+bias+relu", dtype);
    const auto kernel = create(conv);
    EXPECT_EQ(kernel->buffers()[2].size.count, 6 * bytes);
    test::DeviceRun run(device_, *kernel, conv.tensors);
    const auto bias = random_inputs(conv, 7)[2];
    run.set(2, bias);
    EXPECT_EQ(run.get(2), bias) << info(dtype).name;
  }
}

TEST_F(CudnnBackendTest, ConvolutionsAgreeInEveryDirectionAndLayout) {
  for (const char* tokens : {"n2c4h5k6r3p1", "n2g2c4h5k6r3p1_0", "n2c4w9k6s3u2", "n2c3d3h3k4t2r1s3",
                             "n2g2c4h5k6r3u2+transposed"}) {
    for (const Direction direction :
         {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
      for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
        Problem conv = problem("conv", tokens, DataType::f32, direction);
        conv.layout = layout;
        compute_by_reference(conv, DataType::f32);
        const auto kernel = create(conv);
        expect_reference(conv, *kernel);
        EXPECT_EQ(kernel->buffers()[0].layout, layout == Layout::nhwc ? "nhwc" : "nchw");
      }
    }
  }
}

// No engine fuses: cuDNN's convolution runs first, then the native kernel, in place of the result
// or after a wider one.
TEST_F(CudnnBackendTest, AnEpilogueThatIsNotFusedRunsBehind) {
  cudnn_.max_operations = 1;
  for (const char* tokens : {"n2c4h5k6r3p1+bias", "n2c4h5k6r3p1+bias+add+relu",
                             "n2c4w9k6s3+hardswish", "n2c4h5k6r3u2+transposed+bias+clip"}) {
    for (const DataType dtype : {DataType::f32, DataType::f16, DataType::s8}) {
      if (!bench::ops::op_test::try_problem("conv", tokens, dtype).ok()) continue;
      for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
        Problem conv = problem("conv", tokens, dtype);
        conv.layout = layout;
        compute_by_reference(conv, DataType::f32);
        const auto kernel = create(conv);
        EXPECT_EQ(kernel->implementation(), "cudnn:engine_0 + bench:elementwise");
        const std::int64_t between = conv.tensors.back().elements() * 4;
        EXPECT_EQ(kernel->workspace().count, dtype == DataType::f32 ? 0 : between);
        EXPECT_EQ(kernel->steps().size(), 2u);
        expect_reference(conv, *kernel);
      }
    }
  }
}

TEST_F(CudnnBackendTest, TheGradientOfABiasRunsBehind) {
  for (const Layout layout : {Layout::any, Layout::nhwc}) {
    Problem conv = problem("conv", "n2c4h5k6r3p1+bias", DataType::f32, Direction::backward_weights);
    conv.layout = layout;
    compute_by_reference(conv, DataType::f32);
    const auto kernel = create(conv);
    EXPECT_EQ(kernel->implementation(), "cudnn:engine_0 + bench:channel_sum_block");
    expect_reference(conv, *kernel);
  }
}

TEST_F(CudnnBackendTest, NativeKernelsWhereCudnnHasNone) {
  for (const auto& [op, tokens, dtype] :
       {std::tuple("softmax", "4x10", DataType::f16),
        std::tuple("reorder", "2x5x3x4-nchw-nhwc", DataType::s8),
        std::tuple("pointwise", "hardswish-2x3x4x5", DataType::f32),
        std::tuple("pointwise", "relu-2x3x4x5", DataType::f64),
        // cuDNN offers an engine for these, whose results were wrong on an H100.
        std::tuple("pool", "max-n2c8h6r2", DataType::bf16),
        std::tuple("pool", "avg_include_pad-n2c3h6r2", DataType::bf16),
        std::tuple("batch_norm", "n2c3h4", DataType::f64)}) {
    const Problem made = problem(op, tokens, dtype);
    const auto kernel = create(made);
    EXPECT_THAT(kernel->implementation(), HasSubstr("bench:")) << tokens;
    expect_reference(made, *kernel);
  }
  EXPECT_EQ(cudnn_.plans, 0);
}

TEST_F(CudnnBackendTest, BatchNormGetsInverseDeviations) {
  const Problem norm = problem("batch_norm", "n2c3h4", DataType::f16);
  const auto kernel = create(norm);
  test::DeviceRun run(device_, *kernel, norm.tensors);
  run.set(2, {0.24, 3.99, 0.99});
  const auto* stored = static_cast<const float*>(run.addresses()[2]);
  EXPECT_NEAR(stored[0], 1 / std::sqrt(0.24 + 1e-5), 1e-5);
  EXPECT_NEAR(run.get(2)[1], 3.99, 1e-4);
}

// An H100 multiplied integer sums by the bits of the factor 1.0: 100 became -838860800.
TEST_F(CudnnBackendTest, IntegerSumsAreNotMultipliedByTheBitsOfAFactor) {
  for (const std::int64_t operations : {99, 1}) {  // an identity after the convolution, or not
    backend_.reset();                              // with its plans
    cudnn_.max_operations = operations;
    for (const DataType dtype : {DataType::s8, DataType::u8}) {
      for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
        Problem conv = problem("conv", "n2c4h5k6r3p1", dtype);
        conv.layout = layout;
        ASSERT_EQ(conv.tensors.back().dtype, DataType::s32);
        compute_by_reference(conv, operations == 1 ? DataType::f32 : DataType::s32);
        const auto kernel = create(conv);
        EXPECT_EQ(kernel->implementation(),
                  operations == 1 ? "cudnn:engine_0 + bench:elementwise" : "cudnn:engine_0");
        expect_reference(conv, *kernel);
      }
    }
  }
}

// In nchw, the gradient of a maximum reads source and result of the forward pass.
TEST_F(CudnnBackendTest, TheGradientOfAMaximumInNchwReadsTheResult) {
  Problem pool = problem("pool", "max-n2c4h8r2u2", DataType::f16, Direction::backward_data);
  pool.layout = Layout::nchw;
  const auto kernel = create(pool);
  EXPECT_EQ(kernel->workspace(), pool.tensors[1].size());
  test::DeviceRun run(device_, *kernel, pool.tensors);
  const auto invocation = run.bind();
  ASSERT_TRUE(invocation->run()) << invocation->error();
  ASSERT_EQ(cudnn_.executions.size(), 2u);
  const auto& forward = cudnn_.executions[0];
  const auto& gradient = cudnn_.executions[1];
  EXPECT_EQ(forward.at(1), run.addresses()[0]);
  EXPECT_FALSE(forward.contains(kForwardMaxima));
  EXPECT_EQ(gradient.at(1), run.addresses()[0]);
  EXPECT_EQ(gradient.at(kMaximaResult), forward.at(kMaximaResult));
  EXPECT_EQ(gradient.at(2), run.addresses()[1]);
  EXPECT_EQ(gradient.at(3), run.addresses()[2]);
}

// An H100 refused the gradient: "pooling_bwd_exec_params.srcData == nullptr".
TEST_F(CudnnBackendTest, TheGradientOfAnAverageInNchwHasAllAddresses) {
  for (const char* tokens : {"avg_include_pad-n2c4h8r2u2", "avg_exclude_pad-n2c4h8r3u2p1"}) {
    Problem pool = problem("pool", tokens, DataType::f16, Direction::backward_data);
    pool.layout = Layout::nchw;
    const auto kernel = create(pool);
    EXPECT_EQ(kernel->workspace().count, 0);
    test::DeviceRun run(device_, *kernel, pool.tensors);
    const auto invocation = run.bind();
    ASSERT_TRUE(invocation->run()) << invocation->error();
    ASSERT_EQ(cudnn_.executions.size(), 1u);
    EXPECT_EQ(cudnn_.executions[0].at(kUnreadSource), run.addresses()[1]);
    EXPECT_EQ(cudnn_.executions[0].at(kUnreadResult), run.addresses()[0]);
    cudnn_.executions.clear();
  }
}

// The forward pass runs once, in prepare(), and writes to a buffer that the kernel keeps.
TEST_F(CudnnBackendTest, MaximaAreMadeBeforeTheGradient) {
  const Problem pool = problem("pool", "max-n2c4h8r2u2", DataType::f16, Direction::backward_data);
  const auto kernel = create(pool);
  const std::int64_t outputs = pool.tensors[1].elements();
  EXPECT_EQ(kernel->workspace().count, outputs);  // one byte each
  test::DeviceRun run(device_, *kernel, pool.tensors);
  const auto invocation = run.bind();
  ASSERT_EQ(cudnn_.executions.size(), 1u);
  const auto forward = cudnn_.executions[0];
  EXPECT_EQ(forward.at(1), run.addresses()[0]);
  ASSERT_TRUE(invocation->run());
  ASSERT_EQ(cudnn_.executions.size(), 2u);
  const auto gradient = cudnn_.executions[1];
  EXPECT_EQ(gradient.at(kForwardMaxima), forward.at(kForwardMaxima));
  EXPECT_EQ(gradient.at(2), run.addresses()[1]);
  EXPECT_EQ(gradient.at(3), run.addresses()[2]);
  EXPECT_FALSE(gradient.contains(1));
}

TEST_F(CudnnBackendTest, ReducedPrecisionIsForHalfPrecisionOnly) {
  cudnn_.engines = {{.index = 63, .notes = {kTensorCore, kReducedPrecision}}, {.index = 1}};
  const auto engine = [&](DataType dtype) {
    return create(problem("conv", "n2c4h5k6r3p1", dtype))->details();
  };
  EXPECT_EQ(engine(DataType::f16).at("engine"),
            "engine 63: tensor core, sums in reduced precision; workspace 0 KiB");
  EXPECT_THAT(engine(DataType::bf16).at("engine"), HasSubstr("engine 63: "));
  const auto single = engine(DataType::f32);
  EXPECT_THAT(single.at("engine"), HasSubstr("engine 1: "));
  EXPECT_EQ(single.at("engines_not_used"), "engine 63: they round their sums");
}

TEST_F(CudnnBackendTest, EnginesThatCannotBeFinishedAreNamed) {
  cudnn_.engines = {{.index = 4, .finishes = false}, {.index = 4, .finishes = false}, {.index = 6}};
  const auto details = create(problem("conv", "n2c4h5k6r3p1", DataType::f16))->details();
  EXPECT_THAT(details.at("engines_not_used"), HasSubstr("engine 4: the plan is refused"));
  EXPECT_THAT(details.at("engines_not_used"), Not(HasSubstr(";")));
}

// The plan assumes this alignment; cuDNN itself does not check addresses.
TEST_F(CudnnBackendTest, LessAlignedBuffersAreRefused) {
  const auto kernel = create(problem("conv", "n2c4h5k6r3p1", DataType::f16));
  const Bytes size{4096};
  auto memory = DeviceBuffer::create(*device_.runtime, size);
  ASSERT_TRUE(memory.ok());
  auto* const base = static_cast<std::uint8_t*>(memory->data());
  EXPECT_TRUE(kernel->bind(std::vector<void*>{base, base + 256, base + 512}).ok());
  const auto invocation = kernel->bind(std::vector<void*>{base, base + 128, base + 512});
  ASSERT_FALSE(invocation.ok());
  EXPECT_THAT(invocation.error().what,
              HasSubstr("tensor `weights` is not a multiple of 256 bytes"));
}

TEST_F(CudnnBackendTest, TuningTakesTheFastestOfThoseThatRun) {
  cudnn_.engines = {{.index = 1, .time = Nanoseconds(9000)},
                    {.index = 2, .time = Nanoseconds(100), .executes = false},
                    {.index = 3, .finishes = false},
                    {.index = 4, .time = Nanoseconds(5000)},
                    {.index = 5, .time = Nanoseconds(10)}};
  backend().set_tuning(3);
  const std::size_t allocations = device_.runtime->live_allocations();
  const auto kernel = create(problem("conv", "n2c4h5k6r3p1", DataType::f16));
  EXPECT_EQ(kernel->implementation(), "cudnn:engine_4");
  const auto details = kernel->details();
  EXPECT_EQ(details.at("tuned"), "default 9.000 us, chosen 5.000 us: 3 of 3");
  EXPECT_THAT(details.at("tuned_candidates"), AllOf(HasSubstr("cudnn:engine_1 (7=2) 9.000 us; "),
                                                    HasSubstr("cudnn:engine_2 (7=2) failed: "),
                                                    HasSubstr("cudnn:engine_4 (7=2) 5.000 us")));
  EXPECT_THAT(details.at("engines_not_used"), HasSubstr("engine 3: "));
  EXPECT_TRUE(details.contains("setup.tuning_ns"));
  EXPECT_TRUE(details.contains("setup.library_ns"));
  EXPECT_EQ(device_.runtime->live_allocations(), allocations);
}

TEST_F(CudnnBackendTest, TuningAsksAllListsAndMeasuresNoEngineTwice) {
  cudnn_.engines = {{.index = 1, .time = Nanoseconds(9000)},
                    {.index = 1, .time = Nanoseconds(9000)},
                    {.index = 1, .time = Nanoseconds(8000), .knob = 5}};
  cudnn_.precise = {{.index = 2, .time = Nanoseconds(7000)},
                    {.index = 1, .time = Nanoseconds(9000)}};
  cudnn_.fallbacks = {{.index = 7, .time = Nanoseconds(5000)}};
  backend().set_tuning(8);
  const auto kernel = create(problem("conv", "n2c4h5k6r3p1", DataType::f16));
  EXPECT_EQ(kernel->details().at("tuned_candidates"),
            "cudnn:engine_1 (7=2) 9.000 us; cudnn:engine_2 (7=2) 7.000 us; "
            "cudnn:engine_1 (7=5) 8.000 us; cudnn:engine_7 (7=2) 5.000 us");
  EXPECT_EQ(kernel->implementation(), "cudnn:engine_7");
}

TEST_F(CudnnBackendTest, Fp8IsSummedIn13BitsBeforeBlackwell) {
  const Problem conv = problem("conv", "n2c16h5k16r3p1", DataType::f8_e4m3);
  for (const auto& [major, minor, is_reduced] :
       {std::tuple(8, 9, true), std::tuple(9, 0, true), std::tuple(10, 0, false)}) {
    device_.runtime->script.traits.major = major;
    device_.runtime->script.traits.minor = minor;
    const auto kernel = create(conv);
    EXPECT_EQ(kernel->summation() == Summation::reduced, is_reduced) << major;
    EXPECT_EQ(kernel->details().contains("accumulation"), is_reduced) << major;
  }
  device_.runtime->script.traits.major = 9;
  EXPECT_EQ(create(problem("conv", "n2c16h5k16r3p1", DataType::f16))->summation(), Summation::full);
}

TEST_F(CudnnBackendTest, NoMemoryForAWorkspaceIsSkipped) {
  cudnn_.engines = {{.index = 1, .workspace = std::int64_t{1} << 40}};
  const auto kernel = backend().create(problem("conv", "n2c4h5k6r3p1", DataType::f16));
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::skipped);
}

TEST_F(CudnnBackendTest, FailedExecutionsSayWhy) {
  cudnn_.engines = {{.index = 1, .executes = false}};
  const Problem conv = problem("conv", "n2c4h5k6r3p1", DataType::f16);
  const auto kernel = create(conv);
  test::DeviceRun run(device_, *kernel, conv.tensors);
  const auto invocation = run.bind();
  EXPECT_FALSE(invocation->run());
  EXPECT_THAT(invocation->error(), HasSubstr("as the script says"));
}

TEST_F(CudnnBackendTest, DescriptorsAndMemoryAreReleased) {
  const std::size_t allocations = device_.runtime->live_allocations();
  for (int i = 0; i < 2; ++i) {
    const Problem conv = problem("conv", "n2c4h5k6r3p1+bias+relu", DataType::f16);
    const auto kernel = create(conv);
    test::DeviceRun run(device_, *kernel, conv.tensors);
    ASSERT_TRUE(run.bind()->run());
  }
  backend_.reset();
  EXPECT_EQ(cudnn_.live(), 0);
  EXPECT_EQ(device_.runtime->live_allocations(), allocations);
}

TEST_F(CudnnBackendTest, ProductsAreOthers) {
  const auto kernel = backend().create(problem("gemm", "m4n4k4"));
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(kernel.error().reason, HasSubstr("cublaslt"));
}

// Convolutions by the scripted library with native epilogues, native reorders and softmax, products
// by another backend.
TEST_F(CudnnBackendTest, NetworksAreChainsOfAllOfThem) {
  cudnn_.max_operations = 1;
  const NetworkDefinition definition = {.name = "small",
                                        .input = {3, 6, 6},
                                        .layers = {layer("conv", "conv", "k4r3s3p1", {"input"}),
                                                   layer("relu", "pointwise", "relu", {"conv"}),
                                                   layer("fc", "gemm", "n5+tb+bias", {"relu"})}};
  const Network network = bench::ops::op_test::make(definition, Fusion::fused, DataType::f16);
  compute_by_reference(network.nodes.front().problem, DataType::f32);
  const auto kernel = backend().create(network);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  std::vector<std::string> steps;
  for (const KernelStep& step : (*kernel)->steps()) {
    steps.push_back(step.node + ":" + step.implementation);
  }
  EXPECT_THAT(steps,
              ElementsAre("conv:bench:reorder_pixels", "conv:cudnn:engine_0",
                          "conv:bench:elementwise", "fc:bench:reorder_pixels", "fc:reference"));
  EXPECT_TRUE((*kernel)->details().contains("setup.plan_ns"));
}

TEST_F(CudnnBackendTest, ProductsOfNetworksAreTunedLikeTheRest) {
  const NetworkDefinition definition = {
      .name = "head", .input = {6}, .layers = {layer("fc", "gemm", "n5", {"input"})}};
  const Network network = bench::ops::op_test::make(definition, Fusion::fused, DataType::f32, 3);
  for (const std::int64_t candidates : {0, 4}) {
    backend().set_tuning(candidates);
    ASSERT_TRUE(backend().create(network).ok());
  }
  EXPECT_THAT(product_tunings_, ElementsAre(0, 4));
}

// Post-ops that the products' library does not fuse run after it.
TEST_F(CudnnBackendTest, ProductsOfNetworksGetTheirEpilogues) {
  const NetworkDefinition definition = {
      .name = "head",
      .input = {6},
      .layers = {layer("a", "gemm", "n5+tb+bias", {"input"}),
                 layer("a.act", "pointwise", "hardswish", {"a"}),
                 layer("b", "gemm", "n5", {"a.act"}),
                 layer("b.add", "pointwise", "add", {"b", "a.act"})}};
  const Network network = bench::ops::op_test::make(definition, Fusion::fused, DataType::f32, 3);
  const auto kernel = backend().create(network);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  std::vector<std::string> steps;
  for (const KernelStep& step : (*kernel)->steps()) {
    steps.push_back(step.node + ":" + step.implementation);
  }
  EXPECT_THAT(steps, ElementsAre("a:reference", "a:bench:elementwise", "b:reference",
                                 "b:bench:elementwise"));
  const auto parameters = random_parameters(network, 3);
  std::vector<double> input(18);
  for (std::size_t i = 0; i < input.size(); ++i) {
    input[i] = round_to(DataType::f32, std::sin(static_cast<double>(i)));
  }
  test::DeviceRun run(device_, **kernel, network.tensors);
  run.set(0, input);
  for (std::size_t i = 0; i < parameters.size(); ++i) run.set(1 + i, parameters[i]);
  ASSERT_TRUE(run.bind()->run());
  const auto got = run.get(network.tensors.size() - 1);
  const auto want = bench::ops::op_test::run_reference(network, parameters, input);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5);
}

// A product without memory for its first part was reported as unsupported.
TEST_F(CudnnBackendTest, AFailureOfAProductBeforeItsEpilogueIsReported) {
  product_failure_ = BackendError{BackendError::Kind::skipped, "not enough memory"};
  const NetworkDefinition definition = {
      .name = "head",
      .input = {6},
      .layers = {layer("a", "gemm", "n5", {"input"}), layer("act", "pointwise", "relu", {"a"})}};
  const auto kernel =
      backend().create(bench::ops::op_test::make(definition, Fusion::fused, DataType::f32, 3));
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::skipped);
  EXPECT_THAT(kernel.error().reason, HasSubstr("not enough memory"));
}

TEST_F(CudnnBackendTest, NetworksWithoutAGradientAreRefused) {
  Network network = bench::ops::op_test::make(
      {.name = "n", .input = {3, 6, 6}, .layers = {layer("conv", "conv", "k4r3s3", {"input"})}},
      Fusion::separate, DataType::f32);
  network.gap = "no operator computes a gradient";
  EXPECT_EQ(backend().create(network).error().reason, *network.gap);
}

}  // namespace
}  // namespace bench::ops::cuda
