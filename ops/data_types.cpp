// SPDX-License-Identifier: Apache-2.0
#include "ops/data_types.hpp"

namespace bench::ops {

OperandTypes operand_types(DataType dtype) {
  const DataType bias = dtype == DataType::f64 ? DataType::f64 : DataType::f32;
  if (!info(dtype).is_integer) return {dtype, dtype, bias, dtype};
  return {dtype, DataType::s8, bias, DataType::s32};
}

}  // namespace bench::ops
