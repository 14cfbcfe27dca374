// SPDX-License-Identifier: Apache-2.0
#include "harness/config/overrides.hpp"

#include "harness/config/config_file.hpp"
#include "harness/config/settings.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace bench {
namespace {

std::vector<std::string_view> list_top_level_keys() {
  std::vector<std::string_view> keys = setting_names(SettingsOwner::defaults);
  keys.push_back(kBudgetKey.name);
  return keys;
}

// Returns whether a setting consists of nested keys.
bool is_settings_group(std::string_view key) { return !key.empty() && !settings_of(key).empty(); }

// Returns what to write instead of an unknown key.
std::string expected_override(const std::string& key) {
  if (const auto group = find_settings_group(key))
    return fmt::format("write --set {}.{}=...", *group, key);
  const std::vector<std::string> keys = override_keys();
  const std::vector<std::string_view> nested(keys.begin(), keys.end());
  // Only nested keys have a dot, and the nearest one shows the group, too.
  return expected_key(key, key.find('.') == std::string::npos ? list_top_level_keys() : nested);
}

void read_override(const std::string& argument, const ops::OperatorRegistry& registry,
                   Diagnostics& diagnostics, Overrides& overrides) {
  const Reader reader(diagnostics, diagnostics.add_argument("--set " + argument), registry);
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    reader.report_error({}, "expected key=value", "for example --set measure.processes=3");
    return;
  }
  auto document = yaml::parse(std::string_view(argument).substr(equals + 1));
  if (!document.ok()) {
    reader.report_error({}, document.error().what, document.error().next);
    return;
  }
  const yaml::Node* value = &overrides.documents.emplace_back(*std::move(document)).root();
  std::string key = argument.substr(0, equals);
  if (const std::size_t dot = key.find('.');
      dot != std::string::npos && is_settings_group(std::string_view(key).substr(0, dot))) {
    yaml::Node& wrapper = overrides.wrappers.emplace_back();
    wrapper.kind = yaml::Kind::mapping;
    wrapper.entries.push_back({key.substr(dot + 1), {}, value});
    value = &wrapper;
    key.resize(dot);
  }
  if (key == kBudgetKey.name) return read_into(reader, kBudgetKey, *value, overrides.budget);
  // Reads the value into unused settings, which reports its errors once instead of once per case.
  Settings unused;
  if (!read_setting(reader, key, *value, SettingsOwner::defaults, unused)) {
    reader.report_error({}, "unknown key " + quote(key), expected_override(key));
    return;
  }
  overrides.settings.push_back({reader.file(), std::move(key), value});
}

}  // namespace

std::vector<std::string> override_keys() {
  std::vector<std::string> keys;
  for (const std::string_view key : list_top_level_keys()) {
    if (!is_settings_group(key)) keys.emplace_back(key);
  }
  for (const SettingRow& row : setting_rows()) {
    if (!row.group.empty()) keys.push_back(fmt::format("{}.{}", row.group, row.info.name));
  }
  return keys;
}

void read_overrides(const std::vector<std::string>& arguments,
                    const ops::OperatorRegistry& registry, Diagnostics& diagnostics,
                    Overrides& overrides) {
  for (const std::string& argument : arguments)
    read_override(argument, registry, diagnostics, overrides);
}

}  // namespace bench
