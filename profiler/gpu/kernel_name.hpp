// SPDX-License-Identifier: Apache-2.0
// Human-readable kernel names.
#pragma once

#include <string>
#include <string_view>

namespace bench {

struct KernelName {
  std::string short_name;  // "cutlass::Kernel2": no return type, template arguments or parameters
  std::string long_name;   // "void cutlass::Kernel2<A>(A::Params)": distinguishes instances
};

// Converts a linker name. Names that are not mangled C++ names ("nvjet_hsh_64x8_NNT") or cannot be
// demangled stay unchanged.
KernelName kernel_name(std::string_view symbol);

}  // namespace bench
