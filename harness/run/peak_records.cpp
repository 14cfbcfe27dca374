// SPDX-License-Identifier: Apache-2.0
#include "harness/run/peak_records.hpp"

#include <algorithm>
#include <variant>

namespace bench {
namespace {

// Returns whether `a` is a better ceiling than `b`: a higher rate, or a shorter time of a call.
bool is_better(const CeilingValue& a, const CeilingValue& b) {
  if (std::holds_alternative<Nanoseconds>(a)) return a < b;
  return b < a;
}

// Returns the record of the same rate with one thread if it is higher; else nullptr. Ignores the
// time of a call, which takes longer with more threads.
const PeakRecord* find_faster_thread(const std::vector<PeakRecord>& records,
                                     const PeakRecord& all_threads) {
  const Ceiling& ceiling = all_threads.ceiling;
  if (ceiling.threads == 1 || std::holds_alternative<Nanoseconds>(ceiling.value)) return nullptr;
  const auto found = std::ranges::find_if(records, [&](const PeakRecord& record) {
    return record.gpu == all_threads.gpu && record.ceiling.name == ceiling.name &&
           record.ceiling.level == ceiling.level && record.ceiling.threads == 1 &&
           record.ceiling.value.index() == ceiling.value.index() &&
           ceiling.value < record.ceiling.value;
  });
  return found == records.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> cases_slower_with_all_threads(const std::vector<PeakRecord>& records) {
  std::vector<std::string> ids;
  for (const PeakRecord& record : records) {
    const PeakRecord* one = find_faster_thread(records, record);
    if (one != nullptr) ids.insert(ids.end(), {one->id, record.id});
  }
  return ids;
}

void keep_better(const std::vector<PeakRecord>& again, std::vector<PeakRecord>& records) {
  for (const PeakRecord& repeated : again) {
    const auto first = std::ranges::find(records, repeated.id, &PeakRecord::id);
    if (first != records.end() && is_better(repeated.ceiling.value, first->ceiling.value))
      *first = repeated;
  }
}

std::vector<RaisedCeiling> raise_to_one_thread(std::vector<PeakRecord>& records) {
  std::vector<RaisedCeiling> raised;
  for (PeakRecord& record : records) {
    const PeakRecord* one = find_faster_thread(records, record);
    if (one == nullptr) continue;
    raised.push_back({record.ceiling, one->ceiling.value});
    record.ceiling.value = one->ceiling.value;
    record.low = one->low;
    record.high = one->high;
  }
  return raised;
}

}  // namespace bench
