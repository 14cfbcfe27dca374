// SPDX-License-Identifier: Apache-2.0
#include "harness/host/processor_mask.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <vector>

namespace bench {
namespace {

// Looked up at run time, not linked, so that it also works with libraries without an OpenMP
// runtime.
template <class Function>
Function* openmp_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

void add_openmp_places(cpu_set_t& mask) {
  auto* const count = openmp_function<int()>("omp_get_num_places");
  auto* const size = openmp_function<int(int)>("omp_get_place_num_procs");
  auto* const read = openmp_function<void(int, int*)>("omp_get_place_proc_ids");
  if (count == nullptr || size == nullptr || read == nullptr) return;
  for (int place = 0; place < count(); ++place) {
    std::vector<int> processors(static_cast<std::size_t>(size(place)));
    read(place, processors.data());
    for (const int processor : processors) {
      if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(processor, &mask);
    }
  }
}

}  // namespace

void restore_inherited_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return;
  add_openmp_places(mask);
  // Fails only for processors that no longer exist: then the mask stays as it is.
  static_cast<void>(sched_setaffinity(0, sizeof mask, &mask));
}

}  // namespace bench
