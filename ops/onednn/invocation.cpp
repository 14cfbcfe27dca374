// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/invocation.hpp"

#include "ops/onednn/library.hpp"

#include <dnnl_debug.h>
#include <fmt/format.h>

namespace bench::ops {

OnednnInvocation::OnednnInvocation(const OnednnContext& context)
    : stream_(context.stream().get()), must_wait_(context.must_wait()) {}

void OnednnInvocation::add_call(std::string name, const dnnl::primitive& primitive,
                                std::vector<std::pair<int, dnnl::memory>> arguments) {
  Call call{primitive.get(), {}};
  for (auto& [argument, memory] : arguments) {
    call.arguments.push_back({argument, memory.get()});
    memories_.push_back(std::move(memory));
  }
  calls_.push_back(std::move(call));
  names_.push_back(std::move(name));
}

void OnednnInvocation::add_call(std::string name, std::unique_ptr<Invocation> foreign) {
  calls_.push_back({nullptr, {}, std::move(foreign)});
  names_.push_back(std::move(name));
}

void OnednnInvocation::clear_failure() noexcept {
  failed_call_ = nullptr;
  status_ = dnnl_success;
  has_foreign_failed_ = false;
}

bool OnednnInvocation::record_failure(dnnl_status_t status, const Call* call) noexcept {
  status_ = status;
  failed_call_ = call;
  return false;
}

// A failed wait does not show which of the primitives before it failed, so no call is recorded.
bool OnednnInvocation::wait() noexcept {
  const dnnl_status_t status = dnnl_stream_wait(stream_);
  return status == dnnl_success || record_failure(status, nullptr);
}

// The foreign kernel reads results of earlier primitives without using their stream, so wait first.
bool OnednnInvocation::run_foreign(Call& call) noexcept {
  if (must_wait_ && !wait()) return false;
  failed_call_ = &call;
  has_foreign_failed_ = !call.foreign->run();
  return !has_foreign_failed_;
}

bool OnednnInvocation::run() noexcept {
  clear_failure();
  for (Call& call : calls_) {
    if (call.foreign != nullptr) {
      if (!run_foreign(call)) return false;
      continue;
    }
    const dnnl_status_t status = dnnl_primitive_execute(
        call.primitive, stream_, static_cast<int>(call.arguments.size()), call.arguments.data());
    if (status != dnnl_success) return record_failure(status, &call);
  }
  return !must_wait_ || wait();
}

bool OnednnInvocation::run_observed(StepObserver& observer) noexcept {
  clear_failure();
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    failed_call_ = &call;
    if (call.foreign != nullptr) {
      if (!observe_foreign(i, observer)) return false;
      continue;
    }
    observer.begins(i);
    status_ = dnnl_primitive_execute(
        call.primitive, stream_, static_cast<int>(call.arguments.size()), call.arguments.data());
    observer.enqueued(i);
    if (status_ == dnnl_success) status_ = dnnl_stream_wait(stream_);
    if (status_ != dnnl_success) return false;
    observer.done(i);
  }
  return true;
}

namespace {

// Observes a one-step kernel inside a chain and forwards only its parts.
class PartForwarder final : public StepObserver {
 public:
  explicit PartForwarder(StepObserver& observer) : observer_(observer) {}
  void begins(std::size_t /*the chain's step*/) noexcept override {}
  void enqueued(std::size_t /*the chain's step*/) noexcept override {}
  void done(std::size_t /*the chain's step*/) noexcept override {}
  void part_begins(std::string_view name) noexcept override { observer_.part_begins(name); }
  void part_ends() noexcept override { observer_.part_ends(); }

 private:
  StepObserver& observer_;
};

}  // namespace

bool OnednnInvocation::observe_foreign(std::size_t index, StepObserver& observer) noexcept {
  PartForwarder parts(observer);
  observer.begins(index);
  has_foreign_failed_ = !calls_[index].foreign->run_observed(parts);
  observer.enqueued(index);
  if (has_foreign_failed_) return false;
  observer.done(index);
  return true;
}

std::string OnednnInvocation::error() const {
  if (!has_foreign_failed_ && status_ == dnnl_success) return {};
  if (failed_call_ == nullptr) {
    return fmt::format("oneDNN {}: waiting for the end of the primitives failed ({})",
                       onednn_version(), dnnl_status2str(status_));
  }
  const std::string& name = names_[static_cast<std::size_t>(failed_call_ - calls_.data())];
  if (has_foreign_failed_) return fmt::format("{}: {}", name, failed_call_->foreign->error());
  return fmt::format("oneDNN {}: execution of {} failed ({})", onednn_version(), name,
                     dnnl_status2str(status_));
}

}  // namespace bench::ops
