// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/query.hpp"

#include "base/printable.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/analysis/collector.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/file_contents.hpp"
#include "profiler/analysis/query_plan.hpp"
#include "profiler/analysis/sample_times.hpp"
#include "profiler/analysis/saturating.hpp"
#include "profiler/analysis/self_time.hpp"
#include "profiler/gpu/measuring_kernels.hpp"
#include "profiler/kernel_names/kernel_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <ostream>

namespace bench {
namespace {

using namespace analysis;

constexpr std::size_t kBarWidth = 15;  // as in MegEngine's profile_analyze (docs/analyze.md)

// Consumes all activities of the file and passes the selected ones to a collector.
class QuerySink final : public ActivitySink {
 public:
  // `compute_ideal` may be empty.
  QuerySink(const QueryPlan& plan, const AnalysisOptions& options,
            const IdealProvider& compute_ideal, std::string folder)
      : plan_(plan),
        contents_(options),
        ideal_of_(compute_ideal),
        folder_(std::move(folder)),
        collector_(make_collector(plan, folder_)),
        self_([this](const Activity& activity, std::optional<Nanoseconds> self) {
          return select(activity, self);
        }) {}

  Status consume(const Activity& activity) override { return self_.consume(activity); }

  Status finish() {
    BENCH_RETURN_IF_ERROR(self_.finish());
    return collector_->finish();
  }

  Collector& collector() { return *collector_; }
  std::int64_t out_of_order() const { return self_.out_of_order(); }
  const FileContents& contents() const { return contents_; }
  // Whether the file contains recorded iterations, whose whole each case knows.
  bool has_iterations() const { return has_iterations_; }

 private:
  Status select(const Activity& activity, std::optional<Nanoseconds> self) {
    contents_.add(activity);
    has_iterations_ =
        has_iterations_ || (activity.kind == ActivityKind::range &&
                            activity.attributes.find(Attribute::iteration) != nullptr);
    const Level level = plan_.selection.level(activity);
    if (level == Level::none || level < level_) return Done{};
    if (level > level_) {
      // What was collected so far encloses the activities that do the work, so it is discarded.
      if (collector_->totals().selected > 0) collector_ = make_collector(plan_, folder_);
      level_ = level;
    }
    if (!plan_.selection.admits(activity)) return Done{};
    return collector_->add(
        RowContext{activity, self, plan_.peaks, ideal_of_ ? ideal_of_(activity) : std::nullopt});
  }

  const QueryPlan& plan_;
  FileContents contents_;
  const IdealProvider& ideal_of_;
  std::string folder_;
  std::unique_ptr<Collector> collector_;
  SelfTimes self_;
  Level level_ = Level::none;
  bool has_iterations_ = false;
};

std::string activities(std::int64_t count) { return pluralise(count, "activity"); }

// Default columns in the order in which a narrow terminal drops them. Columns that are not listed
// here stay.
constexpr std::array<std::string_view, 26> kFirstToDrop = {
    "out_shapes", "in_shapes",    "line",           "trace",       "cumulative_share",
    "p50_ns",     "cache",        "min_ns",         "size_bytes",  "direction",
    "dtype",      "bytes",        "flops",          "p95_ns",      "max_ns",
    "self_ns",    "kind",         "device",         "parameters",  "mean_ns",
    "bandwidth",  "tensor_cores", "implementation", "flops_per_s", "layer",
    "flags"};

class Output {
 public:
  Output(const QueryPlan& plan, QuerySink& query, const ReadReport& report,
         const CeilingKnowledge& ceilings, const ProfileAudit& audit,
         const std::string& part_of_whole, const std::vector<std::string>& statements,
         const AnalysisTarget& target)
      : plan_(plan),
        query_(query),
        report_(report),
        ceilings_(ceilings),
        audit_(audit),
        part_of_whole_(part_of_whole),
        statements_(statements),
        target_(target) {}

  Result<std::int64_t> write(std::string_view file) {
    describe(file);
    choose_columns();
    BENCH_RETURN_IF_ERROR(fit());
    const auto writer = plan_.format->make(shape_, *target_.out);
    writer->begin();
    std::int64_t shown = 0;
    Row row;
    while (target_.out->good()) {
      BENCH_ASSIGN_OR_RETURN(const bool more, query_.collector().rows().next(row));
      if (!more) break;
      place(row, ++shown);
      writer->row(visible(row));
    }
    writer->end(notes(shown));
    return shown;
  }

 private:
  const Totals& totals() const { return query_.collector().totals(); }
  // Whether any selected activity has a duration. Counters have none.
  bool has_times() const { return totals().unknown_times < totals().selected; }

  void describe(std::string_view file) {
    shape_.selected = totals().selected;
    shape_.total = totals().time;
    shape_.answer = part_of_whole_;
    shape_.audit = audit_json(audit_);
    describe_verdict();
    add_sentence(describe_leader());
    add_sentence(part_of_whole_);
    for (const std::string& statement : statements_) add_sentence(statement);
    describe_selection(
        printable(fmt::format("{}: {}, {}", file, report_.format, activities(report_.activities))),
        !has_times() && totals().selected > 0
            ? fmt::format("selected {}, none with a duration", totals().selected)
            : fmt::format("selected {}, {} ({} ns) in sum", totals().selected,
                          format_time(totals().time), totals().time.count()));
    if (plan_.aggregate && has_times()) {
      shape_.notes.push_back(
          fmt::format("time, FLOPs and bytes: {} of each group; rates: known work and time only",
                      to_string(*plan_.aggregate)));
    }
    shape_.notes.emplace_back(
        "k, M, G, T: powers of 1000; Ki, Mi, Gi: powers of 1024; n/a: unknown");
  }

  // Tables of text show the failing checks as a table, Markdown as one sentence.
  void describe_verdict() {
    if (plan_.format->name != "table") return add_sentence(describe_audit(audit_));
    const auto width = target_.terminal_width
                           ? std::optional(static_cast<std::size_t>(*target_.terminal_width))
                           : std::nullopt;
    std::string lines = format_verdict(audit_, width);
    if (lines.ends_with('\n')) lines.pop_back();
    const bool has_table = lines.find("\n\n") != std::string::npos;
    shape_.notes.push_back(std::move(lines));
    if (has_table) shape_.notes.emplace_back();
  }

  void add_sentence(const std::string& text) {
    if (!text.empty()) shape_.notes.push_back(wrapped(text));
  }

  // As wide as the terminal; elsewhere one line.
  std::string wrapped(const std::string& text) const {
    const auto width = static_cast<std::size_t>(
        target_.terminal_width.value_or(static_cast<std::int64_t>(text.size())));
    std::string lines = wrap(text, width, 0);
    if (lines.ends_with('\n')) lines.pop_back();
    return lines;
  }

  // Says which group takes the most time, and which one has the largest sum if outliers make it
  // another one. Empty if the groups are in another order.
  std::string describe_leader() const {
    const auto& leader = totals().by_typical;
    if (!leader || totals().rows < 2 || plan_.order->name != kTypicalColumn) return "";
    std::string text = fmt::format("{} takes the most time: typically {} of {}, {}.", leader->name,
                                   format_time(leader->typical), format_time(totals().typical),
                                   format_part(leader->typical, totals().typical));
    const LeadingGroup& largest = *totals().by_sum;
    // A mean above the median is usual; only much longer calls are worth a sentence.
    constexpr std::int64_t kOutlierFraction = 5;  // a fifth of the typical time
    const bool has_outliers = largest.sum - largest.typical > largest.typical / kOutlierFraction;
    if (largest.sum <= leader->sum || !has_outliers) return text;
    return text + fmt::format(
                      " The sum of {} is larger, {}, but typically it takes {}: some of its "
                      "calls took much longer than the others.",
                      largest.name, format_time(largest.sum), format_time(largest.typical));
  }

  // Uses one line if it fits the terminal.
  void describe_selection(const std::string& file, const std::string& selected) {
    std::string both = file + "; " + selected;
    const auto width = static_cast<std::int64_t>(display_width(both));
    if (width <= target_.terminal_width.value_or(width)) {
      shape_.notes.push_back(std::move(both));
      return;
    }
    shape_.notes.insert(shape_.notes.end(), {file, selected});
  }

  // Human-readable tables omit a default column if it has no values or repeats the column before
  // it. They also omit `kind`, `device` and `trace` if all rows have the same value.
  bool is_shown(std::size_t i) const {
    const Column& column = *plan_.columns[i];
    const bool people = plan_.format->audience == TableFormat::Audience::people;
    if (!plan_.default_columns || is_key(plan_, &column)) return true;
    if (column.position == Position::number) return people;
    if (people && column.merge == Merge::position) return has_times();
    if (!people) return true;
    const ColumnFacts& facts = query_.collector().facts()[i];
    const bool constant =
        column.name == "kind" || column.name == "device" || column.name == "trace";
    return facts.known && facts.differs && (facts.varies || !constant);
  }

  void choose_columns() {
    if (totals().selected == 0 && plan_.format->audience == TableFormat::Audience::people) return;
    for (std::size_t i = 0; i < plan_.columns.size(); ++i) {
      if (!is_shown(i)) continue;
      const Column& column = *plan_.columns[i];
      TableColumn shown{&column, std::string(column.heading), 0};
      shown.width = std::max({display_width(shown.heading), readable_width(column.quantity),
                              query_.collector().facts()[i].width});
      if (column.position == Position::number)
        shown.width = fmt::formatted_size("{}", totals().rows);
      if (column.position == Position::bar) shown.width = kBarWidth;
      shape_.columns.push_back(std::move(shown));
      visible_.push_back(i);
    }
  }

  // Drops default columns until the table fits the requested width, else the terminal. If the user
  // chose the columns and they do not fit, a requested width is an error; on a terminal, lines
  // wrap.
  Status fit() {
    if (plan_.format->name != "table") return Done{};
    if (!plan_.width && !target_.terminal_width) return Done{};
    const std::size_t width =
        plan_.width ? *plan_.width : static_cast<std::size_t>(*target_.terminal_width);
    if (plan_.default_columns) drop_columns(width);
    const Status fitted = fit_width(shape_.columns, width);
    return plan_.width ? fitted : Status(Done{});
  }

  void drop_columns(std::size_t width) {
    for (const std::string_view name : kFirstToDrop) {
      if (narrowest_width(shape_.columns, plan_.group_by) <= width) return;
      for (std::size_t i = 0; i < shape_.columns.size(); ++i) {
        const Column* column = shape_.columns[i].column;
        if (column->name != name || is_key(plan_, column) || column == plan_.order) continue;
        shape_.columns.erase(shape_.columns.begin() + static_cast<std::ptrdiff_t>(i));
        visible_.erase(visible_.begin() + static_cast<std::ptrdiff_t>(i));
        ++dropped_;
        break;
      }
    }
  }

  // Fills the cells that depend on the row's position.
  void place(Row& row, std::int64_t number) {
    if (row.time) cumulative_ = saturating_sum(cumulative_, *row.time);
    for (std::size_t i = 0; i < plan_.columns.size(); ++i) {
      const Position position = plan_.columns[i]->position;
      if (position == Position::number) row.cells[i] = number;
      if (row.time && position != Position::none && position != Position::number)
        row.cells[i] = positional_cell(position, *row.time);
    }
  }

  Cell positional_cell(Position position, Nanoseconds time) const {
    switch (position) {
      case Position::none:
      case Position::number:
        break;
      case Position::share:
        return share(time);
      case Position::cumulative:
        return std::int64_t{cumulative_.count()};
      case Position::cumulative_share:
        return share(cumulative_);
      case Position::bar:
        return format_bar(time);
    }
    return {};
  }

  Cell share(Nanoseconds time) const {
    const auto total = static_cast<double>(totals().time.count());
    return total > 0 ? Cell(static_cast<double>(time.count()) / total) : Cell();
  }

  std::string format_bar(Nanoseconds time) const {
    const auto longest = static_cast<double>(totals().longest.count());
    if (longest <= 0) return {};
    const double part = static_cast<double>(time.count()) / longest;
    std::string bar;
    for (std::int64_t i = std::llround(part * kBarWidth); i > 0; --i) bar += "\u2588";
    return bar;
  }

  const std::vector<Cell>& visible(const Row& row) {
    cells_.clear();
    for (const std::size_t i : visible_) cells_.push_back(row.cells[i]);
    return cells_;
  }

  std::vector<std::string> notes(std::int64_t shown) const {
    std::vector<std::string> lines;
    if (totals().selected == 0) lines.push_back(query_.contents().describe_empty_selection());
    if (dropped_ > 0) {
      lines.push_back(fmt::format("{}: {}, or -c, shows {}", pluralise(dropped_, "more column"),
                                  plan_.width ? "a larger --width" : "a wider terminal",
                                  dropped_ == 1 ? "it" : "them"));
    }
    if (shown < totals().rows) {
      lines.push_back(fmt::format("{} of {} rows; -t 0 shows all", shown, totals().rows));
    }
    const bool shows_order = std::ranges::any_of(
        shape_.columns, [&](const TableColumn& each) { return each.column == plan_.order; });
    if (plan_.order->name == kTypicalColumn && !shows_order && !plan_.default_columns) {
      lines.emplace_back(
          "the order is by typical_ns, the sum without outliers; --order-by time_ns orders by the "
          "sum");
    }
    if (plan_.order->attribute == Attribute::flops) {
      lines.emplace_back("the order is by the number of FLOPs; by their rate: flops_per_s");
    }
    if (plan_.peaks.bandwidth) {
      add_flag_note(RowFlag::above_peak_bandwidth, faster_than(format_rate(*plan_.peaks.bandwidth)),
                    lines);
    }
    if (plan_.peaks.flops) {
      add_flag_note(RowFlag::above_peak_flops, faster_than(format_rate(*plan_.peaks.flops)), lines);
    }
    if (totals().flags[static_cast<std::size_t>(RowFlag::other_work_given)] > 0 && shows_work()) {
      add_flag_note(RowFlag::other_work_given,
                    "whose FLOPs or bytes differ from those in the file; see columns given_flops, "
                    "given_bytes",
                    lines);
    }
    if (plan_.needs_ceilings && totals().selected > 0 && !ceilings_.note.empty()) {
      lines.push_back(ceilings_.note);
    }
    for (std::string& line : lines) line = wrapped(line);
    return lines;
  }

  bool shows_work() const {
    constexpr std::array<std::string_view, 9> kOfWork = {"flops",      "bytes",     "flops_per_s",
                                                         "bandwidth",  "intensity", "ideal_ns",
                                                         "efficiency", "bound",     "flags"};
    return std::ranges::any_of(shape_.columns, [&](const TableColumn& shown) {
      return std::ranges::find(kOfWork, shown.column->name) != kOfWork.end();
    });
  }

  static std::string faster_than(const std::string& peak) {
    return "faster than the peak of " + peak;
  }

  void add_flag_note(RowFlag flag, const std::string& what, std::vector<std::string>& lines) const {
    const auto index = static_cast<std::size_t>(flag);
    std::string where;
    for (const std::int64_t line : totals().flag_lines[index]) {
      where += fmt::format("{}{}", where.empty() ? " (line " : ", ", line);
    }
    if (!where.empty()) where += ')';
    lines.push_back(fmt::format("{} {}{}", activities(totals().flags[index]), what, where));
  }

  const QueryPlan& plan_;
  QuerySink& query_;
  const ReadReport& report_;
  const CeilingKnowledge& ceilings_;
  const ProfileAudit& audit_;
  const std::string& part_of_whole_;  // describe_coverage(); empty for recorded iterations
  const std::vector<std::string>& statements_;  // ActivityInput::statements
  const AnalysisTarget& target_;
  TableShape shape_;
  std::vector<std::size_t> visible_;
  int dropped_ = 0;  // number of columns that do not fit the terminal
  std::vector<Cell> cells_;
  Nanoseconds cumulative_{0};
};

}  // namespace

Result<AnalysisOutcome> analyze(TextSource& source, const WorkProvider& compute_work,
                                const CeilingKnowledge& ceilings, const AnalysisOptions& options,
                                const AnalysisTarget& target) {
  return analyze(input_of(source), compute_work, ceilings, options, target);
}

Result<AnalysisOutcome> analyze(const ActivityInput& input, const WorkProvider& compute_work,
                                const CeilingKnowledge& ceilings, const AnalysisOptions& options,
                                const AnalysisTarget& target) {
  BENCH_ASSIGN_OR_RETURN(const QueryPlan plan, plan_query(options));
  const IdealProvider none;
  // The stages, the last one first. Every activity comes once and with its work before it is
  // selected. Coverage and samples also count what the filter hides.
  QuerySink query(plan, options, plan.needs_ceilings ? ceilings.compute_ideal : none,
                  target.folder);
  KernelNameSink names(query);
  WorkSink work(compute_work, names);
  MeasuringKernelFilter shown(work);
  const bool is_asked_by_name = options.name.has_value() || !options.types.empty();
  CoverageSink coverage(is_asked_by_name ? static_cast<ActivitySink*>(&work) : &shown);
  SampleTimes samples(&coverage);
  BeginRecordMerger announcements(samples);
  ProfileAuditor auditor(&announcements);
  AnalysisOutcome outcome;
  BENCH_ASSIGN_OR_RETURN(outcome.report, input.read(auditor));
  BENCH_RETURN_IF_ERROR(announcements.finish());
  BENCH_RETURN_IF_ERROR(query.finish());
  outcome.audit = auditor.finish(outcome.report);
  outcome.selected = query.collector().totals().selected;
  std::string part_of_whole = query.has_iterations()
                                  ? std::string()
                                  : describe_coverage(coverage.coverage(outcome.report.starts));
  if (!samples.empty()) part_of_whole += " " + describe_samples(samples);
  const std::vector<std::string> statements = input.statements();
  Output output(plan, query, outcome.report, ceilings, outcome.audit, part_of_whole, statements,
                target);
  BENCH_ASSIGN_OR_RETURN(outcome.shown, output.write(input.name));
  const bool people = plan.format->audience == TableFormat::Audience::people;
  if (plan.format->answer == TableFormat::Answer::beside) outcome.answer = part_of_whole;
  if (outcome.selected == 0 && !people) {
    outcome.notes.push_back(query.contents().describe_empty_selection());
  }
  if (plan.needs_ceilings && outcome.selected > 0 && !people && !ceilings.note.empty()) {
    outcome.notes.push_back(ceilings.note);
  }
  if (!people) {
    outcome.notes.insert(outcome.notes.end(), statements.begin(), statements.end());
  }
  if (std::string note = shown.note(); !note.empty()) outcome.notes.push_back(std::move(note));
  if (query.out_of_order() > 0) {
    outcome.notes.push_back(
        fmt::format("{} out of time order; self times may include nested activities",
                    activities(query.out_of_order())));
  }
  return outcome;
}

}  // namespace bench
