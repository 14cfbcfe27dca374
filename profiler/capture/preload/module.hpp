// SPDX-License-Identifier: Apache-2.0
// Identifies the calling code among the loaded modules of the process (program and shared
// libraries).
#pragma once

#include <link.h>

namespace bench::capture {

// Returns the module that contains `address`, or nullptr for generated code. Takes no lock.
const link_map* module_of(const void* address);

// Returns whether the module is oneDNN or contains it. It must define one of oneDNN's functions or,
// if these are hidden, contain constants that only the library has. A program that merely prints
// lines like oneDNN's does not qualify.
bool holds_onednn(const link_map* module);

// Returns the path of the module. `program` is the main program's path, which the module does not
// know.
const char* file_of(const link_map* module, const char* program);

// Returns function `name` of the first module that defines it, skipping this library; nullptr if
// none.
void* find_function(const char* name);

}  // namespace bench::capture
