// SPDX-License-Identifier: Apache-2.0
// What `bench trace` writes.
#pragma once

#include <span>
#include <string_view>

namespace bench {

// What its --format takes.
std::span<const std::string_view> trace_format_names();

}  // namespace bench
