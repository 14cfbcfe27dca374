// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/change.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

namespace {

// Facts that always differ between two runs or do not affect times.
constexpr std::array<std::string_view, 9> kIgnoredFacts = {
    "arena.bytes",     "boot_id",   "clock.now_khz",          "clock.now_mhz",
    "config.files",    "load_1min", "memory.available_bytes", kProgramPathFact,
    kProgramDigestFact};

// Facts that runs of older versions do not state.
bool is_from_new_version(const Change& change) {
  const bool is_new = change.field == kMeasuringFact || change.field.ends_with(kDigestSuffix);
  return is_new && (!change.from || !change.to);
}

bool is_ignored(const Change& change) {
  return std::ranges::find(kIgnoredFacts, change.field) != kIgnoredFacts.end() ||
         is_from_new_version(change);
}

// Whether the change shows nothing: only one side recorded the property, or a digest varies.
bool is_not_meaningful(const Change& change) {
  return !change.from || !change.to || change.from == kDigestVaries || change.to == kDigestVaries;
}

std::map<std::string, std::string> collect_facts(const ExactProperties& side) {
  std::map<std::string, std::string> facts = facts_as_texts(side);
  facts.erase(kSettingsDetail);  // says how the case was measured, not what it is
  if (!side.implementation.empty()) facts["implementation"] = side.implementation;
  return facts;
}

}  // namespace

std::vector<Change> changes_between(const std::map<std::string, std::string>& from,
                                    const std::map<std::string, std::string>& to) {
  std::map<std::string, Change> changes;
  for (const auto& [field, value] : from) changes[field] = {field, value, std::nullopt};
  for (const auto& [field, value] : to) {
    changes[field].field = field;
    changes[field].to = value;
  }
  std::vector<Change> different;
  for (auto& [field, change] : changes) {
    if (change.from != change.to) different.push_back(std::move(change));
  }
  return different;
}

std::map<std::string, std::string> library_facts(
    const std::map<std::string, std::string>& libraries) {
  std::map<std::string, std::string> facts;
  for (const auto& [name, version] : libraries) facts["library." + name] = version;
  return facts;
}

std::vector<Change> run_changes(const std::map<std::string, std::string>& from,
                                const std::map<std::string, std::string>& to) {
  std::vector<Change> changes = changes_between(from, to);
  std::erase_if(changes, is_ignored);
  return changes;
}

std::vector<Change> case_changes(const ExactProperties& from, const ExactProperties& to) {
  std::vector<Change> changes = changes_between(collect_facts(from), collect_facts(to));
  std::erase_if(changes, is_not_meaningful);
  return changes;
}

std::string format_values(const Change& change) {
  return fmt::format("{} -> {}", change.from.value_or(std::string(kUnknown)),
                     change.to.value_or(std::string(kUnknown)));
}

std::string format_changes(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", change.field, format_values(change));
  }
  return text;
}

namespace {

std::string full_value(const std::string& value) { return value; }
// Returns "580" for "580.82.07".
std::string major_version(const std::string& version) {
  return version.substr(0, version.find('.'));
}

struct ConditionRow {
  const char* fact;
  std::string (*compared_part)(
      const std::string& value);  // the part of the value that must be equal
};
constexpr std::array<ConditionRow, 4> kConditions = {{{"gpu.name", full_value},
                                                      {"gpu.driver", major_version},
                                                      {"gpu.ecc", full_value},
                                                      {"gpu.mig", full_value}}};

std::string find_fact(const MeasuredCase& side, const char* fact) {
  const auto found = side.device->find(fact);
  return found == side.device->end() ? std::string(kUnknown) : found->second;
}

std::string format_condition(std::string_view field, const std::string& from, const std::string& to,
                             const SidePhrases& phrases) {
  return fmt::format("{} differs: {} {}, {} {}", field, from, phrases.from, to, phrases.to);
}

std::string format_gigahertz(std::int64_t hertz) {
  return fmt::format("{:.2f} GHz", static_cast<double>(hertz) / 1e9);
}

}  // namespace

std::optional<std::string> device_difference(const MeasuredCase& from, const MeasuredCase& to,
                                             const SidePhrases& phrases) {
  if (!from.device || !to.device) return std::nullopt;
  for (const ConditionRow& row : kConditions) {
    const std::string from_value = find_fact(from, row.fact), to_value = find_fact(to, row.fact);
    if (row.compared_part(from_value) != row.compared_part(to_value)) {
      return format_condition(row.fact, from_value, to_value, phrases);
    }
  }
  const bool was_throttled = has_flag(from.flags, Flag::throttled);
  const bool is_throttled = has_flag(to.flags, Flag::throttled);
  if (was_throttled != is_throttled) {
    const auto text = [](bool throttled) { return throttled ? "yes" : "no"; };
    return format_condition("throttled", text(was_throttled), text(is_throttled), phrases);
  }
  if (from.sample_method && to.sample_method && *from.sample_method != *to.sample_method) {
    return format_condition("sample_method", *from.sample_method, *to.sample_method, phrases);
  }
  if (!from.clock_hz || !to.clock_hz || *from.clock_hz <= 0 || *to.clock_hz <= 0) {
    return std::nullopt;
  }
  const auto [low, high] = std::minmax(*from.clock_hz, *to.clock_hz);
  const auto lower = static_cast<double>(low), higher = static_cast<double>(high);
  if (higher <= lower * (1 + kComparableClocks)) return std::nullopt;
  return format_condition("clock_hz", format_gigahertz(*from.clock_hz),
                          format_gigahertz(*to.clock_hz), phrases) +
         fmt::format(", {:.1f} % apart", 100 * (higher / lower - 1));
}

}  // namespace bench
