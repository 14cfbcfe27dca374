// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/cli/case_availability.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/console_options.hpp"
#include "harness/cli/list_statistics.hpp"
#include "harness/cli/plan_arguments.hpp"
#include "harness/cli/shard_choice.hpp"
#include "harness/report/short_id.hpp"
#include "harness/run/case_progress.hpp"

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

TextRow make_case_row(const CaseRecord& record, const std::string& runs_here,
                      ReasonPlacement placement) {
  const ops::Work& work = *record.work;
  TextRow row;
  row.cells = {{record.id},
               {format_or_unknown(work.macs, format_count)},
               {format_count(work.flops)},
               {format_bytes(work.traffic())},
               {record.multiplicity ? fmt::format("x{}", *record.multiplicity) : ""}};
  add_runs_here(runs_here, placement, row);
  return row;
}

void print_table(const Plan& plan, const CaseAvailability& availability, Env& env) {
  const ConsoleOptions console = console_options(env);
  const ReasonPlacement placement = reason_placement(console.width);
  const std::vector<TextColumn> columns = {{"case", Align::left, kMinId},
                                           {"MACs", Align::right, std::nullopt, 3},
                                           {"FLOPs", Align::right, std::nullopt, 1},
                                           {"bytes", Align::right, std::nullopt, 2},
                                           {"", Align::right, std::nullopt, 4},
                                           {"runs here"}};
  std::vector<TextRow> rows;
  std::size_t runnable = 0;
  for (const Case& entry : plan.cases) {
    const CaseRecord record = case_facts(entry);
    const std::string runs_here = availability.format_runs_here(record);
    rows.push_back(make_case_row(record, runs_here, placement));
    runnable += runs_here == kRunsHere ? 1 : 0;
  }
  if (placement == ReasonPlacement::below_row) shorten_ids(rows);
  *env.out << render_table(columns, std::move(rows), console.width, console.colour)
           << fmt::format("{}, {} can run here\n", pluralise(plan.cases.size(), "case"), runnable);
}

// Formats the facts of the case. The section `support` states what would run the case on a GPU, or
// why `run` would not measure it.
std::string format_case_json(const Case& entry, const CudaSupports& cuda,
                             const UnsupportedReasons& unsupported) {
  std::optional<CudaSupport> support;
  // Checks in the order of the table, because `run` skips a case before it asks a library.
  if (const auto skipped = unsupported.find(entry.id); skipped != unsupported.end()) {
    support = CudaSupport{.runs = "no", .by = "", .reason = skipped->second, .engines = {}};
  } else if (const auto found = cuda.find(entry.id); found != cuda.end()) {
    support = found->second;
  }
  return json_object([&](JsonWriter& writer) {
    write_case_facts(writer, entry);
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

// The facts of the cases without what depends on the machine.
std::string format_statistics_json(const Plan& plan, const PlanStatistics& statistics) {
  return printed_json([&](JsonWriter& writer) {
    writer.required_list("cases", plan.cases, [&](JsonWriter& record, const Case& entry) {
      write_case_facts(record, entry);
      const auto* problem = std::get_if<ops::Problem>(&entry.work);
      if (problem == nullptr) return;
      write_case_statistics(record, make_statistics_row(entry.id, *problem, statistics.convention));
    });
    write_statistics(writer, statistics);
  });
}

ExitStatus list_with_statistics(const Plan& plan, const Arguments& arguments, Env& env) {
  const Result<PlanStatistics> statistics = collect_statistics(plan, arguments);
  if (!statistics.ok()) return fail("list", statistics.error(), ExitStatus::usage, env);
  if (arguments.output == Output::json) {
    *env.out << format_statistics_json(plan, *statistics);
  } else {
    const ConsoleOptions console = console_options(env);
    *env.out << format_statistics(*statistics, arguments, console.width, console.colour);
  }
  return ExitStatus::success;
}

}  // namespace

ExitStatus list_command(const Arguments& arguments, Env& env) {
  if (arguments.flop_convention && !arguments.stats) {
    return fail("list",
                Error{"a convention counts the FLOPs of statistics only", "--flop-convention",
                      "add --stats"},
                ExitStatus::usage, env);
  }
  auto plan = plan_or_diagnose(arguments, env);
  if (!plan) return ExitStatus::usage;
  const auto part = choose_part(*plan, arguments, env);
  if (!part.ok()) return fail("list", part.error(), ExitStatus::usage, env);
  if (*part) plan = select_cases(std::move(*plan), (*part)->cases);
  if (arguments.stats) return list_with_statistics(*plan, arguments, env);
  if (arguments.output == Output::json) {
    print_json(*plan, query_gpu_support(*plan, "list", env),
               unsupported_reasons(*plan, "list", env), env);
  } else {
    print_table(*plan, find_availability(*plan, "list", env), env);
  }
  return ExitStatus::success;
}

}  // namespace bench
