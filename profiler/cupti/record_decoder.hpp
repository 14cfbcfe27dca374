// SPDX-License-Identifier: Apache-2.0
// Buffers of CUPTI's activity interface as records that know nothing of CUPTI. Needs no GPU and no
// driver, so that buffers made by hand are decoded as a GPU's are.
#pragma once

#include "profiler/cupti/cupti_api.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace bench {

// Not thread-safe. `api` outlives it.
class CuptiDecoder {
 public:
  explicit CuptiDecoder(const CuptiApi& api) : api_(api) {}

  // Appends the first `valid` bytes of `buffer` (8-byte aligned) to session.records. A record that
  // is cut or of no kind ends the buffer and is one of session.faults. Kinds that nobody asked for
  // are counted. Calls, waits and overhead whose times CUPTI could not take are passed over.
  void decode(std::uint8_t* buffer, std::size_t valid, GpuSession& session);
  std::int64_t other_kinds() const { return other_kinds_; }

 private:
  bool decode_record(const CUpti_Activity& activity, GpuSession& session);
  const std::string& call_name(CUpti_CallbackDomain domain, CUpti_CallbackId id);

  const CuptiApi& api_;
  std::map<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>, std::string> call_names_;
  std::int64_t other_kinds_ = 0;
};

}  // namespace bench
