// SPDX-License-Identifier: Apache-2.0
#include "harness/run/equipment.hpp"

#include "ops/plugin/plugin.hpp"

#include <utility>

namespace bench {
namespace {

Status add_plugins(const std::vector<std::string>& files, Equipment& equipment) {
  std::vector<ops::CatalogueAddition> additions;
  std::vector<std::pair<const bench_backend*, ops::LibraryInfo>> backends;
  for (const std::string& file : files) {
    BENCH_ASSIGN_OR_RETURN(const ops::Plugin plugin, ops::Plugin::load(file));
    additions.push_back(plugin.addition());
    equipment.plugins.push_back(plugin.library());
    for (const bench_backend* backend : plugin.backends()) {
      backends.emplace_back(backend, plugin.library());
    }
  }
  BENCH_ASSIGN_OR_RETURN(ops::Catalogue catalogue, ops::Catalogue::extended(std::move(additions)));
  equipment.own_catalogue = std::make_shared<const ops::Catalogue>(std::move(catalogue));
  ops::Backend& built_in = equipment.backends.first();
  for (const auto& [backend, library] : backends) {
    equipment.backends.add(
        backend->name, backend->device,
        [backend = backend, library = library, &built_in] {
          return ops::open_backend(*backend, library, built_in);
        },
        [backend = backend] { return ops::probe_backend(*backend); });
  }
  const ops::Catalogue& all = *equipment.own_catalogue;
  built_in.set_layer_maker(
      [&equipment,
       &all](const ops::Problem& problem) -> Result<std::unique_ptr<ops::Kernel>, ops::Refusal> {
        const auto name = all.default_backend("cpu", problem.op->name);
        BENCH_ASSIGN_OR_RETURN(ops::Backend * backend, equipment.backends.find(name));
        return backend->create(problem);
      });
  return Done{};
}

}  // namespace

std::shared_ptr<Equipment> make_equipment(const std::vector<std::string>& plugins) {
  auto equipment =
      std::make_shared<Equipment>(Equipment{ops::BackendSet(ops::make_onednn_backend())});
  if (plugins.empty()) return equipment;
  if (Status status = add_plugins(plugins, *equipment); !status) {
    equipment->fault = std::move(status).error();
    equipment->fault->where = "plugin " + equipment->fault->where;
  }
  return equipment;
}

}  // namespace bench
