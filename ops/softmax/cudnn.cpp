// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/cudnn_entry.hpp"

namespace bench::ops::cuda {
namespace {

constexpr CudnnGap kGaps[] = {
    {always, "cuDNN's graph API has no operation for softmax"},
};

}  // namespace

extern const CudnnEntry softmax_cudnn;
const CudnnEntry softmax_cudnn = {.op = "softmax", .gaps = kGaps};

}  // namespace bench::ops::cuda
