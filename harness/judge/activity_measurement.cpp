// SPDX-License-Identifier: Apache-2.0
// A log or profile of a program as one side of a comparison: each primitive or kernel with its
// shapes is a case.
#include "base/text.hpp"
#include "harness/judge/measurement.hpp"
#include "harness/stats/summary.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/sample_times.hpp"
#include "profiler/onednn/memory_descriptor.hpp"
#include "profiler/reader.hpp"
#include "profiler/readers/kineto_event.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

namespace bench {
namespace {

// Blocks of consecutive executions that replace the processes of a log with one rank.
constexpr std::size_t kBlocks = 15;

// Returns the data types of the tensors: "f32", or "u8:s8:f32" if they differ.
std::string format_types(std::string_view descriptors) {
  std::vector<MemoryDescriptor> parsed;
  parse_memory_descriptors(descriptors, parsed);
  std::vector<std::string_view> types;
  for (const MemoryDescriptor& descriptor : parsed) {
    if (descriptor.is_defined() && !descriptor.dtype.empty()) types.push_back(descriptor.dtype);
  }
  if (types.empty()) return {};
  const bool are_equal = std::ranges::all_of(types, [&](auto type) { return type == types[0]; });
  return are_equal ? std::string(types[0]) : fmt::format("{}", fmt::join(types, ":"));
}

// Returns the values of a call of PyTorch other than tensors: "[1, 1] [1, 1] 1".
std::string format_values(std::string_view arguments) {
  std::vector<std::string_view> values = split_list(arguments);
  std::erase(values, "");
  return fmt::format("{}", fmt::join(values, " "));
}

// Returns what the activity computes, without how: "matmul/8x4:4x2/f32/attr-post-ops:eltwise_relu".
std::string format_case(const Activity& activity) {
  const Attributes& attributes = activity.attributes;
  std::string id = activity.name;
  const auto append = [&id](std::string_view part) {
    if (!part.empty()) id.append("/").append(part);
  };
  append(activity.direction);
  const std::string_view problem = attributes.text(Attribute::problem);
  if (problem.starts_with("[[")) {  // the shapes of a call of PyTorch
    append(attributes.text(Attribute::in_shapes));
    append(attributes.text(Attribute::dtype));
    append(format_values(attributes.text(Attribute::auxiliary)));
    return id;
  }
  append(problem);
  append(attributes.text(Attribute::parameters));
  append(format_types(attributes.text(Attribute::memory_descriptors)));
  append(attributes.text(Attribute::auxiliary));
  append(attributes.text(Attribute::primitive_attributes));
  return id;
}

// What counts as an execution. An operator of a framework contains the others, so it counts only in
// a file without them.
enum class ExecutionLevel { none, framework_operator, work };

ExecutionLevel execution_level(const Activity& activity) {
  if (!activity.duration || activity.duration->count() <= 0) return ExecutionLevel::none;
  const Attributes& attributes = activity.attributes;
  if (activity.kind == ActivityKind::kernel) return ExecutionLevel::work;
  if (activity.kind == ActivityKind::operation && !attributes.text(Attribute::problem).empty())
    return ExecutionLevel::framework_operator;
  return is_onednn_execution(activity) ? ExecutionLevel::work : ExecutionLevel::none;
}

// Requires at least one time.
FractionalNanoseconds median_time(std::span<const Nanoseconds> times) {
  std::vector<double> values;
  values.reserve(times.size());
  for (const Nanoseconds time : times) values.push_back(static_cast<double>(time.count()));
  return FractionalNanoseconds(*median(values));
}

// The executions of one case, by rank. A log without ranks has one.
struct Executions {
  std::string id;
  std::string group;
  std::map<std::int64_t, std::vector<Nanoseconds>> times;
  std::set<std::string, std::less<>> implementations;
};

std::vector<ProcessSummary> make_processes(const Executions& executions) {
  std::vector<ProcessSummary> processes;
  if (executions.times.size() > 1) {
    for (const auto& [rank, times] : executions.times) {
      processes.push_back(process_from_iteration(median_time(times)));
    }
    return processes;
  }
  const std::vector<Nanoseconds>& times = executions.times.begin()->second;
  const std::size_t blocks = std::min(kBlocks, times.size());
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto position = [&](std::size_t block) {
      return times.begin() + static_cast<std::ptrdiff_t>(block * times.size() / blocks);
    };
    processes.push_back(process_from_iteration(median_time({position(i), position(i + 1)})));
  }
  return processes;
}

class ExecutionCollector final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    const ExecutionLevel level = execution_level(activity);
    if (level == ExecutionLevel::none || level < level_) return Done{};
    if (level > level_) {
      cases_.clear();
      index_.clear();
      level_ = level;
    }
    std::string id = format_case(activity);
    const auto [place, is_new] = index_.try_emplace(std::move(id), cases_.size());
    if (is_new) cases_.push_back({place->first, activity.name, {}, {}});
    Executions& found = cases_[place->second];
    found.times[activity.attributes.integer(Attribute::rank).value_or(0)].push_back(
        *activity.duration);
    const std::string_view implementation = activity.attributes.text(Attribute::implementation);
    if (!implementation.empty()) found.implementations.emplace(implementation);
    return Done{};
  }

  std::vector<MeasuredCase> make_cases() const {
    std::vector<MeasuredCase> cases;
    for (const Executions& executions : cases_) {
      MeasuredCase entry;
      entry.id = executions.id;
      entry.group = executions.group;
      entry.exact.implementation = fmt::format("{}", fmt::join(executions.implementations, " "));
      std::size_t count = 0;
      for (const auto& [rank, times] : executions.times) count += times.size();
      entry.exact.facts["executions"] = std::to_string(count);
      entry.processes = make_processes(executions);
      cases.push_back(std::move(entry));
    }
    return cases;
  }

 private:
  ExecutionLevel level_ = ExecutionLevel::none;  // the highest in the file
  std::vector<Executions> cases_;                // in the order of their first execution
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace

Result<Measurement> measure_activities(TextSource& source) {
  ExecutionCollector collector;
  SampleTimes samples(&collector);
  CoverageSink coverage(&samples);
  BENCH_ASSIGN_OR_RETURN(const ReadReport report, read_activities(source, coverage));
  Measurement measurement;
  measurement.name = source.name();
  measurement.facts = report.facts;
  measurement.cases = collector.make_cases();
  measurement.program = {coverage.coverage(report.starts), samples.objects()};
  if (measurement.cases.empty() && samples.empty()) {
    return Error{"contains no execution of a primitive or kernel", source.name(),
                 "run the program with ONEDNN_VERBOSE=profile, or under `bench profile`"};
  }
  if (report.malformed > 0) {
    measurement.warnings.push_back(fmt::format("{}: {} could not be read; `bench analyze` names {}",
                                               source.name(), pluralise(report.malformed, "line"),
                                               report.malformed == 1 ? "it" : "them"));
  }
  return measurement;
}

}  // namespace bench
