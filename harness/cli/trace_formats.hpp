// SPDX-License-Identifier: Apache-2.0
// The formats of `bench trace`.
#pragma once

#include <span>
#include <string_view>

namespace bench {

// The values of its --format.
std::span<const std::string_view> trace_format_names();

}  // namespace bench
