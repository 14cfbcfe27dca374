// SPDX-License-Identifier: Apache-2.0
// Names of new files and folders that contain text of the input, such as a configuration's `name`.
#pragma once

#include <string>
#include <string_view>

namespace bench {

// Returns a part of a file name that resembles `text` and stays in its folder, whatever the text
// contains: letters, digits, `_`, `+`, `-`, and `.` after the first character. Replaces other
// characters by `-`. Cuts a long text and adds its hash. Different texts may have the same result.
std::string file_stem(std::string_view text);

}  // namespace bench
