// SPDX-License-Identifier: Apache-2.0
// Reads what libbench_cuda_injection.so wrote next to a spool, one file per process, as a stream.
// For a long run, memory holds only the records inside the window.
#pragma once

#include "base/result.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "profiler/nvtx/gpu_launches.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct GpuSpoolFile {
  std::string path;
  GpuLaunches::Session session = 0;
  GpuSession head;  // everything except records; losses as of the end
  std::vector<GpuDevice> devices;
  bool ended = false;   // false if the process was killed before it wrote its last records
  bool traced() const;  // if false, head.faults state the reason
};

// Returns paths sorted by name. Files of an earlier run with the same spool must already be
// removed.
Result<std::vector<std::string>> find_gpu_spools(const std::string& spool);

// First pass: reads each file's header and calls. Skips empty files, which processes leave that
// were killed at once.
Result<std::vector<GpuSpoolFile>> scan_gpu_spools(const std::vector<std::string>& paths,
                                                  GpuLaunches& launches);

struct LoadedGpuSpool {
  GpuSession session;
  std::int64_t malformed = 0;  // lines that cannot be read
};
// Second pass: reads complete records inside the window, with executions from `launches`, which
// must be finished. Records about memory and devices are always included.
Result<LoadedGpuSpool> load_gpu_spool(const GpuSpoolFile& file, const GpuLaunches& launches);

}  // namespace bench
