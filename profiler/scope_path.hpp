// SPDX-License-Identifier: Apache-2.0
// Paths of nested scopes as text: names joined by ':', with '\' before a ':' or '\' that belongs to
// a name, so that every name survives.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// "a:b"; `path` may be empty.
std::string append_scope(std::string_view path, std::string_view name);
std::vector<std::string> split_scope(std::string_view path);  // {} for ""

}  // namespace bench
