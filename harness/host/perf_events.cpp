// SPDX-License-Identifier: Apache-2.0
#include "harness/host/perf_events.hpp"

#include "base/processors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace bench {
namespace {

constexpr std::array<PerfEventRow, 3> kPerfEvents = {
    {{PerfEvent::cycles, "cycles", "cycles:u"},
     {PerfEvent::instructions, "instructions", "instructions:u"},
     {PerfEvent::llc_misses, "llc_misses", "cache-misses:u"}}};

constexpr std::array<std::uint64_t, kPerfEvents.size()> kHardwareEvents = {
    PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CACHE_MISSES};

// The reason and remedy of a failure of perf_event_open(), by errno.
struct PerfFailureRow {
  int code;
  std::string_view predicate;
  std::string_view remedy;
};
constexpr std::string_view kPerfMissing = "not available here";
constexpr std::string_view kPerfHidden = "a virtual machine often hides them";
constexpr std::array<PerfFailureRow, 7> kPerfFailures = {
    {{ENOENT, kPerfMissing, kPerfHidden},
     {EOPNOTSUPP, kPerfMissing, kPerfHidden},
     {ENODEV, kPerfMissing, kPerfHidden},
     {ENOSYS, kPerfMissing, "this kernel was built without perf events"},
     {EACCES, "closed to this user", "sudo sysctl kernel.perf_event_paranoid=2 opens them"},
     {EPERM, "closed to this user",
      "a container's seccomp profile often forbids the call: allow perf_event_open in it, or add "
      "the capability PERFMON"},
     {EMFILE, "too many for this process's limit of open files", "raise it: ulimit -n 4096"}}};
constexpr PerfFailureRow kOtherPerfFailure = {0, "not usable", ""};

class KernelPerfEvents final : public PerfEvents {
 public:
  std::vector<int> threads() override { return own_threads(); }

  Result<int, PerfFailure> open(PerfEvent event, int thread, std::optional<int> leader) override {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = kHardwareEvents[static_cast<std::size_t>(event)];
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    // A counter with a leader counts only while the leader counts, so it can be enabled from the
    // start.
    attributes.disabled = leader ? 0 : 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    constexpr int kAnyProcessor = -1, kNoLeader = -1;
    const long counter = ::syscall(SYS_perf_event_open, &attributes, thread, kAnyProcessor,
                                   leader.value_or(kNoLeader), PERF_FLAG_FD_CLOEXEC);
    if (counter < 0) return PerfFailure{errno};
    return static_cast<int>(counter);
  }

  void start(int leader) override {
    ::ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
    ::ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
  }
  void stop(int leader) override { ::ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP); }

  std::optional<PerfCount> read(int counter) override {
    std::array<std::uint64_t, 3>
        words{};  // in the order of read_format: value, time enabled, time running
    if (::read(counter, words.data(), sizeof words) != static_cast<ssize_t>(sizeof words)) {
      return std::nullopt;
    }
    const auto word = [&](std::size_t i) { return static_cast<std::int64_t>(words[i]); };
    return PerfCount{word(0), Nanoseconds(word(1)), Nanoseconds(word(2))};
  }
  void close(int counter) override { ::close(counter); }
};

}  // namespace

std::span<const PerfEventRow> perf_events() { return kPerfEvents; }

std::unique_ptr<PerfEvents> make_perf_events() { return std::make_unique<KernelPerfEvents>(); }

std::string format_perf_failure(const PerfFailure& failure, std::optional<PerfEvent> event) {
  const auto* const match = std::ranges::find(kPerfFailures, failure.code, &PerfFailureRow::code);
  const PerfFailureRow& row = match != kPerfFailures.end() ? *match : kOtherPerfFailure;
  const std::string subject =
      event ? fmt::format("the event {} is", kPerfEvents[static_cast<std::size_t>(*event)].kernel)
            : std::string("the processor's counters are");
  return fmt::format("{} {} (perf_event_open: {}){}{}", subject, row.predicate,
                     std::generic_category().message(failure.code), row.remedy.empty() ? "" : "; ",
                     row.remedy);
}

Result<std::vector<PerfEvent>> probe_perf_events(PerfEvents& events) {
  constexpr int kCallingThread = 0;
  std::vector<PerfEvent> available;
  std::optional<PerfFailure> first_failure;
  for (const PerfEventRow& row : kPerfEvents) {
    const auto counter = events.open(row.event, kCallingThread, std::nullopt);
    if (counter) {
      available.push_back(row.event);
      events.close(*counter);
    } else if (!first_failure) {
      first_failure = counter.error();
    }
  }
  if (available.empty()) return Error{format_perf_failure(*first_failure), "", ""};
  return available;
}

Finding perf_events_finding(PerfEvents& events) {
  Finding finding{Finding::Level::note, "CPU counters", "", "", ""};
  const auto available = probe_perf_events(events);
  std::vector<std::string_view> names;
  if (available) {
    for (const PerfEvent event : *available) {
      names.push_back(kPerfEvents[static_cast<std::size_t>(event)].name);
    }
    finding.found = fmt::format("{}", fmt::join(names, ", "));
    if (names.size() == kPerfEvents.size()) finding.level = Finding::Level::good;
  } else {
    finding.found = fmt::format("n/a: {}", available.error().message());
  }
  if (finding.level == Finding::Level::note) {
    finding.consequence = "`--profile=counters` cannot count the other events for cases on the CPU";
  }
  if (!available) finding.consequence = "`--profile=counters` has none for cases on the CPU";
  return finding;
}

}  // namespace bench
