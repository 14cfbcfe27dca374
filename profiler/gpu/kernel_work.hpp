// SPDX-License-Identifier: Apache-2.0
// Work of an operator on its kernels, counted once: a library may run one operator as several
// kernels, and only one of them does the arithmetic.
#pragma once

#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// A kernel that only prepares or finishes the work of another: layout conversion, offsets, the
// sum of a split K.
struct AuxiliaryKernel {
  std::string_view pattern;  // glob over the short name, letters of either case
  std::string_view purpose;  // "layout conversion"
};
// Of cuDNN, cuBLAS, cuBLASLt and CUTLASS.
std::span<const AuxiliaryKernel> auxiliary_kernels();
// nullptr: it computes.
const AuxiliaryKernel* find_auxiliary(std::string_view short_name);

// Whether the name is of a kernel that multiplies matrices or convolves.
bool names_product(std::string_view short_name);

struct KernelShare {
  std::string_view short_name;
  std::optional<std::int64_t> own_bytes;  // that an auxiliary kernel is known to move
};
struct KernelWork {
  std::optional<std::int64_t> flops;  // absent: n/a
  std::optional<std::int64_t> bytes;
  friend bool operator==(const KernelWork&, const KernelWork&) = default;
};

// For each kernel of one execution of an operator. A kernel that is the only one has all its work,
// whatever its name: a layout conversion can be an operator. Else the one kernel that is not
// auxiliary has the operator's FLOPs and bytes, and auxiliary ones have 0 FLOPs and their own
// bytes; with no or several such kernels, all FLOPs and bytes are absent. So the FLOPs of all
// kernels sum up to the operator's, or none has any. With Share::each_product each kernel that
// multiplies has the work, up to two of them; others have none that is known.
std::vector<KernelWork> work_of_kernels(const GpuOperatorWork& work,
                                        std::span<const KernelShare> kernels);

}  // namespace bench
