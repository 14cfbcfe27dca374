// SPDX-License-Identifier: Apache-2.0
// Determines which devices a CUDA binary has code for.
#pragma once

#include <string>
#include <string_view>

namespace bench::ops::cuda {

// `architectures` is a list as CMake writes it: "75-real;90-real;120-virtual". An entry without a
// suffix means both. Machine code ("real") runs on devices of its major version from its minor
// version on. The driver translates intermediate code ("virtual") for any later device. Returns an
// empty string if there is code for the device, else the reason.
std::string why_no_code(std::string_view architectures, int major, int minor);

}  // namespace bench::ops::cuda
