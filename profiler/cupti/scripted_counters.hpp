// SPDX-License-Identifier: Apache-2.0
// For tests: replaces CUPTI's counter functions that need a device. The real library still answers
// what a chip can count, and how.
#pragma once

#include "profiler/cupti/counter_api.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench::test {

// What the simulated device does, and a record of the calls.
struct CounterScript {
  std::string chip = "GH100";
  std::map<std::string, CUptiResult> results;  // results of calls; other calls succeed
  // The property that does not support profiling; nullptr if all do.
  CUpti_Profiler_Support_Level CUpti_Profiler_DeviceSupported_Params::*unsupported = nullptr;
  std::size_t passes_needed = 2;  // number of passes until the device has all data
  std::size_t ranges = 1;
  std::size_t dropped = 0;
  std::map<std::string, double> values;  // key: metric; others are 0
  std::vector<std::string> calls;

  std::size_t passes = 0;  // since the last configuration
  std::vector<std::uint8_t> availability = {7, 7, 7};
  CUptiResult called(std::string call);
};

// Returns the real library with the functions that need a device replaced. Only one script at a
// time, because CUPTI's functions carry no user data.
CounterLibrary scripted_counters(const CounterLibrary& library, CounterScript& script);

// Returns the toolkit's library. Fails the test if it cannot be loaded.
CounterLibrary toolkit_counters();

}  // namespace bench::test
