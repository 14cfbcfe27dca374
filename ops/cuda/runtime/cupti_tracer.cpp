// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/cupti_tracer.hpp"

#include "ops/cuda/library_report.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"
#include "profiler/switches.hpp"

#include <deque>
#include <iterator>
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
              GpuSynchronise synchronise, AdditionalSources additional_sources)
      : load_(std::move(load)),
        process_(process),
        synchronise_(std::move(synchronise)),
        additional_sources_(std::move(additional_sources)) {}

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
  AdditionalSources additional_sources_;
  std::optional<CuptiLibrary> library_;
  std::unique_ptr<CuptiCollector> collector_;
  bool reads_device_state_ = false;  // reads clock, power and memory
  // Regions of the calling thread. They must end before collector_ is destroyed.
  std::deque<CuptiRegion> regions_;
};

Status CuptiTracer::begin(std::uint32_t groups) {
  CuptiOptions options;
  options.groups = {RecordGroup::operators};
  for (const GroupRow& row : kGroups) {
    if ((groups & row.bit) != 0) options.groups.insert(row.group);
  }
  BENCH_ASSIGN_OR_RETURN(library_, load_());
  BENCH_ASSIGN_OR_RETURN(collector_, CuptiCollector::start(*library_, options, process_));
  const bool traces_memory = (groups & kTraceMemory) != 0;
  if (additional_sources_.allocations && traces_memory) additional_sources_.allocations->begin();
  reads_device_state_ =
      additional_sources_.readings && (traces_memory || (groups & kTraceDevice) != 0);
  if (reads_device_state_) additional_sources_.readings->begin();
  return Done{};
}

Status CuptiTracer::open_window() {
  if (!collector_) return not_begun();
  BENCH_RETURN_IF_ERROR(collector_->open_window(synchronise_));
  if (reads_device_state_) additional_sources_.readings->open_window();
  return Done{};
}

Result<std::string> CuptiTracer::finish() {
  if (!collector_) return not_begun();
  regions_.clear();
  // Read before CUPTI delivers its records, because that work is not part of the window.
  std::vector<GpuRecord> additional_records =
      reads_device_state_ ? additional_sources_.readings->finish() : std::vector<GpuRecord>();
  for (const std::string& note : collector_->notes()) {
    additional_records.emplace_back(GpuNote{note});
  }
  GpuSession session = collector_->finish(synchronise_);
  collector_.reset();
  if (additional_sources_.allocations) additional_sources_.allocations->set_roles(session.records);
  session.records.insert(session.records.end(), std::make_move_iterator(additional_records.begin()),
                         std::make_move_iterator(additional_records.end()));
  return format_gpu_session(session);
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
                                                CuptiProcess& process, GpuSynchronise synchronise,
                                                AdditionalSources additional_sources) {
  return std::make_shared<CuptiTracer>(std::move(load), process, std::move(synchronise),
                                       std::move(additional_sources));
}

}  // namespace bench::ops::cuda
