// SPDX-License-Identifier: Apache-2.0
#include "harness/result/ceilings.hpp"

#include "base/data_type.hpp"
#include "base/quote.hpp"
#include "ops/peak/peak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <tuple>

namespace bench {
namespace {

// Maps a data type to the type of the loops that can compute it. A library can also compute every
// narrow type through f32.
struct AcceleratedType {
  std::string_view dtype;
  std::string_view loop;
};
constexpr std::array<AcceleratedType, 4> kAcceleratedTypes = {
    {{"bf16", "bf16"}, {"f16", "f16"}, {"s8", "s8"}, {"u8", "s8"}}};
constexpr std::string_view kConvertedType = "f32";
constexpr std::string_view kDoubleType = "f64";
// Prefix of loops that only write. They are not ceilings of cases, since every case reads.
constexpr std::string_view kWriteLoops = "write";

// "fma_avx2_f32" -> "f32"
std::string_view find_loop_type(std::string_view name) {
  const std::size_t end = name.rfind('_');
  return end == std::string_view::npos ? std::string_view() : name.substr(end + 1);
}

// The highest ceilings for one thread and for all threads.
template <class Value>
struct ThreadRange {
  std::optional<Value> one, all;
};

template <class Value, class Accept>
ThreadRange<Value> find_highest(const Ceilings& ceilings, const Accept& accept) {
  ThreadRange<Value> highest;
  for (const Ceiling& row : ceilings.rows) {
    const Value* value = std::get_if<Value>(&row.value);
    if (value == nullptr || !accept(row)) continue;
    if (row.threads == 1) highest.one = std::max(highest.one.value_or(*value), *value);
    if (row.threads == ceilings.threads)
      highest.all = std::max(highest.all.value_or(*value), *value);
  }
  if (highest.all) highest.all = std::max(*highest.all, highest.one.value_or(*highest.all));
  return highest;
}

// The parts of the name of a ceiling of arithmetic: "fma_avx2" and "f32".
bool is_arithmetic_name(std::string_view name) {
  if (name.starts_with(kCudaCoreCeiling)) {
    return data_type_from_name(name.substr(kCudaCoreCeiling.size())).has_value();
  }
  if (name.starts_with(kLibraryCeiling)) {
    const std::string_view type = name.substr(kLibraryCeiling.size());
    return type == "tf32" || data_type_from_name(type).has_value();
  }
  return std::ranges::any_of(ops::arithmetic_loops(), [&](const ops::ArithmeticLoop& loop) {
    return name == fmt::format("{}_{}", loop.function, info(loop.dtype).name);
  });
}

bool is_known_level(std::string_view level) {
  return std::ranges::find(kMemoryLevels, level) != kMemoryLevels.end();
}

// The values that a machine can have, in FLOP/s, B/s and ns.
constexpr double kMinRate = 1e3, kMaxRate = 1e21;
constexpr Nanoseconds kMaxDispatch = std::chrono::seconds(10);

bool is_possible_rate(double rate) { return rate >= kMinRate && rate <= kMaxRate; }

double to_double(FlopsPerSecond rate) { return rate.value; }
double to_double(BytesPerSecond rate) { return rate.value; }

template <class Value>
std::optional<Value> interpolate(const ThreadRange<Value>& range, int threads, int all_threads) {
  if (threads <= 1) return range.one;
  if (threads >= all_threads) return range.all;
  if (!range.one || !range.all) return std::nullopt;
  const double fraction = static_cast<double>(threads - 1) / static_cast<double>(all_threads - 1);
  return Value{to_double(*range.one) + fraction * (to_double(*range.all) - to_double(*range.one))};
}

// An operand type that was not measured, because products of `measured` run at the same rate.
struct EqualRate {
  std::string_view operand;
  std::string_view measured;
};
constexpr std::array<EqualRate, 2> kEqualRates = {{{"f8_e5m2", "f8_e4m3"}, {"u8", "s8"}}};

std::optional<FlopsPerSecond> find_rate(const Ceilings& ceilings, std::string_view prefix,
                                        std::string_view type) {
  const auto has_name = [&](const Ceiling& row) {
    return row.name.starts_with(prefix) && std::string_view(row.name).substr(prefix.size()) == type;
  };
  return find_highest<FlopsPerSecond>(ceilings, has_name).one;
}

std::optional<FlopsPerSecond> find_loop_peak(const Ceilings& ceilings, std::string_view type,
                                             int threads) {
  const auto range = find_highest<FlopsPerSecond>(ceilings, [&](const Ceiling& row) {
    return find_loop_type(row.name) == type && !row.name.starts_with(kLibraryCeiling);
  });
  return interpolate(range, threads, ceilings.threads);
}

// Returns the name of the type whose loops and products compute `dtype`.
std::string_view find_computed_type(std::string_view dtype) {
  const auto* row = std::ranges::find(kAcceleratedTypes, dtype, &AcceleratedType::dtype);
  return row == kAcceleratedTypes.end() ? dtype : row->loop;
}

}  // namespace

std::string find_ceiling_violation(const Ceiling& ceiling) {
  const bool is_dispatch = ceiling.name == kDispatchCeiling;
  const bool is_movement = ops::find_movement_loop(ceiling.name) != nullptr;
  if (!is_dispatch && !is_movement && !is_arithmetic_name(ceiling.name))
    return fmt::format("no ceiling has the name {}", quote(ceiling.name));
  if (is_movement ? !is_known_level(ceiling.level) : !ceiling.level.empty())
    return fmt::format("`{}` has no level {}", ceiling.name, quote(ceiling.level));
  if (ceiling.threads < 1) return "`threads` is not at least 1";
  if (const auto* rate = std::get_if<BytesPerSecond>(&ceiling.value); rate && is_movement)
    return is_possible_rate(rate->value) ? "" : "`bytes_per_s` is not from 1e3 to 1e21";
  if (const auto* time = std::get_if<Nanoseconds>(&ceiling.value); time && is_dispatch)
    return *time > Nanoseconds(0) && *time <= kMaxDispatch ? "" : "`ns` is not from 1 to 1e10";
  if (const auto* rate = std::get_if<FlopsPerSecond>(&ceiling.value);
      rate && !is_movement && !is_dispatch)
    return is_possible_rate(rate->value) ? "" : "`flops_per_s` is not from 1e3 to 1e21";
  return fmt::format("`{}` has another unit", ceiling.name);
}

std::vector<std::string_view> loop_types(std::string_view dtype) {
  if (dtype == kDoubleType) return {kDoubleType};
  if (std::ranges::count(kAcceleratedTypes, dtype, &AcceleratedType::dtype) == 0)
    return {kConvertedType};
  return {kConvertedType, find_computed_type(dtype)};
}

std::optional<double> calibration_precision(const Ceilings& ceilings) {
  std::map<std::tuple<std::string_view, std::string_view, int>, const Ceiling*> best;
  for (const Ceiling& row : ceilings.rows) {
    if (!row.precision || std::holds_alternative<Nanoseconds>(row.value)) continue;
    const auto [entry, is_new] = best.try_emplace({row.name, row.level, row.threads}, &row);
    if (!is_new && row.value > entry->second->value) entry->second = &row;
  }
  std::optional<double> largest;
  for (const auto& [key, row] : best)
    largest = std::max(largest.value_or(*row->precision), *row->precision);
  return largest;
}

std::string format_precision(double precision) {
  constexpr double kSmall = 0.01;
  return fmt::format("{:.{}f} %", 100 * precision, precision < kSmall ? 1 : 0);
}

std::string precision_suffix(const std::optional<double>& precision) {
  return precision ? fmt::format(", to about {}", format_precision(*precision)) : "";
}

std::optional<FlopsPerSecond> find_peak(const Ceilings& ceilings, std::string_view dtype,
                                        int threads) {
  if (dtype == kDoubleType) return find_loop_peak(ceilings, kDoubleType, threads);
  const auto converted = find_loop_peak(ceilings, kConvertedType, threads);
  if (std::ranges::count(kAcceleratedTypes, dtype, &AcceleratedType::dtype) == 0) return converted;
  // std::nullopt compares less than every value.
  return std::max(converted, find_measured_rate(ceilings, dtype, threads));
}

std::optional<FlopsPerSecond> find_measured_rate(const Ceilings& ceilings, std::string_view dtype,
                                                 int threads) {
  const std::string_view type = find_computed_type(dtype);
  const auto range = find_highest<FlopsPerSecond>(
      ceilings, [&](const Ceiling& row) { return find_loop_type(row.name) == type; });
  return interpolate(range, threads, ceilings.threads);
}

std::optional<FlopsPerSecond> cuda_core_peak(const Ceilings& ceilings, std::string_view dtype) {
  return find_rate(ceilings, kCudaCoreCeiling, dtype);
}

std::optional<FlopsPerSecond> tensor_core_peak(const Ceilings& ceilings, std::string_view operand) {
  const auto* row = std::ranges::find(kEqualRates, operand, &EqualRate::operand);
  return find_rate(ceilings, kLibraryCeiling, row == kEqualRates.end() ? operand : row->measured);
}

std::optional<BytesPerSecond> find_bandwidth(const Ceilings& ceilings, std::string_view level,
                                             int threads) {
  const auto* nearest = std::ranges::find(kMemoryLevels, level);
  if (nearest == kMemoryLevels.end()) return std::nullopt;
  for (;; --nearest) {
    const auto range = find_highest<BytesPerSecond>(ceilings, [&](const Ceiling& row) {
      return row.level == *nearest && !row.name.starts_with(kWriteLoops);
    });
    const auto bandwidth = interpolate(range, threads, ceilings.threads);
    if (bandwidth || nearest == kMemoryLevels.begin()) return bandwidth;
  }
}

std::optional<Nanoseconds> find_dispatch_time(const Ceilings& ceilings, int threads) {
  // Always applies the time for one thread: only one thread calls the library, and starting more
  // threads takes longer.
  std::optional<Nanoseconds> shortest;
  for (const Ceiling& row : ceilings.rows) {
    const Nanoseconds* time = std::get_if<Nanoseconds>(&row.value);
    const bool applies = row.threads == 1 || (threads > 1 && row.threads <= threads);
    if (time == nullptr || row.name != kDispatchCeiling || !applies) continue;
    shortest = std::min(shortest.value_or(*time), *time);
  }
  return shortest;
}

std::string_view level_that_holds(const Ceilings& ceilings, Bytes working_set, int threads) {
  constexpr std::string_view kShared = "l3";
  for (const std::string_view level : kMemoryLevels) {
    const auto cache = ceilings.caches.find(level);
    if (cache == ceilings.caches.end()) continue;
    const std::int64_t instances = level == kShared ? 1 : std::max(threads, 1);
    if (working_set.count <= cache->second.count * instances) return level;
  }
  return kMemoryLevels.back();
}

}  // namespace bench
