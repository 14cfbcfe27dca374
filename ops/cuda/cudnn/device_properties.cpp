// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/descriptor.hpp"
#include "ops/cuda/cudnn/support_oracle.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bench::ops::cuda {

Result<std::string> read_device_json(const std::shared_ptr<const CudnnApi>& api, int device) {
  BENCH_ASSIGN_OR_RETURN(
      const Descriptor properties,
      DescriptorBuilder(api, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "the device's properties")
          .code(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, std::int32_t{device})
          .finish());
  constexpr std::int64_t kMaxJsonBytes = 64 << 10;  // the text has about 1 KiB (40 numbers)
  std::vector<char> text(static_cast<std::size_t>(kMaxJsonBytes));
  std::int64_t count = 0;
  const cudnnStatus_t status =
      api->get_attribute(properties.get(), CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                         CUDNN_TYPE_CHAR, kMaxJsonBytes, &count, text.data());
  if (status != CUDNN_STATUS_SUCCESS) return Error{api->text(status), "", ""};
  std::string json(text.data(), static_cast<std::size_t>(std::min(count, kMaxJsonBytes)));
  // The count may include the terminating zero.
  while (!json.empty() && json.back() == '\0') json.pop_back();
  return json;
}

}  // namespace bench::ops::cuda
