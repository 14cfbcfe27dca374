// SPDX-License-Identifier: Apache-2.0
// One entry of `cases:` as read: its fixed values, and the values that vary.
#pragma once

#include "base/result.hpp"
#include "harness/config/case_id.hpp"
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

// Assigns one value to a parameter of the operator or to an axis.
struct Assignment {
  std::optional<Axis> axis;
  std::size_t parameter = 0;  // index into the operator's table; unused for an axis
  ops::Value value;
  AxisValue axis_value;
  Spot spot;
};
using Choice = std::vector<Assignment>;  // assigned together; `zip` gives several
using Dimension = std::vector<Choice>;   // alternatives; one applies at a time

struct CaseTemplate {
  enum class Origin { file, id };
  Origin origin = Origin::file;
  const ops::Operator* op = nullptr;  // nullptr: a network
  std::string network;
  Spot network_spot;
  std::string folder;  // folder of the file: its subfolder `networks` is searched first
  Spot spot;           // location of the entry
  ops::ParameterSet parameters{{}};
  std::vector<Spot> parameter_spots;  // parallel to the operator's table; file -1 = not written
  std::vector<ops::PostOp> post_ops;
  Spot post_ops_spot;
  Settings settings;
  // `sweep` in its order, then `zip`; the last one varies fastest
  std::vector<Dimension> dimensions;
};

// A value of --set; it overrides all files.
struct Override {
  int file;  // file number in Findings
  std::string key;
  const yaml::Node* value;
};

// Reads an entry and reports everything wrong with it. Returns nullopt if it cannot be expanded.
std::optional<CaseTemplate> read_case(const Reader& reader, const yaml::Node& node,
                                      const Settings& defaults, std::span<const Override> overrides,
                                      Findings& findings);

void apply_overrides(std::span<const Override> overrides, const ops::OperatorRegistry& registry,
                     Findings& findings, Settings& settings);

// For the manual: the keys op, network, sweep, zip, post_ops.
std::span<const KeyInfo> case_keys();

// Converts a case id to an entry of `cases:`, so that --set has the same meaning for ids and files.
// Returns an entry that expands to the one case of `key`, a result of parse_id(). Two values of the
// key may be defaults: the usual backend of its device, and the usual fusion of its mode. Such
// values depend on the other axes, as in a file that omits them.
Result<CaseTemplate> id_case(const CaseKey& key, Spot spot, const ops::OperatorRegistry& registry);

// Whether the entry accepts a value of --set. `batch` is for networks, `direction` for operators.
// Only a file can choose parts of a network, since an id names its part.
bool takes(const CaseTemplate& entry, const Override& fixed);
// Returns an error that says what an unused value of --set is for and what to do.
Error untaken(const Override& fixed);

}  // namespace bench
