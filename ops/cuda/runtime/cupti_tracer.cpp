// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/cupti_tracer.hpp"

#include "ops/cuda/library_report.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"
#include "profiler/switches.hpp"

#include <deque>
#include <optional>
#include <utility>

namespace bench::ops::cuda {
namespace {

struct GroupRow {
  TraceGroup bit;
  RecordGroup group;
};
constexpr GroupRow kGroups[] = {{kTraceApi, RecordGroup::api},
                                {kTraceMemory, RecordGroup::memory},
                                {kTraceDevice, RecordGroup::device}};

class CuptiTracer final : public DeviceTracer {
 public:
  CuptiTracer(std::function<Result<CuptiLibrary>()> load, CuptiProcess& process,
              GpuSynchronise synchronise)
      : load_(std::move(load)), process_(process), synchronise_(std::move(synchronise)) {}

  Status begin(std::uint32_t groups) override;
  Status open_window() override;
  void region_begins(std::uint64_t id) noexcept override {
    if (collector_) regions_.emplace_back(*collector_, GpuExternalKind::operation, id);
  }
  void region_ends() noexcept override {
    if (!regions_.empty()) regions_.pop_back();
  }
  Result<std::string> finish() override;

 private:
  static Error not_begun() { return Error{"no trace has begun", "CUPTI", ""}; }

  std::function<Result<CuptiLibrary>()> load_;
  CuptiProcess& process_;
  GpuSynchronise synchronise_;
  std::optional<CuptiLibrary> library_;
  std::unique_ptr<CuptiCollector> collector_;
  std::deque<CuptiRegion> regions_;  // of the thread that calls; before collector_ goes they end
};

Status CuptiTracer::begin(std::uint32_t groups) {
  CuptiOptions options;
  options.groups = {RecordGroup::operators};
  for (const GroupRow& row : kGroups) {
    if ((groups & row.bit) != 0) options.groups.insert(row.group);
  }
  BENCH_ASSIGN_OR_RETURN(library_, load_());
  BENCH_ASSIGN_OR_RETURN(collector_, CuptiCollector::start(*library_, options, process_));
  return Done{};
}

Status CuptiTracer::open_window() {
  if (!collector_) return not_begun();
  return collector_->open_window(synchronise_);
}

Result<std::string> CuptiTracer::finish() {
  if (!collector_) return not_begun();
  regions_.clear();
  std::string text = gpu_session_text(collector_->finish(synchronise_));
  collector_.reset();
  return text;
}

}  // namespace

std::vector<std::string> cupti_candidates(std::span<const SearchStep> search) {
  std::vector<std::string> candidates;
  for (const SearchStep& step : search) {
    for (const std::string_view file : library_spec("CUPTI").files) {
      candidates.push_back(step.folder.empty() ? std::string(file)
                                               : step.folder + "/" + std::string(file));
    }
  }
  return candidates;
}

std::shared_ptr<DeviceTracer> make_cupti_tracer(std::function<Result<CuptiLibrary>()> load,
                                                CuptiProcess& process, GpuSynchronise synchronise) {
  return std::make_shared<CuptiTracer>(std::move(load), process, std::move(synchronise));
}

}  // namespace bench::ops::cuda
