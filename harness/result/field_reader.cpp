// SPDX-License-Identifier: Apache-2.0
#include "harness/result/field_reader.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <span>

namespace bench {
namespace {

using Json = nlohmann::json;

// Records nest 3 levels deep. Much deeper input is not a record and would cost memory.
constexpr int kDeepest = 32;

bool nests_too_deeply(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') ++i;
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

template <class Enum>
Expected decode_name(const Json& json, std::span<const std::string_view> names, Enum& value) {
  const std::string name = json.is_string() ? json.get<std::string>() : std::string();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != name) continue;
    value = static_cast<Enum>(i);
    return {};
  }
  return fmt::format("one of {}", fmt::join(names, ", "));
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (nests_too_deeply(text)) return Error{"it nests too deeply", "", ""};
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{"it is not valid JSON", "", ""};
  return json;
}

Expected decode(const Json& json, std::string& value) {
  if (!json.is_string()) return "text";
  value = json.get<std::string>();
  return {};
}

Expected decode(const Json& json, bool& value) {
  if (!json.is_boolean()) return "true or false";
  value = json.get<bool>();
  return {};
}

Expected decode(const Json& json, double& value) {
  if (!json.is_number() || !std::isfinite(json.get<double>()) || json.get<double>() < 0)
    return "a number of at least 0";
  value = json.get<double>();
  return {};
}

Expected decode(const Json& json, FlopsPerSecond& rate) { return decode(json, rate.value); }
Expected decode(const Json& json, BytesPerSecond& rate) { return decode(json, rate.value); }
Expected decode(const Json& json, Bytes& bytes) { return decode(json, bytes.count); }

Expected decode(const Json& json, Nanoseconds& time) {
  std::int64_t count = 0;
  Expected expected = decode(json, count);
  time = Nanoseconds(count);
  return expected;
}

Expected decode(const Json& json, Outcome& value) {
  return decode_name(json, outcome_names(), value);
}
Expected decode(const Json& json, Flag& value) { return decode_name(json, flag_names(), value); }
Expected decode(const Json& json, CanaryMoment& value) {
  return decode_name(json, canary_moment_names(), value);
}
Expected decode(const Json& json, Bound& value) { return decode_name(json, bound_names(), value); }
Expected decode(const Json& json, CeilingSource& value) {
  return decode_name(json, ceiling_source_names(), value);
}
Expected decode(const Json& json, StopReason& value) {
  return decode_name(json, stop_reason_names(), value);
}

Expected decode(const Json& json, std::map<std::string, std::string>& values) {
  if (!json.is_object()) return "an object of texts";
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string()) return "an object of texts";
    values[name] = value.get<std::string>();
  }
  return {};
}

}  // namespace bench
