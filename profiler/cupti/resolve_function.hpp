// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <string>

namespace bench {

// Looks up `name` in a loaded library. If it is missing, sets `function` to null and stores the
// first such name in `missing`.
template <class Function>
void resolve_function(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = name;
}

}  // namespace bench
