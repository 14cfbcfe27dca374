// SPDX-License-Identifier: Apache-2.0
// Finds where the stack of a primitive leaves oneDNN.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bench {

struct StackFrame {
  std::string_view raw;   // as recorded by the capture: "FILE+0xADDRESS"
  std::string_view file;  // path of the module
  std::string name;       // function name and what follows it; empty if unknown
};

// Returns the number of frames at the top that belong to oneDNN, including its C++ header. The next
// frame is the caller. If another module contains oneDNN without function names, unnamed frames of
// that module count as oneDNN's. Returns 0 if all frames would count, because then the caller is
// unknown.
std::size_t count_library_frames(std::span<const StackFrame> frames);

}  // namespace bench
