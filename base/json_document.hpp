// SPDX-License-Identifier: Apache-2.0
// JSON documents that processes of this program exchange: one object each, which names its schema.
// Expensive to include: for sources only.
#pragma once

#include "base/result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <type_traits>

namespace bench {

// `read` converts the object to its value. Returns an error if the object lacks a member that
// `read` requests, has it with another type, or has another schema.
template <class Read>
auto read_json_document(std::string_view text, std::string_view schema, Read read)
    -> Result<std::invoke_result_t<Read, const nlohmann::json&>> {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  try {
    if (!document.is_object() || document.value("schema", "") != schema) {
      return Error{fmt::format("not a document of schema {}", schema), "", ""};
    }
    return read(document);
  } catch (const nlohmann::json::exception& exception) {
    return Error{fmt::format("malformed document of schema {}: {}", schema, exception.what()), "",
                 ""};
  }
}

}  // namespace bench
