// SPDX-License-Identifier: Apache-2.0
#include "ops/blas/thread_pinning.hpp"

#include "base/processors.hpp"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench::ops {
namespace {

cpu_set_t place_mask(int place) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> processors(static_cast<std::size_t>(omp_get_place_num_procs(place)));
  omp_get_place_proc_ids(place, processors.data());
  for (const int processor : processors) {
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(processor, &mask);
  }
  return mask;
}

}  // namespace

AllPlaces::AllPlaces() {
  const int places = omp_get_num_places();
  if (places == 0 || sched_getaffinity(0, sizeof previous_, &previous_) != 0) return;
  cpu_set_t mask = previous_;
  for (int place = 0; place < places; ++place) {
    const cpu_set_t other = place_mask(place);
    CPU_OR(&mask, &mask, &other);
  }
  is_changed_ = sched_setaffinity(0, sizeof mask, &mask) == 0;
}

AllPlaces::~AllPlaces() {
  // This fails only if processors no longer exist. Then the mask stays as it is.
  if (is_changed_) static_cast<void>(sched_setaffinity(0, sizeof previous_, &previous_));
}

int pin_new_threads(std::span<const int> before) {
  const int places = omp_get_num_places();
  if (places == 0) return 0;
  int count = 0;
  for (const int thread : own_threads()) {
    if (std::ranges::binary_search(before, thread)) continue;
    ++count;
    const cpu_set_t mask = place_mask(count % places);
    static_cast<void>(sched_setaffinity(thread, sizeof mask, &mask));  // fails if it has ended
  }
  return count;
}

}  // namespace bench::ops
