// SPDX-License-Identifier: Apache-2.0
// --filter and --device: select the cases of a plan.
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

// One --filter: a GLOB for the complete case id, or a /REGEX/ that matches anywhere in it.

class IdPattern {
 public:
  static Result<IdPattern> compile(const std::string& filter);
  bool matches(const std::string& id) const;

 private:
  using Glob = std::string;
  explicit IdPattern(std::variant<Glob, Regex> pattern) : pattern_(std::move(pattern)) {}
  std::variant<Glob, Regex> pattern_;
};

// Removes cases that match no filter (GLOB for the complete id, or /REGEX/ anywhere in it) or run
// on another device. Without filters or devices, removes nothing. Reports invalid patterns and
// device names, and a selection that leaves no case.
void select_cases(const std::vector<std::string>& filters, const std::vector<std::string>& devices,
                  Findings& findings, std::vector<Case>& cases);

}  // namespace bench
