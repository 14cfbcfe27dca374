// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/kernel_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace bench {
namespace {

using testing::ElementsAre;

constexpr GpuOperatorWork kConv{7'552'892'928, 61'032'832};
constexpr KernelWork kUnknown{};

// Returns the sum over the kernels, or nullopt if any kernel has no FLOPs.
std::optional<std::int64_t> flops_of(const std::vector<KernelWork>& kernels) {
  std::int64_t sum = 0;
  for (const KernelWork& kernel : kernels) {
    if (!kernel.flops) return std::nullopt;
    sum += *kernel.flops;
  }
  return sum;
}

TEST(KernelWork, OneKernelHasAll) {
  const KernelCandidate kernels[] = {{"sm90_xmma_fprop_implicit_gemm", std::nullopt}};
  EXPECT_THAT(work_of_kernels(kConv, kernels), ElementsAre(KernelWork{kConv.flops, kConv.bytes}));
}

TEST(KernelWork, AuxiliariesHaveNoFlopsAndTheirOwnBytes) {
  const KernelCandidate kernels[] = {{"cudnn::ops::nchwToNhwcKernel", 3'211'264},
                                     {"sm90_xmma_fprop_implicit_gemm", std::nullopt},
                                     {"cask_cudnn::computeOffsetsKernel", std::nullopt},
                                     {"cublasLt::splitKreduce_kernel", 4096}};
  const auto work = work_of_kernels(kConv, kernels);
  EXPECT_THAT(work, ElementsAre(KernelWork{0, 3'211'264}, KernelWork{kConv.flops, kConv.bytes},
                                KernelWork{0, std::nullopt}, KernelWork{0, 4096}));
  EXPECT_EQ(flops_of(work), kConv.flops);
}

TEST(KernelWork, UnknownUnlessExactlyOneKernelComputes) {
  const KernelCandidate two[] = {
      {"gemm_a", std::nullopt}, {"gemm_b", 5}, {"splitKreduce_kernel", 5}};
  EXPECT_THAT(work_of_kernels(kConv, two), ElementsAre(kUnknown, kUnknown, kUnknown));
  const KernelCandidate none[] = {{"nchwToNhwcKernel", 1}, {"nhwcToNchwKernel", 1}};
  EXPECT_THAT(work_of_kernels(kConv, none), ElementsAre(kUnknown, kUnknown));
  EXPECT_TRUE(work_of_kernels(kConv, {}).empty());
}

// A layout conversion may be the measured operator (reorder).
TEST(KernelWork, AnAuxiliaryAloneIsTheOperator) {
  const KernelCandidate kernels[] = {{"cudnn::ops::nchwToNhwcKernel", 77}};
  const GpuOperatorWork reorder{0, 77};
  EXPECT_THAT(work_of_kernels(reorder, kernels), ElementsAre(KernelWork{0, 77}));
}

// The kernels' work adds up to the operator's, or no kernel has any.
TEST(KernelWork, SumIsTheOperatorOrUnknown) {
  const char* const names[] = {"nvjet_hsh_64x8", "nchwToNhwcKernel", "splitKreduce_kernel",
                               "gemmSN_NN_kernel"};
  for (unsigned code = 0; code < 4 * 4 * 4 * 4; ++code) {
    std::vector<KernelCandidate> kernels;
    int computing = 0;
    for (unsigned digits = code; kernels.size() < 4; digits /= 4) {
      kernels.push_back({names[digits % 4], 10});
      computing += digits % 4 == 0 || digits % 4 == 3;
    }
    const auto sum = flops_of(work_of_kernels(kConv, kernels));
    EXPECT_EQ(sum.has_value(), computing == 1) << code;
    EXPECT_EQ(sum.value_or(kConv.flops), kConv.flops) << code;
  }
}

TEST(KernelWork, NamesOfAuxiliaries) {
  constexpr const char* kAuxiliary[] = {"cudnn::ops::nchwToNhwcKernel",
                                        "cudnn::ops::nhwcToNchwKernel",
                                        "nhwcToFoldedNhwcKernel",
                                        "foldedNhwcToNhwcKernel",
                                        "nhwcAddPaddingKernel",
                                        "cask_cudnn::computeOffsetsKernel",
                                        "cask__5x_cudnn::computeOffsetsKernel",
                                        "computeBOffsetsKernel",
                                        "cask_cudnn::computeWgradSplitKOffsetsKernel",
                                        "computeWgradBOffsetsKernel",
                                        "cudnn::cnn::kern_precompute_indices",
                                        "splitKreduce_kernel",
                                        "cublasLt::splitKreduce_kernel",
                                        "cutlass::reduction::kernel::ReduceSplitK",
                                        "reduce_1Block_kernel",
                                        "cudnn::winograd::generateWinogradTilesKernel",
                                        "cudnn::winograd_nonfused::winogradForwardData4x4",
                                        "cudnn::winograd_nonfused::winogradForwardOutput4x4",
                                        "fft2d_r2c_32x32",
                                        "fft2d_c2r_32x32",
                                        "cudnn::ops::scalePackedTensor_kernel",
                                        "transpose_readWrite_alignment_kernel",
                                        "xmma__5x_cudnn::init_device_workspace_kernel",
                                        "cudnn::ops::convertTensor_kernel"};
  for (const char* const name : kAuxiliary) EXPECT_NE(find_auxiliary(name), nullptr) << name;
  constexpr const char* kComputing[] = {
      "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT",
      "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n",
      "ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_64x3_nn",
      "gemmSN_NN_kernel",
      "gemv2T_kernel_val",
      "dot_kernel",
      "cutlass::Kernel2",
      "implicit_convolve_sgemm",
      "cudnn::ops::pooling_fw_4d_kernel",
      "cudnn::bn_fw_inf_1C11_kernel_NHWC",
      "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
      "cudnn::cnn::winograd3x3Kernel",
      "softmax_warp_forward"};
  for (const char* const name : kComputing) EXPECT_EQ(find_auxiliary(name), nullptr) << name;
  EXPECT_EQ(find_auxiliary("splitKreduce_kernel")->purpose, "sum of a split");
}

// PyTorch on an H100: the kernel of the bias made all work of convolutions unknown.
TEST(KernelWork, AnElementwiseKernelBesideAProductIsNoSecondComputation) {
  const auto shares = work_of_kernels(
      {100, 40}, std::vector<KernelCandidate>{
                     {"cudnn::engines_precompiled::nchwToNhwcKernel", 7},
                     {"sm90_xmma_fprop_image_first_layer_f16f16_f32_f16_nhwckrsc_nhwc_hmma", {}},
                     {"at::native::elementwise_kernel", {}}});
  EXPECT_EQ(shares[0], (KernelWork{0, 7}));
  EXPECT_EQ(shares[1], (KernelWork{100, 40}));
  EXPECT_EQ(shares[2], (KernelWork{0, std::nullopt}));
}

TEST(KernelWork, AnElementwiseKernelBesideAnotherIsNoSecondComputation) {
  const auto shares = work_of_kernels(
      {100, 40}, std::vector<KernelCandidate>{{"at::native::reduce_kernel", {}},
                                              {"vectorized_elementwise_kernel", {}}});
  EXPECT_EQ(shares[0], (KernelWork{100, 40}));
  EXPECT_EQ(shares[1], (KernelWork{0, std::nullopt}));
}

TEST(KernelWork, SeveralComputationsLeaveTheWorkUnknown) {
  const std::vector<std::vector<KernelCandidate>> unclear = {
      {{"a_gemm", {}}, {"b_gemm", {}}, {"elementwise_kernel", {}}},
      {{"batch_norm_collect_statistics_kernel", {}},
       {"unrolled_elementwise_kernel", {}},
       {"batch_norm_transform_input_kernel", {}}},
      {{"elementwise_kernel", {}}, {"elementwise_kernel", {}}}};
  for (const auto& kernels : unclear) {
    for (const KernelWork& share : work_of_kernels({100, 40}, kernels))
      EXPECT_EQ(share, KernelWork{});
  }
}

TEST(KernelWork, UnknownBytesAreNotZero) {
  const std::vector<KernelCandidate> kernels = {{"gemm", std::nullopt}};
  const std::vector<KernelWork> expected = {{100, std::nullopt}};
  EXPECT_EQ(work_of_kernels({100, std::nullopt}, kernels), expected);
}

// In a backward convolution, the gradients of source and weights are one convolution each. The
// gradient of the bias is a sum.
TEST(KernelWork, EachGradientOfABackwardOperatorHasTheWorkOfTheForwardOne) {
  GpuOperatorWork work{100, 40, GpuOperatorWork::Extent::each_gradient};
  const auto shares =
      work_of_kernels(work, std::vector<KernelCandidate>{{"cudnn_dgrad_engine", {}},
                                                         {"nchwToNhwcKernel", 7},
                                                         {"sm80_xmma_wgrad_implicit_gemm", {}},
                                                         {"reduce_kernel", {}}});
  EXPECT_EQ(shares[0], (KernelWork{100, 40}));
  EXPECT_EQ(shares[1], (KernelWork{0, 7}));
  EXPECT_EQ(shares[2], (KernelWork{100, 40}));
  EXPECT_EQ(shares[3], KernelWork{});
  // Three products compute two gradients. Which of them belong together is unknown.
  for (const KernelWork& share : work_of_kernels(
           work, std::vector<KernelCandidate>{{"a_gemm", {}}, {"b_gemm", {}}, {"c_gemm", {}}})) {
    EXPECT_EQ(share, KernelWork{});
  }
}

}  // namespace
}  // namespace bench
