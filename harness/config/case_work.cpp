// SPDX-License-Identifier: Apache-2.0
#include "harness/config/case_work.hpp"

#include <memory>
#include <variant>

namespace bench {

const ops::Work& case_work(const Case& spec) {
  if (const auto* problem = std::get_if<ops::Problem>(&spec.work)) return problem->work;
  return std::get<std::shared_ptr<const ops::Network>>(spec.work)->work;
}

std::span<const ops::Tensor> case_tensors(const Case& spec) {
  if (const auto* problem = std::get_if<ops::Problem>(&spec.work)) return problem->tensors;
  return std::get<std::shared_ptr<const ops::Network>>(spec.work)->tensors;
}

}  // namespace bench
