// SPDX-License-Identifier: Apache-2.0
#include "harness/run/peak_plan.hpp"

#include "base/data_type.hpp"
#include "base/text.hpp"
#include "harness/config/case_id.hpp"
#include "ops/peak/peak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMebi = std::int64_t{1} << 20;

// A loop of arithmetic, and the processor flag that it requires.
struct PeakLoop {
  std::string_view function;
  std::string_view dtype;
  std::string_view flag;
  // LoopChoice::fastest omits the loop if the processor has one of these flags, because another
  // loop of the same type is then faster. Empty ones do not count.
  std::array<std::string_view, 2> superseded_by = {};
};
constexpr std::array<PeakLoop, 11> kPeakLoops = {{
    {"fma_portable", "f32", "", {"avx2"}},
    {"fma_avx2", "f32", "avx2"},
    {"fma_avx2", "f64", "avx2", {"avx512f"}},
    {"fma_avx2", "s8", "avx2", {"avx_vnni", "avx512_vnni"}},
    {"fma_avx512", "f32", "avx512f"},
    {"fma_avx512", "f64", "avx512f"},
    {"dot_avx2", "s8", "avx_vnni"},
    {"dot_avx512", "bf16", "avx512_bf16"},
    {"dot_avx512", "s8", "avx512_vnni"},
    {"amx", "bf16", "amx_bf16"},
    {"amx", "s8", "amx_int8"},
}};

constexpr std::array<std::string_view, 3> kCacheLoops = {"read", "copy", "triad"};
constexpr std::array<std::string_view, 7> kMemoryLoops = {"read",    "write", "write_nt", "copy",
                                                          "copy_nt", "triad", "triad_nt"};
constexpr std::array<std::string_view, 2> kFastestCacheLoops = {"read", "triad"};
constexpr std::array<std::string_view, 2> kFastestMemoryLoops = {"read", "triad_nt"};
constexpr std::array<std::string_view, 1> kCalibrationLoops = {"read"};
// Data types of the matrix products, which are large enough for the library's best rate.
constexpr std::array<std::string_view, 3> kProductTypes = {"f32", "bf16", "s8"};
constexpr std::string_view kMemoryLevel = kMemoryLevels.back();

// Appends the option for the number of threads. An id without it means all threads.
std::string add_threads_option(std::string id, int threads, int all_threads) {
  if (threads != all_threads) id += fmt::format("/t{}", threads);
  return id;
}

bool has_cpu_flag(const CpuFacts& cpu, std::string_view flag) {
  return flag.empty() || std::ranges::find(cpu.isa, flag) != cpu.isa.end();
}

bool is_superseded(const PeakLoop& loop, const CpuFacts& cpu) {
  return std::ranges::any_of(loop.superseded_by, [&](std::string_view flag) {
    return !flag.empty() && has_cpu_flag(cpu, flag);
  });
}

std::set<std::string_view> all_loop_types() {
  std::set<std::string_view> types;
  for (const PeakLoop& loop : kPeakLoops) types.insert(loop.dtype);
  return types;
}

// Whether to omit loops that another loop of the same type supersedes.
enum class LoopChoice { all, fastest };

class PeakPlan {
 public:
  PeakPlan(const CpuFacts& cpu, int all_threads) : cpu_(cpu), all_threads_(all_threads) {}

  void add_arithmetic(LoopChoice choice, int threads,
                      const std::set<std::string_view>& types = all_loop_types()) {
    for (const PeakLoop& loop : kPeakLoops) {
      if (!has_cpu_flag(cpu_, loop.flag) || !types.contains(loop.dtype)) continue;
      if (choice == LoopChoice::fastest && is_superseded(loop, cpu_)) continue;
      const std::int64_t steps = std::min(ops::kPeakSteps * threads, ops::kMaxPeakSteps);
      add(fmt::format("peak/forward/{}-s{}/{}/native/cpu/hot", loop.function, steps, loop.dtype),
          fmt::format("{}_{}", loop.function, loop.dtype), "", threads);
    }
  }

  void add_movement(std::span<const std::string_view> functions, std::string_view level,
                    Bytes total, int threads) {
    for (const std::string_view function : functions) {
      // An iteration is much longer than the start of the threads.
      add(movement_case_id(function, total, {16 * kMebi * threads}, "native/cpu"),
          std::string(function), std::string(level), threads);
    }
  }

  // Uses half of each cache, so that other data do not displace these.
  void add_caches(std::span<const std::string_view> functions, int threads) {
    constexpr std::string_view kShared = "l3";
    for (const auto& [level, size] : cache_sizes(cpu_)) {
      const int instances = level == kShared ? 1 : threads;
      add_movement(functions, level, {size.count / 2 * instances}, threads);
    }
  }

  void add_memory(std::span<const std::string_view> functions, Bytes size, int threads) {
    add_movement(functions, kMemoryLevel, size, threads);
  }

  void add_dispatch(int threads) {
    add("pointwise/forward/relu-1/f32/onednn/cpu/hot", std::string(kDispatchCeiling), "", threads);
  }

  void add_products(int threads) {
    for (const std::string_view dtype : kProductTypes) {
      add(fmt::format("gemm/forward/m1024n1024k1024/{}/onednn/cpu/hot", dtype),
          fmt::format("{}{}", kLibraryCeiling, dtype), "", threads);
    }
  }

  std::vector<PeakCase> cases() && { return std::move(cases_); }

 private:
  void add(std::string id, std::string name, std::string level, int threads) {
    cases_.push_back({add_threads_option(std::move(id), threads, all_threads_), std::move(name),
                      std::move(level), threads});
  }

  const CpuFacts& cpu_;
  int all_threads_;
  std::vector<PeakCase> cases_;
};

std::vector<int> thread_counts(int all_threads) {
  return all_threads > 1 ? std::vector<int>{1, all_threads} : std::vector<int>{1};
}

// Returns the case with the settings of a short measurement; nullopt if the id is not valid.
std::optional<Case> make_short_case(const std::string& id, Nanoseconds timeout) {
  const auto key = parse_id(id);
  if (!key.ok()) return std::nullopt;
  auto problem = problem_from_key(*key);
  if (!problem.ok()) return std::nullopt;
  Case spec;
  spec.key = *key;
  spec.id = to_id(*key);
  spec.hash = content_hash(spec.id);
  spec.work = *std::move(problem);
  spec.warmup = {1, 5ms};
  spec.measure.processes = 1;
  spec.measure.min_iterations = 3;
  spec.measure.max_time = 25ms;
  spec.measure.timeout = timeout;
  return spec;
}

}  // namespace

std::map<std::string, Bytes, std::less<>> cache_sizes(const CpuFacts& cpu) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNames = {
      {{"L1d", "l1"}, {"L2", "l2"}, {"L3", "l3"}}};
  std::map<std::string, Bytes, std::less<>> sizes;
  for (const auto& [fact, level] : kNames) {
    const auto found = cpu.caches.find(std::string(fact));
    if (found != cpu.caches.end()) sizes.emplace(level, found->second);
  }
  const auto shared = sizes.find("l3");
  if (shared != sizes.end() && cpu.last_level) shared->second = *cpu.last_level;
  return sizes;
}

Bytes memory_working_set(const CpuFacts& cpu) {
  constexpr std::int64_t kCacheFactor = 6;
  return {std::clamp(kCacheFactor * cpu.last_level.value_or(Bytes{0}).count, 192 * kMebi,
                     1024 * kMebi)};
}

std::vector<PeakCase> peak_cases(const CpuFacts& cpu, int threads, PeakExtent extent) {
  const bool is_complete = extent == PeakExtent::complete;
  using Loops = std::span<const std::string_view>;
  const Loops cache_loops = is_complete ? Loops(kCacheLoops) : Loops(kFastestCacheLoops);
  const Loops memory_loops = is_complete ? Loops(kMemoryLoops) : Loops(kFastestMemoryLoops);
  PeakPlan plan(cpu, threads);
  for (const int count : thread_counts(threads)) {
    plan.add_arithmetic(is_complete ? LoopChoice::all : LoopChoice::fastest, count);
    plan.add_products(count);
    plan.add_caches(cache_loops, count);
    plan.add_memory(memory_loops, memory_working_set(cpu), count);
    plan.add_dispatch(count);
  }
  return std::move(plan).cases();
}

CalibrationExtent calibration_extent(const Plan& plan, int all_threads) {
  CalibrationExtent extent;
  bool needs_one = false, needs_all = false;
  for (const Case& spec : plan.cases) {
    if (spec.key.device != "cpu") continue;
    const int threads = std::min(spec.key.threads.value_or(all_threads), all_threads);
    // The rates of other numbers of threads are between those of one and of all.
    needs_one |= threads < all_threads;
    needs_all |= threads > 1 || all_threads == 1;
    for (const std::string_view type : loop_types(info(spec.key.dtype).name))
      extent.types.insert(type);
  }
  if (needs_all) extent.threads.push_back(all_threads);
  if (needs_one) extent.threads.push_back(1);
  return extent;
}

std::vector<PeakCase> calibration_peaks(const CpuFacts& cpu, int all_threads) {
  return calibration_peaks(cpu, all_threads, {thread_counts(all_threads), all_loop_types()});
}

std::vector<PeakCase> calibration_peaks(const CpuFacts& cpu, int all_threads,
                                        const CalibrationExtent& extent) {
  PeakPlan plan(cpu, all_threads);
  for (const int count : extent.threads) {
    plan.add_arithmetic(LoopChoice::fastest, count, extent.types);
    plan.add_caches(kCalibrationLoops, count);
    // Twice the cache suffices for an estimate of the bandwidth, and is faster to initialise.
    const std::int64_t twice = 2 * cpu.last_level.value_or(Bytes{0}).count;
    plan.add_memory(kCalibrationLoops, {std::clamp(twice, 64 * kMebi, 256 * kMebi)}, count);
    plan.add_dispatch(count);
  }
  return std::move(plan).cases();
}

std::string movement_case_id(std::string_view function, Bytes total, Bytes moved,
                             std::string_view place) {
  const std::int64_t unit = ops::find_movement_loop(function)->arrays * ops::kPeakChunk;
  const std::int64_t bytes = std::max(total.count / unit, std::int64_t{1}) * unit;
  const std::int64_t passes = std::max(moved.count / bytes, std::int64_t{1});
  return fmt::format("peak/forward/{}-b{}{}/f32/{}/hot", function, bytes,
                     passes > 1 ? fmt::format("s{}", passes) : "", place);
}

std::optional<CeilingValue> ceiling_value(const PeakCase& entry, const ops::Work& work,
                                          Nanoseconds time) {
  if (entry.name == kDispatchCeiling) return CeilingValue(time);
  if (!entry.level.empty()) {
    const auto rate = work.traffic() / time;
    return rate ? std::optional<CeilingValue>(*rate) : std::nullopt;
  }
  const auto rate = work.total() / time;
  return rate ? std::optional<CeilingValue>(*rate) : std::nullopt;
}

std::vector<CalibrationCase> make_calibration_cases(std::vector<PeakCase> peaks,
                                                    Nanoseconds timeout) {
  std::vector<CalibrationCase> cases;
  for (PeakCase& entry : peaks) {
    if (auto spec = make_short_case(entry.id, timeout))
      cases.push_back({std::move(entry), *std::move(spec)});
  }
  return cases;
}

}  // namespace bench
