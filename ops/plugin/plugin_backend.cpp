// SPDX-License-Identifier: Apache-2.0
// Adapts a plugin's backend to this program's interface (ops/plugin/plugin.hpp).
#include "ops/network/network.hpp"
#include "ops/operator.hpp"
#include "ops/plugin/c_interface.hpp"
#include "ops/plugin/c_problem.hpp"
#include "ops/plugin/host.hpp"
#include "ops/plugin/plugin.hpp"
#include "ops/plugin/plugin_device.hpp"
#include "ops/plugin/plugin_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench::ops {
namespace {

using CreatedKernel = Result<std::unique_ptr<Kernel>, BackendError>;

class PluginBackend final : public Backend {
 public:
  PluginBackend(const bench_backend& raw, LibraryInfo plugin, Backend& built_in)
      : raw_(raw),
        name_(string_or_empty(raw.name)),
        plugin_(std::move(plugin)),
        host_(name_, built_in) {}
  ~PluginBackend() override {
    if (is_open_) raw_.close(state_);
  }
  PluginBackend(const PluginBackend&) = delete;
  PluginBackend& operator=(const PluginBackend&) = delete;

  Result<Done, BackendError> open();

  std::string_view name() const override { return name_; }
  std::string_view device() const override { return raw_.device; }
  LibraryInfo library() const override;
  std::vector<LibraryInfo> further_libraries() const override;
  DeviceMemory* memory() override { return memory_ ? &*memory_ : nullptr; }
  CreatedKernel create(const Problem& problem) override;
  CreatedKernel create(const Network& network) override;
  // Built-in kernels that the plugin uses also allocate memory and call the library.
  void observe(const Collectors& collectors) override { host_.built_in().observe(collectors); }
  void set_tuning(std::int64_t candidates) override {
    if (raw_.set_tuning != nullptr) raw_.set_tuning(state_, candidates);
  }
  void set_tuned_caches(const TunedCaches& caches) override {
    if (raw_.set_tuned_caches != nullptr)
      raw_.set_tuned_caches(state_, static_cast<std::int32_t>(caches.state), caches.rotation.count);
  }
  std::string choices() const override {
    return raw_.choices == nullptr ? std::string() : string_or_empty(raw_.choices(state_));
  }
  void set_choices(std::string_view choices) override {
    if (raw_.set_choices != nullptr) raw_.set_choices(state_, std::string(choices).c_str());
  }
  bool reject_last_engine(std::string_view reason) override {
    return raw_.reject_last_engine != nullptr &&
           raw_.reject_last_engine(state_, std::string(reason).c_str()) != 0;
  }

 private:
  std::vector<LibraryInfo> libraries() const;
  bool has_operator(std::string_view op) const;
  CreatedKernel adopt_kernel(bench_status status, const bench_kernel* kernel,
                             const CMessage& message, std::span<const Tensor> tensors,
                             std::string_view what);

  const bench_backend& raw_;
  std::string name_;
  LibraryInfo plugin_;
  Host host_;
  void* state_ = nullptr;
  bool is_open_ = false;
  std::optional<PluginMemory> memory_;
};

Result<Done, BackendError> PluginBackend::open() {
  CMessage message;
  const bench_status status = raw_.open(raw_.self, host_.get(), &state_, message.get());
  if (status != BENCH_OK) {
    return backend_error(status,
                         message.error(fmt::format("the backend `{}` cannot be opened", name_)));
  }
  is_open_ = true;
  if (const auto fault = device_fault(raw_)) {
    return BackendError{BackendError::Kind::failed,
                        fmt::format("the backend `{}` {}", name_, *fault)};
  }
  if (raw_.memory != nullptr) memory_.emplace(*raw_.memory, state_);
  return Done{};
}

std::vector<LibraryInfo> PluginBackend::libraries() const {
  std::vector<LibraryInfo> result;
  const bench_library* const* list = nullptr;
  const std::size_t count = raw_.libraries == nullptr ? 0 : raw_.libraries(state_, &list);
  for (std::size_t i = 0; i < count && list != nullptr && list[i] != nullptr; ++i) {
    const bench_library& library = *list[i];
    result.push_back({string_or_empty(library.name), string_or_empty(library.version),
                      string_or_empty(library.path), string_or_empty(library.detail)});
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

bool PluginBackend::has_operator(std::string_view op) const {
  const std::span<const char* const> names(raw_.operators, raw_.operator_count);
  return std::ranges::any_of(names, [&](const char* name) { return string_or_empty(name) == op; });
}

CreatedKernel PluginBackend::adopt_kernel(bench_status status, const bench_kernel* kernel,
                                          const CMessage& message, std::span<const Tensor> tensors,
                                          std::string_view what) {
  if (status != BENCH_OK) {
    return backend_error(
        status, message.error(fmt::format("`{}` cannot create a kernel for {}", name_, what)));
  }
  const auto make_error = [&](const std::string& fault) {
    return BackendError{BackendError::Kind::failed,
                        fmt::format("the kernel that `{}` created for {} {}", name_, what, fault)};
  };
  if (kernel == nullptr) return make_error("does not exist");
  auto adopted = take_kernel(*kernel, tensors, {host_, memory()});
  if (!adopted) return make_error(adopted.error().what);
  return std::move(adopted).value();
}

CreatedKernel PluginBackend::create(const Problem& problem) {
  const std::string_view op = problem.op->name;
  if (!has_operator(op)) {
    return BackendError{
        BackendError::Kind::unsupported,
        fmt::format("the backend `{}` does not serve the operator `{}`", name_, op)};
  }
  const CProblem c_problem(problem);
  const bench_kernel* kernel = nullptr;
  CMessage message;
  const bench_status status = raw_.create(state_, c_problem.get(), &kernel, message.get());
  return adopt_kernel(status, kernel, message, problem.tensors, op);
}

// The interface does not describe networks. Their layers are problems.
CreatedKernel PluginBackend::create(const Network&) {
  return unsupported(fmt::format("the backend `{}` does not run whole networks", name_));
}

}  // namespace

std::optional<std::string> device_fault(const bench_backend& backend) {
  return backend.memory == nullptr ? std::nullopt : find_fault(*backend.memory);
}

std::optional<std::string> probe_backend(const bench_backend& backend) {
  if (backend.probe == nullptr) return std::nullopt;
  CMessage message;
  if (backend.probe(backend.self, message.get()) == BENCH_OK) return std::nullopt;
  return message
      .error(fmt::format("the backend `{}` cannot run here", string_or_empty(backend.name)))
      .message();
}

Result<std::unique_ptr<Backend>, BackendError> open_backend(const bench_backend& backend,
                                                            LibraryInfo plugin, Backend& built_in) {
  auto plugin_backend = std::make_unique<PluginBackend>(backend, std::move(plugin), built_in);
  BENCH_RETURN_IF_ERROR(plugin_backend->open());
  return std::unique_ptr<Backend>(std::move(plugin_backend));
}

}  // namespace bench::ops
