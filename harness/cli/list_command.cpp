// SPDX-License-Identifier: Apache-2.0
#include "base/available_memory.hpp"
#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/host/memory_shortage.hpp"
#include "harness/host/placement.hpp"
#include "harness/report/short_id.hpp"
#include "harness/result/fields.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/devices.hpp"
#include "harness/run/probe.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/network/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench {
namespace {

// Text for a case that can run on this machine; also CudaSupport::runs for a supported case.
constexpr std::string_view kYes = "yes";

// Describes what would run a case on a GPU: "cuDNN", "cuDNN + bench:elementwise (...)".
std::string format_support(const CudaSupport& support) {
  const std::string by = support.reason.empty() || support.by.empty()
                             ? support.by + support.reason
                             : fmt::format("{} ({})", support.by, support.reason);
  if (support.runs == kYes) return by;
  return fmt::format("{}: {}", support.runs == "no" ? "unsupported" : "not known", by);
}

// Why `run` would skip cases or report them as unsupported; key: case id.
using UnsupportedReasons = std::map<std::string, std::string>;

// What decides whether cases can run on this machine.
struct CaseAvailability {
  std::set<std::string> devices;               // names of this machine's devices
  std::map<std::string, std::string> missing;  // reasons; key: missing backend of a plugin
  CudaSupports cuda;                           // for cases on a GPU, if a worker could answer
  UnsupportedReasons unsupported;

  // Returns "yes" or "no: REASON".
  std::string format_runs_here(const CaseRecord& record) const {
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
      return std::string(kYes);
    }
    const std::string no_device = fmt::format("no: no {} device", record.device);
    return is_reported ? fmt::format("{}; there: {}", no_device, format_support(support->second))
                       : no_device;
  }
};

std::string count_or_unknown(const std::optional<std::int64_t>& count) {
  return format_or_unknown(count, [](std::int64_t value) { return format_count(value); });
}

// Where the table shows why a case cannot run. In a file or a pipe, each case has only one line, so
// the row contains the reason.
enum class ReasonPlacement { in_row, below_row };

TextRow make_case_row(const CaseRecord& record, const IdShortener& ids,
                      const std::string& runs_here, ReasonPlacement placement) {
  const ops::Work& work = *record.work;
  TextRow row;
  TextCell id{record.id};
  if (placement == ReasonPlacement::below_row) id.shorter = ids.forms(record.id);
  row.cells = {std::move(id),
               {count_or_unknown(work.macs)},
               {format_count(work.flops)},
               {format_bytes(work.traffic())},
               {record.multiplicity ? fmt::format("x{}", *record.multiplicity) : ""},
               {runs_here}};
  if (placement == ReasonPlacement::in_row || runs_here == kYes) return row;
  const std::size_t end = std::min(runs_here.find(": "), runs_here.size());
  row.cells.back() = {runs_here.substr(0, end), Tone::warning};
  row.note = end < runs_here.size() ? runs_here.substr(end + 2) : "";
  return row;
}

void print_table(const Plan& plan, const CaseAvailability& availability, Env& env) {
  const ConsoleOptions console = console_options(env);
  const ReasonPlacement placement =
      console.width < kUnlimitedWidth ? ReasonPlacement::below_row : ReasonPlacement::in_row;
  const std::vector<TextColumn> columns = {{"case", Align::left, kMinId},
                                           {"MACs", Align::right, std::nullopt, 3},
                                           {"FLOPs", Align::right, std::nullopt, 1},
                                           {"bytes", Align::right, std::nullopt, 2},
                                           {"", Align::right, std::nullopt, 4},
                                           {"runs here"}};
  std::vector<std::string_view> ids;
  for (const Case& entry : plan.cases) ids.push_back(entry.id);
  const IdShortener shortener(ids);
  std::vector<TextRow> rows;
  std::size_t runnable = 0;
  for (const Case& entry : plan.cases) {
    const CaseRecord record = case_facts(entry);
    const std::string runs_here = availability.format_runs_here(record);
    rows.push_back(make_case_row(record, shortener, runs_here, placement));
    runnable += runs_here == kYes ? 1 : 0;
  }
  *env.out << render_table(columns, std::move(rows), console.width, console.colour)
           << fmt::format("{} case{}, {} can run here\n", plan.cases.size(),
                          plan.cases.size() == 1 ? "" : "s", runnable);
}

// Formats the case as a JSON record of a result file. The section `support` states what would run
// the case on a GPU, or why `run` would not measure it.
std::string format_case_json(const Case& entry, const CudaSupports& cuda,
                             const UnsupportedReasons& unsupported) {
  const CaseRecord record = case_facts(entry);
  std::optional<CudaSupport> support;
  // Checks in the order of the table, because `run` skips a case before it asks a library.
  if (const auto skipped = unsupported.find(record.id); skipped != unsupported.end()) {
    support = CudaSupport{.runs = "no", .by = "", .reason = skipped->second, .engines = {}};
  } else if (const auto found = cuda.find(record.id); found != cuda.end()) {
    support = found->second;
  }
  return json_object([&](JsonWriter& writer) {
    fields(writer, record);
    writer.group("support", support, [](JsonWriter& section, const CudaSupport& value) {
      section.required("runs", value.runs);
      section.required("by", value.by);
      section.required("reason", value.reason);
    });
  });
}

void print_json(const Plan& plan, const CudaSupports& cuda, const UnsupportedReasons& unsupported,
                Env& env) {
  *env.out << "{\"cases\":[";
  for (std::size_t i = 0; i < plan.cases.size(); ++i) {
    *env.out << (i == 0 ? "\n" : ",\n") << format_case_json(plan.cases[i], cuda, unsupported);
  }
  *env.out << "\n]}\n";
}

// The processors and the memory of this machine that a case can use.
struct Machine {
  Cores cores = allowed_cores();
  std::optional<Bytes> memory = available_memory("");
};

// Returns why `run` would skip the case on this machine, or nullopt. Makes the checks of
// coordinator and worker in the same order.
std::optional<std::string> skip_reason(const Case& entry, const Machine& machine) {
  if (const auto placed = place_threads(entry.key.threads, machine.cores); !placed) {
    return placed.error().message();
  }
  return memory_shortage(case_tensors(entry), machine.memory);
}

// Returns why a backend does not support the case, or nullopt. Checks in the order of create() in a
// worker, so that `list` and `run` give the same reason.
std::optional<std::string> unsupported_reason(const Case& entry, const ops::Backend& onednn) {
  const auto* problem = std::get_if<ops::Problem>(&entry.work);
  const bool is_onednn = entry.key.backend == onednn.name();
  if (problem == nullptr && !is_onednn) {
    const auto names = cuda_backend_names();
    const bool is_cuda_backend = std::ranges::find(names, entry.key.backend) != names.end();
    const auto& network = *std::get<std::shared_ptr<const ops::Network>>(entry.work);
    return is_cuda_backend ? ops::whole_network_unsupported_reason(network, "cuDNN") : std::nullopt;
  }
  if (!is_onednn) return std::nullopt;
  auto refused =
      problem != nullptr
          ? onednn.support_error(*problem)
          : onednn.support_error(*std::get<std::shared_ptr<const ops::Network>>(entry.work));
  return refused ? std::optional(std::move(refused->reason)) : std::nullopt;
}

UnsupportedReasons unsupported_reasons(const Plan& plan) {
  const auto onednn = ops::make_onednn_backend();
  if (!plan.plugins.empty()) {
    // In a worker, plugins provide the layers for which oneDNN has no kernel.
    onednn->set_layer_maker(
        [](const ops::Problem&) -> Result<std::unique_ptr<ops::Kernel>, ops::BackendError> {
          return ops::BackendError{ops::BackendError::Kind::unsupported, ""};
        });
  }
  const Machine machine;
  UnsupportedReasons reasons;
  for (const Case& entry : plan.cases) {
    auto reason = skip_reason(entry, machine);
    if (!reason) reason = unsupported_reason(entry, *onednn);
    if (reason) reasons.emplace(entry.id, *std::move(reason));
  }
  return reasons;
}

// Starts a worker and returns its devices, and the plugins' backends that are missing. If the
// worker cannot start, prints the error and returns no devices.
CaseAvailability find_availability(const Plan& plan, Env& env) {
  CaseAvailability availability;
  const auto description = describe_worker(own_path(), env, plan.plugins);
  if (!description.ok()) {
    print_line(*env.err, fmt::format("bench list: {}", description.error().message()));
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

// Asks a worker which libraries and kernels would run each operator on a GPU. Skips networks, whose
// layers can be listed as cases. If the worker fails, prints the error and returns an empty map.
CudaSupports query_gpu_support(const Plan& plan, Env& env) {
  std::vector<std::string> ids;
  for (const Case& entry : plan.cases) {
    const bool is_cuda_backend =
        std::ranges::find(cuda_backend_names(), entry.key.backend) != cuda_backend_names().end();
    if (is_cuda_backend && std::holds_alternative<ops::Problem>(entry.work))
      ids.push_back(entry.id);
  }
  if (ids.empty()) return {};
  auto supports = ask_cuda_support(own_path(), {ids}, env);
  if (!supports) {
    print_line(*env.err, fmt::format("bench list: cannot determine what a GPU would run: {}",
                                     supports.error().message()));
    return {};
  }
  return *std::move(supports);
}

}  // namespace

ExitStatus list_command(const Arguments& arguments, Env& env) {
  const auto plan = plan_or_diagnose(arguments, env);
  if (!plan) return ExitStatus::usage;
  CudaSupports cuda = query_gpu_support(*plan, env);
  if (arguments.output == Output::json) {
    print_json(*plan, cuda, unsupported_reasons(*plan), env);
  } else {
    CaseAvailability availability = find_availability(*plan, env);
    availability.cuda = std::move(cuda);
    availability.unsupported = unsupported_reasons(*plan);
    print_table(*plan, availability, env);
  }
  return ExitStatus::success;
}

}  // namespace bench
