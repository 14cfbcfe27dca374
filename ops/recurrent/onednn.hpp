// SPDX-License-Identifier: Apache-2.0
// Creates oneDNN's primitives of rnn, lstm and gru.
#pragma once

#include "ops/onednn/primitive.hpp"

namespace bench::ops {

CreatedPrimitive create_rnn(OnednnContext& context, const OnednnRequest& request);
CreatedPrimitive create_lstm(OnednnContext& context, const OnednnRequest& request);
CreatedPrimitive create_gru(OnednnContext& context, const OnednnRequest& request);

}  // namespace bench::ops
