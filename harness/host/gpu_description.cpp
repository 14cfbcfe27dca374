// SPDX-License-Identifier: Apache-2.0
#include "harness/host/gpu_description.hpp"

#include "base/file.hpp"
#include "harness/host/cuda_status.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace bench {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxFile = 1 << 20;

Error unusable(const std::string& path, std::string what) {
  return {std::move(what), path,
          "give what `bench worker --probe libraries` printed on the machine with the GPU"};
}

Result<GpuDescription> described_by_cudnn(const json& document, const std::string& path,
                                          const std::string& text) {
  const int version = document.value("deviceVer", 0);  // 900: compute capability 9.0
  if (version < 100) return unusable(path, "`deviceVer` is not a compute capability");
  const int major = version / 100, minor = version % 100 / 10;
  return GpuDescription{document.value("deviceName", ""), fmt::format("sm_{}{}", major, minor),
                        text};
}

}  // namespace

Result<GpuDescription> read_gpu_description(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_file(path, kMaxFile));
  const json document = json::parse(text, nullptr, false);
  try {
    if (document.is_object() && document.contains("deviceVer")) {
      return described_by_cudnn(document, path, text);
    }
  } catch (const json::exception& exception) {
    return unusable(path, fmt::format("is malformed: {}", exception.what()));
  }
  const auto status = parse_cuda_status(text);
  if (!status) return unusable(path, "describes no GPU: " + status.error().what);
  if (!status->report || status->report->devices.empty()) {
    return unusable(path, "describes a machine without a GPU");
  }
  const ops::cuda::DeviceFacts& device = status->report->devices.front();
  return GpuDescription{device.name, fmt::format("sm_{}{}", device.major, device.minor),
                        device.cudnn_properties.empty()
                            ? fmt::format(R"({{"deviceVer":{}{}0}})", device.major, device.minor)
                            : device.cudnn_properties};
}

}  // namespace bench
