// SPDX-License-Identifier: Apache-2.0
// What the loaded libdnnl says about itself. It may be another version than the headers that this
// was compiled with.
#pragma once

#include "ops/backend/kernel.hpp"

#include <string>

namespace bench::ops {

std::string onednn_version();          // "3.2.0"
std::string onednn_instruction_set();  // effective: "AVX512_CORE"
LibraryInfo onednn_library();

// True where execution returns only when the work is done (every CPU runtime of oneDNN but a thread
// pool and SYCL): then a stream needs no wait.
bool onednn_is_synchronous();

}  // namespace bench::ops
