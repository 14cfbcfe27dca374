// SPDX-License-Identifier: Apache-2.0
#include "harness/run/prepare_request.hpp"

#include <utility>

namespace bench {

PrepareRequest prepare_request(const Case& spec, std::uint64_t seed, ops::MetLayouts met) {
  PrepareRequest request;
  request.id = spec.id;
  request.network = spec.network;
  request.check = CheckKind::reference;
  request.seed = seed;
  request.reuse_distance = spec.reuse_distance;
  request.met = std::move(met);
  request.tuning = spec.measure.tune;
  request.sample_method = spec.measure.sample_method;
  return request;
}

}  // namespace bench
