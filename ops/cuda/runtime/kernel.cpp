// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/kernel.hpp"

#include "ops/cuda/runtime/sampler.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

namespace bench::ops::cuda {
namespace {

// Waits for each step after it was enqueued. Does nothing more after a failed wait.
class WaitingObserver final : public StepObserver {
 public:
  WaitingObserver(Runtime& runtime, StepObserver& observer)
      : runtime_(runtime), observer_(observer) {}
  void begins(std::size_t step) noexcept override { observer_.begins(step); }
  void enqueued(std::size_t step) noexcept override {
    observer_.enqueued(step);
    if (failure_) return;
    if (Status waited = runtime_.synchronise(); !waited) {
      failure_ = std::move(waited).error();
    } else {
      observer_.done(step);
    }
  }
  void done(std::size_t step) noexcept override { observer_.done(step); }
  void part_begins(std::string_view name) noexcept override { observer_.part_begins(name); }
  void part_ends() noexcept override { observer_.part_ends(); }

  Status status() const {
    if (failure_) return *failure_;
    return Done{};
  }

 private:
  Runtime& runtime_;
  StepObserver& observer_;
  std::optional<Error> failure_;
};

}  // namespace

bool CudaInvocation::finish(const Status& status) noexcept {
  if (status) return true;
  error_ = status.error().message();
  return false;
}

bool CudaInvocation::run() noexcept {
  if (const Status enqueued = enqueue(nullptr); !enqueued) return finish(enqueued);
  return finish(runtime_.synchronise());
}

bool CudaInvocation::run_observed(StepObserver& observer) noexcept {
  if (observer.wait() == StepWait::end) {
    if (const Status enqueued = enqueue(&observer); !enqueued) return finish(enqueued);
    return finish(runtime_.synchronise());
  }
  WaitingObserver waiting(runtime_, observer);
  if (const Status enqueued = enqueue(&waiting); !enqueued) return finish(enqueued);
  if (const Status waited = waiting.status(); !waited) return finish(waited);
  return finish(runtime_.synchronise());
}

Status SingleStepInvocation::enqueue(StepObserver* observer) {
  if (observer != nullptr) observer->begins(0);
  BENCH_RETURN_IF_ERROR(launch());
  if (observer != nullptr) observer->enqueued(0);
  return Done{};
}

CudaKernel::CudaKernel(std::shared_ptr<Runtime> runtime, std::shared_ptr<Sampler> sampler)
    : runtime_(std::move(runtime)),
      sampler_(std::move(sampler)),
      sampling_(std::make_unique<KernelSampling>(runtime_)),
      setup_(runtime_->take_setup()) {}

CudaKernel::~CudaKernel() = default;

Result<DeviceSample> CudaKernel::sample(const SampleRequest& request) {
  return sampler_->sample(*sampling_, request);
}

std::map<std::string, std::string> CudaKernel::details() const {
  std::map<std::string, std::string> all;
  for (const auto& [name, time] : setup_) {
    all[fmt::format("setup.{}_ns", name)] = fmt::to_string(time.count());
  }
  // A process that only traces takes no samples. It must not measure the launch floor: the launches
  // behind a blocking kernel might hang.
  if (sampling_->sampled()) {
    const auto floor = sampler_->launch_floor();
    if (floor) all[kLaunchFloorDetail] = fmt::to_string(floor->count());
    all[kSampleMethodDetail] = sampling_->method(floor);
  }
  if (std::string unknown = sampler_->unknown_conditions(); !unknown.empty()) {
    all["conditions_unknown"] = std::move(unknown);
  }
  return all;
}

}  // namespace bench::ops::cuda
