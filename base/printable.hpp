// SPDX-License-Identifier: Apache-2.0
// Text from outside (names, paths, arguments, what other programs say) in messages and tables: a
// terminal, a log and the runner of a CI show it and obey none of it. Escapes are made once, where
// text is printed; records and reports keep the text as it came.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace bench {

// Whether a terminal, an editor or a log may obey a character instead of showing it: control
// characters (C0, DEL, C1), line separators, bidirectional overrides and isolates.
bool is_obeyed(char32_t character);

// Replaces each such character and each byte that is not UTF-8 by a visible escape: `\x1b`,
// `\u202e`. The result is one line of valid UTF-8.
std::string escape_controls(std::string_view text);

// The same for a line, or a part of one, that a person reads. Also breaks what a CI would take for
// a command: "::error::" at the start of a word, "##[error]", "##vso[...]", "##teamcity[...]".
std::string printable(std::string_view text);

// The same for text of several lines: line feeds and tabs stay.
std::string printable_lines(std::string_view text);

// Writes printable(text) and a line feed. Every message to standard error goes this way.
void print_line(std::ostream& out, std::string_view text);

// Hands on what another program wrote, at once: printable_lines(text) as it comes, in any pieces.
void print_lines(std::ostream& out, std::string_view text);

}  // namespace bench
