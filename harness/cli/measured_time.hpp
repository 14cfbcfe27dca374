// SPDX-License-Identifier: Apache-2.0
// The last measured time of a case on this machine, from a store or a result file, and what there
// is to gain.
#pragma once

#include "base/env.hpp"
#include "base/json_writer.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/report.hpp"
#include "harness/result/summary.hpp"
#include "harness/store/store.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

struct MeasuredTime {
  Nanoseconds median{0};
  // By the ceilings of the run; nullopt if it had none, or if they are unknown.
  std::optional<Roofline> roofline = std::nullopt;
  std::string run_id;
  std::string time;           // start of the run, UTC
  std::string machine_class;  // that of this machine
  std::string gpu;            // that of this machine if the case runs on a GPU, else empty
  std::string source;         // the folder of the store, or the result file
  // The interval of the median; nullopt if it has none.
  std::optional<Nanoseconds> low = std::nullopt, high = std::nullopt;
  std::vector<Flag> doubts = {};  // with which the interval may not bound the truth
  IntervalBasis basis = {};       // says why there is no interval, if there is none
};

// What must be equal for a time to be one of this machine.
struct MachineIdentity {
  std::string machine_class;
  std::string gpu;  // name; empty: none can be used, so times of GPUs are not from here
};
// Asks for the GPU only for a case on one.
MachineIdentity find_machine_identity(const Case& spec, Env& env);

// Returns the time of the last accepted run of the case that this machine class has measured
// itself. The error says why there is none.
Result<MeasuredTime> find_time_in_store(const Case& spec, const MachineIdentity& machine,
                                        const std::string& store);
// Returns the time in a result file. The error says why there is none.
Result<MeasuredTime> find_time_in_report(const Case& spec, const MachineIdentity& machine,
                                         const Report& report, const std::string& path);

// Formats the answer: the time, its share of the ceiling, what there is to gain, as far as
// it exceeds the noise of the time, and which run measured it where. `ideal`: by the stored
// ceilings; they count before those of the run.
std::string format_measured_time(const Result<MeasuredTime>& measured,
                                 const std::optional<Roofline>& ideal);

// Writes "median_ns", "ideal_ns", "efficiency", "gain_ns", "run_id", "time", "machine_class" and
// "source".
void write_measured_time(JsonWriter& writer, const MeasuredTime& measured,
                         const std::optional<Roofline>& ideal);

}  // namespace bench
