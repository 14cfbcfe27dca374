// SPDX-License-Identifier: Apache-2.0
// What bench_cuda_support answers. Needs no device; loads cuDNN for problems that are cuDNN's.
#pragma once

#include "ops/cuda/library_search.hpp"
#include "ops/plugin/bench_plugin.h"

#include <span>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

// JSON: {"runs":"yes","by":"cuDNN","reason":"","engines":[]}. A problem that cannot be read is a no
// with the reason. `device`: as cuDNN describes one, whose engines are then named; empty: none.
std::string support_answer(const bench_problem& problem, std::string_view backend,
                           std::string_view device, std::span<const SearchStep> search);

}  // namespace bench::ops::cuda
