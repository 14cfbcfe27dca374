// SPDX-License-Identifier: Apache-2.0
#include "ops/network/network_steps.hpp"

#include "base/checked.hpp"
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/operator.hpp"
#include "ops/spatial.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops {

Status count_work(Network& network) {
  Checked macs = 0;
  Checked flops = 0;
  Checked flops_valid = 0;
  Checked sfu_ops = 0;
  for (const Node& node : network.nodes) {
    macs += node.problem.work.macs.value_or(0);
    flops += node.problem.work.flops;
    flops_valid += node.problem.work.flops_valid;
    sfu_ops += node.problem.work.sfu_ops;
  }
  BENCH_ASSIGN_OR_RETURN(network.work.macs, in_range(macs, "multiply-accumulates", "batch"));
  BENCH_ASSIGN_OR_RETURN(network.work.flops, in_range(flops, "flops", "batch"));
  BENCH_ASSIGN_OR_RETURN(network.work.flops_valid, in_range(flops_valid, "flops_valid", "batch"));
  BENCH_ASSIGN_OR_RETURN(network.work.sfu_ops,
                         in_range(sfu_ops, "special-function operations", "batch"));
  return count_bytes(network.tensors, network.work);
}

namespace {

// Infers the sizes of an operator that has no inference rule, for example of a plugin, from the
// names of its parameters.
Status infer_by_names(ParameterSet& set, std::span<const Dims> inputs) {
  const auto find_kind = [&](std::string_view name) {
    const Parameter* parameter = find_parameter(set.table(), name);
    return parameter == nullptr ? std::optional<ParameterKind>() : parameter->kind;
  };
  const Dims& dims = inputs[0];
  if (find_kind("shape") == ParameterKind::shape) return put_inferred(set, "shape", dims);
  std::vector<std::string_view> names = {"n", "c"};
  if (dims.size() > kFirstSpatial && dims.size() <= kFirstSpatial + kMaxSpatialRank) {
    const auto sizes = size_names(static_cast<int>(dims.size() - kFirstSpatial));
    names.insert(names.end(), sizes.begin(), sizes.end());
  }
  for (std::size_t i = 0; i < std::min(names.size(), dims.size()); ++i) {
    if (find_kind(names[i]) != ParameterKind::count) {
      return Error{.what = fmt::format("its sizes do not follow from the input {}: it has neither "
                                       "`shape` nor a count `{}`",
                                       join_dims(dims), names[i]),
                   .where = "op",
                   .next =
                       "a plugin's operator can be a layer if its sizes are `shape`, or n, c, "
                       "d, h, w"};
    }
    BENCH_RETURN_IF_ERROR(put_inferred(set, names[i], dims[i]));
  }
  return Done{};
}

}  // namespace

Result<ParameterSet> infer_parameters(const Operator& op, const ParameterSet& written,
                                      std::span<const Dims> inputs) {
  // The parameters of a layer have no table if its definition sets none.
  ParameterSet set = written.table().empty() ? ParameterSet(op.parameters) : written;
  const bool is_described = op.inference.infer == nullptr && op.description != nullptr;
  if (op.inference.infer == nullptr && !is_described) {
    BENCH_RETURN_IF_ERROR(infer_by_names(set, inputs));
    return set;
  }
  const std::string_view flag = op.inference.set_by_two_inputs;
  if (!flag.empty() && inputs.size() == 2) BENCH_RETURN_IF_ERROR(put_inferred(set, flag, true));
  std::vector<std::string_view> tensors;
  if (is_described) tensors = op.description->input_tensors(set);
  std::size_t expected = inputs.size();
  if (is_described) {
    expected = tensors.size();
  } else if (op.inference.input_count != nullptr) {
    expected = op.inference.input_count(set);
  }
  if (inputs.size() != expected) {
    return Error{
        .what = fmt::format("the layer has {} inputs, expected {}", inputs.size(), expected),
        .where = "inputs",
        .next = {}};
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    BENCH_RETURN_IF_ERROR(op.description->infer(set, tensors[i], inputs[i]));
  }
  if (is_described) return set;
  BENCH_RETURN_IF_ERROR(op.inference.infer(set, inputs));
  return set;
}

}  // namespace bench::ops
