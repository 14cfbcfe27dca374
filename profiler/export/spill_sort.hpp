// SPDX-License-Identifier: Apache-2.0
// Sorts more records than memory should hold: full buffers are sorted and put aside on disk, and
// merged at the end.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bench {

// Ascending by `first`, then `second`, then the payloads where that is asked for, then order of
// arrival.
struct SortKey {
  std::int64_t first = 0;
  std::int64_t second = 0;
};

class SpillSort {
 public:
  // Whether the payload `a` stands before `b` where their keys are equal.
  using PayloadOrder = bool (*)(std::string_view a, std::string_view b);
  // Uses about `memory` bytes, and a nameless file in `folder` when that is full.
  SpillSort(std::string folder, std::size_t memory, PayloadOrder order = nullptr);
  ~SpillSort();

  Status add(SortKey key, std::string_view payload);
  // No more is added: next() gives all records in order. A record is valid until the next call.
  struct Record {
    SortKey key;
    std::string_view payload;
  };
  Status finish();
  Result<bool> next(Record& record);  // false: no more

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
