// SPDX-License-Identifier: Apache-2.0
// Access to the fields of a spool's records.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace bench {

inline std::optional<std::int64_t> integer_field(const rapidjson::Document& record,
                                                 const char* name) {
  const auto found = record.FindMember(name);
  if (found == record.MemberEnd() || !found->value.IsInt64()) return std::nullopt;
  return found->value.GetInt64();
}

// Returns 0 if the field is missing.
inline std::uint64_t number_field(const rapidjson::Document& record, const char* name) {
  const auto found = record.FindMember(name);
  return found == record.MemberEnd() || !found->value.IsUint64() ? 0 : found->value.GetUint64();
}

// Returns an empty text if the field is missing.
inline std::string_view text_field(const rapidjson::Document& record, const char* name) {
  const auto found = record.FindMember(name);
  if (found == record.MemberEnd() || !found->value.IsString()) return {};
  return {found->value.GetString(), found->value.GetStringLength()};
}

}  // namespace bench
