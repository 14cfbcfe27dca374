// SPDX-License-Identifier: Apache-2.0
// What else differs between two sides whose times are compared.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Something that differs between the two sides; absent where a side does not have it.
struct Change {
  std::string field;  // "implementation", "library.onednn"
  std::optional<std::string> from, to;
  friend bool operator==(const Change&, const Change&) = default;
};

// Differences of two sets of facts, in the order of their names.
std::vector<Change> changes_between(const std::map<std::string, std::string>& from,
                                    const std::map<std::string, std::string>& to);

}  // namespace bench
