// SPDX-License-Identifier: Apache-2.0
#include "harness/result/ceilings.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bench {
namespace {

// The types of loops that can compute a data type, apart from f32, through which a library computes
// every narrow type.
struct AcceleratedType {
  std::string_view dtype;
  std::string_view loop;
};
constexpr std::array<AcceleratedType, 4> kAcceleratedTypes = {
    {{"bf16", "bf16"}, {"f16", "f16"}, {"s8", "s8"}, {"u8", "s8"}}};
constexpr std::string_view kWide = "f32";
constexpr std::string_view kWidest = "f64";
// A loop that only writes is not a ceiling of cases, which all read.
constexpr std::string_view kWriteLoops = "write";

std::string_view type_of_loop(std::string_view name) {
  const std::size_t end = name.rfind('_');
  return end == std::string_view::npos ? std::string_view() : name.substr(end + 1);
}

// The values of the ceilings for one thread and for all, each the highest of those accepted.
template <class Value>
struct Ends {
  std::optional<Value> one, all;
};

template <class Value, class Accept>
Ends<Value> find_ends(const Ceilings& ceilings, const Accept& accept) {
  Ends<Value> ends;
  for (const Ceiling& row : ceilings.rows) {
    const Value* value = std::get_if<Value>(&row.value);
    if (value == nullptr || !accept(row)) continue;
    if (row.threads == 1) ends.one = std::max(ends.one.value_or(*value), *value);
    if (row.threads == ceilings.threads) ends.all = std::max(ends.all.value_or(*value), *value);
  }
  return ends;
}

double number(FlopsPerSecond rate) { return rate.value; }
double number(BytesPerSecond rate) { return rate.value; }

template <class Value>
std::optional<Value> at_threads(const Ends<Value>& ends, int threads, int all) {
  if (threads <= 1) return ends.one;
  if (threads >= all) return ends.all;
  if (!ends.one || !ends.all) return std::nullopt;
  const double part = static_cast<double>(threads - 1) / static_cast<double>(all - 1);
  return Value{number(*ends.one) + part * (number(*ends.all) - number(*ends.one))};
}

// The operands whose products run at the rate of another type's.
struct SameRate {
  std::string_view operand;
  std::string_view measured;
};
constexpr std::array<SameRate, 2> kSameRates = {{{"f8_e5m2", "f8_e4m3"}, {"u8", "s8"}}};

std::optional<FlopsPerSecond> rate_named(const Ceilings& ceilings, std::string_view prefix,
                                         std::string_view type) {
  const auto is_it = [&](const Ceiling& row) {
    return row.name.starts_with(prefix) && std::string_view(row.name).substr(prefix.size()) == type;
  };
  return find_ends<FlopsPerSecond>(ceilings, is_it).one;
}

std::optional<FlopsPerSecond> loop_peak(const Ceilings& ceilings, std::string_view type,
                                        int threads) {
  const auto ends = find_ends<FlopsPerSecond>(ceilings, [&](const Ceiling& row) {
    return type_of_loop(row.name) == type && !row.name.starts_with(kLibraryCeiling);
  });
  return at_threads(ends, threads, ceilings.threads);
}

}  // namespace

std::optional<FlopsPerSecond> find_peak(const Ceilings& ceilings, std::string_view dtype,
                                        int threads) {
  if (dtype == kWidest) return loop_peak(ceilings, kWidest, threads);
  const auto wide = loop_peak(ceilings, kWide, threads);
  const auto* row = std::ranges::find(kAcceleratedTypes, dtype, &AcceleratedType::dtype);
  if (row == kAcceleratedTypes.end()) return wide;
  // nullopt is less than every value
  return std::max(wide, loop_peak(ceilings, row->loop, threads));
}

std::optional<FlopsPerSecond> cuda_core_peak(const Ceilings& ceilings, std::string_view dtype) {
  return rate_named(ceilings, kCudaCoreCeiling, dtype);
}

std::optional<FlopsPerSecond> tensor_core_peak(const Ceilings& ceilings, std::string_view operand) {
  const auto* row = std::ranges::find(kSameRates, operand, &SameRate::operand);
  return rate_named(ceilings, kLibraryCeiling, row == kSameRates.end() ? operand : row->measured);
}

std::optional<BytesPerSecond> find_bandwidth(const Ceilings& ceilings, std::string_view level,
                                             int threads) {
  const auto* at = std::ranges::find(kMemoryLevels, level);
  if (at == kMemoryLevels.end()) return std::nullopt;
  for (;; --at) {
    const auto ends = find_ends<BytesPerSecond>(ceilings, [&](const Ceiling& row) {
      return row.level == *at && !row.name.starts_with(kWriteLoops);
    });
    const auto found = at_threads(ends, threads, ceilings.threads);
    if (found || at == kMemoryLevels.begin()) return found;
  }
}

std::optional<Nanoseconds> find_dispatch_time(const Ceilings& ceilings, int threads) {
  // One thread calls the library, whatever number computes; a team costs more.
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
