// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace bench {

/// Version of this tool, such as "0.1.0" (the project's version in CMakeLists.txt).
std::string_view tool_version();

/// Commit this binary was built from, abbreviated to 12 digits and ending in "-dirty" where tracked
/// files differed from it; absent when built outside a git checkout.
std::optional<std::string_view> tool_commit();

}  // namespace bench
