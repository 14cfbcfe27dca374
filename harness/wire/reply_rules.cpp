// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/reply_rules.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "harness/wire/worker_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <variant>

namespace bench {
namespace {

// Returns nullopt if the sum does not fit into a duration.
std::optional<Nanoseconds> checked_sum(std::span<const Nanoseconds> times) {
  Checked sum = 0;
  for (const Nanoseconds time : times) sum += time.count();
  const auto value = sum.value();
  return value ? std::optional(Nanoseconds(*value)) : std::nullopt;
}

bool has_too_many_reasons(const SampleRemarks& remarks) {
  Checked with_reason = 0;
  for (const auto& [reason, count] : remarks.reasons) with_reason += count;
  return with_reason.value().value_or(remarks.count + 1) > remarks.count;
}

struct Contradiction {
  std::string operator()(const ErrorReply& reply) const {
    constexpr std::array kRefusals = {Outcome::unsupported, Outcome::skipped, Outcome::wrong_result,
                                      Outcome::failed};
    if (std::ranges::find(kRefusals, reply.outcome) != kRefusals.end()) return "";
    return fmt::format("a refusal cannot have the outcome `{}`", to_string(reply.outcome));
  }
  // The last sample of a warm-up has as many iterations as the samples that follow it.
  std::string operator()(const WarmedUpReply& reply) const {
    return reply.iterations >= reply.iterations_per_sample
               ? ""
               : "`iterations` is less than `iterations_per_sample`";
  }
  std::string operator()(const RoundReply& reply) const {
    const auto sum = checked_sum(reply.samples);
    if (!sum || sum->count() > kMaxReplyInteger)
      return fmt::format("the sum of `samples_ns` is more than {}", kMaxReplyInteger);
    const DeviceSamples& device = reply.device;
    for (const auto* remarks : {&device.voided, &device.throttled, &device.unsteady_clock}) {
      if (has_too_many_reasons(*remarks)) return "remarks have more reasons than their `count`";
    }
    return "";
  }
  std::string operator()(const WatchedReply& reply) const {
    const std::size_t looks = reply.canaries.size();
    const bool are_equal = reply.chains.size() == looks && reply.lost.size() == looks &&
                           reply.compute.size() == looks && reply.memory.size() == looks;
    return are_equal ? "" : "its lists have different lengths";
  }
  template <class OtherReply>
  std::string operator()(const OtherReply&) const {
    return "";
  }
};

// The reply that a request expects, and the outcomes with which a worker may refuse it.
struct ExpectedAnswer {
  std::size_t reply;  // index of the alternative of Reply
  std::span<const Outcome> refusals;
};

template <class Expected, Outcome... kRefusals>
ExpectedAnswer expect() {
  // A worker whose plugin cannot be loaded refuses every request with `failed`.
  static constexpr std::array kAll = {Outcome::failed, kRefusals...};
  return {Reply(Expected()).index(), kAll};
}

struct AnswerTo {
  ExpectedAnswer operator()(const HelloRequest&) const { return expect<HelloReply>(); }
  ExpectedAnswer operator()(const DescribeRequest&) const { return expect<DescribeReply>(); }
  ExpectedAnswer operator()(const ModelRequest&) const { return expect<ModelReply>(); }
  ExpectedAnswer operator()(const PrepareRequest&) const {
    return expect<PreparedReply, Outcome::unsupported, Outcome::skipped, Outcome::wrong_result>();
  }
  ExpectedAnswer operator()(const StepsRequest&) const {
    return expect<StepsReply, Outcome::unsupported, Outcome::skipped>();
  }
  ExpectedAnswer operator()(const WarmUpRequest&) const { return expect<WarmedUpReply>(); }
  ExpectedAnswer operator()(const RoundRequest&) const { return expect<RoundReply>(); }
  ExpectedAnswer operator()(const ProfileRequest&) const {
    return expect<ProfiledReply, Outcome::unsupported, Outcome::skipped, Outcome::wrong_result>();
  }
  ExpectedAnswer operator()(const WatchRequest&) const {
    return expect<WatchedReply, Outcome::skipped>();
  }
  ExpectedAnswer operator()(const ReleaseRequest&) const {
    return expect<DoneReply, Outcome::wrong_result>();
  }
  ExpectedAnswer operator()(const QuitRequest&) const { return expect<DoneReply>(); }
};

std::string too_long(std::string_view what, Nanoseconds time, Nanoseconds elapsed) {
  return fmt::format("it reports {} of {}, which is longer than the request ({})", what,
                     format_time(time), format_time(elapsed));
}

// Returns whether a time on the clock of a device, or of an unknown clock, is possible.
bool is_possible(Nanoseconds time, Nanoseconds elapsed, Nanoseconds tolerance) {
  return time <= kMaxReplySlowdown * elapsed + tolerance;
}

// Finds what the reply says against its request.
struct Mismatch {
  Nanoseconds elapsed;

  std::string operator()(const PrepareRequest& request, const PreparedReply& reply) const {
    const bool must_have_output = request.check == CheckKind::reference;
    const bool has_output = !reply.output.digest.empty() && !reply.output.values.empty();
    return must_have_output && !has_output ? "`output` is empty" : "";
  }
  std::string operator()(const WarmUpRequest&, const WarmedUpReply& reply) const {
    return is_possible(reply.sample, elapsed, kDeviceClockTolerance)
               ? ""
               : too_long("a sample", reply.sample, elapsed);
  }
  std::string operator()(const RoundRequest& request, const RoundReply& reply) const {
    if (std::ssize(reply.samples) > request.samples)
      return fmt::format("it has {} samples instead of {}", reply.samples.size(), request.samples);
    const bool has_device_clock = reply.device.sample_method.has_value();
    if (has_device_clock) {
      // The number of iterations is given in duets, whose times become a verdict.
      const bool is_of_duet = request.iterations_per_sample.has_value();
      const Nanoseconds tolerance = is_of_duet ? kReplyClockTolerance : kDeviceClockTolerance;
      for (const Nanoseconds sample : reply.samples) {
        if (!is_possible(sample, elapsed, tolerance)) return too_long("a sample", sample, elapsed);
      }
      return "";
    }
    if (reply.latencies && reply.latencies->times.back() > elapsed + kReplyClockTolerance)
      return too_long("a latency", reply.latencies->times.back(), elapsed);
    const Nanoseconds sum = checked_sum(reply.samples).value_or(Nanoseconds::max());
    return sum <= elapsed + kReplyClockTolerance ? "" : too_long("samples", sum, elapsed);
  }
  template <class OtherRequest, class OtherReply>
  std::string operator()(const OtherRequest&, const OtherReply&) const {
    return "";
  }
};

}  // namespace

std::string find_contradiction(const Reply& reply) { return std::visit(Contradiction{}, reply); }

std::string find_mismatch(const Request& request, const Reply& reply, Nanoseconds elapsed) {
  const ExpectedAnswer expected = std::visit(AnswerTo{}, request);
  const auto* refusal = std::get_if<ErrorReply>(&reply);
  if (refusal == nullptr && reply.index() != expected.reply) {
    return fmt::format("`{}` does not answer `{}`", reply_name(reply), command_name(request));
  }
  if (refusal != nullptr &&
      std::ranges::find(expected.refusals, refusal->outcome) == expected.refusals.end()) {
    return fmt::format("`{}` cannot be refused with the outcome `{}`", command_name(request),
                       to_string(refusal->outcome));
  }
  return std::visit(Mismatch{elapsed}, request, reply);
}

}  // namespace bench
