// SPDX-License-Identifier: Apache-2.0
// What libbench_cuda_injection.so left beside a spool, one file a process, read as a stream: of a
// long run only what lies in the window is ever held.
#pragma once

#include "base/result.hpp"
#include "profiler/capture/gpu_launches.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct GpuSpoolFile {
  std::string path;
  GpuLaunches::Session session = 0;
  GpuSession head;  // all but records; losses as of the end
  std::vector<GpuDevice> devices;
  bool ended = false;   // false: the process was killed before its last records were written
  bool traced() const;  // false: head.faults say why not
};

// By name; those of an earlier run with the same spool must be gone by now.
Result<std::vector<std::string>> find_gpu_spools(const std::string& spool);

// First pass: what the files say of themselves, and their calls. Files that hold nothing, of
// processes that were killed at once, are left out.
Result<std::vector<GpuSpoolFile>> scan_gpu_spools(const std::vector<std::string>& paths,
                                                  GpuLaunches& launches);

struct LoadedGpuSpool {
  GpuSession session;
  std::int64_t damaged = 0;  // lines that cannot be read
};
// Second pass: the records in the window, whole, with owners by `launches`, which are finished.
// What tells of memory and devices is there in any case.
Result<LoadedGpuSpool> load_gpu_spool(const GpuSpoolFile& file, const GpuLaunches& launches);

}  // namespace bench
