// SPDX-License-Identifier: Apache-2.0
// Reads the reports of nvbench (--json). Numbers are texts there. A benchmark has a state for each
// combination of its axes' values and devices, with one mean over many samples; the samples
// themselves are in files beside the report. Reports of 2021 have no tags, and so no times here.
#include "base/text.hpp"
#include "profiler/device_number.hpp"
#include "profiler/readers/benchmark_report.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace bench {
namespace {

// Returns the number of a member `value`, which is a number or the text of one.
std::optional<double> read_nvbench_number(JsonValue value) {
  if (const auto text = value.text()) return parse_number<double>(*text);
  return value.number();
}

// Returns a value as the report has it, without quotes.
std::string read_nvbench_text(JsonValue value) {
  const auto text = value.text();
  return text ? std::string(*text) : format_json(value);
}

// Calls `use` with each object in a member that is a list.
template <class Use>
void for_each_object(JsonValue object, std::string_view name, Use use) {
  const auto list = object.value_at(name);
  for (std::size_t i = 0; list && list->is_list() && i < list->size(); ++i) {
    if (list->item(i).is_object()) use(list->item(i), i);
  }
}

// Returns the value of the summary with this tag.
std::optional<double> find_summary(JsonValue state, std::string_view tag) {
  std::optional<double> found;
  for_each_object(state, "summaries", [&](JsonValue summary, std::size_t) {
    if (found || summary.text_at("tag") != tag) return;
    for_each_object(summary, "data", [&](JsonValue datum, std::size_t) {
      const auto value = datum.value_at("value");
      if (datum.text_at("name") == "value" && value) found = read_nvbench_number(*value);
    });
  });
  return found;
}

// The tags of one way to measure. The first of these that a state has counts: caches are cold,
// which a case of `bench run` is too, unless it says otherwise.
struct NvbenchMeasurement {
  std::string_view time, samples, bytes_per_second, items_per_second;
};
constexpr std::array<NvbenchMeasurement, 3> kNvbenchMeasurements = {
    {{"nv/cold/time/gpu/mean", "nv/cold/sample_size", "nv/cold/bw/global/bytes_per_second",
      "nv/cold/bw/item_rate"},
     {"nv/batch/time/gpu/mean", "nv/batch/sample_size", "nv/batch/bw/global/bytes_per_second",
      "nv/batch/bw/item_rate"},
     {"nv/cpu_only/time/cpu/mean", "nv/cpu_only/sample_size",
      "nv/cpu_only/bw/global/bytes_per_second", "nv/cpu_only/bw/item_rate"}}};

// Sets the time and what belongs to it. Returns false if the state has no time.
bool set_measurement(JsonValue state, BenchmarkEntry& entry) {
  for (const NvbenchMeasurement& tags : kNvbenchMeasurements) {
    const auto time = positive_time(find_summary(state, tags.time), kNanosecondsPerSecond);
    if (!time) continue;
    entry.time = *time;
    const auto samples = find_summary(state, tags.samples);
    constexpr double kMaxSamples = 1e15;
    if (samples && *samples >= 1 && *samples < kMaxSamples)
      entry.attributes.set(Attribute::iterations, static_cast<std::int64_t>(*samples));
    set_byte_rate(entry.attributes, find_summary(state, tags.bytes_per_second), *time);
    set_item_rate(entry.attributes, find_summary(state, tags.items_per_second));
    return true;
  }
  return false;
}

// Returns the values of the axes: "T=I32,Elements=65536".
std::string read_axes(JsonValue state) {
  std::string text;
  for_each_object(state, "axis_values", [&](JsonValue axis, std::size_t) {
    const auto value = axis.value_at("value");
    if (!value) return;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", text_member(axis, "name"),
                        read_nvbench_text(*value));
  });
  return text;
}

void read_nvbench_state(JsonValue state, const std::string& benchmark, const std::string& place,
                        BenchmarkReportBuilder& builder) {
  BenchmarkEntry entry;
  entry.family = benchmark;
  entry.arguments = read_axes(state);
  entry.name = benchmark;
  if (!entry.arguments.empty()) entry.name += "/" + entry.arguments;
  const auto device = state.value_at("device");
  entry.device = device ? device->signed_integer() : std::nullopt;
  if (entry.device && *entry.device < 0) entry.device.reset();
  if (entry.device && !is_device_number(*entry.device))
    return builder.warn(place, "`device` is not the number of a device; ignored");
  // A state of another device than the first one is another case.
  if (entry.device.value_or(0) > 0) entry.name += fmt::format("/device={}", *entry.device);
  const auto skipped = state.value_at("is_skipped");
  if (skipped && skipped->boolean() == true) {
    entry.state = BenchmarkEntry::State::skipped;
    entry.reason = text_member(state, "skip_reason");
    return builder.add(std::move(entry));
  }
  if (!set_measurement(state, entry)) {
    return builder.warn(place, fmt::format("`{}` is missing or not a time above 0; ignored",
                                           kNvbenchMeasurements[0].time));
  }
  builder.add(std::move(entry));
}

void read_nvbench_report(JsonValue document, BenchmarkReportBuilder& builder) {
  for_each_object(document, "devices", [&](JsonValue device, std::size_t i) {
    builder.add_fact(i == 0 ? std::string("gpu.name") : fmt::format("gpu.{}.name", i), device,
                     "name");
  });
  const auto meta = document.value_at("meta");
  const auto version = meta ? meta->value_at("version") : std::nullopt;
  const auto library = version ? version->value_at("nvbench") : std::nullopt;
  if (library) builder.add_fact("library_version", *library, "string");
  for_each_object(document, "benchmarks", [&](JsonValue benchmark, std::size_t i) {
    const std::string name = text_member(benchmark, "name");
    if (name.empty()) return builder.warn(fmt::format("benchmarks[{}]", i), "no name; ignored");
    for_each_object(benchmark, "states", [&](JsonValue state, std::size_t k) {
      read_nvbench_state(state, name, fmt::format("benchmarks[{}].states[{}]", i, k), builder);
    });
  });
}

constexpr std::array<std::string_view, 2> kNvbenchMarks = {"states", "summaries"};
constexpr std::array<std::string_view, 1> kNvbenchMachineFacts = {"gpu.name"};

}  // namespace

const BenchmarkFormat kNvbenchFormat = {
    .name = "nvbench",
    .program = "nvbench's JSON",
    .list = "benchmarks",
    .marks = kNvbenchMarks,
    .command = "--json FILE",
    .machine_facts = kNvbenchMachineFacts,
    .read = read_nvbench_report,
};

}  // namespace bench
