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

bool OnednnInvocation::run() noexcept {
  for (const Call& call : calls_) {
    const dnnl_status_t status = dnnl_primitive_execute(
        call.primitive, stream_, static_cast<int>(call.arguments.size()), call.arguments.data());
    if (status != dnnl_success) {
      status_ = status;
      failed_call_ = static_cast<std::size_t>(&call - calls_.data());
      return false;
    }
  }
  if (must_wait_) status_ = dnnl_stream_wait(stream_);
  return status_ == dnnl_success;
}

bool OnednnInvocation::run_observed(StepObserver& observer) noexcept {
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    failed_call_ = i;
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

std::string OnednnInvocation::error() const {
  if (status_ == dnnl_success) return {};
  return fmt::format("oneDNN {}: execution of {} failed ({})", onednn_version(),
                     names_[failed_call_], dnnl_status2str(status_));
}

}  // namespace bench::ops
