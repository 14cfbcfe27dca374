// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor_core/facts.hpp"

#include "base/checked.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bench::ops {
namespace {

constexpr std::int64_t kMinCopy = 4;  // asynchronous copies move at least this many bytes

Operand make_operand(DataType dtype) {
  switch (dtype) {
    case DataType::f64:
      return Operand::f64;
    case DataType::f32:
      return Operand::tf32;
    case DataType::f16:
      return Operand::f16;
    case DataType::bf16:
      return Operand::bf16;
    case DataType::s8:
      return Operand::s8;
    case DataType::u8:
    case DataType::s32:  // not a case's data type
      return Operand::u8;
    case DataType::f8_e4m3:
      return Operand::f8_e4m3;
    case DataType::f8_e5m2:
      return Operand::f8_e5m2;
  }
  return Operand::u8;
}

LibrarySupport find_library_support(const Platform& platform) {
  if (platform.libraries < platform.architecture->first) return LibrarySupport::too_old;
  if (platform.libraries > platform.architecture->last) return LibrarySupport::dropped;
  return LibrarySupport::supported;
}

}  // namespace

RowAlignment row_alignment(std::int64_t bytes) {
  if (bytes % kTensorCoreLine == 0) return RowAlignment::at_128;
  if (bytes % kTensorCoreLoad == 0) return RowAlignment::at_16;
  return bytes % kMinCopy == 0 ? RowAlignment::below_16 : RowAlignment::below_4;
}

std::string& tensor_core_detail(ProblemFacts& problem, TensorCorePart part) {
  return problem.facts.details[static_cast<std::size_t>(part)];
}

ProblemFacts common_facts(const Problem& problem, const Platform& platform,
                          TensorCoreLibrary library) {
  ProblemFacts result;
  TensorCoreFacts& facts = result.facts;
  facts.library = library;
  facts.architecture = platform.architecture->id;
  facts.generation = platform.libraries;
  facts.library_support = find_library_support(platform);
  facts.operand = make_operand(problem.dtype);
  facts.math = problem.math;
  facts.direction = problem.direction;
  const std::string_view type = info(problem.dtype).name;
  tensor_core_detail(result, TensorCorePart::arch_supports) =
      facts.library_support == LibrarySupport::supported
          ? fmt::format("{} on {}", type, platform.architecture->name)
          : fmt::format("{} for {}", info(platform.libraries).libraries,
                        platform.architecture->name);
  tensor_core_detail(result, TensorCorePart::math_mode_allows) = type;
  return result;
}

void check_tensor_core_multiple(ProblemFacts& problem, std::string_view name, std::int64_t size,
                                std::int64_t element) {
  const std::int64_t multiple = std::max<std::int64_t>(1, kTensorCoreLoad / element);
  if (size % multiple == 0) return;
  const auto padded = (Checked(size / multiple) + 1) * multiple;
  problem.unaligned.push_back({name, size, padded.value().value_or(size)});
}

}  // namespace bench::ops
