// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/subject.hpp"

#include "base/text.hpp"
#include "harness/host/memory_shortage.hpp"
#include "ops/fill.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench {

namespace {

Result<Workload> make_network_subject(const CaseKey& key, const PlannedNetwork& planned,
                                      const ops::OperatorRegistry& catalogue) {
  const auto make = [&](ops::Fusion fusion) {
    return ops::make_network(planned.definition, planned.batch, key.dtype, planned.mode, fusion,
                             catalogue);
  };
  BENCH_ASSIGN_OR_RETURN(ops::Network separate, make(ops::Fusion::separate));
  Result<ops::Network> fused = make(ops::Fusion::fused);
  if (planned.fusion == ops::Fusion::fused) {
    if (!fused) return fused.error();
    return Workload(NetworkPair{*fused, std::move(separate), *fused});
  }
  NetworkPair pair{separate, separate, std::nullopt};
  if (fused) pair.fused = std::move(*fused);
  return Workload(std::move(pair));
}

// The first layer that reads the network's input determines the format of that input.
std::vector<double> network_input(const ops::Network& network, std::uint64_t seed) {
  for (const ops::Node& node : network.nodes) {
    for (std::size_t i = 0; i < node.sources.size(); ++i) {
      if (node.sources[i] == ops::kNetworkInput) {
        return ops::random_values(node.problem, i, seed);
      }
    }
  }
  return std::vector<double>(static_cast<std::size_t>(network.tensors.front().elements()), 0.0);
}

std::vector<std::vector<double>> network_values(const NetworkPair& pair, std::uint64_t seed) {
  std::vector<std::vector<double>> parameters = ops::random_parameters(pair.separate, seed);
  if (pair.network.fusion == ops::Fusion::fused) {
    parameters = ops::fold_parameters(pair.separate, parameters, pair.network);
  }
  std::vector<std::vector<double>> values;
  values.reserve(parameters.size() + 1);
  // From the unfused network in both cases: fusion must not change the input.
  values.push_back(network_input(pair.separate, seed));
  for (std::vector<double>& parameter : parameters) values.push_back(std::move(parameter));
  return values;
}

}  // namespace

Result<Workload> make_subject(const CaseKey& key, const PlannedNetwork* network,
                              const ops::OperatorRegistry& catalogue) {
  if (key.op == "network") {
    if (network == nullptr) return Error{"a network without its definition", to_id(key), ""};
    return make_network_subject(key, *network, catalogue);
  }
  BENCH_ASSIGN_OR_RETURN(ops::Problem problem, problem_of(key, catalogue));
  return Workload(std::move(problem));
}

std::span<const ops::Tensor> subject_tensors(const Workload& subject) {
  if (const auto* problem = std::get_if<ops::Problem>(&subject)) return problem->tensors;
  return std::get<NetworkPair>(subject).network.tensors;
}

const ops::Work& subject_work(const Workload& subject) {
  if (const auto* problem = std::get_if<ops::Problem>(&subject)) return problem->work;
  return std::get<NetworkPair>(subject).network.work;
}

Result<std::unique_ptr<ops::Kernel>, ops::Refusal> create_kernel(ops::Backend& backend,
                                                                 const Workload& subject,
                                                                 const ops::InputLayouts& met) {
  if (const auto* problem = std::get_if<ops::Problem>(&subject)) {
    return backend.create_layer(*problem, met);
  }
  return backend.create(std::get<NetworkPair>(subject).network);
}

std::vector<std::vector<double>> input_values(const Workload& subject, std::uint64_t seed) {
  if (const auto* pair = std::get_if<NetworkPair>(&subject)) return network_values(*pair, seed);
  const auto& problem = std::get<ops::Problem>(subject);
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < problem.input_count(); ++i) {
    values.push_back(ops::random_values(problem, i, seed));
  }
  return values;
}

std::optional<Workload> twin_of(const Workload& subject) {
  const auto* pair = std::get_if<NetworkPair>(&subject);
  if (pair == nullptr || !pair->fused) return std::nullopt;
  const bool is_fused = pair->network.fusion == ops::Fusion::fused;
  return NetworkPair{is_fused ? pair->separate : *pair->fused, pair->separate, pair->fused};
}

RefusedReply refused(const ops::Refusal& refusal) {
  switch (refusal.kind) {
    case ops::Refusal::Kind::unsupported:
      return {Outcome::unsupported, refusal.reason};
    case ops::Refusal::Kind::skipped:
      return {Outcome::skipped, refusal.reason};
    case ops::Refusal::Kind::failed:
      break;
  }
  return {Outcome::failed, refusal.reason};
}

Result<Workload, RefusedReply> admit(const CaseKey& key, const PlannedNetwork* network,
                                     ops::Backend& backend, std::optional<Bytes> available,
                                     const ops::OperatorRegistry& catalogue) {
  if (key.device != backend.device()) {
    return RefusedReply{Outcome::skipped, fmt::format("this worker serves the device {}, not {}",
                                                      backend.device(), key.device)};
  }
  if (key.backend != backend.name()) {
    return RefusedReply{Outcome::unsupported,
                        fmt::format("unknown backend `{}`: the device {} is served by {}",
                                    key.backend, key.device, backend.name())};
  }
  Result<Workload> subject = make_subject(key, network, catalogue);
  if (!subject) return RefusedReply{Outcome::failed, subject.error().message()};
  const std::span<const ops::Tensor> tensors = subject_tensors(*subject);
  if (auto shortage = memory_shortage(tensors, available)) {
    return RefusedReply{Outcome::skipped, *std::move(shortage)};
  }
  if (backend.memory() != nullptr) {
    const std::optional<Bytes> free = backend.memory()->available();
    const Bytes plain = plain_size(tensors);
    if (free && plain > *free) {
      return RefusedReply{
          Outcome::skipped,
          fmt::format("not enough memory on the device: the tensors need {}, {} available",
                      format_bytes(plain), format_bytes(*free))};
    }
  }
  return std::move(subject).value();
}

}  // namespace bench
