// SPDX-License-Identifier: Apache-2.0
#include "harness/host/placement.hpp"

#include "base/characters.hpp"
#include "base/processors.hpp"
#include "base/text.hpp"
#include "harness/result/record.hpp"
#include "ops/blas_library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>

#include <algorithm>
#include <array>
#include <sched.h>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

void restore_inherited_processors() { set_processors(usable_processors()); }

namespace {

// Prefixes of variables that workers do not inherit. These variables would change the measurement
// without appearing in the record. A library that prints each execution takes twice as long for a
// short one.
constexpr std::array<std::string_view, 14> kDroppedPrefixes = {"OMP_",
                                                               "GOMP_",
                                                               "KMP_",
                                                               "BENCHMARK_",
                                                               "ONEDNN_VERBOSE",
                                                               "DNNL_VERBOSE",
                                                               "MKLDNN_VERBOSE",
                                                               "MKL_VERBOSE",
                                                               "MKL_NUM_THREADS",
                                                               "MKL_DOMAIN_NUM_THREADS",
                                                               "MKL_DYNAMIC",
                                                               "OPENBLAS_NUM_THREADS",
                                                               "GOTO_NUM_THREADS",
                                                               "BLIS_NUM_THREADS"};
// Prefixes of variables that workers inherit and the record contains: those of the library under
// test, of the artificial slowdown, of the loader and of the allocator. Those of CUDA are what its
// driver obeys; CUDA_HOME and the like concern only builds.
constexpr std::array<std::string_view, 18> kRecordedPrefixes = {"ONEDNN_",
                                                                "DNNL_",
                                                                "OPENBLAS_",
                                                                "BLIS_",
                                                                "MKL_",
                                                                kSlowdownVariable,
                                                                "LD_PRELOAD",
                                                                "LD_AUDIT",
                                                                "MALLOC_",
                                                                "GLIBC_TUNABLES",
                                                                "CUDA_DEVICE_",
                                                                "CUDA_FORCE_",
                                                                "CUDA_LAUNCH_BLOCKING",
                                                                "CUDA_MODULE_",
                                                                "CUDA_VISIBLE_DEVICES",
                                                                "CUBLAS_",
                                                                "CUDNN_",
                                                                "NVIDIA_TF32_OVERRIDE"};
// Other variables that the record contains.
constexpr std::array<std::string_view, 5> kRecordedNames = {
    "GOMP_SPINCOUNT", "OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND", "LD_LIBRARY_PATH"};
// Other variables that workers inherit and that decide what they load.
constexpr std::array<std::string_view, 3> kLoadingNames = {"LD_LIBRARY_PATH", "BENCH_CUDA_LIBS",
                                                           "BENCH_CUDA_PLUGIN"};

bool names_blas_library(std::string_view name) {
  return std::ranges::any_of(ops::blas_libraries(), [&](const ops::BlasLibrary& library) {
    return library.variable == name;
  });
}

bool starts_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string to_lower_text(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), to_lower);
  return text;
}

// Returns one core per allowed processor, for machines about which hwloc has no information.
Cores make_cores_from_mask(const cpu_set_t& mask) {
  Cores cores;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &mask)) cores.push_back({processor});
  }
  return cores;
}

Cores make_cores_from_topology(hwloc_topology_t topology, const cpu_set_t& mask) {
  Cores cores;
  const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  for (int i = 0; i < count; ++i) {
    const hwloc_obj_t core =
        hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    std::vector<int> processors;
    for (int p = hwloc_bitmap_first(core->cpuset); p >= 0 && p < CPU_SETSIZE;
         p = hwloc_bitmap_next(core->cpuset, p)) {
      if (CPU_ISSET(p, &mask)) processors.push_back(p);
    }
    if (!processors.empty()) cores.push_back(std::move(processors));
  }
  return cores;
}

}  // namespace

int count_processors(const Cores& cores) {
  int processors = 0;
  for (const std::vector<int>& core : cores) processors += static_cast<int>(core.size());
  return processors;
}

Cores allowed_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) CPU_SET(0, &mask);
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return make_cores_from_mask(mask);
  Cores cores;
  if (hwloc_topology_load(topology) == 0) cores = make_cores_from_topology(topology, mask);
  hwloc_topology_destroy(topology);
  return cores.empty() ? make_cores_from_mask(mask) : cores;
}

Result<std::vector<int>> place_threads(std::optional<int> threads, const Cores& cores) {
  std::vector<int> processors;
  for (std::size_t sibling = 0;; ++sibling) {
    const std::size_t size_before = processors.size();
    for (const std::vector<int>& core : cores) {
      if (sibling < core.size()) processors.push_back(core[sibling]);
    }
    if (processors.size() == size_before) break;
  }
  if (!threads) return processors;
  if (*threads < 1 || static_cast<std::size_t>(*threads) > processors.size()) {
    return Error{fmt::format("{} requested, {} may be used", pluralise(*threads, "thread"),
                             pluralise(processors.size(), "processor")),
                 "", ""};
  }
  processors.resize(static_cast<std::size_t>(*threads));
  return processors;
}

namespace {

// Sorts the processors by their core, in the order of the cores.
std::vector<int> order_by_core(const std::vector<int>& processors, const Cores& cores) {
  std::vector<int> ordered;
  for (const std::vector<int>& core : cores) {
    for (const int processor : core) {
      if (std::ranges::find(processors, processor) != processors.end())
        ordered.push_back(processor);
    }
  }
  return ordered;
}

// Returns the places of OpenMP: "{0},{2}".
std::string format_places(const std::vector<int>& processors) {
  std::string places;
  for (const int processor : processors) {
    places += fmt::format("{}{{{}}}", places.empty() ? "" : ",", processor);
  }
  return places;
}

}  // namespace

Result<StreamProcessors> place_streams(const WorkerThreads& threads, const Cores& cores) {
  BENCH_ASSIGN_OR_RETURN(std::vector<int> processors, place_threads(threads.count, cores));
  if (threads.streams == 1) return StreamProcessors{std::move(processors)};
  const auto count = static_cast<int>(processors.size());
  if (threads.count) BENCH_RETURN_IF_ERROR(check_streams(threads.streams, count));
  if (threads.streams > count) {
    return Error{fmt::format("{0} streams need at least {0} threads, {1} processors may be used",
                             threads.streams, count),
                 "", fmt::format("use `streams: {}` or fewer here", count)};
  }
  processors = order_by_core(processors, cores);
  StreamProcessors streams;
  auto next = processors.begin();
  for (const int share : share_threads(count, threads.streams)) {
    streams.emplace_back(next, next + share);
    next += share;
  }
  return streams;
}

std::string format_stream_processors(const StreamProcessors& streams) {
  std::vector<std::string> texts;
  for (const std::vector<int>& stream : streams)
    texts.push_back(fmt::format("{}", fmt::join(stream, ",")));
  return fmt::format("{}", fmt::join(texts, ";"));
}

std::optional<StreamProcessors> parse_stream_processors(std::string_view text) {
  StreamProcessors streams(1);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(",;", begin), text.size());
    const auto processor = parse_number<int>(text.substr(begin, end - begin));
    if (!processor || *processor < 0) return std::nullopt;
    streams.back().push_back(*processor);
    if (end < text.size() && text[end] == ';') streams.emplace_back();
    begin = end + 1;
  }
  return streams;
}

std::map<std::string, std::string> worker_environment(
    const std::map<std::string, std::string>& inherited, const StreamProcessors& streams,
    const std::map<std::string, std::string>& overrides) {
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : inherited) {
    if (!starts_with_any(name, kDroppedPrefixes)) environment.emplace(name, value);
  }
  std::size_t threads = 0;
  for (const std::vector<int>& stream : streams) threads += stream.size();
  environment["OMP_NUM_THREADS"] = std::to_string(threads);
  environment.erase(kStreamsVariable);
  if (streams.size() == 1) {
    environment["OMP_PLACES"] = format_places(streams.front());
    environment["OMP_PROC_BIND"] = "close";
  } else {
    environment["OMP_PROC_BIND"] = "false";
    environment[kStreamsVariable] = format_stream_processors(streams);
  }
  environment["OMP_DYNAMIC"] = "false";
  environment["GOMP_SPINCOUNT"] = kSpinCount;
  for (const auto& [name, value] : overrides) environment[name] = value;
  return environment;
}

std::map<std::string, std::string> inherited_variables(
    const std::map<std::string, std::string>& environment) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : environment) {
    const bool is_loading =
        std::find(kLoadingNames.begin(), kLoadingNames.end(), name) != kLoadingNames.end() ||
        names_blas_library(name);
    if (is_loading || starts_with_any(name, kRecordedPrefixes)) variables.emplace(name, value);
  }
  return variables;
}

std::map<std::string, std::string> environment_details(
    const std::map<std::string, std::string>& environment) {
  std::map<std::string, std::string> details;
  for (const auto& [name, value] : environment) {
    if (std::find(kRecordedNames.begin(), kRecordedNames.end(), name) != kRecordedNames.end()) {
      details[to_lower_text(name)] = value;
    } else if (starts_with_any(name, kRecordedPrefixes)) {
      details[kVariableDetail + name] = value;
    }
  }
  return details;
}

std::optional<std::string> variable_of_detail(std::string_view detail) {
  const std::string_view prefix = kVariableDetail;
  if (detail.starts_with(prefix)) return std::string(detail.substr(prefix.size()));
  for (const std::string_view name : kLoadingNames) {
    if (to_lower_text(std::string(name)) == detail) return std::string(name);
  }
  return std::nullopt;
}

}  // namespace bench
