// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/onednn.hpp"

namespace bench::ops {

extern const OnednnKernelEntry lstm_onednn_kernel;
const OnednnKernelEntry lstm_onednn_kernel = {.op = "lstm", .create = create_lstm};

}  // namespace bench::ops
