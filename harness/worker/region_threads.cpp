// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/region_threads.hpp"

#include <omp.h>

#include <cstddef>
#include <sched.h>

namespace bench {

void set_region_threads(int threads) { omp_set_num_threads(threads); }

void bind_thread(const std::vector<int>& processors) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int processor : processors) CPU_SET(processor, &mask);
  // This fails only if processors no longer exist. Then the mask stays as it is.
  static_cast<void>(sched_setaffinity(0, sizeof mask, &mask));
}

void bind_region_threads(const std::vector<int>& processors) {
  bind_thread(processors);
  const auto threads = static_cast<int>(processors.size());
#pragma omp parallel num_threads(threads)
  bind_thread({processors[static_cast<std::size_t>(omp_get_thread_num())]});
  bind_thread(processors);
}

}  // namespace bench
