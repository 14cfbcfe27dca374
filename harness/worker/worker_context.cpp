// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/worker_context.hpp"

#include "base/env.hpp"
#include "harness/worker/cuda_plugin.hpp"
#include "ops/blas/backend.hpp"
#include "ops/blas/loaded_blas.hpp"
#include "ops/native/backend.hpp"
#include "ops/plugin/plugin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace bench {
namespace {

using ops::BackendError;
using ProbeAnswer = Result<std::optional<ops::LibraryInfo>, std::string>;

// `missing`: why a backend whose library is unknown cannot run here; nullopt if it can.
ProbeAnswer to_answer(std::optional<std::string> missing) {
  if (missing) return *std::move(missing);
  return std::optional<ops::LibraryInfo>();
}

// libbench_cuda.so, loaded on first use and kept for the life of the process.
class CudaBackends {
 public:
  explicit CudaBackends(CudaPluginFinder find) : find_(std::move(find)) {}

  Result<std::unique_ptr<ops::Backend>, BackendError> open(std::string_view name) {
    BENCH_ASSIGN_OR_RETURN(const ops::cuda::OfferedBackend* backend, find(name));
    if (auto reason = backend->probe()) {
      return BackendError{BackendError::Kind::skipped, std::move(*reason)};
    }
    return backend->open();
  }
  ProbeAnswer probe(std::string_view name) {
    const auto backend = find(name);
    return backend ? to_answer((*backend)->probe()) : backend.error().reason;
  }

 private:
  // Returns nullopt on success.
  std::optional<BackendError> load() {
    if (plugin_) return std::nullopt;
    const auto make_error = [](const std::string& reason) {
      return BackendError{BackendError::Kind::skipped, "no CUDA device: " + reason};
    };
    const Result<std::string> file = find_();
    if (!file) return make_error(file.error().what);
    auto plugin = load_cuda_plugin(*file);
    if (!plugin) return make_error(plugin.error().message());
    plugin_.emplace(std::move(plugin).value());
    return std::nullopt;
  }
  Result<const ops::cuda::OfferedBackend*, BackendError> find(std::string_view name) {
    if (auto error = load()) return std::move(*error);
    for (const ops::cuda::OfferedBackend& backend : plugin_->handover.services->backends()) {
      if (backend.name == name) return &backend;
    }
    return BackendError{BackendError::Kind::unsupported,
                        fmt::format("the CUDA plugin {} has no backend `{}`", plugin_->file, name)};
  }

  CudaPluginFinder find_;
  std::optional<CudaPlugin> plugin_;
};

void add_cuda(CudaPluginFinder find, ops::BackendSet& backends) {
  const auto plugin = std::make_shared<CudaBackends>(std::move(find));
  for (const std::string_view name : cuda_backend_names()) {
    backends.add(
        std::string(name), "cuda", [plugin, name] { return plugin->open(name); },
        [plugin, name] { return plugin->probe(name); });
  }
}

// The libraries of matrix products are searched and loaded when a case first requests them.
void add_blas(ops::BackendSet& backends) {
  for (const ops::BlasLibrary& library : ops::blas_libraries()) {
    backends.add(
        std::string(library.backend), "cpu",
        [&library] { return ops::make_blas_backend(library, environment_variable); },
        [&library]() -> ProbeAnswer {
          auto loaded = ops::load_blas(library, environment_variable);
          if (!loaded) return std::move(loaded).error().reason;
          return std::optional(std::move(loaded)->info);
        });
  }
}

Status add_plugins(const std::vector<std::string>& files, WorkerContext& context) {
  std::vector<ops::PluginAddition> additions;
  std::vector<std::pair<const bench_backend*, ops::LibraryInfo>> backends;
  for (const std::string& file : files) {
    BENCH_ASSIGN_OR_RETURN(const ops::Plugin plugin, ops::Plugin::load(file));
    additions.push_back(plugin.addition());
    context.plugins.push_back(plugin.library());
    for (const bench_backend* backend : plugin.backends()) {
      backends.emplace_back(backend, plugin.library());
    }
  }
  BENCH_ASSIGN_OR_RETURN(ops::OperatorRegistry registry,
                         ops::OperatorRegistry::extended(std::move(additions)));
  context.own_registry = std::make_shared<const ops::OperatorRegistry>(std::move(registry));
  ops::Backend& built_in = context.backends.first();
  for (const auto& [backend, library] : backends) {
    context.backends.add(
        backend->name, backend->device,
        [backend = backend, library = library, &built_in] {
          return ops::open_backend(*backend, library, built_in);
        },
        [backend = backend] { return to_answer(ops::probe_backend(*backend)); });
  }
  return Done{};
}

// Creates a layer of a network on the first CPU backend, other than that of the network, that
// serves its operator.
Result<std::unique_ptr<ops::Kernel>, BackendError> create_foreign_layer(
    WorkerContext& context, const ops::Problem& problem) {
  const ops::Backend& own = context.backends.first();
  for (const ops::BackendRow& row : context.registry().backends()) {
    const bool serves = row.device == own.device() && row.name != own.name() &&
                        std::ranges::find(row.operators, problem.op->name) != row.operators.end();
    if (!serves) continue;
    BENCH_ASSIGN_OR_RETURN(ops::Backend * backend, context.backends.find(row.name));
    return backend->create(problem);
  }
  return BackendError{
      BackendError::Kind::unsupported,
      fmt::format("no other CPU backend than {} has a kernel of {}", own.name(), problem.op->name)};
}

}  // namespace

std::shared_ptr<WorkerContext> make_worker_context(const std::vector<std::string>& plugins,
                                                   CudaPluginFinder find_cuda) {
  auto context =
      std::make_shared<WorkerContext>(WorkerContext{ops::BackendSet(ops::make_onednn_backend())});
  context->backends.add(
      std::string(ops::kNativeBackend), "cpu",
      []() -> Result<std::unique_ptr<ops::Backend>, ops::BackendError> {
        return ops::make_native_backend();
      },
      [] { return to_answer(std::nullopt); });
  add_blas(context->backends);
  if (find_cuda) add_cuda(std::move(find_cuda), context->backends);
  context->backends.first().set_layer_maker([context = context.get()](const ops::Problem& problem) {
    return create_foreign_layer(*context, problem);
  });
  if (plugins.empty()) return context;
  if (Status status = add_plugins(plugins, *context); !status) {
    context->fault = std::move(status).error();
    context->fault->where = "plugin " + context->fault->where;
  }
  return context;
}

}  // namespace bench
