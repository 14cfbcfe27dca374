// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/conv/conv.hpp"
#include "ops/verbose_text.hpp"

#include <array>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::array<std::string_view, 2> kPrimitives = {"convolution", "deconvolution"};

std::vector<std::int64_t> list_kernel_sizes(std::span<const SpatialAxis> axes) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(axes.size());
  for (const SpatialAxis& axis : axes) sizes.push_back(axis.kernel);
  return sizes;
}

std::optional<std::size_t> find_source_rank(const VerbosePrimitive& primitive) {
  const MemoryDescriptor* source = primitive.find("src");
  return source == nullptr ? std::nullopt : source->rank();
}

std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const auto direction = parse_direction(primitive.propagation);
  const auto words = ProblemWords::parse(primitive.problem);
  if (!direction || !words) return std::nullopt;
  const auto n = words->find("mb");
  const auto c = words->find("ic");
  const auto k = words->find("oc");
  const bool transposed = primitive.primitive == "deconvolution";
  const auto axes = parse_axes(*words, transposed ? Sweep::transposed : Sweep::convolution,
                               find_source_rank(primitive));
  if (!n || !c || !k || !axes) return std::nullopt;
  ParameterSet set(conv_operator.parameters);
  set.set("n", *n);
  set.set("g", words->find("g").value_or(1));
  set.set("c", *c);
  set.set("k", *k);
  set_axes(set, *axes);
  set_spatial_sizes(set, kKernelSizeNames, list_kernel_sizes(*axes));
  set.set("bias", primitive.find("bia") != nullptr);
  set.set("transposed", transposed);
  return VerboseProblem{.request = {.direction = *direction, .parameters = std::move(set)}};
}

}  // namespace

extern const VerboseMapping conv_verbose;
const VerboseMapping conv_verbose = {
    .op = "conv", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
