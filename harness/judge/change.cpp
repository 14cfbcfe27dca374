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
constexpr std::array<std::string_view, 6> kUninteresting = {
    "arena.bytes",  "clock.now_khz", "clock.now_mhz",
    "config.files", "load_1min",     "memory.available_bytes"};

bool is_uninteresting(const Change& change) {
  return std::ranges::find(kUninteresting, change.field) != kUninteresting.end();
}

bool says_nothing(const Change& change) {
  return !change.from || !change.to || change.from == kDigestVaries || change.to == kDigestVaries;
}

std::map<std::string, std::string> all_facts(const ExactProperties& side) {
  std::map<std::string, std::string> facts = facts_as_texts(side);
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
  std::erase_if(changes, is_uninteresting);
  return changes;
}

std::vector<Change> case_changes(const ExactProperties& from, const ExactProperties& to) {
  std::vector<Change> changes = changes_between(all_facts(from), all_facts(to));
  std::erase_if(changes, says_nothing);
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

std::string whole(const std::string& value) { return value; }
// "580.82.07" -> "580"
std::string major_version(const std::string& version) {
  return version.substr(0, version.find('.'));
}

struct ConditionRow {
  const char* fact;
  std::string (*what_counts)(const std::string& value);
};
constexpr std::array<ConditionRow, 4> kConditions = {
    {{"gpu.name", whole}, {"gpu.driver", major_version}, {"gpu.ecc", whole}, {"gpu.mig", whole}}};

std::string fact_value(const MeasuredCase& side, const char* fact) {
  const auto found = side.device->find(fact);
  return found == side.device->end() ? std::string(kUnknown) : found->second;
}

std::string difference(std::string_view field, const std::string& from, const std::string& to,
                       const SideWords& words) {
  return fmt::format("{} differs: {} {}, {} {}", field, from, words.from, to, words.to);
}

std::string gigahertz(std::int64_t hertz) {
  return fmt::format("{:.2f} GHz", static_cast<double>(hertz) / 1e9);
}

}  // namespace

std::optional<std::string> device_difference(const MeasuredCase& from, const MeasuredCase& to,
                                             const SideWords& words) {
  if (!from.device || !to.device) return std::nullopt;
  for (const ConditionRow& row : kConditions) {
    const std::string left = fact_value(from, row.fact), right = fact_value(to, row.fact);
    if (row.what_counts(left) != row.what_counts(right)) {
      return difference(row.fact, left, right, words);
    }
  }
  const bool was_throttled = has_flag(from.flags, Flag::throttled);
  const bool is_throttled = has_flag(to.flags, Flag::throttled);
  if (was_throttled != is_throttled) {
    const auto text = [](bool throttled) { return throttled ? "yes" : "no"; };
    return difference("throttled", text(was_throttled), text(is_throttled), words);
  }
  if (from.sample_method && to.sample_method && *from.sample_method != *to.sample_method) {
    return difference("sample_method", *from.sample_method, *to.sample_method, words);
  }
  if (!from.clock_hz || !to.clock_hz || *from.clock_hz <= 0 || *to.clock_hz <= 0) {
    return std::nullopt;
  }
  const auto [low, high] = std::minmax(*from.clock_hz, *to.clock_hz);
  const auto lower = static_cast<double>(low), higher = static_cast<double>(high);
  if (higher <= lower * (1 + kComparableClocks)) return std::nullopt;
  return difference("clock_hz", gigahertz(*from.clock_hz), gigahertz(*to.clock_hz), words) +
         fmt::format(", {:.1f} % apart", 100 * (higher / lower - 1));
}

}  // namespace bench
