// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/gpu_tests/traced_work.hpp"
#include "ops/cuda/runtime/cupti_tracer.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"
#include "profiler/gpu/intervals.hpp"
#include "profiler/gpu/join.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <set>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;

bool is_spin(const GpuKernel& kernel) {
  return kernel.name.find("spin_kernel") != std::string::npos;
}

void check_seven(const TracedSession& session, CheckReport& report) {
  const auto kernels = session.find_kernels(kSevenLaunches);
  bool holds = kernels.size() == 7;
  for (std::size_t i = 0; i < kernels.size() && holds; ++i) {
    const auto number = static_cast<std::int64_t>(i) + 1;
    holds =
        kernels[i].grid == GpuSize{number, 1, 1} && kernels[i].block == GpuSize{32 * number, 1, 1};
  }
  report.add_check(holds, "seven launches are seven rows with their grids and blocks", "",
                   {{"rows", kernels.size()}});
}

void check_two_apart(const TracedSession& session, CheckReport& report) {
  constexpr const char* kName = "two kernels of 1 ms, 1 ms apart: 66.7 % busy";
  const auto kernels = session.find_kernels(kTwoApart);
  if (kernels.size() != 2) {
    return report.add_error(kName, "", fmt::format("{} kernels", kernels.size()));
  }
  const auto busy_intervals = merge_intervals({*kernels[0].time, *kernels[1].time});
  const Nanoseconds window = kernels[1].time->end - kernels[0].time->start;
  const double busy = 100 * microseconds(total_length(busy_intervals)) / microseconds(window);
  report.add_check(std::abs(busy - 200.0 / 3) <= 2, kName, "", {{"busy_percent", busy}});
}

void check_threads(const TracedSession& session, CheckReport& report) {
  std::set<std::int64_t> streams[2];
  std::size_t kernels[2] = {};
  for (const int thread : {0, 1}) {
    for (const auto& kernel : session.find_kernels(thread == 0 ? kFirstThread : kSecondThread)) {
      streams[thread].insert(kernel.place.stream);
      ++kernels[thread];
    }
  }
  const bool holds = kernels[0] == 5 && kernels[1] == 5 && streams[0].size() == 1 &&
                     streams[1].size() == 1 && streams[0] != streams[1];
  report.add_check(holds, "two threads on two streams, each kernel under its operator", "",
                   {{"first", kernels[0]}, {"second", kernels[1]}});
}

void check_copies(const TracedSession& session, CheckReport& report) {
  std::map<GpuCopyKind, std::int64_t> bytes;
  for (const auto& copy : session.all<GpuMemcpy>()) bytes[copy.kind] += copy.bytes;
  std::int64_t filled = 0;
  for (const auto& fill : session.all<GpuMemset>()) {
    if (fill.bytes == kFilled) filled += fill.bytes;
  }
  const bool holds = bytes[GpuCopyKind::host_to_device] == kCopiedIn &&
                     bytes[GpuCopyKind::device_to_host] == kCopiedOut &&
                     bytes[GpuCopyKind::device_to_device] == kCopiedWithin && filled == kFilled;
  report.add_check(holds, "copies have their kinds and bytes", "",
                   {{"in", bytes[GpuCopyKind::host_to_device]},
                    {"out", bytes[GpuCopyKind::device_to_host]},
                    {"within", bytes[GpuCopyKind::device_to_device]},
                    {"filled", filled}});
}

void check_instances(const TracedSession& session, CheckReport& report) {
  std::set<std::string> names;
  for (const auto& kernel : session.find_kernels(kInstances)) names.insert(kernel.name);
  report.add_check(names.size() == 2, "two instances of a template have two names", "",
                   {{"names", names}});
}

// Returns the raw times of one kernel, its call, and the session's end on both clocks.
Figures collect_raw_times(const GpuSession& recorded, const TracedSession& session) {
  Figures figures = {{"end_monotonic_ns", recorded.clock.monotonic.count()},
                     {"end_realtime_ns", recorded.clock.realtime.count()}};
  for (const auto& kernel : session.all<GpuKernel>()) {
    const auto call = session.find_call(kernel);
    if (!kernel.time || !call) continue;
    figures["launch_ns"] = call->time.start.count();
    figures["kernel_ns"] = kernel.time->start.count();
    figures["kernel_end_ns"] = kernel.time->end.count();
    break;
  }
  return figures;
}

// Checks that no kernel starts before its launch or ends after the session. Allows 2 us for the
// difference between the clocks of device and host.
void check_order(const GpuSession& recorded, const TracedSession& session, CheckReport& report) {
  Nanoseconds earliest = Nanoseconds::max(), latest = Nanoseconds::min();
  std::int64_t compared = 0;
  for (const auto& kernel : session.all<GpuKernel>()) {
    const auto call = session.find_call(kernel);
    if (!kernel.time || !call) continue;
    earliest = std::min(earliest, kernel.time->start - call->time.start);
    latest = std::max(latest, kernel.time->end - recorded.clock.monotonic);
    ++compared;
  }
  Figures figures = {{"compared", compared}};
  if (compared > 0) {
    figures["earliest_us"] = microseconds(earliest);
    figures["latest_us"] = microseconds(latest);
  }
  figures.update(collect_raw_times(recorded, session));
  report.add_check(compared > 0 && earliest >= -2us && latest <= 2us,
                   "kernels lie between their launches and the session's end", "c", figures);
}

void check_completeness(const GpuSession& recorded, const TracedSession& session,
                        CheckReport& report) {
  std::vector<GpuInterval> times;
  std::int64_t kernels = 0, unattributed = 0;
  for (const auto& kernel : session.all<GpuKernel>()) {
    ++kernels;
    unattributed += session.owner(kernel) ? 0 : 1;
    if (kernel.time) times.push_back(*kernel.time);
  }
  const Nanoseconds sum = total_length(times);
  const Nanoseconds busy = total_length(merge_intervals(times));
  const bool holds = recorded.dropped == 0 && recorded.faults.empty() && unattributed == 0 &&
                     kernels > 0 && busy <= sum;
  report.add_check(holds, "a complete session", "b",
                   {{"tracer", recorded.tracer},
                    {"kernels", kernels},
                    {"unattributed", unattributed},
                    {"dropped", recorded.dropped},
                    {"faults", recorded.faults},
                    {"sum_us", microseconds(sum)},
                    {"union_us", microseconds(busy)}});
}

// Compares a kernel's recorded time with its time by events without a tracer. Event times include
// the gap of up to a microsecond between two kernels of a stream; recorded times do not.
void check_cost(const CheckRun& run, const UntracedTimes& untraced_times,
                const TracedSession& session, const TracedTimes& times, std::int64_t length) {
  const std::string name = fmt::format("a traced kernel of {} us", length);
  std::vector<Nanoseconds> lengths;
  for (const auto& kernel : session.find_kernels(kSpins + static_cast<std::uint64_t>(length))) {
    if (is_spin(kernel)) lengths.push_back(kernel.time->length());
  }
  const auto untraced = untraced_times.device.find(length);
  const auto device = times.device.find(length);
  if (lengths.empty() || device == times.device.end()) {
    return run.report.add_error(name, "d", "there is nothing to compare");
  }
  std::sort(lengths.begin(), lengths.end());
  const double recorded = microseconds(lengths[lengths.size() / 2]);
  const double traced = microseconds(device->second);
  if (untraced == untraced_times.device.end()) {
    return run.report.add(name, "d", Outcome::figures,
                          {{"recorded_us", recorded},
                           {"events_while_traced_us", traced},
                           {"reason", "the part `sampling` has not run before it"}});
  }
  const double events = microseconds(untraced->second);
  const bool holds = std::abs(events - recorded) <= 0.02 * events + kGapMargin;
  run.report.add_check(holds, name, "d",
                       {{"events_us", events},
                        {"recorded_us", recorded},
                        {"recorded_by_events", recorded / events},
                        {"events_while_traced_us", traced},
                        {"cost_us", traced - events},
                        {"launch_us", microseconds(untraced_times.host.at(length))},
                        {"launch_while_traced_us", microseconds(times.host.at(length))}});
}

void check_graph(const CheckRun& run, const UntracedTimes& untraced, const TracedSession& session,
                 const TracedTimes& times) {
  std::int64_t spins = 0;
  for (const auto& kernel : session.find_kernels(kGraph)) {
    spins += is_spin(kernel) && kernel.graph_node ? 1 : 0;
  }
  Figures figures = {{"nodes", spins}};
  if (times.graph) figures["node_while_traced_us"] = microseconds(*times.graph);
  if (untraced.graph) figures["node_us"] = microseconds(*untraced.graph);
  run.report.add_check(spins == kGraphNodes, "a traced graph of 50 nodes, each with its operator",
                       "d", figures);
}

// Checks that a second session in this process is refused. In a second session, CUPTI gives wrong
// correlations to graphs.
void check_second(const CuptiLibrary& library, CheckReport& report) {
  const auto second = CuptiCollector::start(library, {}, CuptiProcess::current());
  report.add_check(!second, "a second session in one process is refused", "e",
                   {{"reason", second ? "it was not" : second.error().message()}});
}

void add_conversion(const ConversionCase& conversion, const TracedSession& session,
                    CheckReport& report) {
  Figures kernels = Figures::array();
  const auto id = kConversion + static_cast<std::uint64_t>(conversion.channels);
  for (const auto& kernel : session.find_kernels(id)) {
    kernels.push_back({{"name", kernel.name}, {"us", microseconds(kernel.time->length())}});
  }
  report.add(fmt::format("a convolution of {} channels", conversion.channels), "j",
             Outcome::figures,
             {{"engine", conversion.bound.kernel->implementation()},
              {"workspace_bytes", conversion.bound.kernel->workspace().count},
              {"kernels", kernels}});
}

// Runs the work. If it fails, reports the error and returns no times; the caller still checks what
// was recorded before.
TracedTimes run_traced_work(CheckRun& run, CuptiCollector& collector,
                            std::span<const ConversionCase> conversions, const char* name) {
  auto times = do_traced_work(run, collector, conversions);
  if (times) return *std::move(times);
  run.report.add_error(name, "b", times.error().message());
  return {};
}

Result<GpuSession> trace(CheckRun& run, CuptiCollector& collector,
                         std::span<const ConversionCase> conversions, TracedTimes& times) {
  const GpuSynchronise synchronise = [&] { return run.device.runtime->synchronise_device(); };
  // The first run is discarded, because it includes the cost of instrumentation.
  run_traced_work(run, collector, conversions, "work below the tracer, the first time");
  BENCH_RETURN_IF_ERROR(collector.open_window(synchronise));
  times = run_traced_work(run, collector, conversions, "work below the tracer");
  return collector.finish(synchronise);
}

}  // namespace

// Must run before the context is created. If the context is older than the tracer, CUPTI before
// 13.3.3 may report times on CLOCK_REALTIME.
void start_tracer(CheckRun& run) {
  auto library = load_cupti(cupti_candidates(run.search));
  if (!library) {
    run.tracer.failure = library.error().message();
    return;
  }
  run.tracer.library = *std::move(library);
  auto collector = CuptiCollector::start(*run.tracer.library, {}, CuptiProcess::current());
  if (collector) {
    run.tracer.collector = *std::move(collector);
  } else {
    run.tracer.failure = collector.error().message();
  }
}

// Starts the tracer after the context, to show which clock CUPTI uses for kernels of an older
// context.
void check_late_tracing(CheckRun& run) {
  constexpr const char* kName = "a tracer that begins after the context";
  start_tracer(run);
  if (!run.tracer.collector) return run.report.add_error(kName, "c", run.tracer.failure);
  const GpuSynchronise synchronise = [&] { return run.device.runtime->synchronise_device(); };
  for (int i = 0; i < 3; ++i) {
    if (auto launch =
            to_cuda_status(launch_spin(run.device.runtime->stream(), 5000, {}), "a kernel");
        !launch) {
      return run.report.add_error(kName, "c", launch.error().message());
    }
  }
  const GpuSession recorded = run.tracer.collector->finish(synchronise);
  Figures figures = collect_raw_times(recorded, TracedSession(recorded));
  GpuJoinOptions options;
  options.now = recorded.clock.monotonic;
  const auto joined = join_gpu_session(recorded, options);
  figures["void"] = joined.void_reasons;
  run.report.add(kName, "c", Outcome::figures, figures);
}

void check_tracing(CheckRun& run) {
  constexpr const char* kName = "a traced session";
  if (!run.tracer.collector) return run.report.add_error(kName, "b", run.tracer.failure);
  CuptiCollector& collector = *run.tracer.collector;
  std::vector<ConversionCase> conversions;
  if (auto cases = make_conversion_cases(run)) {
    conversions = *std::move(cases);
  } else {
    run.report.add("conversion copies", "j", Outcome::figures,
                   {{"reason", cases.error().message()}});
  }
  TracedTimes times;
  const auto recorded = trace(run, collector, conversions, times);
  if (!recorded) return run.report.add_error(kName, "b", recorded.error().message());
  run.report.add("CUPTI", "b", Outcome::figures,
                 {{"path", run.tracer.library->path}, {"notes", collector.notes()}});
  if (!run.session_file.empty()) std::ofstream(run.session_file) << format_gpu_session(*recorded);
  const TracedSession session(*recorded);
  check_completeness(*recorded, session, run.report);
  check_order(*recorded, session, run.report);
  check_seven(session, run.report);
  check_two_apart(session, run.report);
  check_threads(session, run.report);
  check_copies(session, run.report);
  check_instances(session, run.report);
  const UntracedTimes untraced = read_untraced(run.figures_file);
  for (const std::int64_t length : kTracedLengths) {
    check_cost(run, untraced, session, times, length);
  }
  check_graph(run, untraced, session, times);
  for (const ConversionCase& conversion : conversions) {
    add_conversion(conversion, session, run.report);
  }
  check_second(*run.tracer.library, run.report);
}

}  // namespace bench::ops::cuda
