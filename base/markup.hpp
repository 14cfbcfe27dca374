// SPDX-License-Identifier: Apache-2.0
// Escaping of text for HTML, XML and Markdown. Names come from files and must not become markup.
#pragma once

#include <string>
#include <string_view>

namespace bench {

// Escapes text for an HTML or XML element or a quoted attribute. U+FFFD replaces invalid UTF-8,
// U+FFFE, U+FFFF and characters for which is_control_or_bidi() is true (base/printable.hpp). Line
// ends and tabs become character references.
std::string escape_markup(std::string_view text);

// Escapes text for a line or table cell of Markdown, so that it becomes neither Markdown nor HTML
// and does not end the line. Line ends and tabs become blanks. Other control characters and
// invalid UTF-8 become visible escapes.
std::string escape_markdown(std::string_view text);

// Escapes text like escape_markdown(), in monospaced font, for a command or a path.
std::string markdown_code(std::string_view text);

// Escapes a sentence of this program. Text between two backticks is a command or a name, as on
// pages, and becomes markdown_code().
std::string markdown_sentence(std::string_view text);

}  // namespace bench
