// SPDX-License-Identifier: Apache-2.0
// Which devices a CUDA binary has code for.
#pragma once

#include <string>
#include <string_view>

namespace bench::ops::cuda {

// `architectures` as CMake writes them: "75-real;90-real;120-virtual"; without a suffix both.
// Machine code ("real") runs on its own major version from its minor version on; intermediate code
// ("virtual") is translated by the driver for any later device. Empty where there is code for the
// device, else why not.
std::string why_no_code(std::string_view architectures, int major, int minor);

}  // namespace bench::ops::cuda
