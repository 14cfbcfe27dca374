// SPDX-License-Identifier: Apache-2.0
// Identifies the calling code: the loaded module of the process (program or shared library) that
// contains it, and its backtrace.
#pragma once

#include <atomic>
#include <cstddef>
#include <dlfcn.h>
#include <link.h>
#include <string_view>

namespace bench::capture {

// Returns the module that contains `address`, or nullptr for generated code. Takes no lock.
const link_map* find_module(const void* address);

// Returns whether the module is oneDNN or contains it. It must define one of oneDNN's functions or,
// if these are hidden, contain constants that only the library has. A program that merely prints
// lines like oneDNN's does not qualify.
bool holds_onednn(const link_map* module);

// Returns the path of the module. `program` is the main program's path, which the module does not
// know.
const char* module_path(const link_map* module, const char* program);

// Returns function `name` of the first module that defines it, skipping this library; nullptr if
// none.
void* find_function(const char* name);

// Returns the next definition of a function after this library's, which `slot` keeps.
template <class Function>
Function* next_function(std::atomic<Function*>& slot, const char* name) {
  Function* found = slot.load(std::memory_order_relaxed);
  if (found != nullptr) return found;
  found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  slot.store(found, std::memory_order_relaxed);
  return found;
}

inline constexpr std::size_t kMaxBacktrace = 16384;  // bytes of JSON

// Loads the unwinder's library in advance; its first call must not load it inside oneDNN.
void prepare_backtrace();

// Returns `,"backtrace":["FILE+0xADDRESS",...]` for the calling thread, innermost first, without
// this library's frames. Returns an empty text if backtraces were not requested.
std::string_view backtrace_field(char* buffer, std::size_t capacity);

}  // namespace bench::capture
