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

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

using Facts = std::map<std::string, std::string>;

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
IdealProvider make_provider(Ceilings ceilings, std::vector<CaseRecord> cases) {
  for (CaseRecord& record : cases) {
    // A run judges its times. Here a ceiling that was measured badly only makes a share too high.
    if (const auto input = make_roofline_input(record, ceilings))
      record.roofline = compute_roofline(*input, ceilings);
  }
  auto rooflines = collect_rooflines(cases);
  return rooflines.empty() ? make_ideal_provider(std::move(ceilings))
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

CeilingKnowledge find_row_ceilings(const std::string& path, TextSource& source,
                                   const std::string& store) {
  std::vector<CaseRecord> cases = read_cases(path, source);
  if (auto stated = collect_rooflines(cases); !stated.empty()) {
    return {make_ideal_provider(std::move(stated)),
            "Ceilings: those that the file states for its cases."};
  }
  const Facts facts = head_facts(source);
  const auto file_class = facts.find("machine_class");
  const std::string this_class = machine_class(read_cpu(SystemRoot{}));
  const bool is_this_machine = file_class == facts.end() || file_class->second == this_class;
  FoundCeilings found = is_this_machine ? find_cpu_ceilings(store)
                                        : find_class_ceilings(file_class->second, facts, store);
  const std::string machine =
      is_this_machine ? "this machine's CPU" : "`" + file_class->second + "`";
  if (found.ceilings.rows.empty()) {
    return {{},
            fmt::format("No ceilings of {} are stored in {}: run `bench peak`{}.", machine, store,
                        is_this_machine ? "" : " there")};
  }
  return {make_provider(std::move(found.ceilings), std::move(cases)),
          fmt::format("Ceilings: those of {} in {}{}.", machine, found.store,
                      file_class == facts.end() ? "; the file names no machine" : "")};
}

}  // namespace bench
