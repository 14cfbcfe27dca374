// SPDX-License-Identifier: Apache-2.0
// Sorts more records than should be in memory. Full buffers are sorted, written to disk and merged
// at the end.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bench {

// Sorts ascending by `first`, then `second`, then the payloads if requested, then arrival.
struct SortKey {
  std::int64_t first = 0;
  std::int64_t second = 0;
};

class SpillSort {
 public:
  // Returns whether payload `a` comes before `b` if their keys are equal.
  using PayloadOrder = bool (*)(std::string_view a, std::string_view b);
  // Uses about `memory_limit` bytes. If they are full, uses an unnamed file in `folder`.
  SpillSort(std::string folder, std::size_t memory_limit, PayloadOrder order = nullptr);
  ~SpillSort();

  Status add(SortKey key, std::string_view payload);
  // Call finish() after the last add(). next() then returns all records in order. A record is valid
  // until the next call.
  struct Record {
    SortKey key;
    std::string_view payload;
  };
  Status finish();
  Result<bool> next(Record& record);  // false at the end

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
