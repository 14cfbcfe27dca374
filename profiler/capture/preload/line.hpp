// SPDX-License-Identifier: Apache-2.0
// Joins what a thread of oneDNN prints in pieces to whole lines, and writes each as a record.
#pragma once

#include <link.h>
#include <string_view>

namespace bench::capture {

// The module whose line the calling thread has begun and not ended; nullptr: none.
const link_map* open_line();

// Adds text of `module` to the line of the calling thread; every newline completes a record.
void add_to_line(const link_map* module, std::string_view text);

// Whether the last text of the calling thread was added for `module`; asked once, then false.
bool take_just_added(const link_map* module);

// A line without its newline, at the end of a thread or process, is a record too.
void finish_line();

}  // namespace bench::capture
