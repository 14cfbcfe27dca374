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

constexpr std::string_view kHere = "yes";

// Describes what would run a case on a GPU: "cuDNN", "cuDNN + bench:elementwise (...)".
std::string format_support(const CudaSupport& support) {
  const std::string by = support.reason.empty() || support.by.empty()
                             ? support.by + support.reason
                             : fmt::format("{} ({})", support.by, support.reason);
  if (support.runs == kHere) return by;
  return fmt::format("{}: {}", support.runs == "no" ? "unsupported" : "not known", by);
}

// Why backends refuse cases; key: case id.
using UnsupportedReasons = std::map<std::string, std::string>;

// Where cases can run on this machine.
struct Places {
  std::set<std::string> devices;
  std::map<std::string, std::string> missing;  // backends of plugins -> reason
  CudaSupports cuda;                           // for cases on a GPU, as far as known
  UnsupportedReasons refused;                  // cases that `run` will call skipped or unsupported

  std::string where(const CaseRecord& record) const {
    if (const auto why = missing.find(record.backend); why != missing.end()) {
      return "no: " + why->second;
    }
    if (const auto why = refused.find(record.id); why != refused.end()) return "no: " + why->second;
    const auto support = cuda.find(record.id);
    const bool reported = support != cuda.end();
    if (devices.contains(record.device)) {
      if (reported && support->second.runs == "no") return "no: " + format_support(support->second);
      return std::string(kHere);
    }
    const std::string no_device = fmt::format("no: no {} device", record.device);
    return reported ? fmt::format("{}; there: {}", no_device, format_support(support->second))
                    : no_device;
  }
};

std::string count_or_unknown(const std::optional<std::int64_t>& count) {
  return format_or_unknown(count, [](std::int64_t value) { return format_count(value); });
}

// Where the table shows why a case cannot run. In a file or a pipe each case has one line, which
// includes the reason.
enum class Reasons { in_the_row, below_it };

TextRow table_row(const CaseRecord& record, const IdShortener& ids, const std::string& where,
                  Reasons reasons) {
  const ops::Work& work = *record.work;
  TextRow row;
  TextCell id{record.id};
  if (reasons == Reasons::below_it) id.shorter = ids.forms(record.id);
  row.cells = {std::move(id),
               {count_or_unknown(work.macs)},
               {format_count(work.flops)},
               {format_bytes(work.traffic())},
               {record.multiplicity ? fmt::format("x{}", *record.multiplicity) : ""},
               {where}};
  if (reasons == Reasons::in_the_row || where == kHere) return row;
  const std::size_t end = std::min(where.find(": "), where.size());
  row.cells.back() = {where.substr(0, end), Tone::warning};
  row.note = end < where.size() ? where.substr(end + 2) : "";
  return row;
}

void print_table(const Plan& plan, const Places& places, Env& env) {
  const ConsoleOptions console = console_options(env);
  const Reasons reasons = console.width < kUnlimitedWidth ? Reasons::below_it : Reasons::in_the_row;
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
  std::size_t here = 0;
  for (const Case& entry : plan.cases) {
    const CaseRecord record = case_facts(entry);
    const std::string where = places.where(record);
    rows.push_back(table_row(record, shortener, where, reasons));
    here += where == kHere ? 1 : 0;
  }
  *env.out << render_table(columns, std::move(rows), console.width, console.colour)
           << fmt::format("{} case{}, {} can run here\n", plan.cases.size(),
                          plan.cases.size() == 1 ? "" : "s", here);
}

// Formats the case as a record of the result file, with a section `support`: what would run it.
std::string case_line(const Case& entry, const CudaSupports& cuda,
                      const UnsupportedReasons& refused) {
  const CaseRecord record = case_facts(entry);
  std::optional<CudaSupport> support;
  // In the order of the table: `run` skips the case before a library is asked.
  if (const auto why = refused.find(record.id); why != refused.end()) {
    support = CudaSupport{.runs = "no", .by = "", .reason = why->second, .engines = {}};
  } else if (const auto found = cuda.find(record.id); found != cuda.end()) {
    support = found->second;
  }
  return json_object([&](JsonWriter& writer) {
    fields(writer, record);
    writer.group("support", support, [](JsonWriter& section, const CudaSupport& each) {
      section.required("runs", each.runs);
      section.required("by", each.by);
      section.required("reason", each.reason);
    });
  });
}

void print_json(const Plan& plan, const CudaSupports& cuda, const UnsupportedReasons& refused,
                Env& env) {
  *env.out << "{\"cases\":[";
  for (std::size_t i = 0; i < plan.cases.size(); ++i) {
    *env.out << (i == 0 ? "\n" : ",\n") << case_line(plan.cases[i], cuda, refused);
  }
  *env.out << "\n]}\n";
}

// The processors and the memory of this machine that a case can use.
struct Machine {
  Cores cores = allowed_cores();
  std::optional<Bytes> memory = available_memory("");
};

// Returns why `run` skips the case on this machine, with the checks of coordinator and worker in
// their order.
std::optional<std::string> skip_reason(const Case& entry, const Machine& machine) {
  if (const auto placed = place_threads(entry.key.threads, machine.cores); !placed) {
    return placed.error().message();
  }
  return memory_shortage(case_tensors(entry), machine.memory);
}

// Checks first what create() checks first in a worker, so that a list and a run give the same
// answer.
std::optional<std::string> unsupported_reason(const Case& entry, const ops::Backend& onednn) {
  const auto* problem = std::get_if<ops::Problem>(&entry.work);
  const bool on_cpu = entry.key.backend == onednn.name();
  if (problem == nullptr && !on_cpu) {
    const auto names = cuda_backend_names();
    const bool own = std::ranges::find(names, entry.key.backend) != names.end();
    const auto& network = *std::get<std::shared_ptr<const ops::Network>>(entry.work);
    return own ? ops::whole_network_unsupported_reason(network, "cuDNN") : std::nullopt;
  }
  if (!on_cpu) return std::nullopt;
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
  UnsupportedReasons refused;
  for (const Case& entry : plan.cases) {
    auto why = skip_reason(entry, machine);
    if (!why) why = unsupported_reason(entry, *onednn);
    if (why) refused.emplace(entry.id, *std::move(why));
  }
  return refused;
}

// Starts a worker and returns the devices and backends that it finds. If the worker cannot start,
// reports the error and returns no devices.
Places places_here(const Plan& plan, Env& env) {
  Places places;
  const auto description = describe_worker(own_path(), env, plan.plugins);
  if (!description.ok()) {
    print_line(*env.err, fmt::format("bench list: {}", description.error().message()));
    return places;
  }
  for (const WorkerDocument::Device& device : description->devices) {
    places.devices.insert(device.name);
  }
  for (const WorkerDocument::Device& device : description->missing) {
    places.missing.emplace(device.backend, device.reason.value_or(""));
  }
  return places;
}

// Asks a worker which libraries and kernels would run each operator on a GPU. Skips networks,
// because their layers describe them. If the worker fails, reports the error and returns nothing.
CudaSupports cuda_support(const Plan& plan, Env& env) {
  std::vector<std::string> ids;
  for (const Case& entry : plan.cases) {
    const bool own =
        std::ranges::find(cuda_backend_names(), entry.key.backend) != cuda_backend_names().end();
    if (own && std::holds_alternative<ops::Problem>(entry.work)) ids.push_back(entry.id);
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
  CudaSupports cuda = cuda_support(*plan, env);
  if (arguments.output == Output::json) {
    print_json(*plan, cuda, unsupported_reasons(*plan), env);
  } else {
    Places places = places_here(*plan, env);
    places.cuda = std::move(cuda);
    places.refused = unsupported_reasons(*plan);
    print_table(*plan, places, env);
  }
  return ExitStatus::success;
}

}  // namespace bench
