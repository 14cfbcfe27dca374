// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/cudnn_api.hpp"

#include "ops/cuda/library_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench::ops::cuda {

std::string CudnnApi::text(cudnnStatus_t status) const {
  std::string result = fmt::format("{} ({})", get_error_string(status), static_cast<int>(status));
  std::array<char, 512> message{};
  get_last_error_string(message.data(), message.size() - 1);
  std::string detail = message.data();
  std::replace(detail.begin(), detail.end(), '\n', ' ');
  while (!detail.empty() && detail.back() == ' ') detail.pop_back();
  if (!detail.empty()) result += ": " + detail;
  return result;
}

Result<std::shared_ptr<const CudnnApi>, LoadFailure> load_cudnn(
    std::span<const SearchStep> search) {
  return load_functions<CudnnApi>("cuDNN", search);
}

std::string format_version(const CudnnApi& api) {
  // 91900 means 9.19.0.
  constexpr std::size_t kMajor = 10000, kMinor = 100;
  const std::size_t version = api.get_version();
  return fmt::format("{}.{}.{}", version / kMajor, version % kMajor / kMinor, version % kMinor);
}

}  // namespace bench::ops::cuda
