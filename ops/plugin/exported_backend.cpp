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

// A base class, because plugin::Backend reads its texts when it is constructed.
struct GivenBackend {
  BackendExport given;

  std::vector<const char*> operators() const {
    std::vector<const char*> names;
    for (const std::string& name : given.operators) names.push_back(name.c_str());
    return names;
  }
};

class ExportedBackend final : GivenBackend, public plugin::Backend, PartListener {
 public:
  explicit ExportedBackend(BackendExport backend)
      : GivenBackend{std::move(backend)},
        plugin::Backend(given.name.c_str(), operators(), given.device.c_str()) {}

  void probe() const override {
    auto reason = given.probe ? given.probe() : std::nullopt;
    if (reason) throw plugin::Error(BENCH_SKIPPED, *reason);
  }
  void opened() override {
    if (backend_) {
      throw plugin::Error(BENCH_FAILED, fmt::format("`{}` is already open", given.name));
    }
    backend_ = value_or_throw(given.open());
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
  std::unique_ptr<plugin::Kernel> make(const plugin::Problem& problem) override {
    return exported(value_or_throw(read_problem(*problem.raw())));
  }
  std::unique_ptr<plugin::Kernel> make_network(const plugin::Network& network) override {
    return exported(value_or_throw(read_network(*network.raw())));
  }

 private:
  template <class Work>
  std::unique_ptr<plugin::Kernel> exported(const Work& work) {
    return export_kernel(value_or_throw(backend_->create(work)), *this);
  }
  void part_begins(std::string_view name) noexcept override {
    const bench_host& program = *host().raw();
    plugin::detail::guarded(nullptr,
                            [&] { program.range_begin(program.self, std::string(name).c_str()); });
  }
  void part_ends() noexcept override { host().raw()->range_end(host().raw()->self); }

  std::unique_ptr<ops::Backend> backend_;  // only while it is open, as are its parts
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
