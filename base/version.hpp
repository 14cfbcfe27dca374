// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace bench {

/// Returns the version of this tool, such as "0.1.0" (the project's version in CMakeLists.txt).
std::string_view tool_version();

/// Returns the commit from which this binary was built, as 12 digits, with the suffix "-dirty" if
/// tracked files differed from it. Returns nullopt if it was built outside a git checkout.
std::optional<std::string_view> tool_commit();

/// Returns 12 digits that say how this binary was built: from which headers, by which compiler,
/// with which options. In two binaries with the same digits, a C++ type has the same layout and
/// virtual functions. Changes of sources alone keep the digits.
std::string_view build_id();

}  // namespace bench
