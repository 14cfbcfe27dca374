// SPDX-License-Identifier: Apache-2.0
// For tests: functions in place of CUPTI's that remember how they were called and hand over buffers
// of real structures, which the real library reads.
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

// What CUPTI is made to do, and what was done.
struct CuptiScript {
  std::vector<std::string> calls;
  std::map<std::string, CUptiResult> results;  // of calls; others succeed
  std::string other_tool;
  std::deque<SyntheticBuffer> buffers;           // handed over at the next flush
  std::map<std::uint32_t, std::size_t> dropped;  // by stream id; asking resets
  std::size_t buffer_size = 0;
  bool asked = false;  // for dropped records, which asks for a buffer in turn
  CUpti_BuffersCallbackRequestFunc requested = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed = nullptr;
  CUpti_TimestampCallbackFunc timestamp = nullptr;
  CUpti_CallbackFunc callback = nullptr;

  CUptiResult called(std::string call);
  void deliver(SyntheticBuffer& filled);  // as CUPTI does
};

// `api` with the functions that need a driver replaced. One script at a time: CUPTI's functions
// carry no data of ours.
CuptiApi scripted_cupti(CuptiApi api, CuptiScript& script);

}  // namespace bench::test
