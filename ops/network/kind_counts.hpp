// SPDX-License-Identifier: Apache-2.0
// The implementation name of a network's kernel.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// Formats counts in the order of first use, after `noun`: "58 primitives: 53 convolution, 2
// pooling, 1 matmul, 2 reorder".
std::string count_kinds(std::span<const std::string_view> kinds, std::string_view noun);

// The same for a kernel's steps. `Step` only needs a member `kind`.
template <class Step>
std::string count_kinds(const std::vector<Step>& steps, std::string_view noun) {
  std::vector<std::string_view> kinds;
  kinds.reserve(steps.size());
  for (const Step& step : steps) kinds.push_back(step.kind);
  return count_kinds(std::span<const std::string_view>(kinds), noun);
}

}  // namespace bench::ops
