// SPDX-License-Identifier: Apache-2.0
// Decodes buffers of CUPTI's activity interface into records that do not depend on CUPTI. Needs
// neither GPU nor driver, so hand-made buffers are decoded like those of a GPU.
#pragma once

#include "profiler/cupti/cupti_api.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace bench {

// Not thread-safe. `api` must outlive the decoder.
class CuptiDecoder {
 public:
  explicit CuptiDecoder(const CuptiApi& api) : api_(api) {}

  // Decodes the first `valid` bytes of `buffer` (8-byte aligned) and appends to session.records. A
  // cut or invalid record ends the buffer and becomes one of session.faults. Kinds that were not
  // requested are counted. Skips calls, synchronisations and overheads whose times CUPTI could not
  // measure.
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
