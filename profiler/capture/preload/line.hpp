// SPDX-License-Identifier: Apache-2.0
// Joins the pieces that a oneDNN thread prints into complete lines and writes each as a record.
#pragma once

#include <link.h>
#include <string_view>

namespace bench::capture {

// Returns the module whose line the calling thread has begun but not ended; nullptr if none.
const link_map* open_line();

// Adds text of `module` to the calling thread's line. Each newline completes a record.
void add_to_line(const link_map* module, std::string_view text);

// Returns whether the calling thread's last text was added for `module`, then resets to false.
bool take_just_added(const link_map* module);

// Writes a line without a newline as a record, at the end of a thread or process.
void finish_line();

}  // namespace bench::capture
