// SPDX-License-Identifier: Apache-2.0
// For tests: replaces CUPTI's functions by versions that record their calls and deliver buffers of
// real structures. The real library reads these.
#pragma once

#include "profiler/cupti/cupti_api.hpp"
#include "profiler/cupti/synthetic_buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace bench::test {

// What the simulated CUPTI does, and a record of the calls.
struct CuptiScript {
  std::vector<std::string> calls;
  std::map<std::string, CUptiResult> results;  // results of calls; other calls succeed
  std::string other_tool;
  std::deque<SyntheticBuffer> buffers;           // delivered at the next flush
  std::map<std::uint32_t, std::size_t> dropped;  // key: stream id; querying resets
  std::size_t buffer_size = 0;
  bool asked = false;  // whether dropped records were queried, which in turn requests a buffer
  CUpti_BuffersCallbackRequestFunc requested = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed = nullptr;
  CUpti_TimestampCallbackFunc timestamp = nullptr;
  CUpti_CallbackFunc callback = nullptr;

  CUptiResult called(std::string call);
  void deliver(SyntheticBuffer& filled);  // as CUPTI does
};

// Returns `api` with the functions that need a driver replaced. Only one script at a time, because
// CUPTI's functions carry no user data.
CuptiApi scripted_cupti(CuptiApi api, CuptiScript& script);

}  // namespace bench::test
