// SPDX-License-Identifier: Apache-2.0
// A gemm's tensors on a device: plain row-major, but for what cuBLAS adds in another data type than
// the problem's.
#pragma once

#include "base/data_type.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cublas/gemm_form.hpp"
#include "ops/cuda/runtime/runtime.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

class ProductTensors {
 public:
  ProductTensors(const Problem& problem, const GemmForm& form);

  std::span<const KernelBuffer> buffers() const { return buffers_; }
  Bytes total() const;
  // Kernel::pack and unpack: a copy, through another data type where the device's is one.
  Status pack(Runtime& runtime, std::size_t index, const void* plain, void* device) const;
  Status unpack(Runtime& runtime, std::size_t index, const void* device, void* plain) const;
  // "ab, ab -> ab".
  std::string layouts() const;

 private:
  struct Type {
    DataType plain, device;
    std::size_t elements;
  };
  std::vector<Type> types_;
  std::vector<KernelBuffer> buffers_;
};

// Error: not as many as there are buffers, or one that is not aligned to kProductAlignment bytes.
inline constexpr std::size_t kProductAlignment = 64;
Status check_addresses(std::span<void* const> addresses, std::size_t expected);

// Skipped where a product needs more than the device has free now.
std::optional<Refusal> product_beyond(const MemoryState& memory, Bytes needed);

// One and zero as cuBLAS reads them from the host, in the type of a product's sums.
struct ProductScalar {
  union {
    float f32;
    double f64;
    std::int32_t s32;
  };
};
enum class ScalarValue { zero, one };
ProductScalar product_scalar(ProductCompute compute, ScalarValue value);

// "32F", "32F_FAST_TF32", "64F", "32I", as cuBLAS names them.
std::string_view compute_name(ProductCompute compute);

// Of what products may use beside their tensors: 64 MiB from compute capability 9.0 on, where
// NVIDIA advises it, 32 MiB before.
Bytes product_workspace_limit(int major);

}  // namespace bench::ops::cuda
