// SPDX-License-Identifier: Apache-2.0
// Finds the arrows of a trace, from each launch on the host to the work that it launched. A launch
// and its work have the same process and correlation. Keeps only ids and times of the latest ones.
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
    std::int64_t pid, tid;  // ids in the trace
  };
  struct Flow {
    Place from, to;
    // Times inside both places at which the arrow begins and ends.
    std::int64_t leaves, arrives;
  };
  struct Key {
    std::int64_t process;  // as in activities
    std::uint64_t correlation;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // Appends the arrows that this activity completes to `flows`.
  void launch(const Key& key, const Place& place, std::vector<Flow>& flows);
  void execution(const Key& key, const Place& place, std::vector<Flow>& flows);

 private:
  struct Entry {
    std::optional<Place> launch;  // the latest, which is the innermost of nested ones
    // executions that came before their launch
    std::vector<Place> executions;
  };
  Entry& entry(const Key& key);
  std::map<Key, Entry> entries_;
  std::deque<Key> order_;
};

}  // namespace bench
