// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/cudnn_backend.hpp"

#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/layer_kernels.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/cuda/network/kernels.hpp"
#include "ops/cuda/network/network_chain.hpp"
#include "ops/network/network.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

using KernelResult = Result<std::unique_ptr<Kernel>, BackendError>;

LibraryInfo library_info(const Result<std::shared_ptr<const CudnnApi>, BackendError>& loaded) {
  if (!loaded) return {"cudnn", "", "", loaded.error().reason};
  const CudnnApi& api = **loaded;
  return {"cudnn", format_version(api), api.path, {}};
}

// While it exists, candidates are measured as a network with cold caches executes its layers: each
// reads weights from memory, and the result that the layer before has just written.
class LayerCaches {
 public:
  explicit LayerCaches(Runtime& runtime) : runtime_(runtime), caches_(runtime.tuned_caches()) {
    if (caches_.state == CacheState::cold)
      runtime_.set_tuned_caches({CacheState::cold_weights, caches_.rotation});
  }
  ~LayerCaches() { runtime_.set_tuned_caches(caches_); }
  LayerCaches(const LayerCaches&) = delete;
  LayerCaches& operator=(const LayerCaches&) = delete;

 private:
  Runtime& runtime_;
  TunedCaches caches_;
};

class CudnnBackend final : public Backend {
 public:
  CudnnBackend(CudnnBackendParts parts, MaybeSession session)
      : parts_(std::move(parts)),
        kernels_(parts_.device, std::move(session), parts_.launcher, parts_.products),
        layers_(parts_.device, kernels_) {}

  std::string_view name() const override { return "cudnn"; }
  std::string_view device() const override { return "cuda"; }
  LibraryInfo library() const override { return library_info(parts_.api); }
  KernelResult create(const Problem& problem) override {
    if (std::ranges::find(problem.op->cuda, name()) == problem.op->cuda.end()) {
      return unsupported(fmt::format("{} on cuda runs by the backends {}", problem.op->name,
                                     fmt::join(problem.op->cuda, " and ")));
    }
    kernels_.take_planning_time();  // that of a creation that failed
    if (kernels_.tuning() > 0 && padded_part(problem)) return create_fastest(problem);
    return kernels_.create(problem);
  }
  KernelResult create(const Network& network) override;
  bool reject_last_engine(std::string_view reason) override {
    return kernels_.reject_last_engine(reason);
  }
  void set_tuning(std::int64_t candidates) override { kernels_.set_tuning(candidates); }

 private:
  KernelResult create_node(const Problem& problem);
  KernelResult create_fastest(const Problem& problem);
  void add_times(std::map<std::string, std::string>& details);
  void add_choices(const Network& network, std::span<const Problem> problems,
                   std::map<std::string, std::string>& details);
  KernelResult create_reorder(const Dims& dims, DataType dtype, MemoryLayout from, MemoryLayout to);

  CudnnBackendParts parts_;
  ProblemKernels kernels_;
  LayerKernels layers_;
};

KernelResult CudnnBackend::create_node(const Problem& problem) {
  if (problem.op->name == "gemm") return kernels_.create_product(problem);
  return layers_.create(problem);
}

KernelResult CudnnBackend::create_reorder(const Dims& dims, DataType dtype, MemoryLayout from,
                                          MemoryLayout to) {
  BENCH_ASSIGN_OR_RETURN(NativeForm form, reorder_form(dims, dtype, from, to));
  const BufferRole roles[] = {BufferRole::input, BufferRole::output};
  return make_native_kernel(parts_.device, parts_.launcher, std::move(form), roles);
}

// Adds the times of planning and of measurements that no kernel reports.
void CudnnBackend::add_times(std::map<std::string, std::string>& details) {
  if (const auto planning = kernels_.take_planning_time())
    details[kPlanningDetail] = fmt::to_string(planning->count());
  const Nanoseconds time = layers_.take_measuring_time();
  if (time.count() > 0) details["setup.tuning_ns"] = fmt::to_string(time.count());
}

// Creates a problem in the way that measurements choose, and reports the choice as a network does.
KernelResult CudnnBackend::create_fastest(const Problem& problem) {
  layers_.plan_ahead(std::span(&problem, 1));
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, layers_.create(problem));
  KernelChain chain;
  add_times(chain.details);
  if (auto choice = layers_.choice(problem))
    chain.details["choice." + std::string(problem.op->name)] = *std::move(choice);
  const TunedCaches& caches = parts_.device.runtime->tuned_caches();
  if (caches.state != CacheState::hot) chain.details["tuned_caches"] = format_tuned_caches(caches);
  std::vector<ChainPlace> places;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    chain.tensors.push_back({kernel->buffers()[i], std::pair(std::size_t{0}, i)});
    places.push_back({ChainPlace::Kind::tensor, i});
  }
  chain.steps.push_back({"", std::move(kernel), std::move(places), std::string(problem.op->name)});
  return make_chain_kernel(parts_.device, std::move(chain), IntermediateStorage::workspace);
}

// Adds the times, and how each layer's kernel was chosen. Layers with the same problem share a
// choice, which the first one reports.
void CudnnBackend::add_choices(const Network& network, std::span<const Problem> problems,
                               std::map<std::string, std::string>& details) {
  add_times(details);
  const std::string caches = format_tuned_caches(parts_.device.runtime->tuned_caches());
  std::set<std::string> reported;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    auto choice = layers_.choice(problems[i]);
    if (!choice || !reported.insert(kernels_.tuned_key(problems[i])).second) continue;
    details["choice." + network.nodes[i].name] = *std::move(choice);
    if (!caches.empty()) details["tuned_caches"] = caches;
  }
}

KernelResult CudnnBackend::create(const Network& network) {
  if (network.gap) return unsupported(*network.gap);
  const LayerCaches caches(*parts_.device.runtime);
  kernels_.take_planning_time();
  const std::vector<Problem> problems = preferred_problems(network);
  layers_.plan_ahead(problems);
  BENCH_ASSIGN_OR_RETURN(
      KernelChain chain,
      build_network_chain(
          network, [this](const Problem& problem) { return create_node(problem); },
          [this](const Dims& dims, DataType dtype, MemoryLayout from, MemoryLayout to) {
            return create_reorder(dims, dtype, from, to);
          }));
  add_choices(network, problems, chain.details);
  return make_chain_kernel(parts_.device, std::move(chain), IntermediateStorage::activations);
}

}  // namespace

Result<std::unique_ptr<Backend>, BackendError> make_cudnn_backend(CudnnBackendParts parts) {
  auto session = parts.api ? CudnnSession::create(*parts.api, parts.device.runtime)
                           : MaybeSession(parts.api.error());
  if (parts.api && !session) return std::move(session).error();
  return std::unique_ptr<Backend>(
      std::make_unique<CudnnBackend>(std::move(parts), std::move(session)));
}

}  // namespace bench::ops::cuda
