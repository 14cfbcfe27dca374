// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/sample_times.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/saturating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace bench {
namespace {

// Upper limit of what one sample costs the thread, the kernel's signal included. The limit is the
// largest cost that the study in docs/profiler.md does not exclude, rounded up.
constexpr Nanoseconds kMaxSampleCost = std::chrono::microseconds(50);

constexpr std::string_view kPythonHint =
    " Functions of Python are not visible: their time is that of the interpreter, or of what they "
    "call.";

// The object of the kernel's code, if it is sampled.
constexpr std::string_view kSampledKernel = "[kernel]";

bool has_object(const SampleTimes& times, std::string_view name) {
  return std::ranges::any_of(times.objects(),
                             [&](const SampleRow& row) { return row.name == name; });
}

// Returns whether the row is Python's interpreter, with a share that is worth a sentence.
bool is_shown_interpreter(const SampleRow& row) {
  constexpr double kMinShare = 0.01;
  return (row.name.starts_with("python") || row.name.starts_with("libpython")) &&
         row.share >= kMinShare;
}

// Objects named in the sentence. More would hide the answer.
constexpr std::size_t kMaxNamed = 3;

}  // namespace

void SampleTimes::Sum::add(Nanoseconds time) {
  ++samples;
  cpu = saturating_sum(cpu, time);
}

Status SampleTimes::consume(const Activity& activity) {
  const auto cpu = activity.attributes.integer(Attribute::cpu_ns);
  if (activity.kind == ActivityKind::process) {
    is_cpu_known_ = is_cpu_known_ && cpu.has_value();
    processes_cpu_ = saturating_sum(processes_cpu_, Nanoseconds(cpu.value_or(0)));
    const auto kernel = activity.attributes.integer(Attribute::kernel_ns);
    is_kernel_known_ = is_kernel_known_ && kernel.has_value();
    kernel_cpu_ = saturating_sum(kernel_cpu_, Nanoseconds(kernel.value_or(0)));
  } else if (activity.kind == ActivityKind::sample && cpu) {
    const Nanoseconds time(*cpu);
    period_ = all_.samples == 0 ? time : std::min(period_, time);
    all_.add(time);
    const std::string_view range = activity.attributes.text(Attribute::range);
    layers_[activity.scope.empty() ? std::string(kNoSampledLayer) : activity.scope].add(time);
    ranges_[std::string(range.empty() ? kNoSampledRange : range)].add(time);
    if (activity.attributes.find(Attribute::primitive) != nullptr) {
      objects_[std::string(kInPrimitives)].add(time);
    } else {
      const std::string object(activity.attributes.text(Attribute::object));
      objects_[object].add(time);
      functions_[fmt::format("{} ({})", activity.name, object)].add(time);
    }
  }
  return next_ != nullptr ? next_->consume(activity) : Status(Done{});
}

std::optional<Nanoseconds> SampleTimes::processes_cpu() const {
  const bool is_known = is_cpu_known_ && processes_cpu_ > Nanoseconds(0);
  return is_known ? std::optional(processes_cpu_) : std::nullopt;
}

std::optional<Nanoseconds> SampleTimes::kernel_cpu() const {
  return processes_cpu() && is_kernel_known_ ? std::optional(kernel_cpu_) : std::nullopt;
}

std::vector<SampleRow> SampleTimes::make_rows(const Sums& sums) const {
  std::vector<SampleRow> rows;
  for (const auto& [name, sum] : sums) {
    rows.push_back({name, sum.samples, sum.cpu,
                    static_cast<double>(sum.cpu.count()) / static_cast<double>(all_.cpu.count())});
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &SampleRow::cpu);
  return rows;
}

std::vector<SampleRow> SampleTimes::objects() const { return make_rows(objects_); }
std::vector<SampleRow> SampleTimes::functions() const { return make_rows(functions_); }

std::vector<SampleRow> SampleTimes::layers() const {
  const bool has_any = layers_.size() > 1 || !layers_.contains(kNoSampledLayer);
  return has_any ? make_rows(layers_) : std::vector<SampleRow>();
}

std::vector<SampleRow> SampleTimes::ranges() const {
  const bool has_any = ranges_.size() > 1 || !ranges_.contains(kNoSampledRange);
  return has_any ? make_rows(ranges_) : std::vector<SampleRow>();
}

std::string describe_samples(const SampleTimes& times) {
  if (times.empty()) return "";
  std::string text =
      fmt::format("{}, one per {} of CPU time, show {}", pluralise(times.samples(), "sample"),
                  format_time(times.period()), format_time(times.cpu()));
  if (const auto used = times.processes_cpu()) {
    text += fmt::format(" of the {} that the processes computed", format_time(*used));
    const auto kernel = times.kernel_cpu();
    // The kernel divides the time by its ticks, so samples of its code are more precise.
    if (kernel && *kernel > Nanoseconds(0) && !has_object(times, kSampledKernel)) {
      text += fmt::format(", {} of it in the kernel", format_part(*kernel, *used));
    }
  }
  text += fmt::format("; they cost less than {} of it. Most was in",
                      format_part(kMaxSampleCost, times.period()));
  std::size_t named = 0;
  for (const SampleRow& row : times.objects()) {
    if (named == kMaxNamed) break;
    text += fmt::format("{} {} {:.1f} %", named++ == 0 ? "" : ",", printable(row.name),
                        100 * row.share);
  }
  text += ".";
  const bool has_python = std::ranges::any_of(times.objects(), is_shown_interpreter);
  return has_python ? text + std::string(kPythonHint) : text;
}

}  // namespace bench
