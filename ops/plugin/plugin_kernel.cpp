// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin_kernel.hpp"

#include "ops/plugin/c_interface.hpp"
#include "ops/plugin/plugin_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

constexpr const char* kPluginMistake = "this is a bug in the plugin";

// Validates and forwards the step events of a plugin. Valid steps exist, run one at a time, and are
// enqueued before they are done.
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
  bool sensible() const { return sensible_; }
  bool all_ended() const { return state_ == State::between; }

 private:
  enum class State { between, begun, enqueued };

  static StepValidator& of(void* self) { return *static_cast<StepValidator*>(self); }
  void begins(std::size_t step) {
    if (!goes_on(state_ == State::between && step < steps_)) return;
    state_ = State::begun;
    step_ = step;
    observer_.begins(step);
  }
  void enqueued(std::size_t step) {
    if (!goes_on(state_ == State::begun && step == step_)) return;
    state_ = State::enqueued;
    observer_.enqueued(step);
  }
  void done(std::size_t step) {
    if (!goes_on(state_ == State::enqueued && step == step_)) return;
    state_ = State::between;
    observer_.done(step);
  }
  bool goes_on(bool fits) {
    sensible_ = sensible_ && fits;
    return sensible_;
  }

  StepObserver& observer_;
  std::size_t steps_;
  bench_observer raw_;
  State state_ = State::between;
  std::size_t step_ = 0;
  bool sensible_ = true;
};

class PluginInvocation final : public Invocation {
 public:
  PluginInvocation(const bench_invocation& raw, std::size_t steps, Host& host)
      : raw_(raw), steps_(steps), host_(host) {}
  ~PluginInvocation() override { raw_.destroy(raw_.self); }
  PluginInvocation(const PluginInvocation&) = delete;
  PluginInvocation& operator=(const PluginInvocation&) = delete;

  const bench_invocation* raw() const { return &raw_; }

  bool run() noexcept override { return ok_ = raw_.run(raw_.self) == BENCH_OK; }
  bool run_observed(StepObserver& observer) noexcept override {
    host_.observe(&observer);
    ok_ = raw_.run_observed == nullptr ? run_whole(observer) : run_steps(observer);
    host_.observe(nullptr);
    return ok_;
  }
  std::string error() const override {
    if (ok_) return "";
    if (!mistake_.empty()) return mistake_;
    const std::string said = raw_.error == nullptr ? "" : string_or_empty(raw_.error(raw_.self));
    return said.empty() ? "the kernel failed without a reason" : said;
  }

 private:
  // The part `host` is what is in none of the plugin's ranges.
  bool run_whole(StepObserver& observer) noexcept {
    observer.begins(0);
    observer.part_begins("host");
    const bool ok = run();
    observer.part_ends();
    observer.enqueued(0);
    if (ok) observer.done(0);
    return ok;
  }
  bool run_steps(StepObserver& observer) noexcept {
    StepValidator teller(observer, steps_);
    const bool ok = raw_.run_observed(raw_.self, teller.get()) == BENCH_OK;
    if (!ok || (teller.sensible() && teller.all_ended())) return ok;
    mistake_ = "the kernel reported an unknown step or a wrong order of steps";
    return false;
  }

  const bench_invocation& raw_;
  std::size_t steps_;
  Host& host_;
  bool ok_ = true;  // result of the last run
  std::string mistake_;
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
  if (kernel.buffer_count < tensors || kernel.buffers == nullptr) {
    return fmt::format("has {} buffers for {} tensors", kernel.buffer_count, tensors);
  }
  if (const auto fault = list_fault(kernel.buffers, kernel.buffer_count, "buffer")) return fault;
  for (std::size_t i = 0; i < kernel.buffer_count; ++i) {
    const bench_buffer& buffer = *kernel.buffers[i];
    if (buffer.role < BENCH_ROLE_INPUT || buffer.role > BENCH_ROLE_ACTIVATION || buffer.bytes < 0) {
      return fmt::format("has an invalid buffer {}", i);
    }
  }
  if (const auto fault = list_fault(kernel.steps, kernel.step_count, "step")) return fault;
  if ((kernel.pack == nullptr) != (kernel.unpack == nullptr)) return "packs but does not unpack";
  if (!BENCH_HAS(bench_kernel, &kernel, detail_count)) return std::nullopt;
  return list_fault(kernel.details, kernel.detail_count, "detail");
}

class PluginKernel final : public Kernel {
 public:
  PluginKernel(const bench_kernel& raw, std::span<const Tensor> tensors, const KernelPlace& place)
      : raw_(raw), place_(place) {
    for (const Tensor& tensor : tensors) sizes_.push_back(tensor.size());
    for (std::size_t i = 0; i < raw.buffer_count; ++i) {
      const bench_buffer& buffer = *raw.buffers[i];
      buffers_.push_back(
          {static_cast<BufferRole>(buffer.role), {buffer.bytes}, string_or_empty(buffer.layout)});
    }
  }
  ~PluginKernel() override { raw_.destroy(raw_.self); }
  PluginKernel(const PluginKernel&) = delete;
  PluginKernel& operator=(const PluginKernel&) = delete;

  std::string implementation() const override { return string_or_empty(raw_.implementation); }
  std::vector<KernelStep> steps() const override;
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {raw_.workspace}; }
  bool takes_plain() const override { return raw_.pack == nullptr && place_.memory == nullptr; }
  Status pack(std::size_t index, const void* plain, void* packed) override;
  Status unpack(std::size_t index, const void* packed, void* plain) override;
  Status prepare(std::span<void* const> buffers) override;
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override;
  std::map<std::string, std::string> details() const override;
  bool has_device_clock() const override { return raw_.sample != nullptr; }
  Result<DeviceSample> sample(const SampleRequest& request) override;

  // Tensors that are not packed have their plain size.
  std::optional<std::string> size_fault() const {
    for (std::size_t i = 0; raw_.pack == nullptr && i < sizes_.size(); ++i) {
      if (buffers_[i].size < sizes_[i]) return fmt::format("has a buffer {} that is too small", i);
    }
    return std::nullopt;
  }

 private:
  const bench_kernel& raw_;
  KernelPlace place_;
  std::vector<Bytes> sizes_;  // sizes of the plain tensors
  std::vector<KernelBuffer> buffers_;
  std::vector<const bench_invocation*> rotation_;  // rotation of the current sample
};

std::vector<KernelStep> PluginKernel::steps() const {
  std::vector<KernelStep> steps;
  for (std::size_t i = 0; i < raw_.step_count; ++i) {
    const bench_step& step = *raw_.steps[i];
    steps.push_back({string_or_empty(step.node),
                     string_or_empty(step.kind),
                     string_or_empty(step.implementation),
                     string_or_empty(step.layouts),
                     {}});
  }
  return steps;
}

Status PluginKernel::pack(std::size_t index, const void* plain, void* packed) {
  if (raw_.pack == nullptr) {
    if (place_.memory != nullptr) return place_.memory->copy_in(packed, plain, sizes_[index]);
    std::memcpy(packed, plain, static_cast<std::size_t>(sizes_[index].count));
    return Done{};
  }
  CMessage message;
  if (raw_.pack(raw_.self, index, plain, packed, message.get()) == BENCH_OK) return Done{};
  return message.error("packing a tensor failed");
}

Status PluginKernel::unpack(std::size_t index, const void* packed, void* plain) {
  if (raw_.unpack == nullptr) {
    if (place_.memory != nullptr) return place_.memory->copy_out(plain, packed, sizes_[index]);
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
                 "", kPluginMistake};
  }
  const std::size_t steps = std::max<std::size_t>(raw_.step_count, 1);
  return std::unique_ptr<Invocation>(
      std::make_unique<PluginInvocation>(*invocation, steps, place_.host));
}

std::map<std::string, std::string> PluginKernel::details() const {
  std::map<std::string, std::string> details;
  const bool has = BENCH_HAS(bench_kernel, &raw_, detail_count);
  for (std::size_t i = 0; has && i < raw_.detail_count; ++i) {
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
  const bench_sample_request asked = {.size = sizeof(bench_sample_request),
                                      .rotation = rotation_.data(),
                                      .rotation_count = rotation_.size(),
                                      .first = request.first,
                                      .iterations = request.iterations,
                                      .how = static_cast<std::int32_t>(request.method)};
  bench_sample taken = {sizeof(bench_sample), -1, -1, -1, 0, -1};
  CMessage message;
  if (raw_.sample(raw_.self, &asked, &taken, message.get()) != BENCH_OK) {
    return message.error("taking a sample failed");
  }
  return read_sample(taken, request, message.silent() ? "" : message.error("").message());
}

}  // namespace

Result<std::unique_ptr<Kernel>> take_kernel(const bench_kernel& raw,
                                            std::span<const Tensor> tensors,
                                            const KernelPlace& place) {
  if (auto fault = find_fault(raw, tensors.size())) {
    const bool can_end = BENCH_HAS(bench_kernel, &raw, destroy) && raw.destroy != nullptr;
    if (can_end) raw.destroy(raw.self);
    return Error{*std::move(fault), "", kPluginMistake};
  }
  auto kernel = std::make_unique<PluginKernel>(raw, tensors, place);
  if (auto fault = kernel->size_fault()) return Error{*std::move(fault), "", kPluginMistake};
  return std::unique_ptr<Kernel>(std::move(kernel));
}

const bench_invocation& plugin_invocation(const Invocation& invocation) {
  return *static_cast<const PluginInvocation&>(invocation).raw();
}

}  // namespace bench::ops
