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

// What takes one value or a list of values; lists make one case for each combination.
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
  // Allowed words; nullptr: integers from 1.
  std::vector<std::string_view> (*words)(const ops::Catalogue& catalogue);
  std::string_view word_for_zero;  // of integers: "all"; empty = none
  std::int64_t fallback;
};

// In the order of the enumerators.
std::span<const AxisRow> axis_rows();
const AxisRow& axis_row(Axis axis);
const AxisRow* find_axis(std::string_view name);

// Index into the row's words, or the integer; kAutomatic: chosen from other values (backend by
// device and operator, fuse by mode). Of backends: into Catalogue::backends().
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

// Where a common key stands: decides which are allowed.
enum class SettingsOwner { defaults, operator_case, network_case };

// Names of all common keys that an owner may have.
std::vector<std::string_view> setting_names(SettingsOwner owner);
// False when `key` is no common key of this owner (nothing is reported then).
bool read_setting(const Reader& reader, std::string_view key, const yaml::Node& node,
                  SettingsOwner owner, Settings& settings);

// The group of settings that has the key: `measure` has `processes`. Nullopt: none has it.
std::optional<std::string_view> group_of(std::string_view key);

// The hint for an unknown key where the settings of an owner stand: the group that it is to be
// written in, else expected_key().
std::string expected_setting(std::string_view written, std::span<const std::string_view> names);

// For the manual: warmup, measure.
std::span<const KeyRow<Warmup>> warmup_rows();
std::span<const KeyRow<Settings>> measure_rows();
std::span<const KeyRow<Settings>> timing_rows();  // warmup, measure, tune, ...

}  // namespace bench
