// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/kernel_work.hpp"

#include "base/characters.hpp"
#include "base/pattern.hpp"
#include "profiler/kernel_names/kernel_names.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr std::string_view kLayout = "layout conversion";
constexpr std::string_view kOffsets = "offsets";
constexpr std::string_view kSplit = "sum of a split";
constexpr std::string_view kTransform = "transform of Winograd or Fourier";
constexpr std::string_view kScale = "scale or fill";

constexpr std::array<AuxiliaryKernel, 21> kAuxiliary = {{
    {"*nchwtonhwc*", kLayout},
    {"*nhwctonchw*", kLayout},
    {"*foldednhwc*", kLayout},
    {"*addpaddingkernel*", kLayout},
    {"*tensortransform*", kLayout},
    {"*converttensor*", kLayout},
    {"*transpose_readwrite*", kLayout},
    {"*computeoffsets*", kOffsets},
    {"*computeboffsets*", kOffsets},
    {"*computewgrad*offsets*", kOffsets},
    {"*kern_precompute_indices*", kOffsets},
    {"*splitkreduce*", kSplit},
    {"*reducesplitk*", kSplit},
    {"*splitk_reduce*", kSplit},
    {"*reduce_1block_kernel*", kSplit},
    {"*generatewinogradtiles*", kTransform},
    {"*winogradforwarddata*", kTransform},
    {"*winogradforwardfilter*", kTransform},
    {"*winogradforwardoutput*", kTransform},
    {"*fft?d_*", kTransform},
    {"*scalepackedtensor*", kScale},
}};

// Name parts of kernels that multiply. Names that only tensor-core kernels have are in
// kernel_names.
constexpr std::array<std::string_view, 5> kProducts = {"gemm", "fprop", "dgrad", "wgrad",
                                                       "convolve"};

// Returns the only kernel that computes, or nullopt if there is none or there are several.
std::optional<std::size_t> compute_kernel(std::span<const KernelShare> kernels) {
  if (kernels.size() == 1) return 0;
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (find_auxiliary(kernels[i].short_name) != nullptr) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

// The gradients of source and weights. If there are more kernels, they compute parts of these
// gradients that cannot be told apart.
constexpr std::int64_t kMaxGradients = 2;

std::vector<KernelWork> work_of_gradients(const GpuOperatorWork& work,
                                          std::span<const KernelShare> kernels) {
  std::vector<KernelWork> shares(kernels.size());
  const auto multiplies = [](const KernelShare& kernel) {
    return names_product(kernel.short_name);
  };
  const auto products = std::count_if(kernels.begin(), kernels.end(), multiplies);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (find_auxiliary(kernels[i].short_name) != nullptr) {
      shares[i] = {0, kernels[i].own_bytes};
    } else if (products <= kMaxGradients && multiplies(kernels[i])) {
      shares[i] = {work.flops, work.bytes};
    }
  }
  return shares;
}

}  // namespace

std::span<const AuxiliaryKernel> auxiliary_kernels() { return kAuxiliary; }

const AuxiliaryKernel* find_auxiliary(std::string_view short_name) {
  std::string name(short_name);
  std::transform(name.begin(), name.end(), name.begin(), to_lower);
  const auto found = std::find_if(
      kAuxiliary.begin(), kAuxiliary.end(),
      [&](const AuxiliaryKernel& kernel) { return glob_matches(kernel.pattern, name); });
  return found == kAuxiliary.end() ? nullptr : &*found;
}

bool names_product(std::string_view short_name) {
  if (find_auxiliary(short_name) != nullptr) return false;
  const auto contains = [&](std::string_view part) {
    return short_name.find(part) != std::string_view::npos;
  };
  if (contains("compute_gemm_pointers")) return false;
  if (std::any_of(kProducts.begin(), kProducts.end(), contains)) return true;
  return KernelNames().tensor_cores(short_name).use == TensorCoreUse::used;
}

std::vector<KernelWork> work_of_kernels(const GpuOperatorWork& work,
                                        std::span<const KernelShare> kernels) {
  if (work.share == GpuOperatorWork::Share::each_product) return work_of_gradients(work, kernels);
  std::vector<KernelWork> shares(kernels.size());
  const auto compute = compute_kernel(kernels);
  if (!compute) return shares;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    shares[i] =
        i == *compute ? KernelWork{work.flops, work.bytes} : KernelWork{0, kernels[i].own_bytes};
  }
  return shares;
}

}  // namespace bench
