// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/network_plan.hpp"

#include "ops/cuda/cublas/gemm_form.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/cudnn_kernel.hpp"
#include "ops/cuda/cudnn/graph.hpp"
#include "ops/cuda/cudnn/operator_graphs.hpp"
#include "ops/cuda/cudnn/planning.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/cuda/cudnn/support_oracle.hpp"
#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/cuda/network/network_chain.hpp"
#include "ops/cuda/network/packed_kernel.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace bench::ops::cuda {
namespace {

Error no_device() {
  return {"a planned kernel cannot run", "", "create the network's kernel on a device"};
}

// Knows a kernel's steps and the layouts of its buffers, but does not execute anything.
class PlannedKernel final : public Kernel {
 public:
  PlannedKernel(StepWay way, std::vector<KernelStep> steps, std::vector<KernelBuffer> buffers)
      : way_(way), steps_(std::move(steps)), buffers_(std::move(buffers)) {}
  std::string implementation() const override { return steps_.front().implementation; }
  std::vector<KernelStep> steps() const override { return steps_; }
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {0}; }
  Status pack(std::size_t, const void*, void*) override { return no_device(); }
  Status unpack(std::size_t, const void*, void*) override { return no_device(); }
  Status prepare(std::span<void* const>) override { return no_device(); }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const>) override { return no_device(); }

  StepWay way() const { return way_; }
  const std::vector<StepWay>& other_ways() const { return other_ways_; }
  void add_other_way(StepWay way) { other_ways_.push_back(way); }

 private:
  StepWay way_;
  std::vector<KernelStep> steps_;
  std::vector<KernelBuffer> buffers_;
  std::vector<StepWay> other_ways_;
};
using Planned = Result<PlannedKernel, BackendError>;

PlannedKernel make_kernel(StepWay way, std::string kind, std::string implementation,
                          std::vector<KernelBuffer> buffers) {
  KernelStep step{"", std::move(kind), std::move(implementation), format_layouts(buffers), {}};
  return {way, {std::move(step)}, std::move(buffers)};
}

std::vector<KernelBuffer> make_buffers(const Problem& problem, Layout layout) {
  std::vector<KernelBuffer> buffers;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    buffers.push_back({buffer_role(tensor), tensor.size(), format_layout(problem, i, layout)});
  }
  return buffers;
}

// Describes the buffers of a matrix product, which is always plain.
std::vector<KernelBuffer> plain_buffers(const Problem& problem) {
  std::vector<KernelBuffer> buffers;
  for (const Tensor& tensor : problem.tensors)
    buffers.push_back({buffer_role(tensor), tensor.size(), "plain"});
  return buffers;
}

// Describes the buffers of a problem as its graph stores them.
std::vector<KernelBuffer> graph_buffers(const Problem& problem, const OperationGraph& graph) {
  std::vector<KernelBuffer> buffers = plain_buffers(problem);
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const auto form =
        std::ranges::find(graph.tensors, static_cast<std::int64_t>(i) + 1, &TensorForm::uid);
    if (form == graph.tensors.end()) continue;
    const PackedTensor packed = packed_tensor(problem, i, *form);
    buffers[i].size = packed.arrangement.packed_size(form->dtype);
    buffers[i].layout = packed.layout;
  }
  return buffers;
}

PlannedKernel make_native(StepWay way, const NativeForm& form, std::span<const BufferRole> roles) {
  std::vector<KernelBuffer> buffers;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const NativeTensor& tensor = form.tensors[i];
    buffers.push_back({roles[i], tensor.arrangement.packed_size(tensor.dtype), tensor.layout});
  }
  return make_kernel(way, form.kind, form.implementation, std::move(buffers));
}

Planned plan_native(const Problem& problem) {
  BENCH_ASSIGN_OR_RETURN(const NativeForm form, native_form(problem));
  std::vector<BufferRole> roles;
  for (const Tensor& tensor : problem.tensors) roles.push_back(buffer_role(tensor));
  return make_native(StepWay::native, form, roles);
}

// A library's kernel, then the native kernel of bias and post-ops.
Planned add_epilogue(const PlannedKernel& first, const Problem& problem,
                     DataType intermediate_dtype) {
  BENCH_ASSIGN_OR_RETURN(const NativeForm epilogue,
                         epilogue_form(problem, intermediate_dtype, requested_layout(problem)));
  const std::size_t start = epilogue_start(problem);
  std::vector<KernelBuffer> buffers(first.buffers().begin(),
                                    first.buffers().begin() + static_cast<std::ptrdiff_t>(start));
  std::vector<KernelBuffer> epilogue_buffers = {first.buffers().back()};
  epilogue_buffers.front().role = BufferRole::input;
  for (std::size_t i = start; i < problem.tensors.size(); ++i) {
    const NativeTensor& tensor = epilogue.tensors[i - start + 1];
    buffers.push_back({buffer_role(problem.tensors[i]),
                       tensor.arrangement.packed_size(tensor.dtype), tensor.layout});
    epilogue_buffers.push_back(buffers.back());
  }
  std::vector<KernelStep> steps = first.steps();
  steps.push_back(
      {"", epilogue.kind, epilogue.implementation, format_layouts(epilogue_buffers), {}});
  return PlannedKernel(StepWay::parts, std::move(steps), std::move(buffers));
}

Planned plan_product(const Problem& problem, ComputeCapability capability) {
  const auto plan_alone = [&](const Problem& product) -> Planned {
    BENCH_ASSIGN_OR_RETURN(const GemmForm form, gemm_form(product, ProductLibrary::cublaslt));
    if (auto error = refused_by_device(form, capability)) return *std::move(error);
    return make_kernel(StepWay::product, "gemm", "cublaslt", plain_buffers(product));
  };
  auto fused = plan_alone(problem);
  const auto product = product_part(problem);
  if (fused || !product) return fused;
  const auto first = plan_alone(*product);
  return first ? add_epilogue(*first, problem, product->tensors.back().dtype) : std::move(fused);
}

class NetworkPlanner {
 public:
  explicit NetworkPlanner(const NetworkQuestion& question) : question_(question) {}

  Result<std::unique_ptr<Kernel>, BackendError> plan(const Problem& problem) {
    const std::string key = plan_key(problem);
    auto known = kernels_.find(key);
    if (known == kernels_.end()) {
      BENCH_ASSIGN_OR_RETURN(PlannedKernel kernel, plan_layer(problem));
      known = kernels_.emplace(key, std::move(kernel)).first;
    }
    return std::unique_ptr<Kernel>(std::make_unique<PlannedKernel>(known->second));
  }
  static Result<std::unique_ptr<Kernel>, BackendError> plan_reorder(const Dims& dims,
                                                                    DataType dtype,
                                                                    MemoryLayout from,
                                                                    MemoryLayout to) {
    BENCH_ASSIGN_OR_RETURN(const NativeForm form, reorder_form(dims, dtype, from, to));
    const BufferRole roles[] = {BufferRole::input, BufferRole::output};
    return std::unique_ptr<Kernel>(
        std::make_unique<PlannedKernel>(make_native(StepWay::transpose, form, roles)));
  }

 private:
  Planned plan_layer(const Problem& problem) const {
    if (problem.op->name == "gemm") return plan_product(problem, question_.capability);
    if (find_cudnn_entry(problem.op->name) == nullptr) return plan_native(problem);
    std::optional<PlannedKernel> first;
    std::optional<BackendError> error;
    for (Planned& way : std::array{plan_graph(problem), plan_parts(problem), plan_native(problem),
                                   plan_padded(problem)}) {
      if (!way) {
        if (!error) error = std::move(way).error();  // cuDNN's, the most informative one
      } else if (first) {
        first->add_other_way(way->way());
      } else {
        first = *std::move(way);
      }
    }
    if (!first) return *std::move(error);
    return *std::move(first);
  }
  // What cuDNN offers for the described device or, if it cannot be asked, what the rules expect.
  Planned plan_graph(const Problem& problem) const {
    if (auto gap = known_gap(problem)) return unsupported(*std::move(gap));
    const std::string kind(problem.op->name);
    if (!question_.api || question_.device_json.empty()) {
      BENCH_RETURN_IF_ERROR(check_rules(problem));
      return make_kernel(StepWay::graph, kind, std::string(kUnknownEngine),
                         make_buffers(problem, chosen_layout(problem)));
    }
    BENCH_ASSIGN_OR_RETURN(const OperationGraph graph, operation_graph(question_.api, problem));
    const auto engines =
        planned_engines(question_.api, graph, problem, question_.device_json, {1, 0});
    if (!engines && find_driver() != DriverPresence::absent) return engines.error();
    if (!engines) BENCH_RETURN_IF_ERROR(check_rules(problem));
    std::string implementation = engines ? fmt::format("cudnn:engine_{}", engines->front().index)
                                         : std::string(kUnknownEngine);
    return make_kernel(StepWay::graph, kind, std::move(implementation),
                       graph_buffers(problem, graph));
  }
  // BackendError: cuDNN is not expected to have an engine.
  Result<Done, BackendError> check_rules(const Problem& problem) const {
    if (auto reason = missing_type_reason(problem, question_.capability))
      return unsupported(*std::move(reason));
    if (auto gap = expected_gap(problem, question_.capability)) return unsupported(*std::move(gap));
    for (const PostOp& post_op : problem.post_ops) {
      if (post_op.function == "add") continue;
      if (!unary_function(post_op.function, {post_op.alpha, post_op.beta}))
        return unsupported(fmt::format("cuDNN has no pointwise function `{}`", post_op.function));
    }
    return Done{};
  }
  Planned plan_parts(const Problem& problem) const {
    if (conv_split(problem) != ConvSplit::epilogue)
      return unsupported("the problem is not split into two parts");
    Problem in_layout = problem;
    in_layout.layout = chosen_layout(problem);
    std::optional<BackendError> error;
    for (const DataType dtype : intermediate_types(in_layout)) {
      const auto first = plan_graph(conv_part(in_layout, dtype));
      if (first) return add_epilogue(*first, in_layout, dtype);
      error = first.error();
    }
    return *std::move(error);
  }

  Planned plan_padded(const Problem& problem) const {
    const auto padded = padded_part(problem);
    if (!padded) return unsupported("cuDNN does not gain from further channels of the source");
    auto convolution = plan_graph(*padded);
    if (!convolution) convolution = plan_parts(*padded);
    if (!convolution) return convolution;
    const Tensor& source = problem.tensors[0];
    const BufferRole roles[] = {BufferRole::input, BufferRole::output};
    const PlannedKernel padding =
        make_native(StepWay::padded,
                    padding_form(source.dims, source.dtype, padded->tensors[0].dims[1]), roles);
    std::vector<KernelStep> steps = padding.steps();
    std::ranges::copy(convolution->steps(), std::back_inserter(steps));
    std::vector<KernelBuffer> buffers(convolution->buffers().begin(), convolution->buffers().end());
    buffers.front() = padding.buffers().front();
    return PlannedKernel(StepWay::padded, std::move(steps), std::move(buffers));
  }

  const NetworkQuestion& question_;
  std::map<std::string, PlannedKernel> kernels_;  // by plan_key()
};

}  // namespace

Result<std::vector<PlannedStep>, BackendError> plan_network(const NetworkQuestion& question,
                                                            const Network& network) {
  if (network.gap) return unsupported(*network.gap);
  NetworkPlanner planner(question);
  BENCH_ASSIGN_OR_RETURN(const KernelChain chain,
                         build_network_chain(
                             network, [&](const Problem& problem) { return planner.plan(problem); },
                             NetworkPlanner::plan_reorder));
  std::vector<PlannedStep> steps;
  for (KernelStep& step : list_steps(chain)) steps.push_back({std::move(step)});
  std::size_t next = 0;
  for (const ChainStep& chain_step : chain.steps) {
    // The planner has made all kernels of the chain.
    const auto& kernel = static_cast<const PlannedKernel&>(*chain_step.kernel);
    for (std::size_t i = 0; i < kernel.steps().size(); ++i, ++next) {
      steps[next].way = kernel.way();
      steps[next].other_ways = kernel.other_ways();
    }
  }
  return steps;
}

}  // namespace bench::ops::cuda
