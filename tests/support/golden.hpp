// SPDX-License-Identifier: Apache-2.0
// Golden files: expected text that people approve. `ci/approve` reruns the tests that use them with
// BENCH_APPROVE=1, which rewrites the files. The difference is then reviewed like any other change.
#pragma once

#include <string>

namespace bench::test {

// Expects that the file at `path` (relative to the root of the sources) contains `text`. With
// BENCH_APPROVE=1 it writes the file instead.
void expect_golden(const std::string& path, const std::string& text);

}  // namespace bench::test
