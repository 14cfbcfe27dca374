// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "base/env.hpp"
#include "ops/backend/choice_store.hpp"
#include "ops/onednn/chain.hpp"
#include "ops/onednn/context.hpp"
#include "ops/onednn/guard.hpp"
#include "ops/onednn/implementations.hpp"
#include "ops/onednn/kernels.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/library.hpp"
#include "ops/onednn/primitive.hpp"
#include "ops/onednn/support.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using CreatedKernel = Result<std::unique_ptr<Kernel>, BackendError>;

std::optional<Bytes> packed_size(const OnednnPrimitive& primitive) {
  Checked total = 0;
  for (const OnednnTensor& tensor : primitive.tensors) {
    total += static_cast<std::int64_t>(tensor.desc.get_size());
  }
  total += static_cast<std::int64_t>(primitive.scratchpad.get_size());
  total += static_cast<std::int64_t>(primitive.workspace.get_size());
  for (const auto& [argument, desc] : primitive.discarded) {
    total += static_cast<std::int64_t>(desc.get_size());
  }
  const auto bytes = total.value();
  return bytes ? std::optional(Bytes{*bytes}) : std::nullopt;
}

std::optional<Bytes> chain_size(const Chain& chain) {
  Checked total = 0;
  for (const auto* descs : {&chain.inputs, &chain.outputs}) {
    for (const auto& desc : *descs) total += static_cast<std::int64_t>(desc.get_size());
  }
  for (const ChainParameter& parameter : chain.parameters) {
    total += parameter.size().count;
  }
  for (const std::int64_t bytes : chain.buffers) total += bytes;
  total += static_cast<std::int64_t>(chain.scratchpad_bytes);
  const auto bytes = total.value();
  return bytes ? std::optional(Bytes{*bytes}) : std::nullopt;
}

class OnednnBackend final : public Backend {
 public:
  std::string_view name() const override { return "onednn"; }
  std::string_view device() const override { return "cpu"; }
  LibraryInfo library() const override { return onednn_library(); }
  std::optional<BackendError> support_error(const Problem& problem) const override;
  std::optional<BackendError> support_error(const Network& network) const override;
  CreatedKernel create(const Problem& problem) override;
  CreatedKernel create(const Network& network) override;
  CreatedKernel create_layer(const Problem& problem, const InputLayouts& input_layouts) override;
  void observe(const Collectors& collectors) override {
    collectors_ = collectors;
    if (context_) context_->observe(collectors);
  }
  bool set_output(LibraryOutput output) override;
  // An asynchronous library would run all kernels one after the other, in the stream they share.
  bool runs_streams() const override { return onednn_is_synchronous(); }
  void set_layer_maker(KernelMaker maker) override { layer_maker_ = std::move(maker); }
  void set_tuning(std::int64_t candidates) override { tuning_ = candidates; }
  std::string choices() const override { return choices_.text(); }
  void set_choices(std::string_view choices) override { choices_.fix(choices); }

 private:
  using Details = std::map<std::string, std::string>;

  CreatedKernel make_candidate(const Problem& problem, const InputLayouts& input_layouts,
                               const Implementation& candidate, Details details);
  // Creates the kernel of the implementation at a position of the library's list.
  CreatedKernel make_kernel(const Problem& problem, const InputLayouts& input_layouts, int position,
                            Details details);
  CreatedKernel make_kernel(const Network& network);
  // Return the makers of layers that need more than one primitive, to execute or to describe them.
  LayerMakers creating_makers() {
    return {layer_maker_, [this](const Problem& problem) { return create(problem); }};
  }
  LayerMakers describing_makers() const {
    return {layer_maker_, [this](const Problem& problem) -> CreatedKernel {
              if (auto refused = support_error(problem)) return *std::move(refused);
              return std::unique_ptr<Kernel>();
            }};
  }
  // Creates the kernel of one primitive. `tuning`: how many implementations are measured; 0: the
  // library's choice.
  CreatedKernel create_single(const Problem& problem, const InputLayouts& input_layouts,
                              std::int64_t tuning);
  CreatedKernel create_fastest(const Problem& problem, const InputLayouts& input_layouts);
  Result<std::vector<Implementation>, BackendError> list_candidates(
      const Problem& problem, const InputLayouts& input_layouts) const;
  Result<TunedChoice, BackendError> choose_candidate(const std::string& key, const Problem& problem,
                                                     const InputLayouts& input_layouts,
                                                     std::span<const Implementation> candidates);
  // The checks that need no library call.
  Result<Done, BackendError> check_rules(const Network& network) const;
  // Created at first use: a process that only queries the library does not pay for it.
  OnednnContext& context() {
    if (!context_) context_.emplace(collectors_);
    return *context_;
  }
  OnednnContext& describing_context() const {
    if (!describing_context_)
      describing_context_.emplace(Collectors{}, CreationExtent::descriptors);
    return *describing_context_;
  }

  Collectors collectors_;
  KernelMaker layer_maker_;
  MonotonicClock clock_;
  std::int64_t tuning_ = 0;
  ChoiceStore choices_;
  ChoiceMemory memory_{choices_};
  // By key of a choice. A second creation of a problem needs no list again.
  std::map<std::string, std::vector<Implementation>> candidates_;
  std::optional<OnednnContext> context_;
  mutable std::optional<OnednnContext> describing_context_;  // a cache of the library's answers
  bool output_was_set_ = false;
};

// The library reads ONEDNN_VERBOSE when it first prints. dnnl_set_verbose() overrides that
// permanently. Messages about implementations that were not chosen (`dispatch`) have no level. If
// the environment requests them or everything, the first call changes the environment instead of
// the level, and they are printed until the next call.
bool OnednnBackend::set_output(LibraryOutput output) {
  constexpr const char* kVerbose = "ONEDNN_VERBOSE";
  const bool is_first = !std::exchange(output_was_set_, true);
  // Only a process that prints needs it. One that does not shows its own environment to the user.
  if (output != LibraryOutput::none) setenv("ONEDNN_VERBOSE_TIMESTAMP", "1", 1);
  if (is_first) {
    const char* text = std::getenv(kVerbose);
    const std::string requested_output = text == nullptr ? "" : text;
    const bool requests_reasons = requested_output.find("dispatch") != std::string::npos ||
                                  requested_output.find("all") != std::string::npos;
    if (requests_reasons && output == LibraryOutput::creations_and_executions) {
      setenv(kVerbose, (requested_output + ",profile_create,profile_exec").c_str(), 1);
      return true;
    }
  }
  // Levels: 1 prints executions, 2 also creations.
  return dnnl_set_verbose(static_cast<int>(output)) == dnnl_success;
}

std::vector<dnnl::memory::desc> producer_layouts(const Problem& problem,
                                                 const InputLayouts& input_layouts) {
  std::vector<dnnl::memory::desc> descriptors(problem.tensors.size());
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    const auto layout = input_layouts.find(tensor.name);
    if (layout == input_layouts.end()) continue;
    if (auto desc = parse_desc(layout->second, tensor.dims, tensor.dtype)) descriptors[i] = *desc;
  }
  return descriptors;
}

// Creates with the context, or only describes, as the context does.
CreatedPrimitive create_primitive(OnednnContext& context, const Problem& problem,
                                  const InputLayouts& input_layouts, int position) {
  const OnednnKernelEntry* entry = find_onednn_kernel(problem.op->name);
  assert(entry != nullptr);
  return entry->create(context, {problem, producer_layouts(problem, input_layouts),
                                 ResidualAdd::separate, ForwardWorkspace::none, position});
}

// Runs `make`, which creates or describes `what` with the context that `context` returns. Explains
// an error by the data type if the library does not support the type here.
template <class ContextFunction, class Function>
std::invoke_result_t<Function> with_cause(std::string_view what, DataType type,
                                          ContextFunction context, Function make) {
  using Answer = std::invoke_result_t<Function>;
  Answer answer = guarded(what, make);
  if (answer) return answer;
  return guarded(what, [&]() -> Answer {
    return with_data_type_cause(context(), type, std::move(answer).error());
  });
}

template <class Value>
std::optional<BackendError> error_of(Result<Value, BackendError> result) {
  return result ? std::nullopt : std::optional(std::move(result).error());
}

CreatedKernel OnednnBackend::make_kernel(const Problem& problem, const InputLayouts& input_layouts,
                                         int position, Details details) {
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<OnednnPrimitive> primitive,
                         create_primitive(context(), problem, input_layouts, position));
  BENCH_RETURN_IF_ERROR(check_memory(packed_size(*primitive), describe(problem)));
  return make_problem_kernel(context(), problem, std::move(primitive), std::move(details));
}

// oneDNN 3.2 answers next_impl() of a convolution with the implementation whose primitive is in its
// cache, whatever the position is.
void clear_primitive_cache() {
  const int capacity = dnnl::get_primitive_cache_capacity();
  dnnl::set_primitive_cache_capacity(0);
  dnnl::set_primitive_cache_capacity(capacity);
}

// What decides among the implementations of a problem.
std::string choice_key(const Problem& problem, const InputLayouts& input_layouts,
                       std::int64_t tuning) {
  std::string key = fmt::format("onednn {} {} {} {} {}", describe(problem), problem_tokens(problem),
                                to_string(problem.layout), to_string(problem.math), tuning);
  for (const auto& [tensor, layout] : input_layouts) key += fmt::format(" {}={}", tensor, layout);
  return key;
}

std::vector<std::string> names_of(std::span<const Implementation> implementations) {
  std::vector<std::string> names;
  for (const Implementation& implementation : implementations) names.push_back(implementation.name);
  return names;
}

Result<std::vector<Implementation>, BackendError> OnednnBackend::list_candidates(
    const Problem& problem, const InputLayouts& input_layouts) const {
  const auto describe_at = [&](int position) -> Result<std::string, BackendError> {
    const CreatedPrimitive described = guarded(describe(problem), [&] {
      return create_primitive(describing_context(), problem, input_layouts, position);
    });
    if (!described) return described.error();
    return (*described)->implementation;
  };
  clear_primitive_cache();
  return list_implementations(static_cast<std::size_t>(tuning_), describe_at);
}

// Returns an error rather than the kernel of another implementation.
CreatedKernel OnednnBackend::make_candidate(const Problem& problem,
                                            const InputLayouts& input_layouts,
                                            const Implementation& candidate, Details details) {
  const auto is_candidate = [&](const CreatedKernel& kernel) {
    return !kernel || candidate.name.starts_with((*kernel)->implementation());
  };
  auto kernel = make_kernel(problem, input_layouts, candidate.position, details);
  if (is_candidate(kernel)) return kernel;
  clear_primitive_cache();
  kernel = make_kernel(problem, input_layouts, candidate.position, std::move(details));
  if (is_candidate(kernel)) return kernel;
  return BackendError{BackendError::Kind::failed,
                      fmt::format("the library created {} instead", (*kernel)->implementation())};
}

Result<TunedChoice, BackendError> OnednnBackend::choose_candidate(
    const std::string& key, const Problem& problem, const InputLayouts& input_layouts,
    std::span<const Implementation> candidates) {
  if (auto known = memory_.find(key, names_of(candidates))) return *std::move(known);
  std::vector<TrialKernel> kernels;
  for (const Implementation& candidate : candidates) {
    kernels.push_back({candidate.name, guarded(describe(problem), [&] {
                         return make_candidate(problem, input_layouts, candidate, {});
                       })});
  }
  BENCH_ASSIGN_OR_RETURN(TunedChoice choice, measure_kernels(kernels, clock_));
  if (choice.candidates.empty()) return choice;  // not enough memory for measuring
  return memory_.remember(key, std::move(choice));
}

CreatedKernel OnednnBackend::create_fastest(const Problem& problem,
                                            const InputLayouts& input_layouts) {
  const Nanoseconds begin = clock_.now();
  const std::string key = choice_key(problem, input_layouts, tuning_);
  auto listed = candidates_.find(key);
  if (listed == candidates_.end()) {
    BENCH_ASSIGN_OR_RETURN(auto candidates, list_candidates(problem, input_layouts));
    listed = candidates_.emplace(key, std::move(candidates)).first;
  }
  BENCH_ASSIGN_OR_RETURN(const TunedChoice choice,
                         choose_candidate(key, problem, input_layouts, listed->second));
  Details details;
  choice.add_to(details);
  details["setup.tuning_ns"] = fmt::to_string((clock_.now() - begin).count());
  return make_candidate(problem, input_layouts, listed->second[choice.best], std::move(details));
}

CreatedKernel OnednnBackend::create_single(const Problem& problem,
                                           const InputLayouts& input_layouts, std::int64_t tuning) {
  BENCH_RETURN_IF_ERROR(check_memory(total_size(problem.tensors), describe(problem)));
  return with_cause(
      describe(problem), problem.dtype, [&]() -> OnednnContext& { return context(); },
      [&] {
        return tuning > 0 ? create_fastest(problem, input_layouts)
                          : make_kernel(problem, input_layouts, 0, {});
      });
}

CreatedKernel OnednnBackend::make_kernel(const Network& network) {
  BENCH_ASSIGN_OR_RETURN(Chain chain, build_chain(context(), network, creating_makers()));
  BENCH_RETURN_IF_ERROR(check_memory(chain_size(chain), network.name));
  return make_network_kernel(context(), network, std::move(chain));
}

CreatedKernel OnednnBackend::create(const Problem& problem) { return create_layer(problem, {}); }

CreatedKernel OnednnBackend::create_layer(const Problem& problem,
                                          const InputLayouts& input_layouts) {
  BENCH_RETURN_IF_ERROR(check_supported(problem));
  const auto parts = find_onednn_kernel(problem.op->name)->parts;
  if (parts == nullptr) return create_single(problem, input_layouts, tuning_);
  BENCH_RETURN_IF_ERROR(check_memory(total_size(problem.tensors), describe(problem)));
  // Such a case has a choice per part, which no answer about the case would state.
  const auto create_part = [&](const Problem& part) -> CreatedKernel {
    BENCH_RETURN_IF_ERROR(check_supported(part));
    return create_single(part, {}, 0);
  };
  BENCH_ASSIGN_OR_RETURN(GroupedParts grouped, GroupedParts::create(parts(problem), create_part));
  return make_parts_kernel(std::move(grouped));
}

std::optional<BackendError> OnednnBackend::support_error(const Problem& problem) const {
  if (auto refused = error_of(check_supported(problem))) return refused;
  if (const auto parts = find_onednn_kernel(problem.op->name)->parts) {
    for (const Problem& part : parts(problem)) {
      if (auto refused = support_error(part)) return refused;
    }
    return std::nullopt;
  }
  return error_of(with_cause(
      describe(problem), problem.dtype, [&]() -> OnednnContext& { return describing_context(); },
      [&] { return create_primitive(describing_context(), problem, {}, 0); }));
}

// The parts of an activation follow each other without gaps in a network, but begin at multiples of
// a cache line in a kernel of several primitives (ops/backend/grouped_parts.hpp).
Result<Done, BackendError> check_parts(const Node& node, std::span<const Problem> parts) {
  for (const Problem& part : parts.first(parts.size() - 1)) {
    for (const Tensor& tensor : part.tensors) {
      if (tensor.role == TensorRole::weights || tensor.size().count % kCacheLine == 0) continue;
      return unsupported(fmt::format(
          "{}: a group of `{}` has {} bytes, and in a network the next group must begin at a "
          "multiple of {} bytes; the layers of the network can be measured (`measure: [layers]`)",
          node.name, tensor.name, tensor.size().count, kCacheLine));
    }
  }
  return Done{};
}

Result<Done, BackendError> OnednnBackend::check_rules(const Network& network) const {
  if (network.gap) {
    return BackendError{BackendError::Kind::unsupported, *network.gap};
  }
  if (network.input_layout == Layout::nhwc) {
    return BackendError{BackendError::Kind::unsupported,
                        "the oneDNN backend reads the input of a network in nchw only; leave "
                        "`layout: nhwc` out"};
  }
  for (const Node& node : network.nodes) {
    const OnednnKernelEntry* entry = find_onednn_kernel(node.problem.op->name);
    if (entry != nullptr && entry->parts != nullptr) {
      BENCH_RETURN_IF_ERROR(check_parts(node, entry->parts(node.problem)));
    }
    // The maker of such a layer says itself what it supports.
    const bool is_foreign = entry == nullptr && layer_maker_;
    auto supported = is_foreign ? check_tensors(node.problem) : check_supported(node.problem);
    if (supported) continue;
    return BackendError{supported.error().kind,
                        fmt::format("{}: {}", node.name, supported.error().reason)};
  }
  return Done{};
}

std::optional<BackendError> OnednnBackend::support_error(const Network& network) const {
  if (auto refused = error_of(check_rules(network))) return refused;
  return error_of(with_cause(
      network.name, network.dtype, [&]() -> OnednnContext& { return describing_context(); },
      [&] { return build_chain(describing_context(), network, describing_makers()); }));
}

CreatedKernel OnednnBackend::create(const Network& network) {
  BENCH_RETURN_IF_ERROR(check_rules(network));
  BENCH_RETURN_IF_ERROR(check_memory(total_size(network.tensors), network.name));
  return with_cause(
      network.name, network.dtype, [&]() -> OnednnContext& { return context(); },
      [&] { return make_kernel(network); });
}

}  // namespace

std::unique_ptr<Backend> make_onednn_backend() { return std::make_unique<OnednnBackend>(); }

}  // namespace bench::ops
