// SPDX-License-Identifier: Apache-2.0
// The archive that writes records as JSON by their fields (fields.hpp). The output is strict JSON:
// it omits numbers that JSON cannot represent (NaN, infinity) and replaces invalid UTF-8.
#pragma once

#include "harness/result/record.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

inline nlohmann::ordered_json encode(const std::string& value) { return value; }
inline nlohmann::ordered_json encode(bool value) { return value; }
template <std::integral Integer>
nlohmann::ordered_json encode(Integer value) {
  return value;
}
// Whole numbers have no fraction: "460763000000", not "460763000000.0".
inline nlohmann::ordered_json encode(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::abs(value) <= kExact && std::trunc(value) == value && !std::signbit(value))
    return static_cast<std::int64_t>(value);
  return value;
}
inline nlohmann::ordered_json encode(Nanoseconds value) { return value.count(); }
inline nlohmann::ordered_json encode(Bytes value) { return value.count; }
inline nlohmann::ordered_json encode(FlopsPerSecond value) { return encode(value.value); }
inline nlohmann::ordered_json encode(BytesPerSecond value) { return encode(value.value); }
inline nlohmann::ordered_json encode(Outcome value) { return name_of(value); }
inline nlohmann::ordered_json encode(Flag value) {
  return flag_names()[static_cast<std::size_t>(value)];
}
inline nlohmann::ordered_json encode(CanaryMoment value) {
  return canary_moment_names()[static_cast<std::size_t>(value)];
}
inline nlohmann::ordered_json encode(Bound value) {
  return bound_names()[static_cast<std::size_t>(value)];
}
inline nlohmann::ordered_json encode(CeilingSource value) {
  return ceiling_source_names()[static_cast<std::size_t>(value)];
}
inline nlohmann::ordered_json encode(StopReason value) {
  return stop_reason_names()[static_cast<std::size_t>(value)];
}
template <class T>
nlohmann::ordered_json encode(const std::map<std::string, T>& values) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [name, value] : values) object[name] = encode(value);
  return object;
}
template <class T>
nlohmann::ordered_json encode(const std::optional<T>& value) {
  return encode(*value);
}
template <class T>
nlohmann::ordered_json encode(const std::vector<T>& values) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const T& value : values) array.push_back(encode(value));
  return array;
}

template <class T>
bool is_present(const T&) {
  return true;
}
inline bool is_present(double value) { return std::isfinite(value); }
inline bool is_present(FlopsPerSecond rate) { return std::isfinite(rate.value); }
inline bool is_present(BytesPerSecond rate) { return std::isfinite(rate.value); }
inline bool is_present(const std::string& value) { return !value.empty(); }
template <class T>
bool is_present(const std::map<std::string, T>& value) {
  return !value.empty();
}
template <class T>
bool is_present(const std::vector<T>& value) {
  return !value.empty();
}
// An optional text is present even if it is empty.
inline bool is_present(const std::optional<std::string>& value) { return value.has_value(); }
template <class T>
bool is_present(const std::optional<T>& value) {
  return value && is_present(*value);
}

class FieldWriter {
 public:
  explicit FieldWriter(nlohmann::ordered_json& object) : object_(object) {}

  template <class T>
  void required(const char* name, const T& value) {
    object_[name] = encode(value);
  }
  template <class T>
  void optional(const char* name, const T& value) {
    if (is_present(value)) object_[name] = encode(value);
  }
  template <class Fields>
  void object(const char* name, Fields fields) {
    nlohmann::ordered_json inner = nlohmann::ordered_json::object();
    FieldWriter writer(inner);
    fields(writer);
    if (!inner.empty()) object_[name] = std::move(inner);
  }
  template <class T, class Fields>
  void group(const char* name, const std::optional<T>& value, Fields fields) {
    if (value) object(name, [&](FieldWriter& writer) { fields(writer, *value); });
  }
  template <class T, class Fields>
  void list(const char* name, const std::vector<T>& values, Fields fields) {
    if (values.empty()) return;
    nlohmann::ordered_json array = nlohmann::ordered_json::array();
    for (const T& value : values) {
      FieldWriter writer(array.emplace_back(nlohmann::ordered_json::object()));
      fields(writer, value);
    }
    object_[name] = std::move(array);
  }
  void bytes(const ops::Work& work) {
    required("bytes", work.traffic());
    required("bytes_read", work.bytes_read);
    required("bytes_written", work.bytes_written);
  }

 private:
  nlohmann::ordered_json& object_;
};

// Returns one line without a newline.
inline std::string text_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace bench
