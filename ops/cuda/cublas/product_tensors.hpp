// SPDX-License-Identifier: Apache-2.0
// Describes and copies a gemm's tensors on a device, which are plain row-major. Converts tensors
// that cuBLAS adds in another data type than the problem's.
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
#include <vector>

namespace bench::ops::cuda {

class ProductTensors {
 public:
  ProductTensors(const Problem& problem, const GemmForm& form);

  std::span<const KernelBuffer> buffers() const { return buffers_; }
  Bytes total() const;
  // Kernel::pack and unpack: copies the tensor and converts it if the device's data type differs.
  Status pack(Runtime& runtime, std::size_t index, const void* plain, void* device) const;
  Status unpack(Runtime& runtime, std::size_t index, const void* device, void* plain) const;
  // Formats the layouts: "ab, ab -> ab".
  std::string layouts() const;

 private:
  struct Type {
    DataType plain, device;
    std::size_t elements;
  };
  std::vector<Type> types_;
  std::vector<KernelBuffer> buffers_;
};

// Alignment in bytes that the addresses of a product's tensors must have.
inline constexpr std::size_t kProductAlignment = 64;
// Error: the number of addresses is not `expected`, or an address is not aligned to
// kProductAlignment.
Status check_addresses(std::span<void* const> addresses, std::size_t expected);

// Returns skipped if a product needs more memory than the device has free now.
std::optional<BackendError> refuse_if_out_of_memory(const MemoryState& memory, Bytes needed);

// A scalar that cuBLAS reads from host memory, in the type of a product's sums.
struct ProductScalar {
  union {
    float f32;
    double f64;
    std::int32_t s32;
  };
};
ProductScalar product_scalar(ProductCompute compute, double value);

// Returns the maximum workspace of a product: 64 MiB from compute capability 9.0 on, as NVIDIA
// recommends, else 32 MiB.
Bytes product_workspace_limit(int major);

}  // namespace bench::ops::cuda
