// SPDX-License-Identifier: Apache-2.0
// For tests: functions in place of CUPTI's for counters that need a device. What a chip can count,
// and how, is asked of the real library.
#pragma once

#include "profiler/cupti/counter_api.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench::test {

// What the device is made to do, and what was done.
struct CounterScript {
  std::string chip = "GH100";
  std::map<std::string, CUptiResult> results;  // of calls; others succeed
  // What does not support profiling; nullptr: everything does.
  CUpti_Profiler_Support_Level CUpti_Profiler_DeviceSupported_Params::*unsupported = nullptr;
  std::size_t passes_needed = 2;  // until the device has all passes
  std::size_t ranges = 1;
  std::size_t dropped = 0;
  std::map<std::string, double> values;  // by metric; others are 0
  std::vector<std::string> calls;

  std::size_t passes = 0;  // since the last configuration
  std::vector<std::uint8_t> availability = {7, 7, 7};
  CUptiResult called(std::string call);
};

// The real library with the functions that need a device replaced. One script at a time: CUPTI's
// functions carry no data of ours.
CounterLibrary scripted_counters(const CounterLibrary& library, CounterScript& script);

// The toolkit's; a failure of the test where it cannot be loaded.
CounterLibrary toolkit_counters();

}  // namespace bench::test
