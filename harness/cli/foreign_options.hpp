// SPDX-License-Identifier: Apache-2.0
// Options of other profilers, for hints: what to write instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Returns "use `--name REGEX`: ..." for an option of another profiler that `bench COMMAND` has
// under another name; nullopt for others. `written` begins with "--" and has no value.
std::optional<std::string> foreign_option_hint(std::string_view command, std::string_view written);

}  // namespace bench
