// SPDX-License-Identifier: Apache-2.0
// Selects the cases of a plan by --filter and --device.
#pragma once

#include "base/pattern.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/config/reader.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

// A value of --filter: a GLOB that matches the complete case id, or a /REGEX/ that matches anywhere
// in the id.
class IdPattern {
 public:
  static Result<IdPattern> compile(const std::string& filter);
  bool matches(const std::string& id) const;

 private:
  using Glob = std::string;
  explicit IdPattern(std::variant<Glob, Regex> pattern) : pattern_(std::move(pattern)) {}
  std::variant<Glob, Regex> pattern_;
};

// Removes the cases that match no filter or run on none of the devices. An empty list of filters or
// devices removes nothing. Reports invalid patterns and device names, and a selection without
// cases.
void select_cases(const std::vector<std::string>& filters, const std::vector<std::string>& devices,
                  Diagnostics& diagnostics, std::vector<Case>& cases);

}  // namespace bench
