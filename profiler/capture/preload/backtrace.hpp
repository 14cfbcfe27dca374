// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace bench::capture {

inline constexpr std::size_t kMaxBacktrace = 16384;  // bytes of JSON

// Loads the unwinder's library in advance; its first call must not load it inside oneDNN.
void prepare_backtrace();

// Returns `,"backtrace":["FILE+0xADDRESS",...]` for the calling thread, innermost first, without
// this library's frames. Returns an empty text if backtraces were not requested.
std::string_view backtrace_field(char* buffer, std::size_t capacity);

}  // namespace bench::capture
