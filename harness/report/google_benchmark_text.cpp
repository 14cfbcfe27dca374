// SPDX-License-Identifier: Apache-2.0
#include "harness/report/google_benchmark_text.hpp"

#include "base/checked.hpp"
#include "harness/stats/median.hpp"

#include <limits>
#include <utility>

namespace bench::google_benchmark {
namespace {

void error_fields(JsonWriter& writer, std::size_t family, const Family& entry) {
  writer.required("name", entry.id);
  writer.required("family_index", family);
  writer.required("run_name", entry.id);
  writer.required("run_type", "iteration");
  writer.required("error_occurred", true);
  writer.required("error_message", *entry.error);
}

void repetition_fields(JsonWriter& writer, std::size_t family, const Family& entry,
                       std::size_t index) {
  const Repetition& repetition = entry.repetitions[index];
  writer.required("name", entry.id);
  writer.required("family_index", family);
  writer.required("per_family_instance_index", 0);
  writer.required("run_name", entry.id);
  writer.required("run_type", "iteration");
  writer.required("repetitions", entry.repetitions.size());
  writer.required("repetition_index", index);
  writer.required("threads", 1);
  writer.required("iterations", repetition.iterations);
  // Only wall time is measured, but compare.py expects CPU time, too.
  writer.required("real_time", repetition.time);
  writer.required("cpu_time", repetition.time);
  writer.required("time_unit", "ns");
}

double median_time(const Repetitions& repetitions) {
  std::vector<double> times;
  for (const Repetition& repetition : repetitions) times.push_back(repetition.time);
  return median(times).value_or(0);
}

void median_fields(JsonWriter& writer, std::size_t family, const Family& entry) {
  const double time = median_time(entry.repetitions);
  writer.required("name", entry.id + "_median");
  writer.required("family_index", family);
  writer.required("per_family_instance_index", 0);
  writer.required("run_name", entry.id);
  writer.required("run_type", "aggregate");
  writer.required("repetitions", entry.repetitions.size());
  writer.required("threads", 1);
  writer.required("aggregate_name", "median");
  writer.required("aggregate_unit", "time");
  writer.required("iterations", entry.repetitions.size());
  writer.required("real_time", time);
  writer.required("cpu_time", time);
  writer.required("time_unit", "ns");
}

}  // namespace

void scale_to(double time, Repetitions& repetitions) {
  const double middle = median_time(repetitions);
  if (!(middle > 0)) return;
  for (Repetition& repetition : repetitions) repetition.time *= time / middle;
}

std::int64_t count_iterations(std::size_t samples, std::int64_t iterations_per_sample) {
  const Checked product =
      Checked(static_cast<std::int64_t>(samples)) * Checked(iterations_per_sample);
  return product.value().value_or(std::numeric_limits<std::int64_t>::max());
}

void write_benchmarks(JsonWriter& writer, const std::vector<Family>& families) {
  std::vector<std::pair<std::size_t, std::size_t>> items;  // family and repetition, or median
  for (std::size_t family = 0; family < families.size(); ++family) {
    const std::size_t repetitions = families[family].repetitions.size();
    const std::size_t count = families[family].error ? 1
                              : repetitions > 1      ? repetitions + 1
                                                     : repetitions;
    for (std::size_t i = 0; i < count; ++i) items.emplace_back(family, i);
  }
  writer.member("benchmarks", [&] {
    writer.add_list(items.size(), [&](std::size_t item) {
      const std::size_t family = items[item].first;
      const std::size_t index = items[item].second;
      const Family& entry = families[family];
      writer.add_object([&](JsonWriter& object) {
        if (entry.error) {
          error_fields(object, family, entry);
        } else if (index == entry.repetitions.size()) {
          median_fields(object, family, entry);
        } else {
          repetition_fields(object, family, entry, index);
        }
      });
    });
  });
}

}  // namespace bench::google_benchmark
