// SPDX-License-Identifier: Apache-2.0
// An entry of `cases:` before its expansion: its fixed values and the values that vary.
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

// Assigns one value to an axis, or to a parameter of the operator if `axis` is nullopt.
struct Assignment {
  std::optional<Axis> axis;
  std::size_t parameter = 0;  // index into the operator's table; unused for an axis
  ops::Value value;
  AxisValue axis_value;
  FileLocation location;
};
using Choice = std::vector<Assignment>;  // assignments that apply together; `zip` gives several
using Dimension = std::vector<Choice>;   // alternatives; each case uses one

struct CaseTemplate {
  enum class Origin { file, id };  // `cases:` of a file, or a case id
  Origin origin = Origin::file;
  const ops::Operator* op = nullptr;  // nullptr: a network
  std::string network;                // name of the network; empty for an operator
  FileLocation network_location;
  std::string folder;  // folder of the file; its subfolder `networks` is searched first
  std::optional<std::string> network_folder = {};  // searched instead of that subfolder
  FileLocation location;                           // location of the entry
  ops::ParameterSet parameters{{}};
  // One location per parameter of the operator. File -1: the parameter is not written.
  std::vector<FileLocation> parameter_locations;
  std::vector<ops::PostOp> post_ops;
  FileLocation post_ops_location;
  std::optional<int> count;  // as Case::count
  Settings settings;
  // The dimensions of `sweep` in their order, then that of `zip`. The last one varies fastest.
  std::vector<Dimension> dimensions;
};

// A value of --set, which overrides all files.
struct Override {
  int file;  // file number in Diagnostics
  std::string key;
  const yaml::Node* value;
};

// Reads an entry of `cases:` and applies `overrides`. Reports all errors in it. Returns nullopt if
// it cannot be expanded.
std::optional<CaseTemplate> read_case(const Reader& reader, const yaml::Node& node,
                                      const Settings& defaults, std::span<const Override> overrides,
                                      Diagnostics& diagnostics);

// Replaces the settings that --set overrides.
void apply_overrides(std::span<const Override> overrides, const ops::OperatorRegistry& registry,
                     Diagnostics& diagnostics, Settings& settings);

// Returns the keys op, network, sweep, zip, post_ops and count, for the manual.
std::span<const KeyInfo> case_keys();

// Converts a case id to an entry of `cases:`, so that --set has the same meaning for ids and files.
// Returns an entry that expands to the single case of `key`, a result of parse_id(). If the backend
// is the default of the device and operator, or the fusion the default of the mode, the entry omits
// this value. --set of another axis then also changes it, as in a file that omits it.
Result<CaseTemplate> template_from_key(const CaseKey& key, FileLocation location,
                                       const ops::OperatorRegistry& registry);

// Returns whether a value of --set applies to the entry. For example, `batch` applies to networks
// and `direction` to operators. `measure.what` applies only to networks of a file, since an id is a
// whole network.
bool accepts_override(const CaseTemplate& entry, const Override& setting);
// Returns an error for a value of --set that applies to no entry: what the key is for, and what to
// do.
Error make_unused_override_error(const Override& setting);

}  // namespace bench
