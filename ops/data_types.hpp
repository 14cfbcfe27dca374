// SPDX-License-Identifier: Apache-2.0
// The operand types of conv and gemm for a case's data type, as in deployed networks.
#pragma once

#include "base/data_type.hpp"

namespace bench::ops {

struct OperandTypes {
  DataType source;
  DataType weights;
  DataType bias;
  DataType destination;
};

// Returns the operand types. Floating-point types: all operands have the case's type, except that
// bias is f32 (f64 for f64). s8 and u8: weights s8, bias f32, destination s32.
OperandTypes operand_types(DataType dtype);

}  // namespace bench::ops
