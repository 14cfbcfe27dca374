// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/report/report.hpp"
#include "harness/run/case_facts.hpp"
#include "harness/run/probe.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ostream>
#include <set>

namespace bench {
namespace {

struct Totals {
  std::int64_t cases = 0;
  std::int64_t here = 0;
};

std::string count_or_unknown(const std::optional<std::int64_t>& count) {
  return format_or_unknown(count, [](std::int64_t value) { return format_count(value); });
}

std::string table_row(const CaseRecord& record, std::size_t id_width, const std::string& where) {
  const ops::Work& work = *record.work;
  return fmt::format("{:<{}}  {:>9}  {:>9}  {:>10}  {:>4}  {}\n", record.id, id_width,
                     count_or_unknown(work.macs), format_count(work.flops),
                     format_bytes(work.traffic()),
                     record.multiplicity ? fmt::format("x{}", *record.multiplicity) : "", where);
}

void print_table(const std::vector<CaseRecord>& records, const std::set<std::string>& devices,
                 Env& env) {
  std::size_t width = 4;
  for (const CaseRecord& record : records) width = std::max(width, display_width(record.id));
  std::string text = fmt::format("{:<{}}  {:>9}  {:>9}  {:>10}  {:>4}  {}\n", "case", width, "MACs",
                                 "FLOPs", "bytes", "", "runs here");
  Totals totals;
  for (const CaseRecord& record : records) {
    const bool here = devices.contains(record.device);
    text += table_row(record, width, here ? "yes" : fmt::format("no: no {} device", record.device));
    ++totals.cases;
    totals.here += here ? 1 : 0;
  }
  *env.out << text
           << fmt::format("{} case{}, {} can run here\n", totals.cases,
                          totals.cases == 1 ? "" : "s", totals.here);
}

void print_json(const std::vector<CaseRecord>& records, Env& env) {
  *env.out << "{\"cases\":[";
  for (std::size_t i = 0; i < records.size(); ++i) {
    *env.out << (i == 0 ? "\n" : ",\n") << to_json_line(records[i]);
  }
  *env.out << "\n]}\n";
}

// Devices that a worker of this program finds; a worker that cannot start is reported, and listing
// goes on.
std::set<std::string> devices_here(Env& env) {
  const auto description = describe_worker(own_path(), env);
  if (!description.ok()) {
    *env.err << "bench list: " << description.error().message() << '\n';
    return {};
  }
  std::set<std::string> devices;
  const auto document = nlohmann::json::parse(*description, nullptr, false);
  for (const auto& device : document.value("devices", nlohmann::json::array())) {
    devices.insert(device.value("name", std::string()));
  }
  return devices;
}

}  // namespace

ExitStatus list_command(const Arguments& arguments, Env& env) {
  const auto plan = plan_or_diagnose(arguments, env);
  if (!plan) return ExitStatus::usage;
  std::vector<CaseRecord> records;
  records.reserve(plan->cases.size());
  for (const Case& entry : plan->cases) records.push_back(case_facts(entry));
  if (arguments.output == Output::json) {
    print_json(records, env);
  } else {
    print_table(records, devices_here(env), env);
  }
  return ExitStatus::success;
}

}  // namespace bench
