// SPDX-License-Identifier: Apache-2.0
// How tables are formatted for the destination of env.out.
#pragma once

#include "base/env.hpp"
#include "harness/report/console.hpp"
#include "harness/report/sparkline.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Uses the width of the terminal, or COLUMNS if there is no terminal or its width is unknown. In a
// file or a pipe without COLUMNS nothing is shortened; files and pipes are never coloured. The
// width is never smaller than a readable table needs.
ConsoleOptions console_options(const Env& env);

// The maximum width of tables; nullopt: no limit.
std::optional<std::size_t> limited_width(const Env& env);

// Blocks on a terminal whose locale (LC_ALL, LC_CTYPE or LANG, the first one that is set) is UTF-8;
// ASCII elsewhere, also in files and pipes.
Glyphs console_glyphs(const Env& env);

// Formats lines of text for env.out: without control characters, and folded to its width by
// fold_lines() (base/terminal_text.hpp).
std::string shown_lines(std::string_view text, const Env& env);

}  // namespace bench
