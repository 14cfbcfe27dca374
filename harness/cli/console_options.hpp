// SPDX-License-Identifier: Apache-2.0
// How tables are shown where env.out leads.
#pragma once

#include "base/env.hpp"
#include "harness/report/console.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// As wide as the terminal, or as COLUMNS says where there is no terminal or its width is unknown.
// Into a file or a pipe without COLUMNS nothing is shortened; there nothing is coloured either.
// Never narrower than what a table can be read in.
ConsoleOptions console_options(const Env& env);

// The width that tables keep to; nullopt: any.
std::optional<std::size_t> limited_width(const Env& env);

// Lines of text as env.out is to show them: without control characters, and folded to its width as
// fold_lines() (harness/report/table.hpp) does.
std::string shown_lines(std::string_view text, const Env& env);

}  // namespace bench
