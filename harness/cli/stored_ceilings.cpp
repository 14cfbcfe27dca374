// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/stored_ceilings.hpp"

#include "base/text.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/gpu_description.hpp"
#include "harness/result/activity_roofline.hpp"
#include "harness/result/report.hpp"
#include "harness/result/result_text.hpp"
#include "harness/result/roofline.hpp"
#include "harness/run/case_progress.hpp"
#include "harness/run/devices.hpp"
#include "harness/run/gpu_peak_plan.hpp"
#include "harness/run/peak_plan.hpp"
#include "harness/store/store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

using Facts = std::map<std::string, std::string>;

// The beginning of the names of facts about GPUs: "gpu.name", "gpu.tracer".
constexpr const char* kGpuFacts = "gpu.";

std::optional<std::int64_t> find_positive_number(const Facts& facts, const std::string& name) {
  const auto found = facts.find(name);
  if (found == facts.end()) return std::nullopt;
  const auto number = parse_number<std::int64_t>(found->second);
  return number && *number > 0 ? number : std::nullopt;
}

// Returns the cases of a result file. Empty if there are none, if the file has another format, or
// if it is standard input, which can be read only once.
std::vector<CaseRecord> read_cases(const std::string& path, TextSource& source) {
  const auto reader = find_reader(source);
  if (path == "-" || !reader.ok() || (*reader)->name != "result") return {};
  // Errors in the file are reported later, when its activities are read.
  auto report = read_report(path);
  return report.ok() ? std::move(report->cases) : std::vector<CaseRecord>{};
}

// Key: case id.
std::map<std::string, Roofline> collect_rooflines(const std::vector<CaseRecord>& cases) {
  std::map<std::string, Roofline> rooflines;
  for (const CaseRecord& record : cases) {
    if (record.roofline) rooflines.emplace(record.id, *record.roofline);
  }
  return rooflines;
}

// Returns the provider for activities. The records of cases, if there are any, say where cold
// caches leave the data, which activities alone do not.
IdealProvider make_provider(MachineCeilings machine, std::vector<CaseRecord> cases) {
  for (CaseRecord& record : cases) {
    const Ceilings& ceilings = record.device == "cuda" ? machine.gpu : machine.cpu;
    // A run judges its times. Here a ceiling that was measured badly only makes a share too high.
    if (const auto input = make_roofline_input(record, ceilings))
      record.roofline = compute_roofline(*input, ceilings);
  }
  auto rooflines = collect_rooflines(cases);
  return rooflines.empty() ? make_ideal_provider(std::move(machine))
                           : make_ideal_provider(std::move(rooflines));
}

// Returns the ceilings of a machine class, which need not be that of this machine. `facts` contains
// the cache sizes of the machine.
FoundCeilings find_class_ceilings(const std::string& machine, const Facts& facts,
                                  const std::string& store) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kCaches = {
      {{"cache.L1d_bytes", "l1"}, {"cache.L2_bytes", "l2"}, {"cache.L3_bytes", "l3"}}};
  const auto stored = find_peaks(store, machine);
  if (!stored.ok() || stored->history.records.empty()) return {{}, store};
  int threads = 1;
  for (const PeakRecord& record : stored->history.records) {
    threads = std::max(threads, record.ceiling.threads);
  }
  std::map<std::string, Bytes, std::less<>> caches;
  for (const auto& [fact, level] : kCaches) {
    if (const auto size = find_positive_number(facts, std::string(fact)))
      caches.emplace(level, Bytes{*size});
  }
  return {stored_ceilings(stored->history.records, threads, std::move(caches)), stored->store};
}

}  // namespace

FoundCeilings find_cpu_ceilings(const std::string& store) {
  const CpuFacts cpu = read_cpu(SystemRoot{});
  const auto stored = find_peaks(store, machine_class(cpu));
  if (!stored.ok()) return {{}, store};
  return {stored_ceilings(stored->history.records, cpu.logical, cache_sizes(cpu)), stored->store};
}

Ceilings find_case_ceilings(const Case& spec, const std::string& store, Env& env) {
  if (spec.key.device != "cuda") return find_cpu_ceilings(store).ceilings;
  const auto stored = find_peaks(store, machine_class(read_cpu(SystemRoot{})));
  if (!stored.ok() || stored->history.records.empty()) return {};
  const CudaStatus status = ask_cuda(own_path(), {}, ops::cuda::ProbeExtent::devices, env);
  return stored_gpu_ceilings(stored->history.records, select_gpu_ceilings(gpu_details(status)));
}

Status check_named_store(const Arguments& arguments) {
  if (!arguments.baseline) return Done{};
  const BaselineStore store(*arguments.baseline);
  BENCH_RETURN_IF_ERROR(store.list());
  if (auto foreign = store.foreign_content()) return *std::move(foreign);
  return Done{};
}

namespace {

// What a file says about the machine that recorded it.
struct FileMachine {
  std::string machine_class;  // this machine's if the file names none
  bool is_named = false;
  bool is_here = true;
  bool has_gpu = false;
  bool has_cpu = true;
  Facts facts;
};

// The readers of files in which all rows are kernels of a GPU.
constexpr std::array<std::string_view, 2> kGpuReaders = {"pyprof", "gpu_records"};

// `cases`: those of a result file, which state where they ran.
FileMachine describe_file(TextSource& source, const std::vector<CaseRecord>& cases) {
  FileMachine machine;
  machine.facts = head_facts(source);
  machine.machine_class = machine_class(read_cpu(SystemRoot{}));
  if (const auto named = machine.facts.find("machine_class"); named != machine.facts.end()) {
    machine.is_named = true;
    machine.is_here = named->second == machine.machine_class;
    machine.machine_class = named->second;
  }
  const auto reader = find_reader(source);
  const bool is_of_gpu =
      reader.ok() && std::ranges::find(kGpuReaders, (*reader)->name) != kGpuReaders.end();
  const auto gpu_fact = machine.facts.lower_bound(kGpuFacts);
  machine.has_cpu = !is_of_gpu;
  machine.has_gpu =
      is_of_gpu || (gpu_fact != machine.facts.end() && gpu_fact->first.starts_with(kGpuFacts));
  if (cases.empty()) return machine;
  const auto on_gpu = std::ranges::count(cases, "cuda", &CaseRecord::device);
  machine.has_cpu = on_gpu < std::ssize(cases);
  machine.has_gpu = on_gpu > 0;
  return machine;
}

// Returns the ceilings of the GPU that the file names or, if it names none, of the only GPU whose
// ceilings the machine class has.
FoundCeilings find_file_gpu_ceilings(const FileMachine& machine, const std::string& store) {
  const auto stored = find_peaks(store, machine.machine_class);
  if (!stored.ok()) return {{}, store};
  Ceilings gpu = select_gpu_ceilings(machine.facts);
  if (gpu.gpu.empty()) {
    std::set<std::string> names;
    for (const PeakRecord& record : stored->history.records) {
      if (!record.gpu.empty()) names.insert(record.gpu);
    }
    if (names.size() == 1) gpu.gpu = *names.begin();
  }
  return {stored_gpu_ceilings(stored->history.records, std::move(gpu)), stored->store};
}

std::string name_ceilings_of_cpu(const FileMachine& machine) {
  return machine.is_here ? "this machine's CPU" : "`" + machine.machine_class + "`";
}
std::string name_ceilings_of_gpu(const Ceilings& gpu) {
  return gpu.gpu.empty() ? "a GPU" : "the GPU `" + gpu.gpu + "`";
}

std::string describe_missing(const std::vector<std::string>& names, const FileMachine& machine,
                             const std::string& store) {
  return fmt::format("No ceilings of {} are stored in {}: run `bench peak`{}.{}",
                     fmt::join(names, " and "), store, machine.is_here ? "" : " there",
                     machine.has_gpu ? " --peak-flops and --peak-bandwidth state them." : "");
}

// Says where the ceilings come from, and how to get those that are missing.
std::string describe_ceilings(const FileMachine& machine, const FoundCeilings& cpu,
                              const FoundCeilings& gpu) {
  std::vector<std::string> found, missing;
  if (machine.has_cpu)
    (cpu.ceilings.rows.empty() ? missing : found).push_back(name_ceilings_of_cpu(machine));
  if (machine.has_gpu)
    (gpu.ceilings.rows.empty() ? missing : found).push_back(name_ceilings_of_gpu(gpu.ceilings));
  const std::string& store = machine.has_cpu ? cpu.store : gpu.store;
  std::string text;
  if (!found.empty()) {
    text = fmt::format("Ceilings: those of {} in {}{}.", fmt::join(found, " and "), store,
                       machine.is_named ? "" : "; the file names no machine");
  }
  if (missing.empty()) return text;
  return text + (text.empty() ? "" : " ") + describe_missing(missing, machine, store);
}

// Uses the rates that the user states.
CeilingKnowledge use_stated_peaks(const AnalysisOptions& stated) {
  std::string note = "Ceilings: those of --peak-flops and --peak-bandwidth.";
  if (!stated.peak_bandwidth)
    note = "Ceilings: that of --peak-flops; rows with bytes also need --peak-bandwidth.";
  if (!stated.peak_flops)
    note = "Ceilings: that of --peak-bandwidth; rows with FLOPs also need --peak-flops.";
  return {make_ideal_provider(stated.peak_flops, stated.peak_bandwidth), std::move(note)};
}

}  // namespace

CeilingKnowledge find_row_ceilings(const std::string& path, TextSource& source,
                                   const std::string& store, const AnalysisOptions& stated) {
  if (stated.peak_flops || stated.peak_bandwidth) return use_stated_peaks(stated);
  std::vector<CaseRecord> cases = read_cases(path, source);
  if (auto in_file = collect_rooflines(cases); !in_file.empty()) {
    return {make_ideal_provider(std::move(in_file)),
            "Ceilings: those that the file states for its cases."};
  }
  const FileMachine machine = describe_file(source, cases);
  FoundCeilings cpu{{}, store};
  if (machine.has_cpu) {
    cpu = machine.is_here ? find_cpu_ceilings(store)
                          : find_class_ceilings(machine.machine_class, machine.facts, store);
  }
  FoundCeilings gpu{{}, store};
  if (machine.has_gpu) gpu = find_file_gpu_ceilings(machine, store);
  std::string note = describe_ceilings(machine, cpu, gpu);
  if (cpu.ceilings.rows.empty() && gpu.ceilings.rows.empty()) return {{}, std::move(note)};
  return {make_provider({std::move(cpu.ceilings), std::move(gpu.ceilings), machine.has_gpu},
                        std::move(cases)),
          std::move(note)};
}

}  // namespace bench
