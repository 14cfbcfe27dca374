// SPDX-License-Identifier: Apache-2.0
// The file of one traced process, beside the spool file of `bench profile`.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

// Opens the file for each append, because programs may close descriptors that are not theirs.
class GpuSpoolWriter {
 public:
  // Creates a file named `spool` plus the suffix of `pid` (profiler/capture/spool_format.hpp). If
  // the process ran another program before (exec), the name may be taken; a number is then added.
  static Result<GpuSpoolWriter> create(const std::string& spool, std::int64_t pid);

  // Appends all of the text, or a truncated part if the disk is full.
  Status append(std::string_view text) const;
  const std::string& path() const { return path_; }

 private:
  explicit GpuSpoolWriter(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace bench::ops::cuda
