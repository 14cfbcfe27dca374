// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin_kernel.hpp"

#include "ops/plugin/c_interface.hpp"
#include "ops/plugin/plugin_device.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

constexpr const char* kPluginBug = "this is a bug in the plugin";

// Validates and forwards the step events of a plugin. Valid steps exist, begin one after the other,
// and are enqueued before they are done.
class StepValidator {
 public:
  StepValidator(StepObserver& observer, std::size_t steps)
      : observer_(observer),
        steps_(steps),
        raw_{.size = sizeof(bench_observer),
             .self = this,
             .begins = [](void* self, std::size_t step) { of(self).begins(step); },
             .enqueued = [](void* self, std::size_t step) { of(self).enqueued(step); },
             .done = [](void* self, std::size_t step) { of(self).done(step); }} {}

  const bench_observer* get() const { return &raw_; }
  bool is_valid() const { return is_valid_; }
  bool has_ended_all() const { return state_ == State::idle; }

 private:
  enum class State { idle, begun, enqueued };

  static StepValidator& of(void* self) { return *static_cast<StepValidator*>(self); }
  void begins(std::size_t step) {
    if (!check_event(state_ == State::idle && step < steps_)) return;
    state_ = State::begun;
    step_ = step;
    observer_.begins(step);
  }
  void enqueued(std::size_t step) {
    if (!check_event(state_ == State::begun && step == step_)) return;
    state_ = State::enqueued;
    observer_.enqueued(step);
  }
  void done(std::size_t step) {
    if (!check_event(state_ == State::enqueued && step == step_)) return;
    state_ = State::idle;
    observer_.done(step);
  }
  bool check_event(bool is_allowed) {
    is_valid_ = is_valid_ && is_allowed;
    return is_valid_;
  }

  StepObserver& observer_;
  std::size_t steps_;
  bench_observer raw_;
  State state_ = State::idle;
  std::size_t step_ = 0;
  bool is_valid_ = true;
};

class PluginInvocation final : public Invocation {
 public:
  PluginInvocation(const bench_invocation& raw, std::size_t steps, Host& host)
      : raw_(raw), steps_(steps), host_(host) {}
  ~PluginInvocation() override { raw_.destroy(raw_.self); }
  PluginInvocation(const PluginInvocation&) = delete;
  PluginInvocation& operator=(const PluginInvocation&) = delete;

  const bench_invocation* raw() const { return &raw_; }

  bool run() noexcept override { return is_successful_ = raw_.run(raw_.self) == BENCH_OK; }
  bool run_observed(StepObserver& observer) noexcept override {
    host_.observe(&observer);
    is_successful_ = raw_.run_observed == nullptr ? run_as_one_step(observer) : run_steps(observer);
    host_.observe(nullptr);
    return is_successful_;
  }
  std::string error() const override {
    if (is_successful_) return "";
    if (!error_.empty()) return error_;
    const std::string message = raw_.error == nullptr ? "" : string_or_empty(raw_.error(raw_.self));
    return message.empty() ? "the kernel failed without a reason" : message;
  }

 private:
  // The part `host` contains the work outside of the plugin's ranges.
  bool run_as_one_step(StepObserver& observer) noexcept {
    observer.begins(0);
    observer.part_begins("host");
    const bool is_successful = run();
    observer.part_ends();
    observer.enqueued(0);
    if (is_successful) observer.done(0);
    return is_successful;
  }
  bool run_steps(StepObserver& observer) noexcept {
    StepValidator validator(observer, steps_);
    const bool is_successful = raw_.run_observed(raw_.self, validator.get()) == BENCH_OK;
    if (!is_successful || (validator.is_valid() && validator.has_ended_all())) return is_successful;
    error_ = "the kernel reported an unknown step or a wrong order of steps";
    return false;
  }

  const bench_invocation& raw_;
  std::size_t steps_;
  Host& host_;
  bool is_successful_ = true;  // result of the last run
  std::string error_;
};

// Returns what is wrong with a list of rows, or nullopt if it can be read.
template <class Row>
std::optional<std::string> list_fault(const Row* const* rows, std::size_t count,
                                      std::string_view what) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto fault = struct_fault(rows == nullptr ? nullptr : rows[i]);
    if (fault) return fmt::format("has an invalid {} {}: it {}", what, i, *fault);
  }
  return std::nullopt;
}

std::optional<std::string> find_fault(const bench_kernel& kernel, std::size_t tensors) {
  if (auto fault = struct_fault(&kernel)) return fault;
  if (kernel.bind == nullptr || kernel.destroy == nullptr) return "lacks a function";
  if (kernel.buffer_count != tensors || kernel.buffers == nullptr) {
    return fmt::format("has {} buffers for {} tensors", kernel.buffer_count, tensors);
  }
  if (const auto fault = list_fault(kernel.buffers, kernel.buffer_count, "buffer")) return fault;
  for (std::size_t i = 0; i < kernel.buffer_count; ++i) {
    const bench_buffer& buffer = *kernel.buffers[i];
    if (buffer.role < BENCH_ROLE_INPUT || buffer.role > BENCH_ROLE_OUTPUT || buffer.bytes < 0) {
      return fmt::format("has an invalid buffer {}", i);
    }
  }
  if (auto fault = list_fault(kernel.steps, kernel.step_count, "step")) return fault;
  if ((kernel.pack == nullptr) != (kernel.unpack == nullptr)) return "packs but does not unpack";
  return list_fault(kernel.details, kernel.detail_count, "detail");
}

class PluginKernel final : public Kernel {
 public:
  PluginKernel(const bench_kernel& raw, std::span<const Tensor> tensors, const KernelPlace& context)
      : raw_(raw), context_(context) {
    for (const Tensor& tensor : tensors) sizes_.push_back(tensor.size());
    for (std::size_t i = 0; i < raw.buffer_count; ++i) {
      const bench_buffer& buffer = *raw.buffers[i];
      // The interface has no role for indices.
      const bool is_index = holds_indices(tensors[i]);
      buffers_.push_back({is_index ? BufferRole::index : static_cast<BufferRole>(buffer.role),
                          {buffer.bytes},
                          string_or_empty(buffer.layout)});
    }
  }
  ~PluginKernel() override { raw_.destroy(raw_.self); }
  PluginKernel(const PluginKernel&) = delete;
  PluginKernel& operator=(const PluginKernel&) = delete;

  std::string implementation() const override { return string_or_empty(raw_.implementation); }
  std::vector<KernelStep> steps() const override;
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {raw_.workspace}; }
  bool takes_plain() const override { return raw_.pack == nullptr && context_.memory == nullptr; }
  // Packing for a device also copies there. The interface has no flag, but the layout has a name.
  bool converts_layout(std::size_t index) const override {
    return raw_.pack != nullptr && !is_row_major(buffers_[index].layout);
  }
  Status pack(std::size_t index, const void* plain, void* packed) override;
  Status unpack(std::size_t index, const void* packed, void* plain) override;
  Status prepare(std::span<void* const> buffers) override;
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override;
  std::map<std::string, std::string> details() const override;
  Summation summation() const override {
    return raw_.has_reduced_sums != 0 ? Summation::reduced : Summation::full;
  }
  bool has_device_clock() const override { return raw_.sample != nullptr; }
  Result<DeviceSample> sample(const SampleRequest& request) override;

  // Returns the buffer that is too small, or nullopt. Tensors that are not packed need their plain
  // size.
  std::optional<std::string> size_fault() const {
    for (std::size_t i = 0; raw_.pack == nullptr && i < sizes_.size(); ++i) {
      if (buffers_[i].size < sizes_[i]) return fmt::format("has a buffer {} that is too small", i);
    }
    return std::nullopt;
  }

 private:
  const bench_kernel& raw_;
  KernelPlace context_;
  std::vector<Bytes> sizes_;  // sizes of the plain tensors
  std::vector<KernelBuffer> buffers_;
  std::vector<const bench_invocation*> rotation_;  // rotation of the current sample
};

std::vector<KernelStep> PluginKernel::steps() const {
  std::vector<KernelStep> steps;
  for (std::size_t i = 0; i < raw_.step_count; ++i) {
    const bench_step& raw_step = *raw_.steps[i];
    KernelStep& step = steps.emplace_back();
    step.kind = string_or_empty(raw_step.kind);
    step.implementation = string_or_empty(raw_step.implementation);
    step.layouts = string_or_empty(raw_step.layouts);
  }
  return steps;
}

Status PluginKernel::pack(std::size_t index, const void* plain, void* packed) {
  if (raw_.pack == nullptr) {
    if (context_.memory != nullptr) return context_.memory->copy_in(packed, plain, sizes_[index]);
    std::memcpy(packed, plain, static_cast<std::size_t>(sizes_[index].count));
    return Done{};
  }
  CMessage message;
  if (raw_.pack(raw_.self, index, plain, packed, message.get()) == BENCH_OK) return Done{};
  return message.error("packing a tensor failed");
}

Status PluginKernel::unpack(std::size_t index, const void* packed, void* plain) {
  if (raw_.unpack == nullptr) {
    if (context_.memory != nullptr) return context_.memory->copy_out(plain, packed, sizes_[index]);
    std::memcpy(plain, packed, static_cast<std::size_t>(sizes_[index].count));
    return Done{};
  }
  CMessage message;
  if (raw_.unpack(raw_.self, index, packed, plain, message.get()) == BENCH_OK) return Done{};
  return message.error("unpacking a tensor failed");
}

Status PluginKernel::prepare(std::span<void* const> buffers) {
  if (raw_.prepare == nullptr) return Done{};
  CMessage message;
  if (raw_.prepare(raw_.self, buffers.data(), message.get()) == BENCH_OK) return Done{};
  return message.error("preparing the kernel failed");
}

Result<std::unique_ptr<Invocation>> PluginKernel::bind(std::span<void* const> buffers) {
  const bench_invocation* invocation = nullptr;
  CMessage message;
  if (raw_.bind(raw_.self, buffers.data(), &invocation, message.get()) != BENCH_OK) {
    return message.error("binding the kernel failed");
  }
  const auto fault = struct_fault(invocation);
  if (fault || invocation->run == nullptr || invocation->destroy == nullptr) {
    return Error{fmt::format("binding the kernel returned an invalid invocation: it {}",
                             fault.value_or("lacks a function")),
                 "", kPluginBug};
  }
  const std::size_t steps = std::max<std::size_t>(raw_.step_count, 1);
  return std::unique_ptr<Invocation>(
      std::make_unique<PluginInvocation>(*invocation, steps, context_.host));
}

std::map<std::string, std::string> PluginKernel::details() const {
  std::map<std::string, std::string> details;
  for (std::size_t i = 0; i < raw_.detail_count; ++i) {
    const std::string name = string_or_empty(raw_.details[i]->name);
    if (!name.empty()) details[name] = string_or_empty(raw_.details[i]->value);
  }
  return details;
}

Result<DeviceSample> PluginKernel::sample(const SampleRequest& request) {
  if (raw_.sample == nullptr) return Kernel::sample(request);
  rotation_.clear();
  for (Invocation* invocation : request.rotation) {
    rotation_.push_back(static_cast<const PluginInvocation*>(invocation)->raw());
  }
  const bench_sample_request c_request = {.size = sizeof(bench_sample_request),
                                          .rotation = rotation_.data(),
                                          .rotation_count = rotation_.size(),
                                          .first = request.first,
                                          .iterations = request.iterations,
                                          .how = static_cast<std::int32_t>(request.method)};
  bench_sample c_sample = {sizeof(bench_sample), -1, -1, -1, 0, -1};
  CMessage message;
  if (raw_.sample(raw_.self, &c_request, &c_sample, message.get()) != BENCH_OK) {
    return message.error("taking a sample failed");
  }
  return read_sample(c_sample, request, message.silent() ? "" : message.error("").message());
}

}  // namespace

Result<std::unique_ptr<Kernel>> take_kernel(const bench_kernel& raw,
                                            std::span<const Tensor> tensors,
                                            const KernelPlace& context) {
  if (auto fault = find_fault(raw, tensors.size())) {
    const bool can_destroy = BENCH_HAS(bench_kernel, &raw, destroy) && raw.destroy != nullptr;
    if (can_destroy) raw.destroy(raw.self);
    return Error{*std::move(fault), "", kPluginBug};
  }
  auto kernel = std::make_unique<PluginKernel>(raw, tensors, context);
  if (auto fault = kernel->size_fault()) return Error{*std::move(fault), "", kPluginBug};
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace bench::ops
