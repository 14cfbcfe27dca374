// SPDX-License-Identifier: Apache-2.0
// Data types of the operands of conv and gemm by the case's data type, as deployed networks run.
#pragma once

#include "base/data_type.hpp"

namespace bench::ops {

struct OperandTypes {
  DataType source;
  DataType weights;
  DataType bias;
  DataType destination;
};

// Floating types throughout, bias in f32 (f64 for f64). s8 and u8: weights s8, bias f32,
// destination s32.
OperandTypes operand_types(DataType dtype);

}  // namespace bench::ops
