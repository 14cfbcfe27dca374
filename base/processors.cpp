// SPDX-License-Identifier: Apache-2.0
#include "base/processors.hpp"

#include "base/function_table.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <sched.h>
#include <sys/resource.h>
#include <system_error>
#include <thread>

namespace bench {
namespace {

struct OpenmpPlaces {
  BENCH_FUNCTIONS(OpenmpPlaces, (count, omp_get_num_places, int (*)()),
                  (size, omp_get_place_num_procs, int (*)(int)),
                  (processors, omp_get_place_proc_ids, void (*)(int, int*)));
};

// Adds none if no OpenMP runtime is loaded, since not all libraries use OpenMP.
void add_openmp_places(cpu_set_t& mask) {
  OpenmpPlaces places;
  if (!fill_functions(DynamicLibrary::whole_process(), places)) return;
  for (int place = 0; place < places.count(); ++place) {
    std::vector<int> processors(static_cast<std::size_t>(places.size(place)));
    places.processors(place, processors.data());
    for (const int processor : processors) {
      if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(processor, &mask);
    }
  }
}

}  // namespace

void set_processors(std::span<const int> processors) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int processor : processors) CPU_SET(processor, &mask);
  static_cast<void>(sched_setaffinity(0, sizeof mask, &mask));
}

std::vector<int> own_threads() {
  std::vector<int> threads;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", code)) {
    if (const auto number = parse_number<int>(entry.path().filename().string()))
      threads.push_back(*number);
  }
  std::ranges::sort(threads);
  return threads;
}

std::vector<int> usable_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return {};
  add_openmp_places(mask);
  std::vector<int> processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &mask)) processors.push_back(processor);
  }
  return processors;
}

std::int64_t count_preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

void run_in_parallel(std::size_t items, std::span<const int> processors,
                     const std::function<void(std::size_t item, std::size_t thread)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&](std::size_t thread) {
    for (std::size_t item = next++; item < items; item = next++) work(item, thread);
  };
  const std::size_t count = std::min(items, processors.size());
  if (count < 2) return run(0);
  std::vector<std::jthread> threads;  // joined when they are destroyed
  for (std::size_t thread = 0; thread < count; ++thread) {
    threads.emplace_back([&run, processors, thread] {
      set_processors(processors);
      run(thread);
    });
  }
}

}  // namespace bench
