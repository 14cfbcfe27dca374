// SPDX-License-Identifier: Apache-2.0
// The settings: keys that `defaults`, entries of `cases:` and --set share. Some are axes; the
// others say how a case is measured.
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

// The settings that take one value or a list. Lists give one case per combination of values.
enum class Axis {
  direction,
  dtype,
  backend,
  device,
  cache,
  threads,
  streams,
  layout,
  math,
  batch,
  mode,
  fuse,
};
inline constexpr std::size_t kAxisCount = 12;

// The kinds of cases to which an axis applies.
enum class AxisScope { everywhere, operators, networks };

// Describes one axis.
struct AxisRow {
  Axis axis;
  AxisScope scope;
  KeyInfo info;
  // Returns the allowed words. nullptr: the axis has integers >= 1.
  std::vector<std::string_view> (*words)(const ops::OperatorRegistry& registry);
  std::string_view word_for_zero;  // word for the integer 0, such as "all"; empty: there is none
  std::int64_t default_value;      // as in AxisValue
};

// Returns the rows in the order of the enumerators.
std::span<const AxisRow> axis_rows();
const AxisRow& axis_row(Axis axis);
// Returns nullptr if no axis has this name.
const AxisRow* find_axis(std::string_view name);

// A value of an axis, and where it is written.
struct AxisValue {
  // The index of the word in AxisRow::words(), the integer, or kAutomatic. For backends, this is
  // also the index in OperatorRegistry::backends().
  std::int64_t value = 0;
  FileLocation location;
};
// The value depends on others: the backend on device and operator, `fuse` on `mode`.
inline constexpr std::int64_t kAutomatic = -1;

// Returns nullopt after reporting an error.
std::optional<AxisValue> read_axis_value(const Reader& reader, const AxisRow& row,
                                         const yaml::Node& node);

std::span<const std::string_view> device_names();

// The parts of a network that are measured: each distinct layer, the whole network, or both.
enum class NetworkParts { layers_and_network, layers, network };

struct Settings {
  std::array<std::vector<AxisValue>, kAxisCount> axes;
  Warmup warmup;
  Measure measure;
  NetworkParts parts = NetworkParts::layers_and_network;
  Settings();  // sets the built-in defaults

  std::vector<AxisValue>& axis(Axis name) { return axes[static_cast<std::size_t>(name)]; }
  const std::vector<AxisValue>& axis(Axis name) const {
    return axes[static_cast<std::size_t>(name)];
  }
};

// Where a setting is written. This decides which settings are allowed.
enum class SettingsOwner { defaults, operator_case, network_case };

// Returns the names of all settings that an owner may have.
std::vector<std::string_view> setting_names(SettingsOwner owner);
// Reads a setting and reports errors in its value. Returns false, without reporting an error, if
// `key` is not a setting of this owner.
bool read_setting(const Reader& reader, std::string_view key, const yaml::Node& node,
                  SettingsOwner owner, Settings& settings);

// Which part of the text that a plan's hash covers states a setting. Hashes are in stored results,
// so the text of a plan that exists never changes.
enum class PlanHash {
  always,          // its value, in the order of the rows, in the line of each case
  unless_default,  // " name value" after that line; every new setting has this
};

// How a setting is read, and written for messages ("100 ms") and for hashes ("100000000"). Cases do
// not have it if `text` is nullptr: it contains others, or decides which cases there are.
struct SettingMember {
  void (*read)(const Reader&, const KeyInfo&, const yaml::Node&, Settings&);
  std::string (*text)(const Case&) = nullptr;
  std::string (*hash_text)(const Case&) = nullptr;
};

// A setting that is not an axis, or a nested key of one. Rows of one group are adjacent.
struct SettingRow {
  std::string_view group;  // the setting of which it is a nested key: "measure"; empty: none
  KeyInfo info;
  SettingMember member;
  PlanHash plan_hash = PlanHash::unless_default;
  // Whether the setting can decide what computes the case, whose hash then states a value that is
  // not the default. nullptr: it never can.
  bool (*decides_work)(const Case&) = nullptr;

  void read(const Reader& reader, const KeyInfo& key, const yaml::Node& node,
            Settings& settings) const {
    member.read(reader, key, node, settings);
  }
};
std::span<const SettingRow> setting_rows();
// Returns the rows of one group; none if the word is not a group.
std::span<const SettingRow> settings_of(std::string_view group);

// Returns the texts of the settings of a case in the plan's hash: " 3 100000000", " tune 4".
std::string format_for_plan_hash(const Case& item, PlanHash part);
// Returns the text of the settings that decide what computes the case: " tune 4".
std::string format_for_case_hash(const Case& item);

// Returns the settings that say how a case is measured, for people: "warmup.iterations 3,
// processes 5, max_time 2 s". Leaves out those that decide what computes the case, and the limit of
// a step, which no time depends on.
std::string format_measuring(const Case& item);

// Returns the setting that contains the nested key: `measure` contains `processes`. Returns nullopt
// if none does.
std::optional<std::string_view> find_settings_group(std::string_view key);

// Returns the hint for an unknown key: the setting of which it is a nested key, or else
// expected_key().
std::string expected_setting(std::string_view written, std::span<const std::string_view> names);

}  // namespace bench
