// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/cudnn_kernel.hpp"

#include "ops/cuda/network/packed_kernel.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::cuda {

namespace {

// Lists engines that are not used, each number once, with the reason of its first configuration:
// "engine 0: they round their inputs; engine 7: CUDNN_STATUS_NOT_SUPPORTED".
class ExcludedEngines {
 public:
  void add(const PlannedEngine& engine, std::string_view reason) {
    if (!seen_.insert(engine.index).second) return;
    text_ += fmt::format("{}engine {}: {}", text_.empty() ? "" : "; ", engine.index, reason);
  }
  const std::string& text() const { return text_; }

 private:
  std::set<std::int64_t> seen_;
  std::string text_;
};

}  // namespace

std::string engine_name(const PlannedEngine& engine, std::string_view knobs) {
  return fmt::format("engine_{}{}{}", engine.index, knobs.empty() ? "" : " ", knobs);
}

Result<std::vector<std::shared_ptr<const ExecutionPlan>>, BackendError> create_execution_plans(
    CudnnSession& session, const Problem& problem, OperationGraph graph, std::int64_t max_plans,
    std::span<const RejectedEngine> rejected) {
  const CudnnTarget target = session.target();
  const auto shared_graph = std::make_shared<const OperationGraph>(std::move(graph));
  std::vector<std::shared_ptr<ExecutionPlan>> plans;
  ExcludedEngines excluded;
  std::optional<std::string> first_reason;
  std::set<std::string> tried;  // engines, which several lists may have
  // One list usually suffices. If none of its plans can be finished, the other lists are tried.
  const EngineChoice first_choice = max_plans > 1 ? EngineChoice::all : EngineChoice::first;
  for (const EngineChoice choice : {first_choice, EngineChoice::all}) {
    auto candidates = engine_candidates(target, *shared_graph, problem, nullptr, choice);
    if (!candidates) return std::move(candidates).error();
    for (const EngineCandidate& candidate : candidates->excluded)
      excluded.add(candidate.engine, candidate.exclusion);
    for (EngineCandidate& candidate : candidates->usable) {
      if (std::ssize(plans) >= max_plans) break;
      const std::string name = engine_name(candidate.engine, candidate.knobs);
      if (std::ranges::find(rejected, name, &RejectedEngine::engine) != rejected.end()) continue;
      if (!tried.insert(name).second) continue;
      auto plan = finish_plan(target, candidate.configuration, nullptr);
      if (!plan) {
        if (!first_reason) first_reason = "cuDNN: " + plan.error().message();
        excluded.add(candidate.engine, plan.error().message());
        continue;
      }
      const std::int64_t workspace = read_workspace(*plan).value_or(0);
      candidate.engine.workspace = workspace;
      plans.push_back(
          std::make_shared<ExecutionPlan>(ExecutionPlan{shared_graph,
                                                        std::move(candidate.configuration),
                                                        *std::move(plan),
                                                        std::move(candidate.engine),
                                                        std::move(candidate.knobs),
                                                        Bytes{workspace},
                                                        {}}));
    }
    if (!plans.empty() || choice == EngineChoice::all) break;
  }
  if (plans.empty()) {
    return BackendError{BackendError::Kind::unsupported,
                        first_reason.value_or("cuDNN has no engine for this problem")};
  }
  for (const auto& plan : plans) plan->excluded = excluded.text();
  return std::vector<std::shared_ptr<const ExecutionPlan>>(plans.begin(), plans.end());
}

std::string format_layout(const Problem& problem, std::size_t tensor, Layout layout) {
  if (problem.tensors[tensor].dims.size() < 3) return "plain";
  return layout == Layout::nhwc ? "nhwc" : "nchw";
}

PackedTensor packed_tensor(const Problem& problem, std::size_t tensor, const TensorForm& form) {
  const CudnnEntry* entry = find_cudnn_entry(problem.op->name);
  if (entry != nullptr && entry->pack != nullptr) {
    if (auto packed = entry->pack(problem, tensor, form)) return *std::move(packed);
  }
  return {strided_arrangement(form.dims, form.strides),
          format_layout(problem, tensor, chosen_layout(problem))};
}

void to_inverse_deviation(DataType dtype, void* values, std::int64_t count, double epsilon) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const double variance = load_element(dtype, values, i);
    store_element(dtype, values, i, 1 / std::sqrt(variance + epsilon));
  }
}

void from_inverse_deviation(DataType dtype, void* values, std::int64_t count, double epsilon) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const double inverse = load_element(dtype, values, i);
    store_element(dtype, values, i, 1 / (inverse * inverse) - epsilon);
  }
}

namespace {

const TensorForm* find_form(const ExecutionPlan& plan, std::int64_t uid) {
  const auto form = std::ranges::find(plan.graph->tensors, uid, &TensorForm::uid);
  return form == plan.graph->tensors.end() ? nullptr : &*form;
}

const TensorForm* find_form(const ProblemPlan& plan, std::int64_t uid) {
  for (const auto& execution_plan : {plan.main, plan.maxima}) {
    if (execution_plan == nullptr) continue;
    if (const TensorForm* form = find_form(*execution_plan, uid)) return form;
  }
  return nullptr;
}

// Returns the tensor of the forward pass that the gradient of a maximum reads; nullptr if the plan
// is another one.
const TensorForm* find_kept_form(const ProblemPlan& plan) {
  if (plan.maxima == nullptr) return nullptr;
  const TensorForm* positions = find_form(*plan.main, kForwardMaxima);
  return positions != nullptr ? positions : find_form(*plan.main, kMaximaResult);
}

Bytes plain_size(const TensorForm& form) {
  return make_arrangement(form.dims, MemoryLayout::plain).packed_size(form.dtype);
}

// Tensor cores of compute capability 8.9 and 9.0 add products of fp8 with 13 bits after the leading
// one. cuBLASLt may add such sums to f32; cuDNN's convolutions do not, and offer no choice. Seen on
// an H100 with cuDNN 9.19: errors of 2^-13 of the sums' magnitude.
Summation find_summation(const Problem& problem, const DeviceTraits& device) {
  constexpr ComputeCapability kFirst = {8, 9}, kEnd = {10, 0};
  const ComputeCapability capability = {device.major, device.minor};
  const bool is_reduced =
      problem.op->name == "conv" && is_f8(problem) && capability >= kFirst && capability < kEnd;
  return is_reduced ? Summation::reduced : Summation::full;
}

// Addresses of a plan's tensors, by uid.
using TensorAddresses = std::map<std::int64_t, void*>;

// The plan assumes the alignment that its tensors declare. A kernel that reads a less aligned
// address fails or computes wrong results.
Status check_alignment(const std::string& tensor, const void* address) {
  if (reinterpret_cast<std::uintptr_t>(address) % kTensorAlignment == 0) return Done{};
  return Error{
      fmt::format("the address of tensor `{}` is not a multiple of {} bytes, which cuDNN's "
                  "plan assumes",
                  tensor, kTensorAlignment),
      "", "place the buffer at an address that cudaMalloc returned"};
}

Result<Descriptor> make_variant_pack(const CudnnSession& session, const ExecutionPlan& plan,
                                     const TensorAddresses& addresses, void* workspace) {
  std::vector<std::int64_t> uids;
  std::vector<void*> pointers;
  for (const TensorForm& form : plan.graph->tensors) {
    void* const address = addresses.at(form.uid);
    BENCH_RETURN_IF_ERROR(check_alignment(form.name, address));
    uids.push_back(form.uid);
    pointers.push_back(address);
  }
  for (const GraphConstant& constant : plan.graph->constants) {
    uids.push_back(constant.form.uid);
    // cuDNN's list has no pointers to const, but a plan only reads its constants.
    pointers.push_back(constant.memory == GraphConstant::Memory::host
                           ? const_cast<std::uint8_t*>(constant.bytes.data())
                           : addresses.at(constant.form.uid));
  }
  for (const TensorForm& form : plan.graph->scratch) {
    uids.push_back(form.uid);
    pointers.push_back(addresses.at(form.uid));
  }
  const std::vector<void*> workspaces = {workspace};
  return DescriptorBuilder(session.target().api, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
                           "the list of addresses")
      .integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, uids)
      .pointers(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, pointers)
      .pointers(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspaces)
      .finish();
}

// Device memory that a kernel keeps for a tensor outside its problem: a constant or a scratch
// tensor of a graph, or what the forward pass leaves for the gradient of a maximum.
struct KeptTensor {
  std::int64_t uid;
  DeviceBuffer memory;
};

// BackendError: not enough memory, or a copy failed.
Result<std::vector<KeptTensor>, BackendError> create_kept_tensors(Runtime& runtime,
                                                                  const ProblemPlan& plan) {
  const OperationGraph& graph = *plan.main->graph;
  std::vector<KeptTensor> tensors;
  for (const GraphConstant& constant : graph.constants) {
    if (constant.memory == GraphConstant::Memory::host) continue;
    const Bytes size = {std::ssize(constant.bytes)};
    BENCH_ASSIGN_OR_RETURN(DeviceBuffer memory, DeviceBuffer::create(runtime, size));
    if (const auto copied = runtime.copy_in(memory.data(), constant.bytes.data(), size); !copied) {
      return BackendError{BackendError::Kind::failed, copied.error().message()};
    }
    tensors.push_back({constant.form.uid, std::move(memory)});
  }
  std::vector<TensorForm> unset = graph.scratch;
  if (const TensorForm* maxima = find_kept_form(plan)) unset.push_back(*maxima);
  for (const TensorForm& form : unset) {
    BENCH_ASSIGN_OR_RETURN(DeviceBuffer memory, DeviceBuffer::create(runtime, plain_size(form)));
    tensors.push_back({form.uid, std::move(memory)});
  }
  return tensors;
}

// A plan with the addresses of its tensors.
struct BoundPlan {
  std::shared_ptr<const ExecutionPlan> plan;
  Descriptor variant_pack;
};

// The forward pass that writes what the gradient of a maximum reads, with memory that only it
// needs.
struct BoundPreparation {
  DeviceBuffer scratch;
  DeviceBuffer workspace;
  BoundPlan bound;
};

class CudnnInvocation final : public SingleStepInvocation {
 public:
  CudnnInvocation(CudnnSession& session, BoundPlan main,
                  std::optional<BoundPreparation> preparation)
      : SingleStepInvocation(session.runtime()),
        session_(session),
        main_(std::move(main)),
        preparation_(std::move(preparation)) {}

 private:
  Status launch() override {
    if (preparation_) BENCH_RETURN_IF_ERROR(execute(preparation_->bound));
    return execute(main_);
  }
  Status execute(const BoundPlan& bound) {
    return session_.execute(bound.plan->plan, bound.variant_pack);
  }

  CudnnSession& session_;  // owned by the kernel, which outlives its invocations
  BoundPlan main_;
  std::optional<BoundPreparation> preparation_;
};

class CudnnKernel final : public PackedKernel {
 public:
  CudnnKernel(DeviceParts parts, std::shared_ptr<CudnnSession> session, const Problem& problem,
              std::vector<DeviceTensor> tensors, ProblemPlan plan, DeviceBuffer workspace,
              std::vector<KeptTensor> kept)
      : PackedKernel(std::move(parts), std::move(tensors)),
        session_(std::move(session)),
        op_(problem.op->name),
        summation_(find_summation(problem, runtime().traits())),
        plan_(std::move(plan)),
        workspace_(std::move(workspace)),
        kept_(std::move(kept)) {}

  std::string implementation() const override {
    return fmt::format("cudnn:engine_{}", plan_.main->engine.index);
  }
  std::vector<KernelStep> steps() const override {
    return {{"", op_, implementation(), format_layouts(buffers()), {}}};
  }
  Bytes workspace() const override;
  Summation summation() const override { return summation_; }
  Status prepare(std::span<void* const> buffers) override;
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override;
  Result<std::unique_ptr<Invocation>> bind_with_preparation(
      std::span<void* const> buffers) override;
  std::map<std::string, std::string> details() const override;

 private:
  TensorAddresses addresses(std::span<void* const> buffers) const;
  // Returns nullopt if the kernel has no forward pass to run before.
  Result<std::optional<BoundPreparation>> bind_preparation(std::span<void* const> buffers);
  Result<std::unique_ptr<Invocation>> bind_main(std::span<void* const> buffers,
                                                std::optional<BoundPreparation> preparation);

  std::shared_ptr<CudnnSession> session_;
  std::string op_;
  Summation summation_;
  ProblemPlan plan_;
  DeviceBuffer workspace_;
  std::vector<KeptTensor> kept_;
};

Bytes CudnnKernel::workspace() const {
  Bytes size = workspace_.size();
  for (const KeptTensor& tensor : kept_) size = size + tensor.memory.size();
  return size;
}

TensorAddresses CudnnKernel::addresses(std::span<void* const> buffers) const {
  TensorAddresses result;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    result[static_cast<std::int64_t>(i) + 1] = buffers[i];
  }
  // The tensors that the gradient of an average does not read are as large as those of the problem.
  result[kUnreadSource] = buffers.back();
  result[kUnreadResult] = buffers.front();
  for (const KeptTensor& tensor : kept_) result[tensor.uid] = tensor.memory.data();
  return result;
}

Result<std::optional<BoundPreparation>> CudnnKernel::bind_preparation(
    std::span<void* const> buffers) {
  if (plan_.maxima == nullptr) return std::optional<BoundPreparation>();
  const bool is_kept = find_kept_form(plan_)->uid == kMaximaResult;
  auto scratch = DeviceBuffer::create(
      runtime(), is_kept ? Bytes{0} : plain_size(*find_form(*plan_.maxima, kMaximaResult)));
  if (!scratch) return Error{scratch.error().reason, "", ""};
  auto workspace = DeviceBuffer::create(runtime(), plan_.maxima->workspace);
  if (!workspace) return Error{workspace.error().reason, "", ""};
  TensorAddresses tensor_addresses = addresses(buffers);
  if (!is_kept) tensor_addresses[kMaximaResult] = scratch->data();
  BENCH_ASSIGN_OR_RETURN(
      Descriptor variant_pack,
      make_variant_pack(*session_, *plan_.maxima, tensor_addresses, workspace->data()));
  return std::optional(BoundPreparation{
      *std::move(scratch), *std::move(workspace), {plan_.maxima, std::move(variant_pack)}});
}

Status CudnnKernel::prepare(std::span<void* const> buffers) {
  BENCH_ASSIGN_OR_RETURN(const std::optional<BoundPreparation> preparation,
                         bind_preparation(buffers));
  if (!preparation) return Done{};
  const BoundPlan& bound = preparation->bound;
  BENCH_RETURN_IF_ERROR(session_->execute(bound.plan->plan, bound.variant_pack));
  return runtime().synchronise();
}

Result<std::unique_ptr<Invocation>> CudnnKernel::bind_main(
    std::span<void* const> buffers, std::optional<BoundPreparation> preparation) {
  BENCH_ASSIGN_OR_RETURN(
      Descriptor variant_pack,
      make_variant_pack(*session_, *plan_.main, addresses(buffers), workspace_.data()));
  return std::unique_ptr<Invocation>(std::make_unique<CudnnInvocation>(
      *session_, BoundPlan{plan_.main, std::move(variant_pack)}, std::move(preparation)));
}

Result<std::unique_ptr<Invocation>> CudnnKernel::bind(std::span<void* const> buffers) {
  return bind_main(buffers, std::nullopt);
}

Result<std::unique_ptr<Invocation>> CudnnKernel::bind_with_preparation(
    std::span<void* const> buffers) {
  BENCH_ASSIGN_OR_RETURN(std::optional<BoundPreparation> preparation, bind_preparation(buffers));
  return bind_main(buffers, std::move(preparation));
}

std::map<std::string, std::string> CudnnKernel::details() const {
  std::map<std::string, std::string> details = CudaKernel::details();
  details["engine"] = plan_.main->engine.text();
  details["knobs"] = plan_.main->knobs;
  if (summation_ == Summation::reduced) details["accumulation"] = "13 bits";
  if (!plan_.main->excluded.empty()) details["engines_not_used"] = plan_.main->excluded;
  for (const auto& [name, value] : plan_.details) details[name] = value;
  return details;
}

DeviceTensor device_tensor(const Problem& problem, std::size_t index, const ProblemPlan& plan) {
  const Tensor& tensor = problem.tensors[index];
  DeviceTensor result{buffer_role(tensor), tensor.dtype, {}, "plain"};
  const TensorForm* form = find_form(plan, static_cast<std::int64_t>(index) + 1);
  if (form == nullptr) {  // neither graph uses the tensor
    result.arrangement = make_arrangement(tensor.dims, MemoryLayout::plain);
    return result;
  }
  PackedTensor packed = packed_tensor(problem, index, *form);
  result.arrangement = std::move(packed.arrangement);
  result.layout = std::move(packed.layout);
  if (form->dtype != tensor.dtype) result.stored = form->dtype;
  if (packed.values == PackedValues::inverse_deviation) {
    const double epsilon = problem.parameters.real("epsilon");
    const auto make_converter = [&](auto function) {
      return [function, dtype = tensor.dtype, count = tensor.elements(), epsilon](void* values) {
        function(dtype, values, count, epsilon);
      };
    };
    result.encode = make_converter(to_inverse_deviation);
    result.decode = make_converter(from_inverse_deviation);
  }
  return result;
}

}  // namespace

Result<std::unique_ptr<Kernel>, BackendError> make_cudnn_kernel(
    DeviceParts parts, std::shared_ptr<CudnnSession> session, const Problem& problem,
    ProblemPlan plan) {
  std::vector<DeviceTensor> tensors;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    tensors.push_back(device_tensor(problem, i, plan));
  }
  BENCH_ASSIGN_OR_RETURN(DeviceBuffer workspace,
                         DeviceBuffer::create(*parts.runtime, plan.main->workspace));
  BENCH_ASSIGN_OR_RETURN(std::vector<KeptTensor> kept, create_kept_tensors(*parts.runtime, plan));
  return std::unique_ptr<Kernel>(std::make_unique<CudnnKernel>(
      std::move(parts), std::move(session), problem, std::move(tensors), std::move(plan),
      std::move(workspace), std::move(kept)));
}

}  // namespace bench::ops::cuda
