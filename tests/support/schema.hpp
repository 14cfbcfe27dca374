// SPDX-License-Identifier: Apache-2.0
// Validates what the program writes against the JSON Schemas in docs/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench::test {

// Problems of a JSON text against a schema file ("docs/report.schema.json", relative to the root of
// the sources); empty when it is valid. A text that is no JSON is a problem too.
std::vector<std::string> schema_problems(std::string_view json, const std::string& schema_file);

// Problems of a whole result file, line by line ("line 3: ...") against docs/result.schema.json.
// `bench.result/1` files hold one record a line and end in a newline.
std::vector<std::string> result_file_problems(std::string_view text);

}  // namespace bench::test
