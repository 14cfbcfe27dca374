// SPDX-License-Identifier: Apache-2.0
#include "harness/result/roofline.hpp"

#include "base/text.hpp"
#include "harness/result/advice.hpp"
#include "ops/peak/peak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

constexpr std::string_view kMemory = kMemoryLevels.back();
constexpr std::string_view kCudaDevice = "cuda";
constexpr std::string_view kHotCache = "hot";

// The time of the data traffic, and the level that causes most of this time.
struct Movement {
  std::optional<double> seconds;  // nullopt if the bandwidth is unknown or there is no traffic
  std::string_view level;
};

Movement move_from_level(Bytes bytes, std::string_view level, int threads,
                         const Ceilings& ceilings) {
  const auto bandwidth = find_bandwidth(ceilings, level, threads);
  if (!bandwidth || bandwidth->value <= 0 || bytes.count <= 0) return {std::nullopt, level};
  return {static_cast<double>(bytes.count) / bandwidth->value, level};
}

Movement compute_movement(const RooflineInput& input, int threads, const Ceilings& ceilings) {
  const Bytes bytes = input.work.traffic();
  const Bytes working_set = input.working_set.value_or(bytes);
  const auto rotated_level = [&](Bytes others) {
    return input.rotated ? level_that_holds(ceilings, *input.rotated + others, threads) : kMemory;
  };
  if (input.cache == "cold")
    return move_from_level(bytes, rotated_level(Bytes{0}), threads, ceilings);
  if (input.cache != "cold_weights") {
    return move_from_level(bytes, level_that_holds(ceilings, working_set, threads), threads,
                           ceilings);
  }
  const Bytes weights{std::min(input.weights.value_or(Bytes{0}).count, input.work.bytes_read)};
  const Bytes hot_set{std::max<std::int64_t>(working_set.count - weights.count, 0)};
  const Movement cold = move_from_level(weights, rotated_level(hot_set), threads, ceilings);
  const Movement hot =
      move_from_level({bytes.count - weights.count}, level_that_holds(ceilings, hot_set, threads),
                      threads, ceilings);
  if (!cold.seconds) return hot;
  if (!hot.seconds) return cold;
  return {*cold.seconds + *hot.seconds, *cold.seconds >= *hot.seconds ? cold.level : hot.level};
}

Bound find_bound(std::optional<double> arithmetic, const Movement& moved, Nanoseconds ideal,
                 const std::optional<Nanoseconds>& dispatch) {
  if (dispatch && ideal < *dispatch) return Bound::launch;
  if (arithmetic && (!moved.seconds || *arithmetic >= *moved.seconds)) return Bound::compute;
  return moved.level == kMemory ? Bound::memory : Bound::cache;
}

// Likely causes if a case is faster than the ceilings permit, by what limits the case.
struct CauseRow {
  Bound bound;
  std::string_view text;
};
constexpr std::array<CauseRow, 4> kAboveCeilingCauses = {
    {{Bound::compute,
      "The likely causes are an algorithm with fewer operations than were counted (Winograd, "
      "skipped padding), a ceiling measured at a lower clock, or a data type that the library "
      "computes in another way. `bench peak` measures the ceilings again."},
     {Bound::memory,
      "The likely causes are data that stay in a cache, or a ceiling measured while other "
      "programs used the memory. `bench peak` measures the ceilings again."},
     {Bound::cache,
      "The likely causes are a part of the data in a faster cache or in registers, or a ceiling "
      "measured while other programs used the processor. `bench peak` measures the ceilings "
      "again."},
     {Bound::launch,
      "The likely causes are a part of the data in registers, or too coarse a time of so short a "
      "call."}}};

std::optional<double> compute_seconds(double flops, const std::optional<FlopsPerSecond>& peak) {
  if (flops <= 0 || !peak || peak->value <= 0) return std::nullopt;
  return flops / peak->value;
}

// Returns the longer one of both times, and at least one nanosecond, since all work takes time. A
// ceiling that a user states may be so low that the time is beyond all clocks.
Nanoseconds find_ideal_time(const std::optional<double>& arithmetic, const Movement& moved) {
  constexpr double kNanosecondsPerSecond = 1e9;
  constexpr double kLongest = 9e18;
  const double seconds = std::max(arithmetic.value_or(0), moved.seconds.value_or(0));
  return Nanoseconds(std::llround(std::clamp(seconds * kNanosecondsPerSecond, 1.0, kLongest)));
}

std::vector<std::string_view> split_options(std::string_view options) {
  std::vector<std::string_view> list;
  while (!options.empty()) {
    const std::size_t end = std::min(options.find('/'), options.size());
    list.push_back(options.substr(0, end));
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  return list;
}

constexpr std::string_view kTf32Option = "tf32";

bool has_option(std::string_view options, std::string_view option) {
  return std::ranges::count(split_options(options), option) > 0;
}

// Reads the detail that the run recorded: "eligible", or for a network "12 of 53 convolutions and
// products". A network can use tensor cores if the number of eligible products is not 0.
bool can_use_tensor_cores(const CaseRecord& record) {
  const auto found = record.details.find(kTensorCoresDetail);
  if (found == record.details.end()) return false;
  const std::string& answer = found->second;
  const bool is_count = !answer.empty() && answer.front() >= '1' && answer.front() <= '9';
  return answer == kTensorCoresEligible || is_count;
}

// Reads where the rotation of a case with cold caches takes its data from. Records of older
// versions do not state it.
void add_rotation(const std::map<std::string, std::string>& details, RooflineInput& input) {
  const auto number = [&](const char* name) {
    const auto found = details.find(name);
    return found == details.end() ? std::nullopt : parse_number<std::int64_t>(found->second);
  };
  const auto bytes = number(kColdBytesDetail);
  if (number(kColdSetsDetail) == 1) {
    input.cache = kHotCache;
  } else if (bytes && *bytes > 0) {
    input.rotated = Bytes{*bytes};
  }
}

std::optional<FlopsPerSecond> find_gpu_peak(const RooflineInput& input, const Ceilings& ceilings) {
  return input.tensor_operand ? tensor_core_peak(ceilings, *input.tensor_operand)
                              : cuda_core_peak(ceilings, input.dtype);
}

// Returns the time of an iteration as it was measured.
Nanoseconds measured_time(const CaseRecord& record) {
  return record.time_all ? record.time_all->median : record.time->median;
}

// Whether the measured time of a record with a time is too short to be true. The ceilings that a
// run measures within a moment can be half of the true ones on a shared machine, so they prove
// nothing.
bool is_impossible(const CaseRecord& record, const Roofline& roofline) {
  if (record.op == ops::kPeakOperator) return false;
  if (roofline.source == CeilingSource::calibrated) return false;
  const Nanoseconds ideal = roofline.ideal, time = measured_time(record);
  return ideal > time + kCoarseTime &&
         static_cast<double>(ideal.count()) >
             kImpossibleEfficiency * static_cast<double>(time.count());
}

// Replaces the time of a record by the reason why it cannot be true.
void refuse_time(CaseRecord& record) {
  record.outcome = Outcome::failed;
  record.reason = fmt::format(
      "its time is impossible: an iteration took {}, but the ceilings of this machine permit {} at "
      "best. The kernel does not do all of its work, the work is counted wrongly, or a ceiling is "
      "too low (`bench peak` measures the ceilings again)",
      format_time(measured_time(record)), format_time(record.roofline->ideal));
  record.time.reset();
  record.time_all.reset();
  record.flops_per_s.reset();
  record.bytes_per_s.reset();
  record.energy.reset();
  record.roofline.reset();
}

std::optional<Roofline> find_roofline(const CaseRecord& record, const Ceilings& ceilings) {
  const auto input = make_roofline_input(record, ceilings);
  return input ? compute_roofline(*input, ceilings) : std::nullopt;
}

std::string format_value(const CeilingValue& value) {
  if (const auto* flops = std::get_if<FlopsPerSecond>(&value)) return format_rate(*flops);
  if (const auto* bytes = std::get_if<BytesPerSecond>(&value)) return format_rate(*bytes);
  return format_time(std::get<Nanoseconds>(value));
}

// Returns the highest value of the same ceiling; nullopt if the rows do not have it. Only rates
// limit a case, and of these a higher one is better.
std::optional<CeilingValue> find_best(std::span<const Ceiling> rows, const Ceiling& ceiling) {
  std::optional<CeilingValue> best;
  for (const Ceiling& row : rows) {
    if (row.name != ceiling.name || row.level != ceiling.level || row.threads != ceiling.threads)
      continue;
    if (row.value.index() == ceiling.value.index()) best = std::max(best, std::optional(row.value));
  }
  return best;
}

// Returns a text about each ceiling that limits the record and was measured again, with both
// values; empty if there is none.
std::string format_measured_again(const CaseRecord& record, const Ceilings& before,
                                  const Ceilings& ceilings) {
  const std::span<const Ceiling> rows(ceilings.rows);
  const std::span<const Ceiling> again = rows.subspan(before.rows.size());
  std::string text;
  for (std::size_t i = 0; i < again.size(); ++i) {
    const Ceiling& row = again[i];
    const bool is_repeated = find_best(again.first(i), row).has_value();
    if (is_repeated || !(limits(row, record, before) || limits(row, record, ceilings))) continue;
    const auto first = find_best(before.rows, row);
    text += fmt::format("{}{}{}{}: {}, {} measured again", text.empty() ? "" : "; ", row.name,
                        row.level.empty() ? "" : " " + row.level,
                        ceilings.gpu.empty() ? ", " + pluralise(row.threads, "thread") : "",
                        first ? fmt::format("{} {}", format_value(*first), to_string(before.source))
                              : "no such value before",
                        format_value(*find_best(again, row)));
  }
  return text;
}

}  // namespace

std::optional<Roofline> compute_roofline(const RooflineInput& input, const Ceilings& ceilings) {
  if (input.time.count() <= 0) return std::nullopt;
  const bool on_gpu = !ceilings.gpu.empty();
  const int threads = on_gpu ? 1 : input.threads.value_or(ceilings.threads);
  Roofline roofline;
  roofline.source = ceilings.source;
  if (ceilings.source == CeilingSource::calibrated)
    roofline.precision = calibration_precision(ceilings);
  const auto flops = static_cast<double>(necessary_flops(input.work));
  const auto bytes = static_cast<double>(input.work.traffic().count);
  if (flops > 0) {
    roofline.peak_flops_per_s =
        on_gpu ? find_gpu_peak(input, ceilings) : find_peak(ceilings, input.dtype, threads);
  }
  const auto arithmetic = compute_seconds(flops, roofline.peak_flops_per_s);
  const Movement moved = compute_movement(input, threads, ceilings);
  if (!arithmetic && !moved.seconds) return std::nullopt;
  if (moved.seconds) roofline.peak_bytes_per_s = BytesPerSecond{bytes / *moved.seconds};
  roofline.level = moved.level;
  if (bytes > 0) roofline.intensity_flops_per_byte = flops / bytes;
  roofline.ideal = find_ideal_time(arithmetic, moved);
  roofline.bound =
      find_bound(arithmetic, moved, roofline.ideal, find_dispatch_time(ceilings, threads));
  roofline.efficiency =
      static_cast<double>(roofline.ideal.count()) / static_cast<double>(input.time.count());
  return roofline;
}

std::int64_t necessary_flops(const ops::Work& work) {
  return work.flops_valid > 0 ? work.flops_valid : work.flops;
}

std::optional<PartIdeal> compute_partial_ideal(const ops::Work& part, const Roofline& roofline) {
  const auto flops = static_cast<double>(necessary_flops(part));
  const auto bytes = static_cast<double>(part.traffic().count);
  const auto arithmetic = compute_seconds(flops, roofline.peak_flops_per_s);
  Movement moved{std::nullopt, roofline.level};
  if (bytes > 0 && roofline.peak_bytes_per_s && roofline.peak_bytes_per_s->value > 0) {
    moved.seconds = bytes / roofline.peak_bytes_per_s->value;
  }
  if (!arithmetic && !moved.seconds) return std::nullopt;
  const Nanoseconds ideal = find_ideal_time(arithmetic, moved);
  return PartIdeal{ideal, find_bound(arithmetic, moved, ideal, std::nullopt)};
}

std::optional<int> threads_in(std::string_view options) {
  constexpr char kThreadsPrefix = 't';
  for (const std::string_view option : split_options(options)) {
    if (!option.starts_with(kThreadsPrefix)) continue;
    if (const auto threads = parse_number<int>(option.substr(1))) return threads;
  }
  return std::nullopt;
}

std::optional<RooflineInput> make_roofline_input(const CaseRecord& record,
                                                 const Ceilings& ceilings) {
  const std::string_view device = ceilings.gpu.empty() ? "cpu" : kCudaDevice;
  if (!record.time || !record.work || record.device != device) return std::nullopt;
  const IdSegments segments = split_id(record.id);
  RooflineInput input;
  input.work = *record.work;
  input.time = record.time->median;
  input.dtype = record.dtype;
  input.cache = segments.cache;
  input.threads = threads_in(segments.options);
  if (can_use_tensor_cores(record)) {
    input.tensor_operand = has_option(segments.options, kTf32Option) ? kTf32Option : record.dtype;
  }
  if (record.memory) {
    // Elements that no iteration touches, such as the rows of a table that no index names, need no
    // place in a cache.
    // The memory is that of all streams, the work that of one iteration.
    const std::int64_t touched =
        record.work->traffic().count * record.streams.value_or(1) + record.memory->workspace.count;
    input.working_set = std::min(record.memory->peak, Bytes{touched});
    input.weights = record.memory->weights;
  }
  add_rotation(record.details, input);
  return input;
}

void complete_roofline(CaseRecord& record, const Ceilings& ceilings) {
  const auto input = make_roofline_input(record, ceilings);
  if (input) record.roofline = compute_roofline(*input, ceilings);
  if (!record.roofline) return;
  if (record.roofline->efficiency > kMaxEfficiency) {
    if (!has_flag(record, Flag::above_ceiling)) record.flags.push_back(Flag::above_ceiling);
    std::ranges::sort(record.flags);
    record.details["above_ceiling"] =
        std::ranges::find(kAboveCeilingCauses, record.roofline->bound, &CauseRow::bound)->text;
  }
  if (is_impossible(record, *record.roofline)) return refuse_time(record);
  for (const Advice& advice : advice_for(record, ceilings)) {
    record.details[fmt::format("{}{}", kAdviceDetail, advice.id)] = advice.text;
  }
}

bool ceilings_are_doubtful(const CaseRecord& record, const Ceilings& ceilings) {
  const auto roofline = find_roofline(record, ceilings);
  if (!roofline || record.op == ops::kPeakOperator) return false;
  if (roofline->source != CeilingSource::calibrated) return is_impossible(record, *roofline);
  return roofline->ideal > record.time->median + kCoarseTime;
}

bool limits(const Ceiling& row, const CaseRecord& record, const Ceilings& ceilings) {
  const auto input = make_roofline_input(record, ceilings);
  if (!input || std::holds_alternative<Nanoseconds>(row.value)) return false;
  const int threads = ceilings.gpu.empty() ? input->threads.value_or(ceilings.threads) : 1;
  // Ceilings of one thread also bound those of all from below, but do not determine them.
  const bool is_between = threads > 1 && threads < ceilings.threads;
  if (row.threads != threads && !is_between) return false;
  constexpr double kUnreachable = 1e21;
  Ceilings higher = ceilings;
  higher.rows.push_back(row);
  if (std::holds_alternative<FlopsPerSecond>(row.value)) {
    higher.rows.back().value = FlopsPerSecond{kUnreachable};
  } else {
    higher.rows.back().value = BytesPerSecond{kUnreachable};
  }
  const auto roofline = compute_roofline(*input, ceilings);
  const auto limit = compute_roofline(*input, higher);
  return roofline && limit && limit->ideal < roofline->ideal;
}

void complete_roofline_again(CaseRecord& record, const Ceilings& before, const Ceilings& ceilings) {
  const std::string again = ceilings.rows.size() > before.rows.size()
                                ? format_measured_again(record, before, ceilings)
                                : std::string();
  const auto first = find_roofline(record, before), last = find_roofline(record, ceilings);
  const bool was_ok = record.outcome == Outcome::ok;
  complete_roofline(record, ceilings);
  const bool is_refused = was_ok && record.outcome == Outcome::failed;
  if (again.empty() || (!is_refused && first && last && first->ideal == last->ideal)) return;
  record.details[kMeasuredAgainDetail] = again;
  if (is_refused) {
    record.reason =
        fmt::format("{}. The run measured them again: {}", record.reason.value_or(""), again);
  }
}

}  // namespace bench
