// SPDX-License-Identifier: Apache-2.0
// The file of one traced process, beside the spool of `bench profile`.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

// The file is opened for each append: programs close descriptors that are not theirs.
class GpuSpoolWriter {
 public:
  // Makes `spool` and the suffix of `pid` (profiler/capture/spool_format.hpp); a program that the
  // process ran before, by exec, may have taken the name: then with a number.
  static Result<GpuSpoolWriter> create(const std::string& spool, std::int64_t pid);

  // Whole or, on a full disk, cut.
  Status append(std::string_view text) const;
  const std::string& path() const { return path_; }

 private:
  explicit GpuSpoolWriter(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace bench::ops::cuda
