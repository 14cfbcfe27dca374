// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_facts.hpp"

#include "base/data_type.hpp"

#include <algorithm>

namespace bench {
namespace {

void add_memberships(const Case& spec, CaseRecord& record) {
  if (spec.memberships.empty()) return;
  record.network = spec.memberships.front().network;
  record.layers = spec.memberships.front().layers;
  record.multiplicity = static_cast<int>(record.layers.size());
  for (const Membership& membership : spec.memberships) {
    for (const ops::Direction direction : membership.unmeasured_gradients) {
      const auto name = ops::direction_names()[static_cast<std::size_t>(direction)];
      auto& known = record.unmeasured_gradients;
      if (std::find(known.begin(), known.end(), name) == known.end()) known.emplace_back(name);
    }
  }
  if (spec.memberships.size() == 1) return;
  for (const Membership& membership : spec.memberships) {
    record.networks.push_back({membership.network, membership.layers});
  }
}

}  // namespace

const ops::Work& work_of(const Case& spec) {
  if (const auto* problem = std::get_if<ops::Problem>(&spec.work)) return problem->work;
  return std::get<std::shared_ptr<const ops::Network>>(spec.work)->work;
}

std::span<const ops::Tensor> tensors_of(const Case& spec) {
  if (const auto* problem = std::get_if<ops::Problem>(&spec.work)) return problem->tensors;
  return std::get<std::shared_ptr<const ops::Network>>(spec.work)->tensors;
}

CaseRecord case_facts(const Case& spec) {
  CaseRecord record;
  record.id = spec.id;
  record.op = spec.key.op;
  record.direction = ops::direction_names()[static_cast<std::size_t>(spec.key.direction)];
  record.dtype = info(spec.key.dtype).name;
  record.device = spec.key.device;
  record.backend = spec.key.backend;
  record.source = Place{spec.place.file, spec.place.line, 0}.text();
  record.case_hash = spec.hash;
  record.work = work_of(spec);
  add_memberships(spec, record);
  return record;
}

}  // namespace bench
