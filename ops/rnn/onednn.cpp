// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/onednn.hpp"

namespace bench::ops {

extern const OnednnKernelEntry rnn_onednn_kernel;
const OnednnKernelEntry rnn_onednn_kernel = {.op = "rnn", .create = create_rnn};

}  // namespace bench::ops
