// SPDX-License-Identifier: Apache-2.0
// A CUPTI without a GPU, for test programs: the part of libcupti.so.13 that this project uses. It
// records what the program reports about its device. It reads buffers, and names calls, with the
// real library. Variables control its behaviour:
//   FAKE_CUPTI_VERSION=N          result of cuptiGetVersion
//   FAKE_CUPTI_OTHER_TOOL=NAME    another tool is subscribed
//   FAKE_CUPTI_DROPPED=N          number of dropped records
#pragma once

#include <cstdint>

// The requests of the program to its "device". Times are in ns; absolute ones use the tracer's
// clock.
struct FakeCupti {
  std::uint64_t (*now)();
  // A runtime call on the calling thread, by its number in cupti_runtime_cbid.h.
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
