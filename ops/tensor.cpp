// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor.hpp"

#include <fmt/format.h>

namespace bench::ops {

Result<Tensor> make_tensor(std::string_view name, TensorRole role, DataType dtype,
                           const std::vector<Extent>& extents) {
  Tensor tensor{std::string(name), role, dtype, {}, 0};
  Checked elements = 1;
  for (const Extent& extent : extents) {
    elements *= extent.size;
    // Both elements and bytes must fit into 63 bits.
    if (!(elements * info(dtype).bytes).value()) {
      return Error{fmt::format("`{}` has more than 2^63 - 1 elements or bytes with `{}` = {}", name,
                               extent.parameter, extent.size),
                   std::string(extent.parameter),
                   {}};
    }
    tensor.dims.push_back(extent.size);
  }
  tensor.touched = *elements.value();
  return tensor;
}

bool holds_indices(const Tensor& tensor) {
  return tensor.role == TensorRole::input && tensor.dtype == DataType::s32 &&
         (tensor.name == "indices" || tensor.name == "labels");
}

Result<std::int64_t> in_range(Checked count, std::string_view name, std::string_view where) {
  if (const auto value = count.value()) return *value;
  return Error{fmt::format("the count of {} is beyond 2^63 - 1", name), std::string(where), {}};
}

Status count_bytes(const std::vector<Tensor>& tensors, Work& work) {
  Checked read = 0;
  Checked written = 0;
  for (const Tensor& tensor : tensors) {
    const Checked bytes = Checked(tensor.touched) * info(tensor.dtype).bytes;
    (tensor.role == TensorRole::output ? written : read) += bytes;
    if (!(read + written).value()) {
      return Error{
          fmt::format("the count of bytes is beyond 2^63 - 1 with `{}`", tensor.name), {}, {}};
    }
  }
  work.bytes_read = *read.value();
  work.bytes_written = *written.value();
  return Done{};
}

Formula bytes_formula(const std::vector<Tensor>& tensors) {
  Formula formula{"bytes", {}, {}, 0};
  for (const Tensor& tensor : tensors) {
    const std::string_view separator = formula.expression.empty() ? "" : " + ";
    const std::int64_t size = info(tensor.dtype).bytes;
    formula.expression += fmt::format("{}{}*{}", separator, tensor.name, info(tensor.dtype).name);
    formula.values += fmt::format("{}{}*{}", separator, tensor.touched, size);
    formula.result += tensor.touched * size;
  }
  return formula;
}

}  // namespace bench::ops
