// SPDX-License-Identifier: Apache-2.0
// One entry of `cases:` as read: what is fixed, and what varies.
#pragma once

#include "harness/config/reader.hpp"
#include "harness/config/settings.hpp"
#include "ops/operator.hpp"
#include "ops/parameter.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// Gives one value to a parameter of the operator, or to an axis.
struct Assignment {
  std::optional<Axis> axis;
  std::size_t parameter = 0;  // index into the operator's table, without an axis
  ops::Value value;
  AxisValue axis_value;
  Spot spot;
};
using Choice = std::vector<Assignment>;  // made together; several with `zip`
using Dimension = std::vector<Choice>;   // one of them at a time

struct CaseTemplate {
  enum class Origin { file, id };
  Origin origin = Origin::file;
  const ops::Operator* op = nullptr;  // nullptr: a network
  std::string network;
  Spot network_spot;
  std::string folder;  // of the file: networks are looked up below it
  Spot spot;           // of the entry
  ops::ParameterSet parameters{{}};
  std::vector<Spot> parameter_spots;  // aligned with the operator's table; file -1 = not written
  std::vector<ops::PostOp> post_ops;
  Spot post_ops_spot;
  Settings settings;
  std::vector<Dimension> dimensions;  // `sweep` in its order, then `zip`; the last varies fastest
};

// A value of --set; stronger than anything in a file.
struct Override {
  int file;  // in Findings
  std::string key;
  const yaml::Node* value;
};

// Absent when so much is wrong that nothing can be expanded; everything wrong is reported.
std::optional<CaseTemplate> read_case(const Reader& reader, const yaml::Node& node,
                                      const Settings& defaults, std::span<const Override> overrides,
                                      Findings& findings);

void apply_overrides(std::span<const Override> overrides, const ops::Catalogue& catalogue,
                     Findings& findings, Settings& settings);

// For the manual: op, network, sweep, zip, post_ops.
std::span<const KeyInfo> case_keys();

}  // namespace bench
