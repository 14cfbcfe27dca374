// SPDX-License-Identifier: Apache-2.0
// Counts with all their digits, for sentences.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

// Formats a count that is not negative with commas: "1,000,000".
std::string format_with_commas(std::int64_t count);

}  // namespace bench
