// SPDX-License-Identifier: Apache-2.0
// The tables of a history in a database, and how they came about: one list of statements for each
// version of the schema. Earlier lists never change. docs/history.md describes the tables.
#pragma once

#include "harness/store/database_url.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns the version that this program writes.
std::int64_t database_version();
// Returns the statements that lead from version `version` - 1 to `version`, from 1 to
// database_version().
std::vector<std::string> migration(std::int64_t version, DatabaseKind kind);

}  // namespace bench
