// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin_sample.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bench::ops {
namespace {

constexpr std::int64_t kNoTime = -1;

struct FlagRow {
  std::uint32_t flag;
  SampleVerdict verdict;
  std::string_view silent;  // the reason if the plugin gives none
};
// The most severe first.
constexpr std::array<FlagRow, 3> kPluginFlags = {{
    {BENCH_SAMPLE_VOID, SampleVerdict::voided, "discarded, and the plugin gives no reason"},
    {BENCH_SAMPLE_THROTTLED, SampleVerdict::throttled, "the device has lowered its clock"},
    {BENCH_SAMPLE_UNSTEADY, SampleVerdict::unsteady, "the device's clock has changed"},
}};

SampleMethod method_of(std::int32_t how, SampleMethod asked) {
  if (how == BENCH_SAMPLE_GRAPH) return SampleMethod::graph;
  if (how == BENCH_SAMPLE_STREAM) return SampleMethod::stream;
  return asked == SampleMethod::any ? SampleMethod::stream : asked;
}

}  // namespace

Result<DeviceSample> read_sample(const bench_sample& sample, const SampleRequest& request,
                                 const std::string& reason) {
  DeviceSample result;
  result.method = method_of(sample.how, request.method);
  if (sample.host_ns >= 0) result.host = Nanoseconds(sample.host_ns);
  if (sample.clock_hz > 0) result.clock_hz = sample.clock_hz;
  for (const FlagRow& row : kPluginFlags) {
    if ((sample.flags & row.flag) == 0) continue;
    result.verdict = row.verdict;
    result.reason = reason.empty() ? row.silent : reason;
    break;
  }
  const bool voided = result.verdict == SampleVerdict::voided;
  if (sample.device_ns > 0) {
    result.device = Nanoseconds(sample.device_ns);
  } else if (sample.device_ns == kNoTime && !voided) {
    result.verdict = SampleVerdict::voided;
    result.reason = "the plugin does not report the device's time";
  } else if (!voided) {
    return Error{fmt::format("the plugin reports an impossible time of {1} ns for {0} iterations",
                             request.iterations, sample.device_ns),
                 "", "this is a bug in the plugin"};
  }
  return result;
}

}  // namespace bench::ops
