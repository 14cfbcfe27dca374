// SPDX-License-Identifier: Apache-2.0
// Escaping of external text (names, paths, arguments, output of other programs) in messages and
// tables. A terminal, a log or a CI runner must display such text and not interpret it. The program
// escapes text once, when it prints the text; records and reports keep the original.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

namespace bench {

struct Env;  // base/env.hpp

// Returns whether a terminal, an editor or a log may interpret a character instead of showing it.
// True for control characters (C0, DEL, C1), line separators, bidirectional overrides and isolates.
bool is_control_or_bidi(char32_t character);

// Replaces each such character, and each byte that is not valid UTF-8 by a visible escape: `\x1b`,
// `\u202e`. The result is one line of valid UTF-8.
std::string escape_controls(std::string_view text);

// Escapes a human-readable line, or a part of one, like escape_controls(). Also escapes the first
// character of what a CI runner would execute as a command: "::error::" at the start of a word,
// "##[error]", "##vso[...]", "##teamcity[...]".
std::string printable(std::string_view text);

// Escapes text like printable(), but keeps line feeds and tabs.
std::string printable_lines(std::string_view text);

// Writes printable(text) and a line feed. Every message to standard error uses this function. Cuts
// the middle of a text above kMaxMessage columns, whatever input it quotes.
inline constexpr std::size_t kMaxMessage = 4000;
void print_line(std::ostream& out, std::string_view text);
// Writes a sentence to env.err like print_line(). Wraps it between words if messages have a width
// (base/output_width.hpp). Blanks at the start of the text indent each line.
void print_sentence(const Env& env, std::string_view text);
// Writes each line of the text with print_sentence().
void print_sentences(const Env& env, std::string_view lines);

// Writes printable_lines(text) and flushes, to forward another program's output immediately. `text`
// may be any part of the output.
void print_lines(std::ostream& out, std::string_view text);

}  // namespace bench
