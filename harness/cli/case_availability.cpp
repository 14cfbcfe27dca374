// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/case_availability.hpp"

#include "base/available_memory.hpp"
#include "base/printable.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/host/placement.hpp"
#include "harness/report/console.hpp"
#include "harness/run/coordinator.hpp"
#include "harness/run/devices.hpp"
#include "harness/run/probe.hpp"
#include "harness/run/worker_link.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/blas/backend.hpp"
#include "ops/native/backend.hpp"
#include "ops/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace bench {
namespace {

// Describes what would run a case on a GPU: "cuDNN", "cuDNN + bench:elementwise (...)".
std::string format_support(const CudaSupport& support) {
  const std::string by = support.reason.empty() || support.by.empty()
                             ? support.by + support.reason
                             : fmt::format("{} ({})", support.by, support.reason);
  if (support.runs == kRunsHere) return by;
  return fmt::format("{}: {}", support.runs == "no" ? "unsupported" : "not known", by);
}

constexpr std::string_view kOnednnBackend = "onednn";

// As in a worker, other backends create the layers of networks that oneDNN does not have. A
// plugin's layers are not known before it is loaded. `native` must outlive the result.
std::unique_ptr<ops::Backend> make_onednn(ops::Backend& native) {
  std::unique_ptr<ops::Backend> onednn = ops::make_onednn_backend();
  // Otherwise ONEDNN_VERBOSE would mix the library's lines with this command's output.
  onednn->set_output(ops::LibraryOutput::none);
  onednn->set_layer_maker([&native](const ops::Problem& problem)
                              -> Result<std::unique_ptr<ops::Kernel>, ops::BackendError> {
    if (ops::find_operator(problem.op->name) == nullptr) return std::unique_ptr<ops::Kernel>();
    return native.create(problem);
  });
  return onednn;
}

// Returns why a backend does not support the case, or nullopt. Asks what create() asks in a worker,
// so that `list` and `run` give the same reason.
std::optional<std::string> unsupported_reason(
    const Case& entry, std::span<const std::unique_ptr<ops::Backend>> cpu_backends) {
  const auto* problem = std::get_if<ops::Problem>(&entry.work);
  const auto own = std::ranges::find(cpu_backends, entry.key.backend, &ops::Backend::name);
  if (entry.key.streams > 1 && (own == cpu_backends.end() || !(*own)->runs_streams()))
    return ops::streams_unsupported_reason(entry.key.backend);
  const auto network_of = [&]() -> const ops::Network& {
    return *std::get<std::shared_ptr<const ops::Network>>(entry.work);
  };
  if (own != cpu_backends.end()) {
    auto refused =
        problem != nullptr ? (*own)->support_error(*problem) : (*own)->support_error(network_of());
    return refused ? std::optional(std::move(refused->reason)) : std::nullopt;
  }
  if (problem != nullptr || !is_cuda_backend(entry.key.backend)) return std::nullopt;
  return network_of().gap;
}

// Returns the distinct names of the cases' backends.
std::vector<std::string> list_backends(const Plan& plan) {
  std::set<std::string> names;
  for (const Case& entry : plan.cases) names.insert(entry.key.backend);
  return {names.begin(), names.end()};
}

}  // namespace

std::string CaseAvailability::format_runs_here(const CaseRecord& record) const {
  if (const auto found = missing.find(record.backend); found != missing.end()) {
    return "no: " + found->second;
  }
  if (const auto found = unsupported.find(record.id); found != unsupported.end())
    return "no: " + found->second;
  const auto support = cuda.find(record.id);
  const bool is_reported = support != cuda.end();
  if (devices.contains(record.device)) {
    if (is_reported && support->second.runs == "no")
      return "no: " + format_support(support->second);
    return std::string(kRunsHere);
  }
  const std::string no_device = fmt::format("no: no {} device", record.device);
  return is_reported ? fmt::format("{}; on a GPU: {}", no_device, format_support(support->second))
                     : no_device;
}

UnsupportedReasons unsupported_reasons(const Plan& plan, std::string_view command, Env& env) {
  const bool needs_onednn = std::ranges::any_of(
      plan.cases, [](const Case& entry) { return entry.key.backend == kOnednnBackend; });
  const auto obstacle = needs_onednn ? find_missing_functions(own_path(), env) : std::nullopt;
  if (obstacle) print_sentence(env, fmt::format("bench {}: {}", command, obstacle->message()));
  std::vector<std::unique_ptr<ops::Backend>> backends;  // those that are a part of this program
  backends.push_back(ops::make_native_backend());
  for (const ops::BlasLibrary& library : ops::blas_libraries())
    backends.push_back(ops::make_unloaded_blas_backend(library));
  if (needs_onednn && !obstacle) backends.push_back(make_onednn(*backends.front()));
  const Cores cores = allowed_cores();
  const std::optional<Bytes> memory = available_memory("");
  UnsupportedReasons reasons;
  for (const Case& entry : plan.cases) {
    auto reason = machine_skip_reason(entry, cores, memory);
    if (!reason && obstacle && entry.key.backend == kOnednnBackend)
      reason = "oneDNN does not load as this bench needs it; a message says why";
    if (!reason) reason = unsupported_reason(entry, backends);
    if (reason) reasons.emplace(entry.id, *std::move(reason));
  }
  return reasons;
}

CudaSupports query_gpu_support(const Plan& plan, std::string_view command, Env& env) {
  std::vector<std::string> ids;
  for (const Case& entry : plan.cases) {
    if (is_cuda_backend(entry.key.backend) && std::holds_alternative<ops::Problem>(entry.work))
      ids.push_back(entry.id);
  }
  if (ids.empty()) return {};
  auto supports = ask_cuda_support(own_path(), {ids}, env);
  if (!supports) {
    print_sentence(env, fmt::format("bench {}: cannot determine what a GPU would run: {}", command,
                                    supports.error().message()));
    return {};
  }
  return *std::move(supports);
}

CaseAvailability find_availability(const Plan& plan, std::string_view command, Env& env) {
  CaseAvailability availability;
  availability.cuda = query_gpu_support(plan, command, env);
  availability.unsupported = unsupported_reasons(plan, command, env);
  const auto description = describe_worker(own_path(), env, plan.plugins, list_backends(plan));
  if (!description.ok()) {
    print_sentence(env, fmt::format("bench {}: {}", command, description.error().message()));
    return availability;
  }
  for (const WorkerDocument::Device& device : description->devices) {
    availability.devices.insert(device.name);
  }
  for (const WorkerDocument::Device& device : description->missing) {
    availability.missing.emplace(device.backend, device.reason.value_or(""));
  }
  return availability;
}

ReasonPlacement reason_placement(std::size_t width) {
  return width < kUnlimitedWidth ? ReasonPlacement::below_row : ReasonPlacement::in_row;
}

void add_runs_here(const std::string& runs_here, ReasonPlacement placement, TextRow& row) {
  row.cells.push_back({runs_here});
  if (placement == ReasonPlacement::in_row || runs_here == kRunsHere) return;
  const std::size_t end = std::min(runs_here.find(": "), runs_here.size());
  row.cells.back() = {runs_here.substr(0, end), Tone::warning};
  row.note = end < runs_here.size() ? runs_here.substr(end + 2) : "";
}

}  // namespace bench
