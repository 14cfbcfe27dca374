// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/network_plan.hpp"

#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/cudnn_kernel.hpp"
#include "ops/cuda/cudnn/graph.hpp"
#include "ops/cuda/cudnn/planning.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/cuda/network/network_chain.hpp"
#include "ops/cuda/network/packed_kernel.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace bench::ops::cuda {
namespace {

using KernelResult = Result<std::unique_ptr<Kernel>, BackendError>;

Error no_device() {
  return {"a planned kernel cannot run", "", "create the network's kernel on a device"};
}

// Knows a kernel's steps and the layouts of its buffers, but does not execute anything.
class PlannedKernel final : public Kernel {
 public:
  PlannedKernel(std::vector<KernelStep> steps, std::vector<KernelBuffer> buffers)
      : steps_(std::move(steps)), buffers_(std::move(buffers)) {}
  std::string implementation() const override { return steps_.front().implementation; }
  std::vector<KernelStep> steps() const override { return steps_; }
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {0}; }
  Status pack(std::size_t, const void*, void*) override { return no_device(); }
  Status unpack(std::size_t, const void*, void*) override { return no_device(); }
  Status prepare(std::span<void* const>) override { return no_device(); }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const>) override { return no_device(); }

 private:
  std::vector<KernelStep> steps_;
  std::vector<KernelBuffer> buffers_;
};

std::unique_ptr<Kernel> make_kernel(std::string kind, std::string implementation,
                                    std::vector<KernelBuffer> buffers) {
  KernelStep step{"", std::move(kind), std::move(implementation), format_layouts(buffers), {}};
  return std::make_unique<PlannedKernel>(std::vector{std::move(step)}, std::move(buffers));
}

KernelBuffer plain_buffer(const Tensor& tensor) {
  return {buffer_role(tensor.role), tensor.size(), "plain"};
}

// Describes the buffers of a problem as its graph stores them.
std::vector<KernelBuffer> graph_buffers(const Problem& problem, const OperationGraph& graph) {
  std::vector<KernelBuffer> buffers;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    const auto form =
        std::ranges::find(graph.tensors, static_cast<std::int64_t>(i) + 1, &TensorForm::uid);
    if (form == graph.tensors.end()) {
      buffers.push_back(plain_buffer(tensor));
      continue;
    }
    const PackedTensor packed = packed_tensor(problem, i, *form);
    buffers.push_back(
        {buffer_role(tensor.role), packed.arrangement.packed_size(form->dtype), packed.layout});
  }
  return buffers;
}

class NetworkPlanner {
 public:
  NetworkPlanner(std::shared_ptr<const CudnnApi> api, std::string_view device_json)
      : api_(std::move(api)), device_json_(device_json) {}

  KernelResult plan(const Problem& problem) const {
    if (problem.op->name == "gemm") return plan_product(problem);
    if (find_cudnn_entry(problem.op->name) == nullptr) return plan_native(problem);
    auto graph = plan_graph(problem);
    if (graph || conv_split(problem) != ConvSplit::epilogue) {
      return graph ? std::move(graph) : plan_native_or(problem, graph.error());
    }
    return plan_parts(problem);
  }
  static KernelResult plan_reorder(const Dims& dims, DataType dtype, MemoryLayout from,
                                   MemoryLayout to) {
    BENCH_ASSIGN_OR_RETURN(const NativeForm form, reorder_form(dims, dtype, from, to));
    const BufferRole roles[] = {BufferRole::input, BufferRole::output};
    return make_native(form, roles);
  }

 private:
  static std::unique_ptr<Kernel> make_native(const NativeForm& form,
                                             std::span<const BufferRole> roles) {
    std::vector<KernelBuffer> buffers;
    for (std::size_t i = 0; i < roles.size(); ++i) {
      const NativeTensor& tensor = form.tensors[i];
      buffers.push_back({roles[i], tensor.arrangement.packed_size(tensor.dtype), tensor.layout});
    }
    return make_kernel(form.kind, form.implementation, std::move(buffers));
  }
  KernelResult plan_graph(const Problem& problem) const {
    if (auto gap = known_gap(problem)) return unsupported(*std::move(gap));
    BENCH_ASSIGN_OR_RETURN(const OperationGraph graph, operation_graph(api_, problem));
    BENCH_ASSIGN_OR_RETURN(const auto engines,
                           planned_engines(api_, graph, problem, device_json_, {1, 0}));
    return make_kernel(std::string(problem.op->name),
                       fmt::format("cudnn:engine_{}", engines.front().index),
                       graph_buffers(problem, graph));
  }
  // A convolution, then the native kernel of its bias and post-ops.
  KernelResult plan_parts(const Problem& problem) const {
    Problem in_layout = problem;
    in_layout.layout = chosen_layout(problem);
    const Problem part = conv_part(in_layout, intermediate_types(in_layout).front());
    BENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Kernel> first, plan_graph(part));
    BENCH_ASSIGN_OR_RETURN(
        const NativeForm epilogue,
        epilogue_form(in_layout, part.tensors.back().dtype, requested_layout(in_layout)));
    std::vector<KernelStep> steps = first->steps();
    const auto first_buffers = first->buffers();
    const std::size_t start = epilogue_start(problem);
    std::vector<KernelBuffer> buffers(first_buffers.begin(),
                                      first_buffers.begin() + static_cast<std::ptrdiff_t>(start));
    for (std::size_t i = start; i < problem.tensors.size(); ++i) {
      const NativeTensor& tensor = epilogue.tensors[i - start + 1];
      buffers.push_back({buffer_role(problem.tensors[i].role),
                         tensor.arrangement.packed_size(tensor.dtype), tensor.layout});
    }
    steps.push_back({"", epilogue.kind, epilogue.implementation, format_layouts(buffers), {}});
    return std::unique_ptr<Kernel>(
        std::make_unique<PlannedKernel>(std::move(steps), std::move(buffers)));
  }
  static KernelResult plan_native(const Problem& problem) {
    BENCH_ASSIGN_OR_RETURN(const NativeForm form, native_form(problem));
    std::vector<BufferRole> roles;
    for (const Tensor& tensor : problem.tensors) roles.push_back(buffer_role(tensor.role));
    return make_native(form, roles);
  }
  // The native kernel or, if there is none, cuDNN's reason.
  static KernelResult plan_native_or(const Problem& problem, const BackendError& reason) {
    auto native = plan_native(problem);
    return native ? std::move(native) : KernelResult(reason);
  }
  static KernelResult plan_product(const Problem& problem) {
    std::vector<KernelBuffer> buffers;
    for (const Tensor& tensor : problem.tensors) buffers.push_back(plain_buffer(tensor));
    return make_kernel("gemm", "cublaslt", std::move(buffers));
  }

  std::shared_ptr<const CudnnApi> api_;
  std::string_view device_json_;
};

}  // namespace

Result<std::vector<KernelStep>, BackendError> plan_network(
    const std::shared_ptr<const CudnnApi>& api, const Network& network,
    std::string_view device_json) {
  const NetworkPlanner planner(api, device_json);
  BENCH_ASSIGN_OR_RETURN(const KernelChain chain,
                         build_network_chain(
                             network, [&](const Problem& problem) { return planner.plan(problem); },
                             NetworkPlanner::plan_reorder));
  return list_steps(chain);
}

std::string format_plan(const std::vector<KernelStep>& steps) {
  std::size_t node = 0, kind = 0, implementation = 0;
  for (const KernelStep& step : steps) {
    node = std::max(node, step.node.size());
    kind = std::max(kind, step.kind.size());
    implementation = std::max(implementation, step.implementation.size());
  }
  std::string text;
  for (const KernelStep& step : steps) {
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", step.node, node, step.kind, kind,
                        step.implementation, implementation, step.layouts);
  }
  return text;
}

}  // namespace bench::ops::cuda
