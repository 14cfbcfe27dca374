// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/earlier_releases.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr std::string_view kReorderOperator = "reorder";

// Operators whose work is never that of a reorder or of an elementwise kernel.
constexpr std::array<std::string_view, 2> kProductOperators = {"conv", "gemm"};

constexpr std::array<std::string_view, 3> kStepsBesideProduct = {"reorder", "pointwise",
                                                                 "bias_gradient"};

// This program's own kernels (ops/cuda/kernels/device).
constexpr std::string_view kTransposeKernel =
    "bench::ops::cuda::(anonymous namespace)::transpose_kernel";
constexpr std::array<std::string_view, 3> kKernelsBesideProduct = {
    kTransposeKernel, "bench::ops::cuda::(anonymous namespace)::elementwise_kernel",
    "bench::ops::cuda::(anonymous namespace)::channel_sum_kernel"};

template <std::size_t kCount>
bool list_contains(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Whether the activity is a step beside a node, or the kernel of one. Only a GPU has such kernels;
// oneDNN's steps have always been right.
bool is_beside_node(const Activity& activity, std::string_view op) {
  const bool is_product = list_contains(kProductOperators, op);
  if (activity.kind == ActivityKind::operation) {
    const std::string_view primitive = activity.attributes.text(Attribute::primitive);
    return primitive == kReorderOperator ||
           (is_product && list_contains(kStepsBesideProduct, primitive));
  }
  return activity.kind == ActivityKind::kernel &&
         (activity.name == kTransposeKernel ||
          (is_product && list_contains(kKernelsBesideProduct, activity.name)));
}

bool is_reorder(const Activity& activity) {
  return activity.name == kTransposeKernel ||
         activity.attributes.text(Attribute::primitive) == kReorderOperator;
}

}  // namespace

std::optional<Activity> without_work_of_node(const Activity& activity) {
  const std::string_view op = activity.attributes.text(Attribute::op);
  const bool has_work = activity.attributes.integer(Attribute::flops).value_or(0) != 0;
  if (!has_work || op.empty() || op == kReorderOperator || !is_beside_node(activity, op))
    return std::nullopt;
  Activity corrected = activity;
  Attributes& attributes = corrected.attributes;
  for (const Attribute count : {Attribute::macs, Attribute::bytes}) attributes.erase(count);
  attributes.set(Attribute::flops, std::int64_t{0});
  if (!is_reorder(activity)) return corrected;
  if (activity.kind == ActivityKind::operation) corrected.name = kReorderOperator;
  attributes.set(Attribute::op, kReorderOperator);
  for (const Attribute of_node :
       {Attribute::parameters, Attribute::in_shapes, Attribute::out_shapes}) {
    attributes.erase(of_node);
  }
  return corrected;
}

}  // namespace bench
