// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bench {

// Escapes text for a line or table cell of Markdown. Names come from files and must not become
// markup (Markdown or HTML) or end the line. Line ends and tabs become blanks. Other control
// characters and invalid UTF-8 become visible escapes.
std::string escape_markdown(std::string_view text);

// The same in monospaced font, for a command or path.
std::string markdown_code(std::string_view text);

}  // namespace bench
