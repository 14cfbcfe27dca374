// SPDX-License-Identifier: Apache-2.0
// Where the stack of a primitive leaves oneDNN.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bench {

struct StackFrame {
  std::string_view raw;   // as the capture writes it: "FILE+0xADDRESS"
  std::string_view file;  // of the module
  std::string name;       // of the function, and what follows it; empty: not known
};

// The number of frames at the top that are oneDNN's own, its C++ header's too: the frame behind
// them is the caller. Where oneDNN lies inside of another module and its functions have no names,
// nameless frames of that module are taken for it. 0 where all would be: no caller is known.
std::size_t count_library_frames(std::span<const StackFrame> frames);

}  // namespace bench
