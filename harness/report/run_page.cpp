// SPDX-License-Identifier: Apache-2.0
// The page of a run: what was measured, how good it is, and where the time goes.
#include "base/text.hpp"
#include "harness/report/page.hpp"
#include "harness/report/regret.hpp"
#include "harness/report/run_answer.hpp"
#include "harness/result/summary.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace bench {
namespace {

// The widths of the intervals of all times, and why the other times have none.
struct IntervalWidths {
  std::vector<double> known;
  std::size_t timed = 0;
  std::string_view reason;  // why the other times have none; empty if it is unknown
};

IntervalWidths collect_interval_widths(const Report& report) {
  const CaseColumn& interval = case_column("interval");
  std::vector<const CaseRecord*> without_interval;
  IntervalWidths widths;
  for (const CaseRecord& record : report.cases) {
    if (!record.time) continue;
    ++widths.timed;
    if (const CaseValue cell = interval.value(record); analysis::is_known(cell)) {
      widths.known.push_back(analysis::to_number(cell));
      continue;
    }
    without_interval.push_back(&record);
  }
  bool are_few = false, have_unknown_speeds = false;
  for (const IntervalBasis& basis : find_interval_bases(report, without_interval)) {
    if (basis.measured == 0 || basis.usable >= kMinIntervalProcesses) continue;
    (basis.measured < kMinIntervalProcesses ? are_few : have_unknown_speeds) = true;
  }
  if (are_few) widths.reason = ", since fewer than five processes measured them";
  if (have_unknown_speeds) {
    widths.reason = are_few ? ", since fewer than five processes measured them, or have samples at "
                              "a known speed of the machine"
                            : ", since fewer than five of their processes have samples at a known "
                              "speed of the machine";
  }
  return widths;
}

// Returns sentences about the widths of the intervals. Empty if no case has a time.
std::string format_precision(const Report& report) {
  const IntervalWidths widths = collect_interval_widths(report);
  if (widths.timed == 0) return "";
  if (widths.known.empty()) {
    return fmt::format(" No time has an interval{}, so treat all times as estimates.",
                       widths.reason);
  }
  const double widest = 100 * *std::ranges::max_element(widths.known);
  std::string text =
      widths.known.size() == 1
          ? fmt::format(" The {}interval is +-{:.2g} %", widths.timed == 1 ? "" : "only ", widest)
          : fmt::format(
                " Half of the intervals are narrower than +-{:.2g} %, the widest is +-{:.2g} %",
                100 * *median(widths.known), widest);
  if (const std::size_t missing = widths.timed - widths.known.size(); missing > 0) {
    text += fmt::format("; {} of {} times {} none{}", missing, widths.timed,
                        missing == 1 ? "has" : "have", widths.reason);
  }
  return text + ".";
}

// Returns the sentence that names the processor and the GPU that the cases ran on. Empty if they
// are unknown.
std::string format_machine(const Report& report) {
  if (report.runs.empty()) return "";
  const EnvironmentRecord& machine = report.runs.back().environment;
  std::string processor = machine.cpu;
  if (!processor.empty() && machine.threads) {
    processor += " with " + pluralise(*machine.threads, "thread");
  }
  const auto gpu = machine.details.find("gpu.name");
  const auto on_device = std::ranges::count_if(report.cases, [](const CaseRecord& record) {
    return !record.device.empty() && record.device != "cpu";
  });
  if (on_device == 0 || gpu == machine.details.end()) {
    return processor.empty() ? "" : fmt::format("Measured on {}. ", processor);
  }
  if (processor.empty()) return fmt::format("Measured on {}. ", gpu->second);
  const bool is_only_gpu = on_device == std::ssize(report.cases);
  return is_only_gpu ? fmt::format("Measured on {}; the host is {}. ", gpu->second, processor)
                     : fmt::format("Measured on {}, and on {}. ", processor, gpu->second);
}

std::string format_lead(const RunView& view) {
  const std::string lead = lead_sentences(view.report);
  return lead + (lead.empty() ? "" : " ") + format_machine(view.report) + run_sentence(view) +
         format_precision(view.report);
}

// Details of the environment that may explain noise, with the names that `bench doctor` uses.
constexpr std::array<std::string_view, 9> kShownDetails = {
    "governor", "clock.now_mhz",  "smt",       "aslr",    "transparent_hugepage",
    "kernel",   "cpu.hypervisor", "load_1min", "gpu.name"};

}  // namespace

std::vector<std::pair<std::string, std::string>> list_run_facts(const RunRecord& run) {
  const EnvironmentRecord& machine = run.environment;
  std::vector<std::pair<std::string, std::string>> facts = {
      {"configuration", run.config_files.empty() ? run.config_name
                                                 : fmt::format("{} ({})", run.config_name,
                                                               fmt::join(run.config_files, " "))},
      {"started", run.started},
      {"bench", fmt::format("{} (commit {})", run.tool_version, run.tool_commit)},
      {"machine class", machine.machine_class},
      {"processor", machine.cpu},
      {"threads", machine.threads ? std::to_string(*machine.threads) : ""}};
  for (const auto& [name, version] : machine.libraries) facts.emplace_back(name, version);
  for (const std::string_view name : kShownDetails) {
    const auto found = machine.details.find(std::string(name));
    if (found != machine.details.end()) facts.emplace_back(name, found->second);
  }
  for (const auto& [name, value] : machine.details) {
    if (name.starts_with(kVariableDetail)) facts.emplace_back(name, value);
  }
  facts.emplace_back("command", fmt::format("bench {}", fmt::join(run.arguments, " ")));
  facts.emplace_back("run", run.run_id);
  return facts;
}

namespace {

std::vector<std::string> noise_lines(const RunView& view) {
  std::vector<std::string> lines;
  if (const std::string text = format_speed(view.report); !text.empty()) {
    lines.push_back(text);
  }
  for (const RunRecord& run : view.report.runs) {
    if (!run.under) continue;
    lines.push_back(fmt::format("Run {} used `{}`; do not compare its times with other runs.",
                                run.run_id, *run.under));
  }
  return lines;
}

// Adds the notes that a terminal shows below its table, except the notes on noise:
// add_environment() adds these.
void add_notes(const RunView& view, Page& page) {
  const std::vector<std::string> noise = noise_lines(view);
  std::vector<std::string> notes = answer_notes(view.report);
  std::erase_if(notes, [&](const std::string& note) {
    return std::ranges::find(noise, note) != noise.end();
  });
  if (notes.empty()) return;
  page.section("Notes", "how near the times are to the ceilings, and how certain");
  page.list(notes);
}

// Says what the flags and intervals of the times say about the machine.
std::string describe_quiet(const Report& report) {
  constexpr std::array kSigns = {Flag::disturbed, Flag::unsteady, Flag::throttled, Flag::noisy};
  std::string flagged;
  for (const Flag flag : kSigns) {
    const auto count = std::ranges::count_if(
        report.cases, [&](const CaseRecord& record) { return has_flag(record, flag); });
    if (count == 0) continue;
    flagged += fmt::format("{}{} `{}`", flagged.empty() ? "" : ", ", count, to_string(flag));
  }
  if (!flagged.empty()) {
    return fmt::format(
        "Of {}, {}: something may have disturbed the machine. `bench doctor` lists "
        "what makes it noisy and what helps.",
        pluralise(report.cases.size(), "case"), flagged);
  }
  const bool has_interval = std::ranges::any_of(
      report.cases, [](const CaseRecord& record) { return record.time && record.time->low; });
  return fmt::format("{} `bench doctor` lists what could make it noisy.",
                     has_interval ? "Nothing in the result says that the machine was disturbed."
                                  : "Whether the machine was disturbed is unknown, since no time "
                                    "has an interval.");
}

void add_environment(const RunView& view, Page& page) {
  page.section("Environment", "machine, libraries, command, noise");
  if (view.report.runs.empty()) {
    page.paragraph("The file has no record of a run, so the environment is unknown.");
    return;
  }
  page.facts(list_run_facts(view.report.runs.back()));
  const std::vector<std::string> lines = noise_lines(view);
  if (lines.empty()) {
    page.paragraph(describe_quiet(view.report));
  } else {
    page.list(lines);
    page.paragraph("`bench doctor` says what makes this machine noisy and what helps.");
  }
}

Tone page_outcome_tone(const CaseRecord& record) {
  if (is_failure(record.outcome)) return Tone::bad;
  return record.outcome == Outcome::ok && record.flags.empty() ? Tone::good : Tone::warning;
}

// Returns the columns that the user chose. By default, returns the default columns with the memory,
// without columns that are unknown for all cases.
CaseColumns page_columns(const RunView& view) {
  if (!view.columns.empty()) return view.columns;
  CaseColumns columns = default_case_columns(view.report.cases);
  columns.insert(columns.end() - 1, &case_column("peak_bytes"));  // the outcome stays the last one
  std::erase_if(columns, [&](const CaseColumn* column) {
    return std::ranges::none_of(view.report.cases, [&](const CaseRecord& record) {
      return analysis::is_known(column->value(record));
    });
  });
  return columns;
}

// Returns the outcome with what the chosen columns do not show: flags and reason.
TableCell page_outcome_cell(const CaseRecord& record, const CaseColumns& chosen) {
  const auto add = [&](std::string_view name, std::string_view separator) {
    const CaseColumn& column = case_column(name);
    const bool is_shown = std::ranges::count(chosen, &column) > 0;
    return is_shown || !analysis::is_known(column.value(record))
               ? std::string()
               : fmt::format("{}{}", separator, readable_cell(column, record));
  };
  return {fmt::format("{}{}{}", to_string(record.outcome), add("flags", " "), add("reason", ": ")),
          {},
          page_outcome_tone(record)};
}

// Returns the chosen columns. An unknown text stays empty.
Table page_table(const CaseColumns& chosen, const std::vector<CaseRecord>& cases) {
  Table table = case_table(chosen, cases);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const CaseColumn& column = *chosen[i];
    for (std::size_t row = 0; row < cases.size(); ++row) {
      TableCell& cell = table.rows[row].cells[i];
      if (column.name == "outcome") cell = page_outcome_cell(cases[row], chosen);
      if (column.is_text() && !analysis::is_known(column.value(cases[row]))) cell.text.clear();
      if (column.name == "flags") cell.tone = Tone::warning;
    }
  }
  return table;
}

void add_cases(const RunView& view, Page& page) {
  page.section("Cases", count_rows(view.report.cases.size()));
  if (view.report.cases.empty()) {
    page.paragraph("The report has no cases.");
    return;
  }
  if (const auto nothing = nothing_measured_sentence(view.report)) page.paragraph(*nothing);
  const bool has_roofline = std::ranges::any_of(
      view.report.cases, [](const CaseRecord& record) { return record.roofline.has_value(); });
  if (!has_roofline) {
    page.paragraph(
        "Efficiency and bound are unknown, since the ceilings of this machine were not measured; "
        "`bench peak` measures them.");
  }
  page.table(page_table(page_columns(view), view.report.cases));
}

// Adds what the libraries' choices cost in tuned cases. Adds nothing if no case has `tune`.
void add_choices(const RunView& view, Page& page) {
  const std::vector<const CaseRecord*> tuned = find_tuned_cases(view.report);
  const std::vector<std::string> notes = choice_notes(view.report);
  if (tuned.empty() && notes.empty()) return;
  page.section("Choices", "what the libraries' own choices cost");
  if (!tuned.empty()) {
    page.table(choice_table(tuned));
    page.paragraph(fmt::format("{} `{}`", choice_columns_note(), choice_command(tuned)));
  }
  page.list(notes);
}

std::string format_network(const NetworkSummary& network) {
  std::string text = fmt::format("{}: ", network.network);
  text += network.network_time ? fmt::format("{} as a whole", format_time(*network.network_time))
                               : "not measured as a whole";
  if (network.layers_total > 0) {
    text += fmt::format("; its layers with cache {} add up to {} ({} of {} distinct layers)",
                        network.cache, format_time(network.layers_time), network.layers_measured,
                        network.layers_total);
    if (network.missing.empty() && !has_all_layers(network))
      text += fmt::format(", which make {:.1f} % of its work: others were not measured",
                          100 * *network.covered_work);
  }
  if (network.rest) {
    text += fmt::format("; unexplained {:+.1f} % of the network", 100 * *network.rest);
  }
  return text + ".";
}

void add_networks(const RunView& view, Page& page) {
  page.section("Layers", "of each network");
  if (view.networks.empty()) {
    page.paragraph("The run measured no network, so there are no layers to show.");
    return;
  }
  for (const NetworkSummary& network : view.networks) {
    page.paragraph(format_network(network));
    page.plot(layers_plot(network));
  }
}

std::vector<Plot> profile_plots(const RunView& view) {
  if (view.profile == nullptr) return {};
  return {profile_plot("profile-layers", "Time by layer", layer_rows(view.report, *view.profile),
                       "layer"),
          profile_plot("profile-operators", "Time by operator",
                       operator_rows(view.report, *view.profile), "operator")};
}

void add_profile_pages(const RunView& view, Page& page) {
  if (view.timeline.empty()) {
    page.paragraph("`bench trace RESULT -o FILE.html` draws the timeline.");
  } else {
    page.frame("Open the timeline", view.timeline);
  }
  if (view.memory.empty()) {
    page.paragraph(
        "No memory over time: the profile contains no allocations (`--profile=memory` records "
        "them), or too many; `bench trace RESULT -o FILE.svg` draws them.");
  } else {
    page.frame("Open the memory over time", view.memory, Page::FrameContent::picture);
  }
}

void add_profile(const RunView& view, Page& page) {
  const std::vector<Plot> plots = profile_plots(view);
  if (plots.empty()) {
    page.section("Profile");
    page.paragraph(
        "The result contains no profile, so it does not show where the time goes. Measure with "
        "`bench run CONFIG --profile`.");
  } else {
    page.plots("Profile", "time by layer and operator, timeline, memory", plots);
    add_profile_pages(view, page);
  }
  if (!view.files_beside.empty()) page.links("Files beside the result", view.files_beside);
}

std::string run_title(const RunView& view) {
  const std::vector<RunRecord>& runs = view.report.runs;
  if (runs.empty() || runs.back().config_name.empty()) return view.name;
  return fmt::format("{}: benchmark report", runs.back().config_name);
}

}  // namespace

std::vector<Plot> run_plots(const RunView& view) {
  std::vector<Plot> plots = {cases_plot(view.report), roofline_plot(view.report.cases)};
  for (const NetworkSummary& network : view.networks) {
    plots.push_back(layers_plot(network));
  }
  for (Plot& plot : serving_plots(view.report.cases)) plots.push_back(std::move(plot));
  for (Plot& plot : sweep_plots(view.report.cases)) plots.push_back(std::move(plot));
  plots.push_back(samples_plot(view.report));
  for (Plot& plot : profile_plots(view)) plots.push_back(std::move(plot));
  return plots;
}

std::string run_page(const RunView& view, const ConsoleOptions& /*console*/) {
  Page page(run_title(view), format_lead(view));
  page.open(cases_plot(view.report), run_findings(view.report));
  add_cases(view, page);
  add_choices(view, page);
  page.plots("Roofline", "each case below the ceilings",
             std::vector{roofline_plot(view.report.cases)});
  add_networks(view, page);
  if (const std::vector<Plot> serving = serving_plots(view.report.cases); !serving.empty())
    page.plots("Serving", "throughput and latency by streams and batch", serving);
  page.plots("Sweeps", "time and rate by a parameter", sweep_plots(view.report.cases));
  page.plots("Samples", "how much processes differ", std::vector{samples_plot(view.report)});
  add_profile(view, page);
  add_notes(view, page);
  add_environment(view, page);
  return std::move(page).finish();
}

}  // namespace bench
