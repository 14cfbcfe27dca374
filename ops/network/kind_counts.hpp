// SPDX-License-Identifier: Apache-2.0
// What the kernel of a network calls itself.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// "58 primitives: 53 convolution, 2 pooling, 1 matmul, 2 reorder": kinds by first use, behind
// `noun`.
std::string count_kinds(std::span<const std::string_view> kinds, std::string_view noun);

// Of the steps of a kernel, whatever they have beside their `kind`.
template <class Step>
std::string count_kinds(const std::vector<Step>& steps, std::string_view noun) {
  std::vector<std::string_view> kinds;
  kinds.reserve(steps.size());
  for (const Step& step : steps) kinds.push_back(step.kind);
  return count_kinds(std::span<const std::string_view>(kinds), noun);
}

}  // namespace bench::ops
