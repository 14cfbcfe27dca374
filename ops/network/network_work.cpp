// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "ops/network/network_steps.hpp"
#include "ops/tensor.hpp"

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

}  // namespace bench::ops
