// SPDX-License-Identifier: Apache-2.0
// Options that depend on the destination of env.out: width, colours and characters of tables and
// lines.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/report/console.hpp"
#include "harness/report/sparkline.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Returns the options for tables. The width is that of the terminal, or COLUMNS if there is no
// terminal or its width is unknown. Without COLUMNS, the width of a file or pipe is unlimited. The
// width is never smaller than a readable table needs. Files and pipes get no colours.
ConsoleOptions console_options(const Env& env);

// Returns which notes a command shows that measures nothing: the same command line shows all.
NoteView note_view(const Arguments& arguments);

// Returns the maximum width of tables; nullopt if there is no limit.
std::optional<std::size_t> limited_width(const Env& env);

// Returns block characters for a terminal whose locale is UTF-8, otherwise ASCII. The locale is the
// first non-empty variable of LC_ALL, LC_CTYPE and LANG.
Glyphs console_glyphs(const Env& env);

// Formats lines of text for env.out. Escapes control characters, and folds long lines with
// fold_lines() (base/terminal_text.hpp).
std::string format_console_lines(std::string_view text, const Env& env);

}  // namespace bench
