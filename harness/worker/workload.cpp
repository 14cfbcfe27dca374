// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/workload.hpp"

#include "base/text.hpp"
#include "harness/host/memory_shortage.hpp"
#include "ops/fill.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench {

namespace {

Result<Workload> make_network_workload(const CaseKey& key, const PlannedNetwork& planned,
                                       const ops::OperatorRegistry& registry) {
  const auto make_with = [&](ops::Fusion fusion) {
    auto network = ops::make_network(planned.definition, planned.batch, key.dtype, planned.mode,
                                     fusion, registry);
    if (network) network->input_layout = key.layout;
    return network;
  };
  BENCH_ASSIGN_OR_RETURN(ops::Network separate, make_with(ops::Fusion::separate));
  if (planned.mode == ops::Mode::training) {
    auto plain = ops::in_plain_layout(separate);
    return Workload(NetworkPair{separate, separate, std::move(plain)});
  }
  Result<ops::Network> fused = make_with(ops::Fusion::fused);
  if (planned.fusion == ops::Fusion::fused) {
    if (!fused) return fused.error();
    return Workload(NetworkPair{*fused, std::move(separate), *fused});
  }
  NetworkPair pair{separate, separate, std::nullopt};
  if (fused) pair.other = std::move(*fused);
  return Workload(std::move(pair));
}

std::vector<std::vector<double>> network_values(const NetworkPair& pair, std::uint64_t seed) {
  std::vector<std::vector<double>> parameters = ops::random_parameters(pair.separate, seed);
  if (pair.network.fusion == ops::Fusion::fused) {
    parameters = ops::fold_parameters(pair.separate, parameters, pair.network);
  }
  std::vector<std::vector<double>> values;
  const std::size_t inputs = pair.separate.input_count();
  values.reserve(inputs + parameters.size());
  // The unfused network determines the inputs in both cases, since fusion must not change them.
  // An odd factor makes the seeds of the inputs differ; those of parameters lie on the other side.
  constexpr std::uint64_t kInputStride = 0x9e3779b97f4a7c15u;
  for (std::size_t i = 0; i < inputs; ++i) {
    values.push_back(ops::random_input(pair.separate, i, seed - i * kInputStride));
  }
  for (std::vector<double>& parameter : parameters) values.push_back(std::move(parameter));
  return values;
}

}  // namespace

Result<Workload> make_workload(const CaseKey& key, const PlannedNetwork* network,
                               const ops::OperatorRegistry& registry) {
  if (key.op == "network") {
    if (network == nullptr) return Error{"a network without its definition", to_id(key), ""};
    return make_network_workload(key, *network, registry);
  }
  BENCH_ASSIGN_OR_RETURN(ops::Problem problem, problem_from_key(key, registry));
  return Workload(std::move(problem));
}

std::span<const ops::Tensor> workload_tensors(const Workload& workload) {
  if (const auto* problem = std::get_if<ops::Problem>(&workload)) return problem->tensors;
  return std::get<NetworkPair>(workload).network.tensors;
}

const ops::Work& workload_work(const Workload& workload) {
  if (const auto* problem = std::get_if<ops::Problem>(&workload)) return problem->work;
  return std::get<NetworkPair>(workload).network.work;
}

Result<std::unique_ptr<ops::Kernel>, ops::BackendError> create_kernel(
    ops::Backend& backend, const Workload& workload, const ops::InputLayouts& input_layouts) {
  if (const auto* problem = std::get_if<ops::Problem>(&workload)) {
    return backend.create_layer(*problem, input_layouts);
  }
  return backend.create(std::get<NetworkPair>(workload).network);
}

std::vector<std::vector<double>> input_values(const Workload& workload, std::uint64_t seed) {
  if (const auto* pair = std::get_if<NetworkPair>(&workload)) return network_values(*pair, seed);
  const auto& problem = std::get<ops::Problem>(workload);
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < problem.input_count(); ++i) {
    values.push_back(ops::random_values(problem, i, seed));
  }
  return values;
}

std::optional<Workload> make_twin(const Workload& workload) {
  const auto* pair = std::get_if<NetworkPair>(&workload);
  if (pair == nullptr || !pair->other) return std::nullopt;
  const bool is_fused = pair->network.fusion == ops::Fusion::fused;
  return NetworkPair{is_fused ? pair->separate : *pair->other, pair->separate, pair->other};
}

ErrorReply to_error_reply(const ops::BackendError& error) {
  switch (error.kind) {
    case ops::BackendError::Kind::unsupported:
      return {Outcome::unsupported, error.reason};
    case ops::BackendError::Kind::skipped:
      return {Outcome::skipped, error.reason};
    case ops::BackendError::Kind::failed:
      break;
  }
  return {Outcome::failed, error.reason, error.implementation, error.details};
}

Result<Workload, ErrorReply> admit(const CaseKey& key, const PlannedNetwork* network,
                                   ops::Backend& backend, std::optional<Bytes> available,
                                   const ops::OperatorRegistry& registry) {
  if (key.device != backend.device()) {
    return ErrorReply{Outcome::skipped, fmt::format("this worker serves the device {}, not {}",
                                                    backend.device(), key.device)};
  }
  if (key.backend != backend.name()) {
    return ErrorReply{Outcome::unsupported,
                      fmt::format("unknown backend `{}`: the device {} is served by {}",
                                  key.backend, key.device, backend.name())};
  }
  Result<Workload> workload = make_workload(key, network, registry);
  if (!workload) return ErrorReply{Outcome::failed, workload.error().message()};
  const std::span<const ops::Tensor> tensors = workload_tensors(*workload);
  if (auto shortage = memory_shortage(tensors, available)) {
    return ErrorReply{Outcome::skipped, *std::move(shortage)};
  }
  if (backend.memory() != nullptr) {
    const std::optional<Bytes> free = backend.memory()->available();
    const Bytes tensor_bytes = plain_size(tensors);
    if (free && tensor_bytes > *free) {
      return ErrorReply{
          Outcome::skipped,
          fmt::format("not enough memory on the device: the tensors need {}, {} available",
                      format_bytes(tensor_bytes), format_bytes(*free))};
    }
  }
  return std::move(workload).value();
}

}  // namespace bench
