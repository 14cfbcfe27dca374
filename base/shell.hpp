// SPDX-License-Identifier: Apache-2.0
// Text for a POSIX shell.
#pragma once

#include <string>

namespace bench {

// The word that a shell reads as `text`; in quotes only if it needs them.
std::string shell_quoted(const std::string& text);

}  // namespace bench
