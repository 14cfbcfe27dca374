// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bench {

// Text as content of an HTML or XML element or of a quoted attribute. What XML cannot hold (bytes
// that are no UTF-8, characters that are obeyed (base/printable.hpp), U+FFFE, U+FFFF) becomes
// U+FFFD.
std::string escape_markup(std::string_view text);

}  // namespace bench
