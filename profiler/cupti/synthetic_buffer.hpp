// SPDX-License-Identifier: Apache-2.0
// For tests: hand-made buffers of CUPTI's own structures, and the toolkit's library, which reads
// them even without a driver.
#pragma once

#include "profiler/cupti/cupti_api.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench::test {

class SyntheticBuffer {
 public:
  template <class Record>
  SyntheticBuffer& add(const Record& record) {
    static_assert(sizeof(Record) % sizeof(std::uint64_t) == 0);
    const std::size_t begin = words_.size();
    words_.resize(begin + sizeof(Record) / sizeof(std::uint64_t));
    std::memcpy(&words_[begin], &record, sizeof(Record));
    return *this;
  }
  std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(words_.data()); }
  std::size_t size() const { return words_.size() * sizeof(std::uint64_t); }

 private:
  std::vector<std::uint64_t> words_;  // records begin at multiples of 8 bytes
};

struct Launch {
  const char* name = "_Z6kernelv";
  std::uint64_t start = 0, end = 0;
  std::uint32_t stream = 7;
  std::uint32_t correlation = 0;
  std::int32_t grid = 1, block = 1;
};

inline CUpti_ActivityKernel10 kernel_record(const Launch& launch) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = launch.name;
  record.start = launch.start;
  record.end = launch.end;
  record.contextId = 1;
  record.streamId = launch.stream;
  record.correlationId = launch.correlation;
  record.gridX = launch.grid;
  record.gridY = record.gridZ = 1;
  record.blockX = launch.block;
  record.blockY = record.blockZ = 1;
  record.registersPerThread = 32;
  return record;
}

inline CUpti_ActivityAPI call_record(CUpti_ActivityKind kind, CUpti_CallbackId id,
                                     std::uint64_t start, std::uint64_t end, std::uint32_t thread,
                                     std::uint32_t correlation) {
  CUpti_ActivityAPI record{};
  record.kind = kind;
  record.cbid = id;
  record.start = start;
  record.end = end;
  record.processId = 100;
  record.threadId = thread;
  record.correlationId = correlation;
  return record;
}

inline CUpti_ActivityExternalCorrelation id_record(std::uint64_t id, std::uint32_t correlation) {
  CUpti_ActivityExternalCorrelation record{};
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  record.externalId = id;
  record.correlationId = correlation;
  return record;
}

inline CUpti_ActivityMemcpy6 copy_record(CUpti_ActivityMemcpyKind kind, std::uint64_t bytes,
                                         std::uint64_t start, std::uint64_t end,
                                         std::uint32_t correlation) {
  CUpti_ActivityMemcpy6 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = static_cast<std::uint8_t>(kind);
  const bool is_from_device = kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  record.srcKind =
      is_from_device ? CUPTI_ACTIVITY_MEMORY_KIND_DEVICE : CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  record.dstKind =
      is_from_device ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.bytes = bytes;
  record.start = start;
  record.end = end;
  record.contextId = 1;
  record.streamId = 7;
  record.correlationId = correlation;
  return record;
}

// Returns the CUPTI of the toolkit with which the tests are built.
inline CuptiLibrary toolkit_cupti() {
  const std::vector<std::string> candidates = {BENCH_CUPTI_LIBRARY};
  auto library = load_cupti(candidates);
  if (!library.ok()) throw std::runtime_error(library.error().message());
  return std::move(library).value();
}

}  // namespace bench::test
