// SPDX-License-Identifier: Apache-2.0
// The cases and refusals of what a program executed, each with the number and time of its
// executions.
#pragma once

#include "base/result.hpp"
#include "harness/import/imported.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace bench {

struct ImportedExecution {
  ExecutionSource source = ExecutionSource::primitives;
  ImportPlace place;
  std::int64_t count = 1;
  Nanoseconds time{0};                   // sum over `count` executions
  std::string_view implementation = {};  // may be empty
};

// What an execution is that differs from all before.
struct ExecutionIdentity {
  std::string text;  // what the file says
  Result<ops::Problem> problem;
  CacheMode cache = CacheMode::hot;  // what the program finds in the caches
};

class ExecutionTable {
 public:
  explicit ExecutionTable(Imported& found) : found_(found) {}

  // `key`: all that decides the case. `identify` is called only for a key that is new. Executions
  // that differ in nothing that a case has are one case. Error: there are too many keys.
  Status add(const std::string& key, const ImportedExecution& execution,
             const std::function<ExecutionIdentity()>& identify);

 private:
  struct Slot {
    bool is_case;  // an index of Imported::cases, or of Imported::refused
    std::size_t index;
  };
  Slot find_slot(const ImportedExecution& execution, ExecutionIdentity identity);

  Imported& found_;
  std::unordered_map<std::string, Slot> slots_;  // by key
  std::map<std::string, std::size_t> cases_;     // indices by id
};

}  // namespace bench
