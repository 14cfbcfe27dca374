// SPDX-License-Identifier: Apache-2.0
// Reads the values of --set, which override all files.
#pragma once

#include "base/units.hpp"
#include "harness/config/case_template.hpp"
#include "harness/config/reader.hpp"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// The values of --set. Owns the nodes to which `settings` points. Not copyable, so that the
// addresses of the nodes stay valid.
struct Overrides {
  std::vector<Override> settings;
  std::optional<Nanoseconds> budget;

  std::deque<yaml::Document> documents;
  std::deque<yaml::Node> wrappers;  // mappings that hold the values of dotted keys

  Overrides() = default;
  Overrides(const Overrides&) = delete;
  Overrides& operator=(const Overrides&) = delete;
};

// Reads arguments such as "measure.processes=3", "dtype=[f32, bf16]" and "budget=30s". Reports
// invalid ones.
void read_overrides(const std::vector<std::string>& arguments,
                    const ops::OperatorRegistry& registry, Diagnostics& diagnostics,
                    Overrides& overrides);

// Returns all keys that --set accepts: "dtype", "measure.processes", "budget".
std::vector<std::string> override_keys();

}  // namespace bench
