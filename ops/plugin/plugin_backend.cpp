// SPDX-License-Identifier: Apache-2.0
// A plugin's backend as one of this program's (ops/plugin/plugin.hpp).
#include "ops/network/network.hpp"
#include "ops/operator.hpp"
#include "ops/plugin/c_problem.hpp"
#include "ops/plugin/c_text.hpp"
#include "ops/plugin/host.hpp"
#include "ops/plugin/plugin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace bench::ops {
namespace {

using CreatedKernel = Result<std::unique_ptr<Kernel>, Refusal>;

class PluginMemory final : public DeviceMemory {
 public:
  PluginMemory(const bench_memory& raw, void* state) : raw_(raw), state_(state) {}

  Result<void*> allocate(Bytes size) override {
    void* address = nullptr;
    CMessage message;
    const bench_status status = raw_.allocate(state_, size.count, &address, message.get());
    if (status == BENCH_OK && address != nullptr) return address;
    return message.error("no device memory");
  }
  void release(void* address) noexcept override { raw_.release(state_, address); }
  Status copy_in(void* device, const void* host, Bytes size) override {
    CMessage message;
    return status_of(raw_.copy_in(state_, device, host, size.count, message.get()), message);
  }
  Status copy_out(void* host, const void* device, Bytes size) override {
    CMessage message;
    return status_of(raw_.copy_out(state_, host, device, size.count, message.get()), message);
  }
  Status fill(void* device, std::uint8_t value, Bytes size) override {
    CMessage message;
    return status_of(raw_.fill(state_, device, value, size.count, message.get()), message);
  }

 private:
  static Status status_of(bench_status status, const CMessage& message) {
    if (status == BENCH_OK) return Done{};
    return message.error("a copy to or from device memory failed");
  }

  const bench_memory& raw_;
  void* state_;
};

class PluginInvocation final : public Invocation {
 public:
  PluginInvocation(const bench_invocation& raw, Host& host) : raw_(raw), host_(host) {}
  ~PluginInvocation() override { raw_.destroy(raw_.self); }
  PluginInvocation(const PluginInvocation&) = delete;
  PluginInvocation& operator=(const PluginInvocation&) = delete;

  bool run() noexcept override { return raw_.run(raw_.self) == BENCH_OK; }
  bool run_observed(StepObserver& observer) noexcept override {
    host_.observe(&observer);
    const bool ok = raw_.run_observed == nullptr ? run_whole(observer) : run_steps(observer);
    host_.observe(nullptr);
    return ok;
  }
  std::string error() const override {
    const std::string said = raw_.error == nullptr ? "" : text_of(raw_.error(raw_.self));
    return said.empty() ? "the kernel failed without saying why" : said;
  }

 private:
  // What is in none of its ranges is the part `host`.
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
    const bench_observer told = {
        .size = sizeof(bench_observer),
        .self = &observer,
        .begins = [](void* self,
                     std::size_t step) { static_cast<StepObserver*>(self)->begins(step); },
        .enqueued = [](void* self,
                       std::size_t step) { static_cast<StepObserver*>(self)->enqueued(step); },
        .done = [](void* self, std::size_t step) { static_cast<StepObserver*>(self)->done(step); }};
    return raw_.run_observed(raw_.self, &told) == BENCH_OK;
  }

  const bench_invocation& raw_;
  Host& host_;
};

// What the plugin says of a kernel, before it is taken over. Absent: nothing is wrong.
std::optional<std::string> fault_of(const bench_kernel& kernel, std::size_t tensors) {
  if (kernel.size < sizeof(bench_kernel) || kernel.bind == nullptr || kernel.destroy == nullptr) {
    return "is too short or lacks a function";
  }
  if (kernel.buffer_count < tensors || kernel.buffers == nullptr) {
    return fmt::format("has {} buffers for {} tensors", kernel.buffer_count, tensors);
  }
  for (std::size_t i = 0; i < kernel.buffer_count; ++i) {
    const bench_buffer* buffer = kernel.buffers[i];
    const bool known = buffer != nullptr && buffer->size >= sizeof(bench_buffer) &&
                       buffer->role >= BENCH_ROLE_INPUT && buffer->role <= BENCH_ROLE_ACTIVATION;
    if (!known || buffer->bytes < 0) return fmt::format("has no proper buffer {}", i);
  }
  for (std::size_t i = 0; i < kernel.step_count; ++i) {
    if (kernel.steps == nullptr || kernel.steps[i] == nullptr ||
        kernel.steps[i]->size < sizeof(bench_step)) {
      return fmt::format("has no proper step {}", i);
    }
  }
  if ((kernel.pack == nullptr) != (kernel.unpack == nullptr)) return "packs but does not unpack";
  return std::nullopt;
}

class PluginKernel final : public Kernel {
 public:
  PluginKernel(const bench_kernel& raw, std::span<const Tensor> tensors, Host& host,
               DeviceMemory* memory)
      : raw_(raw), host_(host), memory_(memory) {
    for (const Tensor& tensor : tensors) sizes_.push_back(tensor.size());
    for (std::size_t i = 0; i < raw.buffer_count; ++i) {
      const bench_buffer& buffer = *raw.buffers[i];
      buffers_.push_back(
          {static_cast<BufferRole>(buffer.role), {buffer.bytes}, text_of(buffer.layout)});
    }
  }
  ~PluginKernel() override { raw_.destroy(raw_.self); }
  PluginKernel(const PluginKernel&) = delete;
  PluginKernel& operator=(const PluginKernel&) = delete;

  std::string implementation() const override { return text_of(raw_.implementation); }
  std::vector<KernelStep> steps() const override;
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {raw_.workspace}; }
  bool takes_plain() const override { return raw_.pack == nullptr && memory_ == nullptr; }
  Status pack(std::size_t index, const void* plain, void* packed) override;
  Status unpack(std::size_t index, const void* packed, void* plain) override;
  Status prepare(std::span<void* const> buffers) override;
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override;

  // Tensors that are not packed have their own size.
  std::optional<std::string> size_fault() const {
    for (std::size_t i = 0; raw_.pack == nullptr && i < sizes_.size(); ++i) {
      if (buffers_[i].size < sizes_[i]) return fmt::format("has a buffer {} that is too small", i);
    }
    return std::nullopt;
  }

 private:
  const bench_kernel& raw_;
  Host& host_;
  DeviceMemory* memory_;
  std::vector<Bytes> sizes_;  // of the plain tensors
  std::vector<KernelBuffer> buffers_;
};

std::vector<KernelStep> PluginKernel::steps() const {
  std::vector<KernelStep> steps;
  for (std::size_t i = 0; i < raw_.step_count; ++i) {
    const bench_step& step = *raw_.steps[i];
    steps.push_back({text_of(step.node),
                     text_of(step.kind),
                     text_of(step.implementation),
                     text_of(step.layouts),
                     {}});
  }
  return steps;
}

Status PluginKernel::pack(std::size_t index, const void* plain, void* packed) {
  if (raw_.pack == nullptr) {
    if (memory_ != nullptr) return memory_->copy_in(packed, plain, sizes_[index]);
    std::memcpy(packed, plain, static_cast<std::size_t>(sizes_[index].count));
    return Done{};
  }
  CMessage message;
  if (raw_.pack(raw_.self, index, plain, packed, message.get()) == BENCH_OK) return Done{};
  return message.error("packing a tensor failed");
}

Status PluginKernel::unpack(std::size_t index, const void* packed, void* plain) {
  if (raw_.unpack == nullptr) {
    if (memory_ != nullptr) return memory_->copy_out(plain, packed, sizes_[index]);
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
  if (invocation == nullptr || invocation->size < sizeof(bench_invocation) ||
      invocation->run == nullptr || invocation->destroy == nullptr) {
    return Error{"binding the kernel gave no proper invocation", "",
                 "this is a mistake in the plugin"};
  }
  return std::unique_ptr<Invocation>(std::make_unique<PluginInvocation>(*invocation, host_));
}

class PluginBackend final : public Backend {
 public:
  PluginBackend(const bench_backend& raw, LibraryInfo plugin, Backend& built_in)
      : raw_(raw), name_(text_of(raw.name)), plugin_(std::move(plugin)), host_(name_, built_in) {}
  ~PluginBackend() override {
    if (opened_) raw_.close(state_);
  }
  PluginBackend(const PluginBackend&) = delete;
  PluginBackend& operator=(const PluginBackend&) = delete;

  Result<Done, Refusal> open();

  std::string_view name() const override { return name_; }
  std::string_view device() const override { return raw_.device; }
  LibraryInfo library() const override;
  std::vector<LibraryInfo> further_libraries() const override;
  DeviceMemory* memory() override { return memory_ ? &*memory_ : nullptr; }
  CreatedKernel create(const Problem& problem) override;
  CreatedKernel create(const Network& network) override;
  // Built-in kernels that it uses take memory and make calls, too.
  void observe(const Collectors& collectors) override { host_.built_in().observe(collectors); }

 private:
  std::vector<LibraryInfo> libraries() const;
  bool serves(std::string_view op) const;
  CreatedKernel take(bench_status status, const bench_kernel* kernel, const CMessage& message,
                     std::span<const Tensor> tensors, std::string_view what);

  const bench_backend& raw_;
  std::string name_;
  LibraryInfo plugin_;
  Host host_;
  void* state_ = nullptr;
  bool opened_ = false;
  std::optional<PluginMemory> memory_;
};

Result<Done, Refusal> PluginBackend::open() {
  CMessage message;
  const bench_status status = raw_.open(raw_.self, host_.get(), &state_, message.get());
  if (status != BENCH_OK) {
    return refusal_of(status, message.error(fmt::format("the backend `{}` does not open", name_)));
  }
  opened_ = true;
  if (raw_.memory != nullptr) memory_.emplace(*raw_.memory, state_);
  return Done{};
}

std::vector<LibraryInfo> PluginBackend::libraries() const {
  std::vector<LibraryInfo> result;
  const bench_library* const* list = nullptr;
  const std::size_t count = raw_.libraries == nullptr ? 0 : raw_.libraries(state_, &list);
  for (std::size_t i = 0; i < count && list != nullptr && list[i] != nullptr; ++i) {
    const bench_library& library = *list[i];
    result.push_back({text_of(library.name), text_of(library.version), text_of(library.path),
                      text_of(library.detail)});
  }
  return result;
}

LibraryInfo PluginBackend::library() const {
  const std::vector<LibraryInfo> all = libraries();
  return all.empty() ? plugin_ : all.front();
}

std::vector<LibraryInfo> PluginBackend::further_libraries() const {
  std::vector<LibraryInfo> all = libraries();
  if (!all.empty()) all.erase(all.begin());
  return all;
}

bool PluginBackend::serves(std::string_view op) const {
  const std::span<const char* const> names(raw_.operators, raw_.operator_count);
  return std::ranges::any_of(names, [&](const char* name) { return text_of(name) == op; });
}

CreatedKernel PluginBackend::take(bench_status status, const bench_kernel* kernel,
                                  const CMessage& message, std::span<const Tensor> tensors,
                                  std::string_view what) {
  if (status != BENCH_OK) {
    return refusal_of(status,
                      message.error(fmt::format("`{}` makes no kernel of {}", name_, what)));
  }
  const auto mistake = [&](const std::string& fault) {
    return Refusal{Refusal::Kind::failed,
                   fmt::format("the kernel that `{}` made of {} {}", name_, what, fault)};
  };
  if (kernel == nullptr) return mistake("does not exist");
  if (const auto fault = fault_of(*kernel, tensors.size())) return mistake(*fault);
  auto made = std::make_unique<PluginKernel>(*kernel, tensors, host_, memory());
  if (const auto fault = made->size_fault()) return mistake(*fault);
  return std::unique_ptr<Kernel>(std::move(made));
}

CreatedKernel PluginBackend::create(const Problem& problem) {
  const std::string_view op = problem.op->name;
  if (!serves(op)) {
    return Refusal{Refusal::Kind::unsupported,
                   fmt::format("the backend `{}` does not serve the operator `{}`", name_, op)};
  }
  const CProblem given(problem);
  const bench_kernel* kernel = nullptr;
  CMessage message;
  const bench_status status = raw_.create(state_, given.get(), &kernel, message.get());
  return take(status, kernel, message, problem.tensors, op);
}

CreatedKernel PluginBackend::create(const Network& network) {
  if (raw_.create_network == nullptr || !serves(kNetworkOperator)) {
    return Refusal{Refusal::Kind::unsupported,
                   fmt::format("the backend `{}` does not run networks as one", name_)};
  }
  const CNetwork given(network);
  const bench_kernel* kernel = nullptr;
  CMessage message;
  const bench_status status = raw_.create_network(state_, given.get(), &kernel, message.get());
  return take(status, kernel, message, network.tensors, network.name);
}

}  // namespace

std::optional<std::string> probe_backend(const bench_backend& backend) {
  if (backend.probe == nullptr) return std::nullopt;
  CMessage message;
  if (backend.probe(backend.self, message.get()) == BENCH_OK) return std::nullopt;
  return message.error(fmt::format("the backend `{}` cannot run here", text_of(backend.name)))
      .message();
}

Result<std::unique_ptr<Backend>, Refusal> open_backend(const bench_backend& backend,
                                                       LibraryInfo plugin, Backend& built_in) {
  auto opened = std::make_unique<PluginBackend>(backend, std::move(plugin), built_in);
  BENCH_RETURN_IF_ERROR(opened->open());
  return std::unique_ptr<Backend>(std::move(opened));
}

}  // namespace bench::ops
