// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/onednn.hpp"

namespace bench::ops {

extern const OnednnKernelEntry gru_onednn_kernel;
const OnednnKernelEntry gru_onednn_kernel = {.op = "gru", .create = create_gru};

}  // namespace bench::ops
