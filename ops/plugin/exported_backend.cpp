// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/exported_backend.hpp"

#include "ops/plugin/c_problem.hpp"
#include "ops/plugin/exported_kernel.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

// A base class, so that it is constructed before plugin::Backend, whose constructor reads its
// texts.
struct BackendExportHolder {
  BackendExport backend_export;

  std::vector<const char*> operators() const {
    std::vector<const char*> names;
    for (const std::string& name : backend_export.operators) names.push_back(name.c_str());
    return names;
  }
};

class ExportedBackend final : BackendExportHolder, public plugin::Backend, PartListener {
 public:
  explicit ExportedBackend(BackendExport backend)
      : BackendExportHolder{std::move(backend)},
        plugin::Backend(backend_export.name.c_str(), operators(), backend_export.device.c_str()) {}

  void probe() const override {
    auto reason = backend_export.probe ? backend_export.probe() : std::nullopt;
    if (reason) throw plugin::Error(BENCH_SKIPPED, *reason);
  }
  void opened() override {
    if (backend_) {
      throw plugin::Error(BENCH_FAILED, fmt::format("`{}` is already open", backend_export.name));
    }
    backend_ = value_or_throw(backend_export.open());
    memory_ = export_memory(backend_->memory());
    tracer_ = export_tracer(backend_->tracer());
    counters_ = export_counters(backend_->counters());
  }
  void closed() noexcept override {
    memory_.reset();
    tracer_.reset();
    counters_.reset();
    backend_.reset();
  }
  plugin::Memory* memory() override { return memory_.get(); }
  plugin::Tracer* tracer() override { return tracer_.get(); }
  plugin::Counters* counters() override { return counters_.get(); }
  std::vector<plugin::LibraryInfo> libraries() override {
    std::vector<plugin::LibraryInfo> libraries;
    const auto add = [&](const LibraryInfo& info) {
      libraries.push_back({info.name, info.version, info.path, info.detail});
    };
    add(backend_->library());
    for (const LibraryInfo& info : backend_->further_libraries()) add(info);
    return libraries;
  }
  void set_tuning(std::int64_t candidates) noexcept override {
    plugin::detail::guarded(nullptr, [&] { backend_->set_tuning(candidates); });
  }
  void set_tuned_caches(std::int32_t caches, std::int64_t rotation) noexcept override {
    const bool is_known = caches >= BENCH_CACHES_HOT && caches <= BENCH_CACHES_COLD_WEIGHTS;
    const auto state = is_known ? static_cast<CacheState>(caches) : CacheState::hot;
    plugin::detail::guarded(nullptr, [&] { backend_->set_tuned_caches({state, {rotation}}); });
  }
  std::string choices() noexcept override {
    std::string choices;
    plugin::detail::guarded(nullptr, [&] { choices = backend_->choices(); });
    return choices;
  }
  void set_choices(const std::string& choices) noexcept override {
    plugin::detail::guarded(nullptr, [&] { backend_->set_choices(choices); });
  }
  bool reject_last_engine(const std::string& reason) noexcept override {
    bool has_next = false;
    plugin::detail::guarded(nullptr, [&] { has_next = backend_->reject_last_engine(reason); });
    return has_next;
  }
  std::unique_ptr<plugin::Kernel> make(const plugin::Problem& problem) override {
    return export_created_kernel(value_or_throw(read_problem(*problem.raw())));
  }
  std::unique_ptr<plugin::Kernel> make_network(const plugin::Network& network) override {
    return export_created_kernel(value_or_throw(read_network(*network.raw())));
  }

 private:
  template <class ProblemOrNetwork>
  std::unique_ptr<plugin::Kernel> export_created_kernel(const ProblemOrNetwork& source) {
    return export_kernel(value_or_throw(backend_->create(source)), *this);
  }
  void part_begins(std::string_view name) noexcept override {
    const bench_host& c_host = *host().raw();
    plugin::detail::guarded(nullptr,
                            [&] { c_host.range_begin(c_host.self, std::string(name).c_str()); });
  }
  void part_ends() noexcept override { host().raw()->range_end(host().raw()->self); }

  std::unique_ptr<ops::Backend> backend_;  // set while it is open, as are the members below
  std::unique_ptr<plugin::Memory> memory_;
  std::unique_ptr<plugin::Tracer> tracer_;
  std::unique_ptr<plugin::Counters> counters_;
};

}  // namespace

plugin::Plugin export_plugin(const char* name, const char* version,
                             std::vector<BackendExport> backends) {
  plugin::Plugin plugin(name, version);
  for (BackendExport& backend : backends) {
    plugin.add(std::make_unique<ExportedBackend>(std::move(backend)));
  }
  return plugin;
}

}  // namespace bench::ops
