// SPDX-License-Identifier: Apache-2.0
#include "harness/result/device_samples.hpp"

#include "harness/result/sample_remarks.hpp"

#include <fmt/format.h>

namespace bench {
namespace {

std::optional<SampleRemarks> known(const SampleRemarks& remarks) {
  return remarks.count > 0 ? std::optional<SampleRemarks>(remarks) : std::nullopt;
}

void join(SampleRemarks& to, const SampleRemarks& from) {
  std::optional<SampleRemarks> sum = to;
  add_remarks(sum, from);
  to = std::move(*sum);
}

}  // namespace

void append(DeviceSamples& samples, const DeviceSamples& more) {
  samples.host_launch.insert(samples.host_launch.end(), more.host_launch.begin(),
                             more.host_launch.end());
  samples.clock_hz.insert(samples.clock_hz.end(), more.clock_hz.begin(), more.clock_hz.end());
  if (!samples.sample_method) samples.sample_method = more.sample_method;
  for (const auto& [name, value] : more.details) samples.details[name] = value;
  join(samples.voided, more.voided);
  join(samples.throttled, more.throttled);
  join(samples.unsteady_clock, more.unsteady_clock);
}

void describe(const DeviceSamples& samples, ProcessRecord& record) {
  if (samples.host_launch.size() == record.samples.size()) {
    record.host_launch = samples.host_launch;
  }
  if (samples.clock_hz.size() == record.samples.size()) record.clock_hz = samples.clock_hz;
  record.sample_method = samples.sample_method;
  record.voided = known(samples.voided);
  record.throttled = known(samples.throttled);
  record.unsteady_clock = known(samples.unsteady_clock);
}

std::string void_text(const SampleRemarks& voided) {
  return fmt::format("all {} samples were discarded, most often: {}", voided.count,
                     most_frequent_reason(voided));
}

}  // namespace bench
