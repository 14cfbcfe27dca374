// SPDX-License-Identifier: Apache-2.0
#include "harness/host/gpu_description.hpp"

#include "base/file.hpp"
#include "base/json_reader.hpp"
#include "harness/host/cuda_status.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench {
namespace {

constexpr std::int64_t kMaxFile = 1 << 20;

Error unusable(const std::string& path, std::string what) {
  return {std::move(what), path,
          "give what `bench worker --probe libraries` printed on the machine with the GPU"};
}

// A device as cuDNN describes it: {"deviceVer":900,"deviceName":"NVIDIA H200",...}.
Result<GpuDescription> described_by_cudnn(JsonValue document, const std::string& path,
                                          const std::string& text) {
  int version = 0;  // 900: compute capability 9.0
  GpuDescription description{"", "", text};
  JsonReader reader(document);
  reader.required("deviceVer", version);
  reader.optional("deviceName", description.name);
  if (const std::string problem = reader.problem(); !problem.empty())
    return unusable(path, "is malformed: " + problem);
  if (version < 100) return unusable(path, "`deviceVer` is not a compute capability");
  description.architecture = fmt::format("sm_{}{}", version / 100, version % 100 / 10);
  return description;
}

}  // namespace

Result<GpuDescription> read_gpu_description(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_file(path, kMaxFile));
  const auto document = parse_json(text);
  if (document.ok() && document->root().is_object() && document->root().find("deviceVer"))
    return described_by_cudnn(document->root(), path, text);
  const auto status = parse_cuda_status(text);
  if (!status) return unusable(path, "describes no GPU: " + status.error().what);
  if (!status->report || status->report->devices.empty()) {
    return unusable(path, "describes a machine without a GPU");
  }
  const ops::cuda::DeviceProperties& device = status->report->devices.front();
  return GpuDescription{device.name, fmt::format("sm_{}{}", device.major, device.minor),
                        device.cudnn_properties.empty()
                            ? fmt::format(R"({{"deviceVer":{}{}0}})", device.major, device.minor)
                            : device.cudnn_properties};
}

}  // namespace bench
