// SPDX-License-Identifier: Apache-2.0
// Whose code called: the loaded modules of the process (program and shared libraries).
#pragma once

#include <link.h>

namespace bench::capture {

// The module whose code or data holds `address`; nullptr for none (generated code). Takes no lock.
const link_map* module_of(const void* address);

// Whether the module is oneDNN or has it inside: it defines one of oneDNN's functions, or, where
// these are hidden, has constants that only the library has. A program that prints lines like
// oneDNN's is no such module.
bool holds_onednn(const link_map* module);

// The file of the module. `program` is that of the main program, whose own name is not known.
const char* file_of(const link_map* module, const char* program);

// The function `name` of the first module that defines it, this library left out; nullptr: none.
void* find_function(const char* name);

}  // namespace bench::capture
