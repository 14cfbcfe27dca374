// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/exported_backend.hpp"

#include "ops/catalogue.hpp"
#include "ops/plugin/c_call.hpp"
#include "ops/plugin/c_problem.hpp"
#include "ops/plugin/c_text.hpp"
#include "ops/plugin/exported_counters.hpp"
#include "ops/plugin/exported_device.hpp"
#include "ops/plugin/exported_kernel.hpp"
#include "ops/plugin/read_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace bench::ops {
namespace {

// Reports named parts of the work here to the host.
class HostParts final : public PartListener {
 public:
  void tell(const bench_host* host) { host_ = host; }
  void part_begins(std::string_view name) noexcept override {
    guarded_call(nullptr, [&]() -> Status {
      host_->range_begin(host_->self, std::string(name).c_str());
      return Done{};
    });
  }
  void part_ends() noexcept override { host_->range_end(host_->self); }

 private:
  const bench_host* host_ = nullptr;
};

}  // namespace

// All functions receive its address as an OpenedDevice: as the state and, before open(), as `self`.
class ExportedPlugin::Exported : private OpenedDevice {
 public:
  explicit Exported(BackendExport given);
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;

  const bench_backend* get() const { return &raw_; }

 private:
  OpenedDevice* state() { return this; }
  static Exported& of(void* state) {
    return static_cast<Exported&>(*static_cast<OpenedDevice*>(state));
  }
  static bench_status probe(void* self, bench_message* message);
  static bench_status open(void* self, const bench_host* host, void** state,
                           bench_message* message);
  static void close(void* state);
  static std::size_t libraries(void* state, const bench_library* const** list);
  static bench_status create(void* state, const bench_problem* problem, const bench_kernel** kernel,
                             bench_message* message);
  static bench_status create_network(void* state, const bench_network* network,
                                     const bench_kernel** kernel, bench_message* message);
  static void set_tuning(void* state, std::int64_t candidates);

  Result<Done, Refusal> open(const bench_host& host);
  void list_libraries();
  Result<Done, Refusal> hand_out(Result<std::unique_ptr<Kernel>, Refusal> created,
                                 const bench_kernel** kernel);

  BackendExport given_;
  std::vector<const char*> operators_;
  HostParts parts_;
  std::unique_ptr<Backend> backend_;  // only while it is open
  std::vector<LibraryInfo> infos_;    // the data that libraries_ points to
  CList<bench_library> libraries_;
  bench_backend raw_;
};

ExportedPlugin::Exported::Exported(BackendExport given) : given_(std::move(given)), raw_{} {
  for (const std::string& name : given_.operators) operators_.push_back(name.c_str());
  const bool networks =
      std::ranges::find(given_.operators, kNetworkOperator) != given_.operators.end();
  raw_ = {.size = sizeof(bench_backend),
          .self = state(),
          .name = given_.name.c_str(),
          .device = given_.device.c_str(),
          .operators = operators_.data(),
          .operator_count = operators_.size(),
          .probe = given_.probe ? probe : nullptr,
          .open = open,
          .close = close,
          .libraries = libraries,
          .memory = nullptr,
          .create = create,
          .create_network = networks ? create_network : nullptr,
          .tracer = nullptr,
          .set_tuning = set_tuning,
          .counters = nullptr};
}

bench_status ExportedPlugin::Exported::probe(void* self, bench_message* message) {
  return guarded_request(message, [&]() -> Result<Done, Refusal> {
    auto missing = of(self).given_.probe();
    if (!missing) return Done{};
    return Refusal{Refusal::Kind::skipped, *std::move(missing)};
  });
}

bench_status ExportedPlugin::Exported::open(void* self, const bench_host* host, void** state,
                                            bench_message* message) {
  *state = self;
  return guarded_request(message, [&] { return of(self).open(*host); });
}

Result<Done, Refusal> ExportedPlugin::Exported::open(const bench_host& host) {
  if (backend_) {
    return Refusal{Refusal::Kind::failed, fmt::format("`{}` is already open", given_.name)};
  }
  BENCH_ASSIGN_OR_RETURN(backend_, given_.open());
  parts_.tell(&host);
  memory = backend_->memory();
  tracer = backend_->tracer();
  counters = backend_->counters();
  raw_.memory = memory == nullptr ? nullptr : &kExportedMemory;
  raw_.tracer = tracer == nullptr ? nullptr : &kExportedTracer;
  raw_.counters = counters == nullptr ? nullptr : &kExportedCounters;
  return Done{};
}

void ExportedPlugin::Exported::close(void* state) {
  Exported& exported = of(state);
  exported.raw_.memory = nullptr;
  exported.raw_.tracer = nullptr;
  exported.raw_.counters = nullptr;
  exported.backend_.reset();
}

std::size_t ExportedPlugin::Exported::libraries(void* state, const bench_library* const** list) {
  Exported& exported = of(state);
  const bench_status listed = guarded_call(nullptr, [&]() -> Status {
    exported.list_libraries();
    return Done{};
  });
  if (listed != BENCH_OK) return 0;
  *list = exported.libraries_.data();
  return exported.libraries_.size();
}

void ExportedPlugin::Exported::list_libraries() {
  infos_ = backend_->further_libraries();
  infos_.insert(infos_.begin(), backend_->library());
  libraries_ = {};
  for (const LibraryInfo& info : infos_) {
    bench_library& row = libraries_.add();
    row.name = info.name.c_str();
    row.version = info.version.c_str();
    row.path = info.path.c_str();
    row.detail = info.detail.c_str();
  }
}

bench_status ExportedPlugin::Exported::create(void* state, const bench_problem* problem,
                                              const bench_kernel** kernel, bench_message* message) {
  return guarded_request(message, [&]() -> Result<Done, Refusal> {
    const auto made = read_problem(*problem);
    if (!made) return Refusal{Refusal::Kind::failed, made.error().message()};
    return of(state).hand_out(of(state).backend_->create(*made), kernel);
  });
}

bench_status ExportedPlugin::Exported::create_network(void* state, const bench_network* network,
                                                      const bench_kernel** kernel,
                                                      bench_message* message) {
  return guarded_request(message, [&]() -> Result<Done, Refusal> {
    const auto made = read_network(*network);
    if (!made) return Refusal{Refusal::Kind::failed, made.error().message()};
    return of(state).hand_out(of(state).backend_->create(*made), kernel);
  });
}

Result<Done, Refusal> ExportedPlugin::Exported::hand_out(
    Result<std::unique_ptr<Kernel>, Refusal> created, const bench_kernel** kernel) {
  if (!created) return std::move(created).error();
  *kernel = export_kernel({.kernel = std::move(created).value(), .parts = &parts_});
  return Done{};
}

void ExportedPlugin::Exported::set_tuning(void* state, std::int64_t candidates) {
  guarded_call(nullptr, [&]() -> Status {
    of(state).backend_->set_tuning(candidates);
    return Done{};
  });
}

ExportedPlugin::ExportedPlugin(std::string name, std::string version,
                               std::vector<BackendExport> backends)
    : name_(std::move(name)), version_(std::move(version)), raw_{} {
  for (BackendExport& backend : backends) {
    pointers_.push_back(backends_.emplace_back(std::move(backend)).get());
  }
  raw_ = {.size = sizeof(bench_plugin),
          .abi = BENCH_PLUGIN_ABI,
          .name = name_.c_str(),
          .version = version_.c_str(),
          .operators = nullptr,
          .operator_count = 0,
          .backends = pointers_.data(),
          .backend_count = pointers_.size()};
}

ExportedPlugin::~ExportedPlugin() = default;

}  // namespace bench::ops
