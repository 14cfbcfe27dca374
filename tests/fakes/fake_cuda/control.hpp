// SPDX-License-Identifier: Apache-2.0
// A fake CUPTI that needs no GPU, for test programs. It implements the part of libcupti.so.13 that
// this project uses. The test program states what its "device" does, and the fake makes records of
// it. To walk buffers and to name calls, the fake calls the real library. Environment variables
// control its behaviour:
//   FAKE_CUPTI_VERSION=N          result of cuptiGetVersion
//   FAKE_CUPTI_OTHER_TOOL=NAME    another tool is subscribed
//   FAKE_CUPTI_DROPPED=N          number of dropped records
#pragma once

#include <cstdint>

// Functions with which the test program states what its "device" does. Times are in ns of the
// tracer's clock; now() returns 0 if there is no tracer.
struct FakeCupti {
  std::uint64_t (*now)();
  // Records a runtime call on the calling thread, by its number in cupti_runtime_cbid.h. Returns
  // the correlation id.
  std::uint32_t (*call)(std::uint32_t id);
  void (*kernel)(const char* name, std::uint32_t stream, std::uint32_t correlation,
                 std::uint64_t start, std::uint64_t end);
  void (*copy)(std::uint64_t bytes, std::uint32_t correlation, std::uint64_t start,
               std::uint64_t end);
  void (*allocation)(std::uint64_t address, std::uint64_t bytes, std::uint32_t correlation,
                     int release);
};

// Exported as "fake_cupti".
using FakeCuptiFunction = const FakeCupti*();
