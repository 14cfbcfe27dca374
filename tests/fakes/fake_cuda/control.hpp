// SPDX-License-Identifier: Apache-2.0
// A CUPTI without a GPU, for programs of tests: libcupti.so.13 as far as this project uses it,
// which records what the program says that its device did. Reads buffers, and names calls, by the
// real library. What it is made to do, by variables:
//   FAKE_CUPTI_VERSION=N          cuptiGetVersion
//   FAKE_CUPTI_OTHER_TOOL=NAME    somebody else is subscribed
//   FAKE_CUPTI_DROPPED=N          so many records were dropped
#pragma once

#include <cstdint>

// What the program asks of its "device"; times in ns, absolute ones of the tracer's clock.
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
