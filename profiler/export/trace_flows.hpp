// SPDX-License-Identifier: Apache-2.0
// Finds the arrows of a trace: from each launch on the host to what it launched, both known by
// process and correlation. Remembers ids and places only, and of those the latest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace bench {

class TraceFlows {
 public:
  struct Place {
    std::int64_t start, end;
    std::int64_t pid, tid;  // of the trace
  };
  struct Flow {
    Place from, to;
    // Inside of both: where the arrow leaves and arrives.
    std::int64_t leaves, arrives;
  };
  struct Key {
    std::int64_t process;  // as in activities
    std::uint64_t correlation;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // What is drawn by this activity goes to `flows`.
  void launch(const Key& key, const Place& place, std::vector<Flow>& flows);
  void execution(const Key& key, const Place& place, std::vector<Flow>& flows);

 private:
  struct Entry {
    std::optional<Place> launch;    // the latest: the innermost of nested ones
    std::vector<Place> executions;  // that came before their launch
  };
  Entry& entry(const Key& key);
  std::map<Key, Entry> entries_;
  std::deque<Key> order_;
};

}  // namespace bench
