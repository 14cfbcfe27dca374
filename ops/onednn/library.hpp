// SPDX-License-Identifier: Apache-2.0
// What the loaded libdnnl reports about itself. Its version may differ from the headers used to
// compile this program.
#pragma once

#include "ops/backend/kernel.hpp"

#include <string>

namespace bench::ops {

std::string onednn_version();          // "3.2.0"
std::string onednn_instruction_set();  // in effect: "AVX512_CORE"
LibraryInfo onednn_library();
// The same without `detail`. Calls only dnnl_version(), so that it also works with a library that
// lacks other functions.
LibraryInfo onednn_library_file();

// Returns true if execution returns only when the work is done. A stream then needs no wait. This
// is the case for every CPU runtime of oneDNN except a thread pool and SYCL.
bool onednn_is_synchronous();

}  // namespace bench::ops
