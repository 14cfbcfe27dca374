// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bench {

// Text for a line or a table's cell of Markdown: names come from files, and nothing in them may
// become markup, of Markdown or of HTML, nor end the line. Line ends and tabs become blanks, other
// controls and what is no UTF-8 visible escapes.
std::string escape_markdown(std::string_view text);

// The same in fixed pitch: a command, a path.
std::string markdown_code(std::string_view text);

}  // namespace bench
