// SPDX-License-Identifier: Apache-2.0
// Quoting of text for a POSIX shell.
#pragma once

#include <string>

namespace bench {

// Returns a word that a shell reads as `text`. Quotes only if necessary.
std::string shell_quoted(const std::string& text);

}  // namespace bench
