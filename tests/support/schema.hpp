// SPDX-License-Identifier: Apache-2.0
// Validates the program's output against the JSON Schemas in docs/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench::test {

// Returns the problems of a JSON text against a schema file ("docs/report.schema.json", relative to
// the root of the sources); empty if it is valid. Text that is not JSON is also a problem.
std::vector<std::string> schema_problems(std::string_view json, const std::string& schema_file);

// Returns the problems of a whole result file, line by line ("line 3: ...") against
// docs/result.schema.json. `bench.result/1` files have one record per line and end in a newline.
std::vector<std::string> result_file_problems(std::string_view text);

}  // namespace bench::test
