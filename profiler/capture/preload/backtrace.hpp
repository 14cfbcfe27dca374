// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace bench::capture {

inline constexpr std::size_t kMaxBacktrace = 16384;  // bytes of JSON

// The first call of the unwinder loads a library: not in the middle of oneDNN.
void prepare_backtrace();

// `,"backtrace":["FILE+0xADDRESS",...]` of the calling thread, innermost first, without the frames
// of this library; empty where backtraces are not asked for.
std::string_view backtrace_field(char* buffer, std::size_t capacity);

}  // namespace bench::capture
