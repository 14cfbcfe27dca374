// SPDX-License-Identifier: Apache-2.0
// Finds the mistake behind a syntax error. The YAML library reports the position where it stopped.
// This is often a line after the mistake, and the library does not say what to write.
#pragma once

#include "harness/config/yaml.hpp"

#include <optional>
#include <string_view>

namespace bench::yaml {

// Finds the mistake in `text` that made parsing fail at `failed`. Knows tabs as indentation,
// missing blanks after colons, unclosed brackets, two keys in one line, and wrong indentation.
// Returns nullopt if it is another mistake.
std::optional<Problem> find_slip(std::string_view text, Mark failed);

}  // namespace bench::yaml
