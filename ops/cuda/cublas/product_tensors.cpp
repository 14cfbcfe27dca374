// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/product_tensors.hpp"

#include "base/text.hpp"
#include "ops/backend/buffer_role.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cstdint>
#include <string>

namespace bench::ops::cuda {
namespace {

// Returns the layout text of a plain tensor: one letter per dimension, outermost first ("abc").
std::string plain_layout(std::size_t rank) {
  std::string letters;
  for (std::size_t i = 0; i < rank; ++i) letters += static_cast<char>('a' + i);
  return letters;
}

void convert_elements(const void* source, DataType from, void* target, DataType to,
                      std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    store_element(to, target, i, load_element(from, source, i));
  }
}

}  // namespace

ProductTensors::ProductTensors(const Problem& problem, const GemmForm& form) {
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    const bool is_addend =
        (has_bias_address(form) && form.bias_tensor == i) || (form.c && form.c->tensor == i);
    const DataType type = is_addend ? addend_type(form.d.dtype) : tensor.dtype;
    types_.push_back({tensor.dtype, type, static_cast<std::size_t>(tensor.elements())});
    buffers_.push_back({buffer_role(tensor), Bytes{tensor.elements() * info(type).bytes},
                        plain_layout(tensor.dims.size())});
  }
}

Bytes ProductTensors::total() const {
  Bytes total;
  for (const KernelBuffer& buffer : buffers_) total = total + buffer.size;
  return total;
}

std::string ProductTensors::layouts() const {
  std::string text;
  for (std::size_t i = 0; i + 1 < buffers_.size(); ++i) {
    text += (i == 0 ? "" : ", ") + buffers_[i].layout;
  }
  return text + " -> " + buffers_.back().layout;
}

Status ProductTensors::pack(Runtime& runtime, std::size_t index, const void* plain,
                            void* device) const {
  const Type& type = types_.at(index);
  const Bytes size = buffers_[index].size;
  if (type.plain == type.device) return runtime.copy_in(device, plain, size);
  std::vector<std::uint8_t> converted(static_cast<std::size_t>(size.count));
  convert_elements(plain, type.plain, converted.data(), type.device, type.elements);
  return runtime.copy_in(device, converted.data(), size);
}

Status ProductTensors::unpack(Runtime& runtime, std::size_t index, const void* device,
                              void* plain) const {
  const Type& type = types_.at(index);
  const Bytes size = buffers_[index].size;
  if (type.plain == type.device) return runtime.copy_out(plain, device, size);
  std::vector<std::uint8_t> converted(static_cast<std::size_t>(size.count));
  BENCH_RETURN_IF_ERROR(runtime.copy_out(converted.data(), device, size));
  convert_elements(converted.data(), type.device, plain, type.plain, type.elements);
  return Done{};
}

Status check_addresses(std::span<void* const> addresses, std::size_t expected) {
  if (addresses.size() != expected) {
    return Error{fmt::format("{} buffers for {} tensors", addresses.size(), expected), "", ""};
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (reinterpret_cast<std::uintptr_t>(addresses[i]) % kProductAlignment == 0) continue;
    return Error{fmt::format("buffer {} is not aligned to {} bytes", i, kProductAlignment), "", ""};
  }
  return Done{};
}

std::optional<BackendError> refuse_if_out_of_memory(const MemoryState& memory, Bytes needed) {
  if (needed <= memory.free) return std::nullopt;
  return BackendError{
      BackendError::Kind::skipped,
      fmt::format("not enough memory: the product needs {}, the device has {} of {} free",
                  format_bytes(needed), format_bytes(memory.free), format_bytes(memory.total))};
}

ProductScalar product_scalar(ProductCompute compute, double value) {
  ProductScalar scalar{};
  switch (compute) {
    case ProductCompute::f32:
    case ProductCompute::f32_as_tf32:
      scalar.f32 = static_cast<float>(value);
      break;
    case ProductCompute::f64:
      scalar.f64 = value;
      break;
    case ProductCompute::s32:
      scalar.s32 = static_cast<std::int32_t>(value);
      break;
  }
  return scalar;
}

Bytes product_workspace_limit(int major) {
  constexpr int kHopper = 9;
  constexpr std::int64_t kMebi = std::int64_t{1} << 20;
  return {(major >= kHopper ? 64 : 32) * kMebi};
}

}  // namespace bench::ops::cuda
