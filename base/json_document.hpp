// SPDX-License-Identifier: Apache-2.0
// JSON documents that processes of this program hand each other: one object each, which names its
// schema. Heavy to include: for sources only.
#pragma once

#include "base/result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <type_traits>

namespace bench {

// `read` takes the object and returns its value; what it asks for and the object lacks, or has in
// another type, is the error, as is another schema.
template <class Read>
auto read_json_document(std::string_view text, std::string_view schema, Read read)
    -> Result<std::invoke_result_t<Read, const nlohmann::json&>> {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  try {
    if (!document.is_object() || document.value("schema", "") != schema) {
      return Error{fmt::format("no document of schema {}", schema), "", ""};
    }
    return read(document);
  } catch (const nlohmann::json::exception& exception) {
    return Error{fmt::format("damaged document of schema {}: {}", schema, exception.what()), "",
                 ""};
  }
}

}  // namespace bench
