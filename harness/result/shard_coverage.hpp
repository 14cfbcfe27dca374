// SPDX-License-Identifier: Apache-2.0
// Whether the shards in a report are a whole plan: which shards are missing or ended early, and
// which cases no shard or several shards were to measure. Pure functions.
#pragma once

#include "harness/result/report.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct ShardCoverage {
  std::size_t shards = 0;  // number of different shards in the report; 0: it has none
  // What is missing or double, each with the next step. Empty if the shards are a whole plan.
  // Shards of an older version state no assignment: of these only missing ones are found.
  std::vector<std::string> problems;
  std::size_t gaps = 0;  // number of problems because of which cases have no result
};

ShardCoverage check_shards(const Report& report);

}  // namespace bench
