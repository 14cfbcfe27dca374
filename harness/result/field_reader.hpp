// SPDX-License-Identifier: Apache-2.0
// The archive that reads records from JSON by their fields (fields.hpp). Files may come from killed
// runs, other versions or untrusted sources. Any content gives a record or an error, and every
// number fits its type. Unknown fields are skipped.
#pragma once

#include "base/checked.hpp"
#include "base/result.hpp"
#include "harness/result/record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns an error for malformed JSON, or if it is nested far deeper than any record.
Result<nlohmann::json> parse_json(std::string_view text);

// Each decode() returns a description of what it expected, or an empty text on success.
using Expected = std::string;

Expected decode(const nlohmann::json& json, std::string& value);
Expected decode(const nlohmann::json& json, bool& value);
Expected decode(const nlohmann::json& json, double& value);  // finite, at least 0
Expected decode(const nlohmann::json& json, FlopsPerSecond& rate);
Expected decode(const nlohmann::json& json, BytesPerSecond& rate);
Expected decode(const nlohmann::json& json, Bytes& bytes);
Expected decode(const nlohmann::json& json, Nanoseconds& time);
Expected decode(const nlohmann::json& json, Outcome& value);
Expected decode(const nlohmann::json& json, Flag& value);
Expected decode(const nlohmann::json& json, CanaryMoment& value);
Expected decode(const nlohmann::json& json, StopReason& value);
Expected decode(const nlohmann::json& json, Bound& value);
Expected decode(const nlohmann::json& json, CeilingSource& value);
Expected decode(const nlohmann::json& json, std::map<std::string, std::string>& values);

// Integers must not be negative: no count or time of a record is.
template <std::integral Integer>
Expected decode(const nlohmann::json& json, Integer& value) {
  const std::uint64_t largest = std::numeric_limits<Integer>::max();
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > largest)
    return fmt::format("an integer from 0 to {}", largest);
  value = static_cast<Integer>(json.get<std::uint64_t>());
  return {};
}

template <class T>
Expected decode(const nlohmann::json& json, std::vector<T>& values) {
  if (!json.is_array()) return "a list";
  values.reserve(json.size());
  for (const nlohmann::json& item : json) {
    if (Expected expected = decode(item, values.emplace_back()); !expected.empty())
      return "a list with each item " + expected;
  }
  return {};
}

template <class T>
Expected decode(const nlohmann::json& json, std::map<std::string, T>& values) {
  if (!json.is_object()) return "an object";
  for (const auto& [name, value] : json.items()) {
    if (Expected expected = decode(value, values[name]); !expected.empty())
      return "an object with each value " + expected;
  }
  return {};
}

template <class T>
Expected decode(const nlohmann::json& json, std::optional<T>& value) {
  return decode(json, value.emplace());
}

class FieldReader {
 public:
  // Keeps only the first problem, since later ones follow from it.
  FieldReader(const nlohmann::json& object, std::string prefix, std::string& problem)
      : object_(object), prefix_(std::move(prefix)), problem_(problem) {}

  template <class T>
  void required(const char* name, T& value) {
    if (const nlohmann::json* found = find(name)) return read(name, *found, value);
    complain(name, "is missing");
  }
  template <class T>
  void optional(const char* name, T& value) {
    if (const nlohmann::json* found = find(name)) read(name, *found, value);
  }
  template <class Fields>
  void object(const char* name, Fields fields) {
    const nlohmann::json* found = find(name);
    if (found != nullptr) descend(name, *found, fields);
  }
  template <class T, class Fields>
  void group(const char* name, std::optional<T>& value, Fields fields) {
    const nlohmann::json* found = find(name);
    if (found == nullptr) return;
    descend(name, *found, [&](FieldReader& reader) { fields(reader, value.emplace()); });
  }
  template <class T, class Fields>
  void list(const char* name, std::vector<T>& values, Fields fields) {
    const nlohmann::json* found = find(name);
    if (found == nullptr) return;
    if (!found->is_array()) return complain(name, "is not a list");
    for (const nlohmann::json& item : *found)
      descend(name, item, [&](FieldReader& reader) { fields(reader, values.emplace_back()); });
  }
  // Files of other tools may contain only the sum.
  void bytes(ops::Work& work) {
    if (find("bytes_read") != nullptr || find("bytes_written") != nullptr) {
      optional("bytes_read", work.bytes_read);
      optional("bytes_written", work.bytes_written);
    } else {
      required("bytes", work.bytes_read);
    }
    if (!(Checked(work.bytes_read) + work.bytes_written).value())
      complain("bytes", "is more than 2^63 - 1");
  }

 private:
  const nlohmann::json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  void complain(const char* name, std::string_view what) {
    if (problem_.empty()) problem_ = fmt::format("`{}{}` {}", prefix_, name, what);
  }
  template <class T>
  void read(const char* name, const nlohmann::json& json, T& value) {
    const Expected expected = decode(json, value);
    if (!expected.empty()) complain(name, fmt::format("is not {}", expected));
  }
  template <class Fields>
  void descend(const char* name, const nlohmann::json& json, Fields fields) {
    if (!json.is_object()) return complain(name, "is not an object");
    FieldReader reader(json, fmt::format("{}{}.", prefix_, name), problem_);
    fields(reader);
  }

  const nlohmann::json& object_;
  std::string prefix_;
  std::string& problem_;
};

}  // namespace bench
