// SPDX-License-Identifier: Apache-2.0
#include "harness/host/gpu_description.hpp"

#include "base/file.hpp"
#include "base/json_reader.hpp"
#include "harness/host/cuda_status.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace bench {
namespace {

constexpr std::int64_t kMaxFileSize = 1 << 20;  // bytes

Error make_description_error(const std::string& path, std::string what) {
  return {std::move(what), path,
          "give what `bench worker --probe libraries` printed on the machine with the GPU"};
}

// Parses a device as cuDNN describes it: {"deviceVer":900,"deviceName":"NVIDIA H200",...}.
Result<GpuDescription> parse_cudnn_description(JsonValue document, const std::string& path,
                                               const std::string& text) {
  int version = 0;  // 100 times the compute capability: 900 for 9.0
  GpuDescription description{"", "", text};
  JsonReader reader(document);
  reader.required("deviceVer", version);
  reader.optional("deviceName", description.name);
  if (const std::string problem = reader.problem(); !problem.empty())
    return make_description_error(path, "is malformed: " + problem);
  if (version < 100) return make_description_error(path, "`deviceVer` is not a compute capability");
  description.architecture = fmt::format("sm_{}{}", version / 100, version % 100 / 10);
  return description;
}

}  // namespace

Result<GpuDescription> read_gpu_description(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_file(path, kMaxFileSize));
  const auto document = parse_json(text);
  if (document.ok() && document->root().is_object() && document->root().find("deviceVer"))
    return parse_cudnn_description(document->root(), path, text);
  const auto status = parse_cuda_status(text);
  if (!status) return make_description_error(path, "describes no GPU: " + status.error().what);
  if (!status->report || status->report->devices.empty()) {
    return make_description_error(path, "describes a machine without a GPU");
  }
  const ops::cuda::DeviceProperties& device = status->report->devices.front();
  return GpuDescription{device.name, fmt::format("sm_{}{}", device.major, device.minor),
                        device.cudnn_properties.empty()
                            ? fmt::format(R"({{"deviceVer":{}{}0}})", device.major, device.minor)
                            : device.cudnn_properties};
}

GpuDescription describe_architecture(const std::string& architecture) {
  const std::string capability = architecture.substr(std::string_view("sm_").size());
  return {architecture, architecture, fmt::format(R"({{"deviceVer":{}0}})", capability)};
}

}  // namespace bench
