// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/plan_arguments.hpp"

#include "base/file.hpp"
#include "base/printable.hpp"
#include "harness/result/record.hpp"
#include "harness/run/plugin_workers.hpp"
#include "harness/run/run.hpp"
#include "harness/wire/slowdown.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>

namespace bench {
namespace {

// Maximum size of a file in bytes, the same as the YAML parser's limit. It prevents reading a wrong
// file (a core dump, a device) completely.
constexpr std::int64_t kMaxFileBytes = 8'000'000;

// Returns the file names of a folder, for spelling hints. Empty if the folder cannot be read.
std::vector<std::string> list_file_names(const std::string& folder) {
  std::error_code code;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code))
    names.push_back(entry.path().filename().string());
  return names;
}

}  // namespace

std::vector<std::string> quick_overrides() {
  return {"measure.processes=2", "measure.max_time=200ms", "measure.precision=5%",
          "measure.min_iterations=5", "warmup.time=20ms"};
}

std::vector<std::string> network_folders(const std::string& program_path) {
  const std::filesystem::path program(program_path);
  const std::filesystem::path prefix = program.parent_path().parent_path();
  return {"configs/networks", (prefix / "share/bench/configs/networks").string(),
          (prefix.parent_path() / "configs/networks").string()};
}

LoadRequest make_load_request(const Arguments& arguments) {
  LoadRequest request;
  request.arguments = arguments.inputs;
  request.overrides = arguments.quick ? quick_overrides() : std::vector<std::string>{};
  request.overrides.insert(request.overrides.end(), arguments.overrides.begin(),
                           arguments.overrides.end());
  request.filters = arguments.filters;
  request.devices = arguments.devices;
  request.plugins = arguments.plugins;
  request.network_folders = network_folders(own_path());
  request.read = [named = arguments.inputs](const std::string& path) {
    const bool is_named = std::ranges::find(named, path) != named.end();
    return read_file(path, kMaxFileBytes,
                     is_named ? OpenDescriptors::read : OpenDescriptors::refuse);
  };
  request.list = list_file_names;
  return request;
}

std::optional<Plan> plan_or_diagnose(const Arguments& arguments, Env& env) {
  if (const Status status = check_slowdown(env.variable(kSlowdownVariable)); !status) {
    print_line(*env.err, status.error().message());
    return std::nullopt;
  }
  PluginWorkers workers(own_path(), env);
  LoadRequest request = make_load_request(arguments);
  request.load_plugins = [&](const std::vector<std::string>& files) {
    return workers.registry(files);
  };
  auto plan = load_plan(request);
  workers.rest();
  if (!plan.ok()) {
    for (const Diagnostic& diagnostic : plan.error()) print_line(*env.err, diagnostic.message());
    return std::nullopt;
  }
  if (arguments.shard)
    return shard_cases(*std::move(plan), arguments.shard->index, arguments.shard->count);
  return *std::move(plan);
}

std::string own_path() {
  std::error_code code;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", code);
  return code ? std::string("bench") : path.string();
}

}  // namespace bench
