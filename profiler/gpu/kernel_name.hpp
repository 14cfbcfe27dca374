// SPDX-License-Identifier: Apache-2.0
// Names of kernels for people.
#pragma once

#include <string>
#include <string_view>

namespace bench {

struct KernelName {
  std::string short_name;  // "cutlass::Kernel2": no return type, template arguments, parameters
  std::string long_name;   // "void cutlass::Kernel2<A>(A::Params)": tells instances apart
};

// Of a name as the linker knows it. Names that are not C++'s ("nvjet_hsh_64x8_NNT") stay as they
// are, and so does what has no readable form.
KernelName kernel_name(std::string_view symbol);

}  // namespace bench
