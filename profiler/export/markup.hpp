// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bench {

// Escapes text for an HTML or XML element or a quoted attribute. U+FFFD replaces what XML cannot
// contain: invalid UTF-8, characters for which is_control_or_bidi() is true (base/printable.hpp),
// U+FFFE and U+FFFF.
std::string escape_markup(std::string_view text);

}  // namespace bench
