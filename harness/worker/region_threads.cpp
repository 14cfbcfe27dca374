// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/region_threads.hpp"

#include "base/processors.hpp"

#include <omp.h>

#include <cstddef>
#include <span>

namespace bench {

void set_region_threads(int threads) { omp_set_num_threads(threads); }

void bind_region_threads(const std::vector<int>& processors) {
  set_processors(processors);
  const auto threads = static_cast<int>(processors.size());
#pragma omp parallel num_threads(threads)
  set_processors(std::span(processors).subspan(static_cast<std::size_t>(omp_get_thread_num()), 1));
  set_processors(processors);
}

}  // namespace bench
