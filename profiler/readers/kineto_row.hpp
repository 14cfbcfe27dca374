// SPDX-License-Identifier: Apache-2.0
// Converts one event of a Kineto trace to activities. What depends on other events (layers, the
// operator of a kernel, names of processes) is added later (kineto_context.hpp).
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/readers/kineto_event.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The name of a range that is a call of a module begins so; its rest is the name of a layer.
inline constexpr std::string_view kKinetoModulePrefix = "nn.Module: ";

struct KinetoRow {
  // module: a call of an nn.Module, whose name is a layer. memory: a change of the allocated memory
  // at an instant; size_bytes may be negative. window: a time of recording. whole: concerns the
  // process that was recorded, not one of its threads.
  enum class Role : std::uint8_t { plain, module, memory, window, whole };
  Activity activity;
  Role role = Role::plain;
  std::int64_t external_id = 0;  // shared by an operator and what it launched; 0: none
  friend bool operator==(const KinetoRow&, const KinetoRow&) = default;
};

// What the metadata of a trace say about its processes and threads.
struct KinetoNames {
  using Thread = std::pair<std::int64_t, std::int64_t>;  // pid, tid
  std::map<std::int64_t, std::string> processes;
  std::map<Thread, std::string> threads;
  std::optional<std::int64_t> labelled_host;  // the first process with the label CPU
  std::optional<std::int64_t> first_host;     // process of the first event on the host

  // The process of device activities, whose events name only the device. 0 if there is none.
  std::int64_t main_process() const { return labelled_host.value_or(first_host.value_or(0)); }
};

class KinetoDecoder {
 public:
  enum class Outcome { rows, skipped, unknown };
  // Sets `rows` to the activities of the event: none for metadata and arrows (skipped), and for
  // phases that Kineto does not write (unknown). Error: what the event lacks.
  Result<Outcome> decode(const KinetoEvent& event, std::vector<KinetoRow>& rows);
  const KinetoNames& names() const { return names_; }

 private:
  Result<Outcome> decode_slice(const KinetoEvent& event, KinetoRow& row);
  Result<Outcome> decode_instant(const KinetoEvent& event, KinetoRow& row);
  Result<Outcome> decode_counter(const KinetoEvent& event, std::vector<KinetoRow>& rows) const;
  void take_names(const KinetoEvent& event);
  void place_on_host(const KinetoEvent& event, Activity& activity);
  // Programs also identify processes and threads by texts, which get the numbers -1, -2, ...
  std::int64_t number_of(const KinetoField* field);

  KinetoNames names_;
  std::map<std::string, std::int64_t, std::less<>> texts_;
};

}  // namespace bench
