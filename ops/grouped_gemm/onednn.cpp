// SPDX-License-Identifier: Apache-2.0
// oneDNN 3.2 has no grouped product: each group is a product of its own.
#include "ops/grouped_gemm/grouped_gemm.hpp"
#include "ops/onednn/primitive.hpp"

namespace bench::ops {

extern const OnednnKernelEntry grouped_gemm_onednn_kernel;
const OnednnKernelEntry grouped_gemm_onednn_kernel = {
    .op = "grouped_gemm", .create = nullptr, .parts = group_products};

}  // namespace bench::ops
