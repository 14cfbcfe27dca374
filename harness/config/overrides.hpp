// SPDX-License-Identifier: Apache-2.0
// --set key=value: values that override all files.
#pragma once

#include "base/units.hpp"
#include "harness/config/case_template.hpp"
#include "harness/config/reader.hpp"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Owns the nodes to which `settings` points; not copyable, so that their addresses stay valid.
struct Overrides {
  std::vector<Override> settings;
  std::optional<Nanoseconds> budget;

  std::deque<yaml::Document> documents;
  std::deque<yaml::Node> wrappers;  // mappings created for dotted keys

  Overrides() = default;
  Overrides(const Overrides&) = delete;
  Overrides& operator=(const Overrides&) = delete;
};

// Reads "measure.processes=3", "dtype=[f32, bf16]", "budget=30s". Reports invalid ones.
void read_overrides(const std::vector<std::string>& arguments,
                    const ops::OperatorRegistry& registry, Findings& findings,
                    Overrides& overrides);

// Returns every key that can be set, nested ones with a dot: "dtype", "measure.processes",
// "budget".
std::vector<std::string> override_keys();

}  // namespace bench
