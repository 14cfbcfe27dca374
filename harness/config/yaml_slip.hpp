// SPDX-License-Identifier: Apache-2.0
// Finds the slip behind a syntax error: the YAML library reports the place where it could not go
// on, which is often a line after the mistake, and does not say what to write.
#pragma once

#include "harness/config/yaml.hpp"

#include <optional>
#include <string_view>

namespace bench::yaml {

// The mistake in `text` that made parsing fail at `failed`: a tab that indents, a missing blank
// behind a colon, a bracket that is not closed, two keys in one line, a wrong indentation. Returns
// nullopt if it is none of these.
std::optional<Problem> find_slip(std::string_view text, Mark failed);

}  // namespace bench::yaml
