// SPDX-License-Identifier: Apache-2.0
// Reads what a program executed, from a profile or a log of oneDNN: each distinct primitive, and
// each distinct operator of a framework on a GPU, is a case, with the number and the time of its
// executions.
#include "harness/import/execution_table.hpp"
#include "harness/import/gpu_execution.hpp"
#include "harness/import/kind.hpp"
#include "ops/framework_operator.hpp"
#include "ops/logged_case.hpp"
#include "ops/verbose.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/reader.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

// "convolution forward_inference alg:convolution_direct mb1_ic64oc64_..."
std::string describe_execution(const Activity& activity) {
  std::string text;
  for (const Attribute attribute :
       {Attribute::primitive, Attribute::propagation, Attribute::auxiliary, Attribute::problem,
        Attribute::primitive_attributes}) {
    const std::string_view part = activity.attributes.text(attribute);
    if (!part.empty() && part != "undef") text.append(text.empty() ? "" : " ").append(part);
  }
  return text;
}

// Whether an execution packs weights: only they have blocks of their first dimension, which is
// their upper-case letter. Between two packings of a layer's weights, a program executes its other
// layers, so the weights are in no cache.
bool packs_weights(const Activity& activity) {
  std::vector<MemoryDescriptor> descriptors;
  const ops::VerbosePrimitive primitive = ops::collect_primitive(activity, descriptors);
  const auto has_blocks = [&](std::string_view argument) {
    const MemoryDescriptor* tensor = primitive.find(argument);
    return tensor != nullptr && tensor->tag.find('A') != std::string_view::npos;
  };
  return primitive.primitive == "reorder" && has_blocks("dst") && !has_blocks("src");
}

// Collects the executions of oneDNN's primitives.
class PrimitiveCollector final : public ActivitySink {
 public:
  PrimitiveCollector(ExecutionTable& table, ActivitySink& next) : table_(table), next_(next) {}

  void begin_file(std::size_t file) { file_ = file; }

  Status consume(const Activity& activity) override {
    if (!is_onednn_execution(activity) || !activity.duration) return next_.consume(activity);
    ops::make_execution_key(activity, key_);
    const ImportedExecution execution{
        .place = {file_,
                  static_cast<int>(activity.attributes.integer(Attribute::line).value_or(0))},
        .time = *activity.duration,
        .implementation = activity.attributes.text(Attribute::implementation)};
    return table_.add(key_, execution, [&] { return identify_primitive(activity); });
  }

 private:
  static ExecutionIdentity identify_primitive(const Activity& activity) {
    std::string text = describe_execution(activity);
    // What a reorder does is in its layouts alone.
    if (activity.attributes.text(Attribute::primitive) == "reorder")
      text.append(" ").append(activity.attributes.text(Attribute::layouts));
    const auto request = ops::find_logged_case(activity);
    return {.text = std::move(text),
            .problem = request.ok() ? ops::make_problem(*request) : request.error(),
            .cache = packs_weights(activity) ? CacheMode::cold : CacheMode::hot};
  }

  ExecutionTable& table_;
  ActivitySink& next_;
  std::size_t file_ = 0;
  std::string key_;
};

}  // namespace

Result<Imported> read_profile(const ImportRequest& request) {
  Imported found;
  ExecutionTable table(found);
  GpuExecutionCollector on_gpu(table, found);
  PrimitiveCollector collector(table, on_gpu);
  found.coverage.emplace();
  for (const ImportFile& file : request.files) {
    collector.begin_file(found.files.size());
    on_gpu.begin_file(found.files.size());
    found.files.push_back(file.path);
    BENCH_ASSIGN_OR_RETURN(const auto source, request.open(file.path));
    source->set_work_factory([](std::string_view) { return ops::make_framework_case_provider(); });
    CoverageSink coverage(&collector);
    BeginRecordMerger merger(coverage);
    BENCH_ASSIGN_OR_RETURN(const ReadReport report, read_activities(*source, merger));
    BENCH_RETURN_IF_ERROR(merger.finish());
    BENCH_RETURN_IF_ERROR(on_gpu.end_file());
    found.coverage->add(coverage.coverage(report.starts));
  }
  // What takes the most time is measured first, also within a budget, and is refused first.
  const auto order = [](const auto& item) {
    return std::pair(item.use->source == ExecutionSource::primitives, item.use->time);
  };
  std::ranges::stable_sort(found.cases, std::greater(), order);
  std::ranges::stable_sort(found.refused, std::greater(), order);
  return found;
}

}  // namespace bench
