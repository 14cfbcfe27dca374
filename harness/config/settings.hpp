// SPDX-License-Identifier: Apache-2.0
// The keys that `defaults`, cases and --set share: axes, and how a case is measured.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/config/reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Keys that take one value or a list. Lists give one case per combination of values.
enum class Axis {
  direction,
  dtype,
  backend,
  device,
  cache,
  threads,
  layout,
  math,
  batch,
  mode,
  fuse,
};
inline constexpr std::size_t kAxisCount = 11;

enum class AxisScope { everywhere, operators, networks };

struct AxisRow {
  Axis axis;
  AxisScope scope;
  KeyInfo info;
  // Allowed words; nullptr: integers from 1 on.
  std::vector<std::string_view> (*words)(const ops::OperatorRegistry& registry);
  std::string_view word_for_zero;  // word for the integer 0, such as "all"; empty = none
  std::int64_t fallback;
};

// Returns the rows in the order of the enumerators.
std::span<const AxisRow> axis_rows();
const AxisRow& axis_row(Axis axis);
const AxisRow* find_axis(std::string_view name);

// Index into the row's words, or the integer. For backends, the index is into
// OperatorRegistry::backends(). kAutomatic: depends on other values (backend on device and
// operator, fuse on mode).
struct AxisValue {
  std::int64_t value = 0;
  Spot spot;
};
inline constexpr std::int64_t kAutomatic = -1;

std::optional<AxisValue> read_axis_value(const Reader& reader, const AxisRow& row,
                                         const yaml::Node& node);

std::span<const std::string_view> device_names();

enum class NetworkParts { layers_and_network, layers, network };

struct Settings {
  std::array<std::vector<AxisValue>, kAxisCount> axes;
  Warmup warmup;
  Measure measure;
  NetworkParts parts = NetworkParts::layers_and_network;
  Settings();  // the language's defaults

  std::vector<AxisValue>& axis(Axis name) { return axes[static_cast<std::size_t>(name)]; }
  const std::vector<AxisValue>& axis(Axis name) const {
    return axes[static_cast<std::size_t>(name)];
  }
};

// The owner of a common key; it decides which keys are allowed.
enum class SettingsOwner { defaults, operator_case, network_case };

// Returns the names of all common keys that an owner may have.
std::vector<std::string_view> setting_names(SettingsOwner owner);
// Reads a common key. Returns false, without reporting anything, if `key` is not a common key of
// this owner.
bool read_setting(const Reader& reader, std::string_view key, const yaml::Node& node,
                  SettingsOwner owner, Settings& settings);

// Returns the group of settings that contains the key (`measure` contains `processes`), or nullopt.
std::optional<std::string_view> find_settings_group(std::string_view key);

// Returns the hint for an unknown key among an owner's settings: the group to which it belongs, or
// else expected_key().
std::string expected_setting(std::string_view written, std::span<const std::string_view> names);

// Tables of keys for the manual: warmup, measure.
std::span<const KeyRow<Warmup>> warmup_rows();
std::span<const KeyRow<Settings>> measure_rows();
std::span<const KeyRow<Settings>> timing_rows();  // warmup, measure, tune, ...

}  // namespace bench
