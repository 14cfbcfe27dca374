// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/subject.hpp"

#include "ops/fill.hpp"

#include <utility>

namespace bench {
namespace {

Result<Subject> make_network_subject(const CaseKey& key, const PlannedNetwork& planned,
                                     const ops::Catalogue& catalogue) {
  const auto make = [&](ops::Fusion fusion) {
    return ops::make_network(planned.definition, planned.batch, key.dtype, planned.mode, fusion,
                             catalogue);
  };
  BENCH_ASSIGN_OR_RETURN(ops::Network separate, make(ops::Fusion::separate));
  Result<ops::Network> fused = make(ops::Fusion::fused);
  if (planned.fusion == ops::Fusion::fused) {
    if (!fused) return fused.error();
    return Subject(NetworkPair{*fused, std::move(separate), *fused});
  }
  NetworkPair pair{separate, separate, std::nullopt};
  if (fused) pair.fused = std::move(*fused);
  return Subject(std::move(pair));
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

Result<Subject> make_subject(const CaseKey& key, const PlannedNetwork* network,
                             const ops::Catalogue& catalogue) {
  if (key.op == "network") {
    if (network == nullptr) return Error{"a network without its definition", to_id(key), ""};
    return make_network_subject(key, *network, catalogue);
  }
  BENCH_ASSIGN_OR_RETURN(ops::Problem problem, problem_of(key, catalogue));
  return Subject(std::move(problem));
}

std::span<const ops::Tensor> subject_tensors(const Subject& subject) {
  if (const auto* problem = std::get_if<ops::Problem>(&subject)) return problem->tensors;
  return std::get<NetworkPair>(subject).network.tensors;
}

const ops::Work& subject_work(const Subject& subject) {
  if (const auto* problem = std::get_if<ops::Problem>(&subject)) return problem->work;
  return std::get<NetworkPair>(subject).network.work;
}

Result<std::unique_ptr<ops::Kernel>, ops::Refusal> create_kernel(ops::Backend& backend,
                                                                 const Subject& subject,
                                                                 const ops::MetLayouts& met) {
  if (const auto* problem = std::get_if<ops::Problem>(&subject)) {
    return backend.create_layer(*problem, met);
  }
  return backend.create(std::get<NetworkPair>(subject).network);
}

std::vector<std::vector<double>> input_values(const Subject& subject, std::uint64_t seed) {
  if (const auto* pair = std::get_if<NetworkPair>(&subject)) return network_values(*pair, seed);
  const auto& problem = std::get<ops::Problem>(subject);
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < problem.input_count(); ++i) {
    values.push_back(ops::random_values(problem, i, seed));
  }
  return values;
}

std::optional<Subject> twin_of(const Subject& subject) {
  const auto* pair = std::get_if<NetworkPair>(&subject);
  if (pair == nullptr || !pair->fused) return std::nullopt;
  const bool is_fused = pair->network.fusion == ops::Fusion::fused;
  return NetworkPair{is_fused ? pair->separate : *pair->fused, pair->separate, pair->fused};
}

}  // namespace bench
