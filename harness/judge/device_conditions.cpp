// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/device_conditions.hpp"

#include "base/text.hpp"
#include "harness/result/id_segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace bench {
namespace {

std::string whole(const std::string& value) { return value; }
// "580.82.07" -> "580"
std::string major_of(const std::string& version) { return version.substr(0, version.find('.')); }

struct ConditionRow {
  const char* fact;
  std::string (*what_counts)(const std::string& value);
};
constexpr std::array<ConditionRow, 4> kConditions = {
    {{"gpu.name", whole}, {"gpu.driver", major_of}, {"gpu.ecc", whole}, {"gpu.mig", whole}}};

std::optional<DeviceConditions> conditions(const std::string& id, const std::vector<Flag>& flags,
                                           const EnvironmentRecord& environment) {
  const std::string device = split_id(id).device;
  if (device.empty() || device == "cpu") return std::nullopt;
  DeviceConditions result;
  for (const ConditionRow& row : kConditions) {
    const auto found = environment.details.find(row.fact);
    if (found != environment.details.end()) result.facts[row.fact] = found->second;
  }
  result.throttled = std::ranges::find(flags, Flag::throttled) != flags.end();
  return result;
}

std::string value_of(const DeviceConditions& side, const char* fact) {
  const auto found = side.facts.find(fact);
  return found == side.facts.end() ? std::string(kUnknown) : found->second;
}

std::string difference(std::string_view field, const std::string& from, const std::string& to,
                       const SideWords& words) {
  return fmt::format("{} differs: {} {}, {} {}", field, from, words.from, to, words.to);
}

std::string gigahertz(std::int64_t hertz) {
  return fmt::format("{:.2f} GHz", static_cast<double>(hertz) / 1e9);
}

}  // namespace

std::optional<DeviceConditions> device_conditions(const CaseRecord& record,
                                                  const EnvironmentRecord& environment) {
  auto result = conditions(record.id, record.flags, environment);
  if (!result) return std::nullopt;
  result->clock_hz = record.clock_hz;
  result->sample_method = record.sample_method;
  return result;
}

std::optional<DeviceConditions> device_conditions(const BaselineRecord& record) {
  auto result = conditions(record.id, record.flags, record.environment);
  if (!result) return std::nullopt;
  result->clock_hz = record.clock_hz;
  result->sample_method = record.sample_method;
  return result;
}

std::optional<std::string> device_difference(const DeviceConditions& from,
                                             const DeviceConditions& to, const SideWords& words) {
  for (const ConditionRow& row : kConditions) {
    const std::string left = value_of(from, row.fact), right = value_of(to, row.fact);
    if (row.what_counts(left) != row.what_counts(right)) {
      return difference(row.fact, left, right, words);
    }
  }
  if (from.throttled != to.throttled) {
    const auto text = [](bool throttled) { return throttled ? "yes" : "no"; };
    return difference("throttled", text(from.throttled), text(to.throttled), words);
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
