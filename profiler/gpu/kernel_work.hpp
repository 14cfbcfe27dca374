// SPDX-License-Identifier: Apache-2.0
// Distributes an operator's work over its kernels, so that it counts once. A library may run one
// operator as several kernels, of which only one does the arithmetic.
#pragma once

#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Human-readable kernel names.

struct KernelName {
  std::string short_name;  // "cutlass::Kernel2": no return type, template arguments or parameters
  std::string long_name;   // "void cutlass::Kernel2<A>(A::Params)": distinguishes instances
};

// Converts a linker name, or a name that another tool has demangled. Other names
// ("nvjet_hsh_64x8_NNT") stay unchanged, and those that cannot be demangled.
KernelName kernel_name(std::string_view symbol);
// The same for a name that is known to be demangled: "void f<int>(int*)".
KernelName demangled_kernel_name(std::string_view text);

// A kernel that only prepares or finishes the work of another: layout conversion, offsets, the sum
// of a split K.
struct AuxiliaryKernel {
  std::string_view pattern;  // glob over the short name, case-insensitive
  std::string_view purpose;  // "layout conversion"
};
// Auxiliary kernels of cuDNN, cuBLAS, cuBLASLt and CUTLASS.
std::span<const AuxiliaryKernel> auxiliary_kernels();
// Returns nullptr if the kernel computes.
const AuxiliaryKernel* find_auxiliary(std::string_view short_name);

// Returns whether the name is that of a kernel that multiplies matrices or convolves.
bool names_product(std::string_view short_name);

struct KernelCandidate {
  std::string_view short_name;
  std::optional<std::int64_t> own_bytes;  // bytes that an auxiliary kernel is known to move
};
struct KernelWork {
  std::optional<std::int64_t> flops;  // nullopt: n/a
  std::optional<std::int64_t> bytes;
  friend bool operator==(const KernelWork&, const KernelWork&) = default;
};

// Returns the work of each kernel of one execution of an operator. A single kernel has all the
// work, whatever its name: a layout conversion can be an operator. Otherwise, the operator's FLOPs
// and bytes are on the only kernel that is not auxiliary; else on the only one that multiplies, as
// with a kernel for the bias of a convolution; else on the only one that is neither auxiliary nor
// elementwise. The other kernels have 0 FLOPs and their own bytes. If there is no such kernel, all
// FLOPs and bytes are nullopt. So the kernels' FLOPs add up to the operator's, or no kernel has
// any. With Extent::each_gradient, up to two kernels that multiply each have the work. The work of
// the others is unknown.
std::vector<KernelWork> work_of_kernels(const GpuOperatorWork& work,
                                        std::span<const KernelCandidate> kernels);

}  // namespace bench
