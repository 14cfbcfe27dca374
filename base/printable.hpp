// SPDX-License-Identifier: Apache-2.0
// Text from outside (names, paths, arguments, output of other programs) in messages and tables. A
// terminal, a log or a CI runner must display it and not interpret it. Text is escaped once, where
// it is printed; records and reports keep the original.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace bench {

// Returns whether a terminal, an editor or a log may interpret a character instead of showing it.
// These are control characters (C0, DEL, C1), line separators, bidirectional overrides and
// isolates.
bool is_control_or_bidi(char32_t character);

// Replaces each such character and each byte that is not valid UTF-8 by a visible escape: `\x1b`,
// `\u202e`. The result is one line of valid UTF-8.
std::string escape_controls(std::string_view text);

// The same for a human-readable line, or a part of one. Also breaks text that a CI would take for a
// command: "::error::" at the start of a word, "##[error]", "##vso[...]", "##teamcity[...]".
std::string printable(std::string_view text);

// The same for text of several lines: keeps line feeds and tabs.
std::string printable_lines(std::string_view text);

// Writes printable(text) and a line feed. Every message to standard error uses this function.
void print_line(std::ostream& out, std::string_view text);

// Forwards another program's output at once: writes printable_lines(text) as it comes, in any
// pieces.
void print_lines(std::ostream& out, std::string_view text);

}  // namespace bench
