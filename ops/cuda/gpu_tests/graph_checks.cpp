// SPDX-License-Identifier: Apache-2.0
// Measures the nodes of a replayed graph while CUPTI writes one record for the whole graph.
// tracing_checks.cpp measures the cost of one record per node. This calls CUPTI directly, because
// the collector needs records of nodes to attribute them to operators.
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/gpu_tests/traced_work.hpp"
#include "ops/cuda/runtime/cupti_tracer.hpp"
#include "profiler/cupti/cupti_api.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>

namespace bench::ops::cuda {
namespace {

constexpr const char* kName = "a traced graph of 50 nodes, as one record";
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

struct Records {
  CuptiApi api;  // set before the callbacks are registered
  std::atomic<std::int64_t> graphs{0};
};

// The callbacks' data. It is global, because CUPTI passes no user data and calls the callbacks
// until the process ends.
Records& records() {
  static constinit Records all;
  return all;
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* count) {
  *buffer = static_cast<std::uint8_t*>(std::malloc(kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *count = 0;  // 0: as many records as fit into the buffer
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                               std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (records().api.next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) ++records().graphs;
  }
  std::free(buffer);
}

Result<Nanoseconds> measure_median_node_time(CheckRun& run) {
  std::array<Nanoseconds, 5> times{};
  for (Nanoseconds& time : times) {
    BENCH_ASSIGN_OR_RETURN(const DeviceSample sample,
                           sample_spins(run, kGraphNodeLength, SampleMethod::graph, kGraphNodes));
    time = sample.device / kGraphNodes;
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

Status to_cupti_status(const CuptiApi& api, const char* call, CUptiResult result) {
  if (result == CUPTI_SUCCESS) return Done{};
  return Error{fmt::format("{}: {}", call, format_cupti_result(api, result)), "", ""};
}

Status trace_graphs(const CuptiApi& api) {
  records().api = api;
  BENCH_RETURN_IF_ERROR(to_cupti_status(api, "cuptiActivityRegisterCallbacks",
                                        api.register_buffers(buffer_requested, buffer_completed)));
  return to_cupti_status(api, "cuptiActivityEnable(GRAPH_TRACE)",
                         api.enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
}

Result<Figures> compare_levels(CheckRun& run, const CuptiApi& api) {
  BENCH_ASSIGN_OR_RETURN(const Nanoseconds plain, measure_median_node_time(run));
  BENCH_RETURN_IF_ERROR(trace_graphs(api));
  BENCH_ASSIGN_OR_RETURN(const Nanoseconds traced, measure_median_node_time(run));
  BENCH_RETURN_IF_ERROR(run.device.runtime->synchronise_device());
  BENCH_RETURN_IF_ERROR(to_cupti_status(api, "cuptiActivityFlushAll", api.flush_all(0)));
  return Figures{{"records", records().graphs.load()},
                 {"node_us", microseconds(plain)},
                 {"node_while_traced_us", microseconds(traced)}};
}

}  // namespace

void check_graph_level(CheckRun& run) {
  const auto library = load_cupti(cupti_candidates(run.search));
  if (!library) return run.report.add_error(kName, "d", library.error().message());
  const auto figures = compare_levels(run, library->api);
  if (!figures) return run.report.add_error(kName, "d", figures.error().message());
  run.report.add_check(records().graphs > 0, kName, "d", *figures);
}

}  // namespace bench::ops::cuda
