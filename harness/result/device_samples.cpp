// SPDX-License-Identifier: Apache-2.0
#include "harness/result/device_samples.hpp"

#include "base/characters.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

namespace {

// "SM clock 1.21 GHz, 68 %" -> "SM clock #.# GHz, # %"
std::string mask_numbers(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!is_digit(c)) {
      result += c;
    } else if (result.empty() || result.back() != '#') {
      result += '#';
    }
  }
  return result;
}

}  // namespace

void add_remark(SampleRemarks& remarks, const std::string& reason, std::int64_t times) {
  remarks.count += times;
  const auto exact = remarks.reasons.find(reason);
  if (exact != remarks.reasons.end()) {
    exact->second += times;
    return;
  }
  const std::string masked = mask_numbers(reason);
  const auto similar = std::ranges::find_if(
      remarks.reasons, [&](const auto& row) { return mask_numbers(row.first) == masked; });
  if (similar != remarks.reasons.end()) {
    similar->second += times;
  } else if (remarks.reasons.size() < kMaxReasons) {
    remarks.reasons[reason] = times;
  } else {
    remarks.reasons[kOtherReasons] += times;
  }
}

void add_remarks(SampleRemarks& sum, const SampleRemarks& more) {
  std::int64_t with_reason = 0;
  for (const auto& [reason, times] : more.reasons) {
    add_remark(sum, reason, times);
    with_reason += times;
  }
  sum.count += std::max<std::int64_t>(more.count - with_reason, 0);
}

std::string most_frequent_reason(const SampleRemarks& remarks) {
  const auto most =
      std::ranges::max_element(remarks.reasons, {}, [](const auto& row) { return row.second; });
  return most == remarks.reasons.end() ? "" : most->first;
}

void append(DeviceSamples& samples, const DeviceSamples& more) {
  samples.host_launch.insert(samples.host_launch.end(), more.host_launch.begin(),
                             more.host_launch.end());
  samples.clock_hz.insert(samples.clock_hz.end(), more.clock_hz.begin(), more.clock_hz.end());
  if (!samples.sample_method) samples.sample_method = more.sample_method;
  add_remarks(samples.voided, more.voided);
  add_remarks(samples.throttled, more.throttled);
  add_remarks(samples.unsteady_clock, more.unsteady_clock);
}

void drop_incomplete_lists(DeviceSamples& samples, std::size_t count) {
  if (samples.host_launch.size() != count) samples.host_launch.clear();
  if (samples.clock_hz.size() != count) samples.clock_hz.clear();
}

std::string format_discarded(const SampleRemarks& voided) {
  const std::string samples =
      voided.count == 1 ? "the only sample was" : fmt::format("all {} samples were", voided.count);
  return fmt::format("{} discarded, most often: {}", samples, most_frequent_reason(voided));
}

namespace {

using Processes = std::span<const ProcessRecord* const>;

// Returns the median of clock frequencies. Calls the median() of times, which also rounds to
// integers.
std::optional<std::int64_t> median_hertz(const std::vector<std::int64_t>& values) {
  std::vector<Nanoseconds> hertz(values.begin(), values.end());
  const auto middle = median(hertz);
  return middle ? std::optional<std::int64_t>(middle->count()) : std::nullopt;
}

// Adds the remarks of a process to those of its case, which are nullopt if the count is 0.
void add_to_case(std::optional<SampleRemarks>& remarks, const SampleRemarks& more) {
  if (more.count <= 0) return;
  if (!remarks) remarks.emplace();
  add_remarks(*remarks, more);
}

// Returns whether at least kMinFlaggedFraction of the samples have a remark.
bool needs_flag(const std::optional<SampleRemarks>& remarks, std::size_t samples) {
  return remarks && remarks->count > 0 &&
         static_cast<double>(remarks->count) >= kMinFlaggedFraction * static_cast<double>(samples);
}

void fill_setup(CaseRecord& record, Processes processes) {
  std::map<std::string, std::vector<Nanoseconds>> parts;
  for (const ProcessRecord* process : processes) {
    for (const auto& [name, time] : process->setup) parts[name].push_back(time);
  }
  record.setup.clear();
  for (const auto& [name, times] : parts) record.setup[name] = *median(times);
}

}  // namespace

Nanoseconds per_iteration(Nanoseconds sample, std::int64_t iterations) {
  const std::int64_t quotient = sample.count() / iterations;
  const std::int64_t remainder = sample.count() % iterations;
  return Nanoseconds(quotient + (remainder >= iterations - remainder ? 1 : 0));
}

void set_flag(CaseRecord& record, Flag flag) {
  if (std::find(record.flags.begin(), record.flags.end(), flag) == record.flags.end())
    record.flags.push_back(flag);
  std::sort(record.flags.begin(), record.flags.end());
}

namespace {

// Adds the highest clock of any sample, and the clock that the device settled at: the median over
// the processes of the second half of their samples.
void fill_clock_details(CaseRecord& record, Processes processes) {
  std::vector<std::int64_t> steady;
  std::int64_t burst = 0;
  for (const ProcessRecord* process : processes) {
    const std::vector<std::int64_t>& clocks = process->device.clock_hz;
    if (clocks.empty()) continue;
    burst = std::max(burst, *std::ranges::max_element(clocks));
    const auto second_half = static_cast<std::ptrdiff_t>(clocks.size() / 2);
    steady.push_back(*median_hertz({clocks.begin() + second_half, clocks.end()}));
  }
  if (steady.empty()) return;
  record.details["clock.burst_hz"] = std::to_string(burst);
  record.details["clock.steady_hz"] = std::to_string(*median_hertz(steady));
}

}  // namespace

void fill_device_part(CaseRecord& record, Processes processes) {
  std::vector<Nanoseconds> launches;
  std::vector<std::int64_t> clocks;
  record.sample_method.reset();
  record.voided.reset();
  record.throttled.reset();
  record.unsteady_clock.reset();
  for (const ProcessRecord* process : processes) {
    const DeviceSamples& device = process->device;
    if (const auto launch = median(device.host_launch))
      launches.push_back(per_iteration(*launch, process->iterations_per_sample));
    if (const auto clock = median_hertz(device.clock_hz)) clocks.push_back(*clock);
    if (!record.sample_method) record.sample_method = device.sample_method;
    add_to_case(record.voided, device.voided);
    add_to_case(record.throttled, device.throttled);
    add_to_case(record.unsteady_clock, device.unsteady_clock);
  }
  record.host_launch = median(launches);
  record.clock_hz = median_hertz(clocks);
  fill_clock_details(record, processes);
  fill_setup(record, processes);
}

void flag_device_part(CaseRecord& record, Processes processes) {
  std::size_t samples = 0;
  for (const ProcessRecord* process : processes) samples += process->samples.size();
  if (record.voided && record.voided->count > 0) set_flag(record, Flag::voided_samples);
  if (needs_flag(record.throttled, samples)) set_flag(record, Flag::throttled);
  if (needs_flag(record.unsteady_clock, samples)) set_flag(record, Flag::unsteady);
  const std::optional<Nanoseconds>& floor = record.launch_floor;
  if (floor && record.time && record.time->median < kLaunchBoundFactor * *floor)
    set_flag(record, Flag::launch_bound);
}

}  // namespace bench
