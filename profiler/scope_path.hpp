// SPDX-License-Identifier: Apache-2.0
// Paths of nested scopes as text: names joined by ':'. A '\' precedes each ':' or '\' that is part
// of a name, so that any name can be restored.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns "path:name". `path` may be empty.
std::string append_scope(std::string_view path, std::string_view name);
std::vector<std::string> split_scope(std::string_view path);  // returns {} for ""

}  // namespace bench
