// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bench {

// Result files of long suites with all samples stay far below; the limit keeps a wrong file from
// being read whole.
inline constexpr std::int64_t kLargestResult = std::int64_t{1} << 32;

}  // namespace bench
