// SPDX-License-Identifier: Apache-2.0
#include "harness/config/overrides.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace bench {
namespace {

// Keys with nested keys.
constexpr std::string_view kGroups[] = {"warmup", "measure"};

std::vector<std::string_view> valid_keys() {
  std::vector<std::string_view> keys = setting_names(SettingsOwner::defaults);
  keys.push_back("budget");
  return keys;
}

bool is_group(std::string_view key) {
  for (const std::string_view group : kGroups) {
    if (group == key) return true;
  }
  return false;
}

void read_one(const std::string& argument, const ops::OperatorRegistry& registry,
              Findings& findings, Overrides& overrides) {
  const Reader reader(findings, findings.add_argument("--set " + argument), registry);
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    reader.complain({}, "expected key=value", "for example --set measure.processes=3");
    return;
  }
  auto document = yaml::parse(std::string_view(argument).substr(equals + 1));
  if (!document.ok()) {
    reader.complain({}, document.error().what, document.error().next);
    return;
  }
  const yaml::Node* value = &overrides.documents.emplace_back(*std::move(document)).root();
  std::string key = argument.substr(0, equals);
  if (const std::size_t dot = key.find('.');
      dot != std::string::npos && is_group(std::string_view(key).substr(0, dot))) {
    yaml::Node& wrapper = overrides.wrappers.emplace_back();
    wrapper.kind = yaml::Kind::mapping;
    wrapper.entries.push_back({key.substr(dot + 1), {}, value});
    value = &wrapper;
    key.resize(dot);
  }
  if (key == "budget") {
    overrides.budget = reader.duration(*value, key, Nanoseconds(1));
    return;
  }
  // A trial reading reports mistakes once instead of once per case.
  Settings trial;
  if (!read_setting(reader, key, *value, SettingsOwner::defaults, trial)) {
    const auto group = find_settings_group(key);
    reader.complain({}, "unknown key " + quote(key),
                    group ? fmt::format("write --set {}.{}=...", *group, key)
                          : expected_key(key, valid_keys()));
    return;
  }
  overrides.settings.push_back({reader.file(), std::move(key), value});
}

template <class Rows>
void add_nested(std::string_view group, const Rows& rows, std::vector<std::string>& keys) {
  for (const auto& row : rows) keys.push_back(fmt::format("{}.{}", group, row.info.name));
}

}  // namespace

std::vector<std::string> override_keys() {
  std::vector<std::string> keys;
  for (const std::string_view key : valid_keys()) {
    if (!is_group(key)) keys.emplace_back(key);
  }
  add_nested(kGroups[0], warmup_rows(), keys);
  add_nested(kGroups[1], measure_rows(), keys);
  return keys;
}

void read_overrides(const std::vector<std::string>& arguments,
                    const ops::OperatorRegistry& registry, Findings& findings,
                    Overrides& overrides) {
  for (const std::string& argument : arguments) read_one(argument, registry, findings, overrides);
}

}  // namespace bench
