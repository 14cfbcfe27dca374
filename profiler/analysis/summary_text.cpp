// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.hpp"
#include "base/printable.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "profiler/analysis/audit.hpp"
#include "profiler/analysis/bounded_names.hpp"
#include "profiler/analysis/cell.hpp"
#include "profiler/analysis/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

// A shorter name is not informative enough, so columns of numbers are dropped first.
constexpr std::size_t kMinName = 36;

// A table whose first column is a name; the others are numbers.
class SummaryTable {
 public:
  // `expendable`: the columns that a narrow terminal drops, the first one first.
  // `narrowest`: the width of the names at which these columns are dropped.
  SummaryTable(const std::vector<std::string>& headings, std::span<const std::size_t> expendable,
               std::size_t narrowest = kMinName) {
    for (const std::string& heading : headings) columns_.push_back({heading, Align::right});
    columns_.front().align = Align::left;
    columns_.front().narrowest = narrowest;
    int rank = static_cast<int>(expendable.size());
    for (const std::size_t column : expendable) columns_.at(column).expendable = rank--;
  }

  // `note`: a text below the row.
  void row(const std::vector<std::string>& texts, std::string note = "") {
    TextRow row;
    row.note = std::move(note);
    for (const std::string& text : texts) row.cells.push_back({text});
    rows_.push_back(std::move(row));
  }

  std::string text(const std::optional<std::size_t>& width) && {
    const std::size_t limit = width.value_or(std::numeric_limits<std::size_t>::max());
    return render_table(columns_, std::move(rows_), limit, Colour::off);
  }

 private:
  std::vector<TextColumn> columns_;
  std::vector<TextRow> rows_;
};

// Exact: the sixth decimal of a millisecond is a nanosecond.
std::string milliseconds(Nanoseconds time) {
  const std::int64_t count = time.count();
  const auto [whole, rest] = std::div(count, std::int64_t{1'000'000});
  return fmt::format("{}.{:06}", whole, rest);
}

std::string milliseconds(const std::optional<Nanoseconds>& time) {
  return format_or_unknown(time, [](Nanoseconds value) { return milliseconds(value); });
}

std::string percent(const std::optional<double>& share) {
  return format_or_unknown(share, [](double value) { return fmt::format("{:.1f}", 100 * value); });
}

std::string number(const std::optional<double>& value) {
  return format_or_unknown(value, [](double known) { return fmt::format("{:.15g}", known); });
}

// Six digits, more than a mean is accurate to, or all digits before the point.
std::string mean_number(const std::optional<double>& value) {
  constexpr double kSixDigits = 1e6;
  return format_or_unknown(value, [](double known) {
    return std::abs(known) < kSixDigits ? fmt::format("{:.6g}", known)
                                        : fmt::format("{:.0f}", known);
  });
}

// "share [%]" refers to the wall time, which the first lines state. Other headings state their
// reference.
std::string time_table(std::string_view heading, const std::vector<TimeRow>& rows,
                       const SummaryOptions& options, const char* share) {
  // p50, p95, cumulative share, min, max, mean, self, count.
  constexpr std::array<std::size_t, 8> kFirstToGo = {9, 10, 4, 6, 7, 8, 5, 1};
  SummaryTable table({std::string(heading), "count [1]", "total [ms]", share, "cum. share [%]",
                      "self [ms]", "min [ms]", "max [ms]", "mean [ms]", "p50 [ms]", "p95 [ms]"},
                     kFirstToGo);
  for (const TimeRow& row : rows) {
    const std::string unfinished =
        row.unfinished > 0 ? fmt::format(" ({} unfinished)", row.unfinished) : "";
    // A row that is not an activity has no count.
    const std::string count = row.count > 0 ? fmt::format("{}", row.count) : std::string(kUnknown);
    table.row({row.name + unfinished, count, milliseconds(row.total), percent(row.share),
               percent(row.cumulative_share), milliseconds(row.self), milliseconds(row.min),
               milliseconds(row.max), milliseconds(row.mean), milliseconds(row.p50),
               milliseconds(row.p95)});
  }
  return std::move(table).text(options.width);
}

std::string memory_table(const std::vector<MemoryRow>& rows, const SummaryOptions& options) {
  constexpr std::array<std::size_t, 3> kFirstToGo = {5, 3, 1};  // mean, min, count
  SummaryTable table({"memory", "count [1]", "total [B]", "min [B]", "max [B]", "mean [B]"},
                     kFirstToGo);
  for (const MemoryRow& row : rows) {
    const auto bytes = [](std::int64_t value) { return fmt::format("{}", value); };
    table.row({row.name, fmt::format("{}", row.count), fmt::format("{}", row.total_bytes),
               format_or_unknown(row.min_bytes, bytes), format_or_unknown(row.max_bytes, bytes),
               mean_number(row.mean_bytes)});
  }
  return std::move(table).text(options.width);
}

std::string counter_table(const std::vector<CounterRow>& rows, const SummaryOptions& options) {
  constexpr std::array<std::size_t, 3> kFirstToGo = {6, 2, 3};  // last, count, min
  SummaryTable table({"counter", "unit", "count [1]", "min [unit]", "max [unit]",
                      "mean over time [unit]", "last [unit]"},
                     kFirstToGo);
  for (const CounterRow& row : rows) {
    table.row({row.name, row.unit.empty() ? "1" : row.unit, fmt::format("{}", row.count),
               number(row.min), number(row.max), mean_number(row.mean), number(row.last)});
  }
  return std::move(table).text(options.width);
}

// The name is what was asked for: numbers make room for it, and a longer name is whole below its
// row.
std::string sample_table(const std::string& heading, std::vector<SampleRow> rows,
                         const SummaryOptions& options) {
  constexpr std::array<std::size_t, 2> kFirstToGo = {1, 2};
  constexpr std::string_view kShare = "of samples [%]";
  if (options.top > 0 && rows.size() > options.top) rows.resize(options.top);
  const std::size_t width = options.width.value_or(std::numeric_limits<std::size_t>::max());
  const std::size_t room =
      std::max(width, kMinName + kShare.size() + kColumnGap) - kShare.size() - kColumnGap;
  std::size_t longest = kMinName;
  for (const SampleRow& row : rows) longest = std::max(longest, display_width(row.name));
  SummaryTable table({heading, "samples [1]", "CPU time [ms]", std::string(kShare)}, kFirstToGo,
                     std::min(longest, room));
  for (const SampleRow& row : rows) {
    table.row({row.name, fmt::format("{}", row.samples), milliseconds(row.cpu), percent(row.share)},
              display_width(row.name) > room ? row.name : "");
  }
  return std::move(table).text(options.width);
}

// Names the time that the shares refer to.
std::string name_whole(const Attribution& attribution) {
  if (!attribution.coverage) {
    return attribution.cases > 1
               ? fmt::format("the recorded iterations of {} cases together", attribution.cases)
               : "the recorded iterations";
  }
  const std::size_t processes = attribution.coverage->processes.size();
  const std::string of =
      processes > 1 ? fmt::format(" of {} processes together", processes) : std::string();
  switch (attribution.coverage->source) {
    case WallSource::processes:
      return processes > 1 ? fmt::format("{} processes together", processes) : "the process";
    case WallSource::activities:
      return "the time from the first to the last activity" + of;
    case WallSource::unknown:
      break;
  }
  return "what was recorded" + of;
}

std::string format_attribution(const Attribution& attribution, const SummaryOptions& options) {
  if (attribution.wall.count() == 0) return "";
  const auto share = [&](Nanoseconds time) {
    return 100 * static_cast<double>(time.count()) / static_cast<double>(attribution.wall.count());
  };
  const std::size_t width = options.width.value_or(std::numeric_limits<std::size_t>::max());
  const auto sentence = [&](const std::string& text) {
    if (text.empty()) return text;
    const std::string lines = options.width ? wrap(text, width, 0) : text;
    return lines.ends_with('\n') ? lines : lines + "\n";
  };
  std::string text = attribution.coverage ? sentence(describe_coverage(*attribution.coverage)) : "";
  if (attribution.threads == Attribution::Threads::at_once) {
    text += sentence(
        "Several threads worked at once: `total` adds their times, `share` divides the wall time "
        "among them.");
  }
  const std::string wall =
      fmt::format("{} {} ms of {}", is_wall_known(attribution) ? "wall" : "sum",
                  milliseconds(attribution.wall), name_whole(attribution));
  const std::string parts =
      fmt::format("= attributed {} ms ({:.1f} %) + unattributed {} ms ({:.1f} %)\n",
                  milliseconds(attribution.attributed), share(attribution.attributed),
                  milliseconds(attribution.unattributed), share(attribution.unattributed));
  const bool is_one_line = wall.size() + parts.size() <= width;
  // oneDNN's time above includes creation, so it may exceed what is attributed.
  const bool has_creation =
      attribution.coverage && attribution.coverage->primitives > attribution.attributed;
  return text + wall + (is_one_line ? " " : "\n  ") + parts +
         (has_creation
              ? sentence("Attributed is what was executed, or ran in a layer; the creation "
                         "of primitives elsewhere is unattributed.")
              : "");
}

}  // namespace

inline void fields(JsonWriter& writer, const TimeRow& row) {
  BENCH_MEMBERS(writer, row, name, count);
  if (row.unfinished > 0) writer.required("unfinished", row.unfinished);
  BENCH_MEMBERS(writer, row, total, share, cumulative_share, self, min, max, mean, p50, p95);
}

BENCH_FIELDS(MemoryRow, name, count, total_bytes, min_bytes, max_bytes, mean_bytes);

inline void fields(JsonWriter& writer, const CounterRow& row) {
  writer.required("name", row.name);
  writer.required("unit", row.unit.empty() ? std::string("1") : row.unit);
  BENCH_MEMBERS(writer, row, count, min, max, mean, last);
}

BENCH_FIELDS(SampleRow, name, samples, cpu, share);

inline void fields(JsonWriter& writer, const ProcessCoverage& process) {
  BENCH_MEMBERS(writer, process, pid, (name, kOptional));
  writer.required("wall_source", to_string(process.source));
  if (process.source != WallSource::unknown) writer.required("wall_ns", process.wall);
  BENCH_MEMBERS(writer, process, (primitives, "onednn_ns"), recorded);
  if (process.devices.empty()) return;
  writer.required_object("devices", [&](JsonWriter& devices) {
    for (const auto& [device, busy] : process.devices) {
      devices.required(fmt::format("{}", device), busy);
    }
  });
}

// `wall_ns` is absent if the wall time is unknown, so that no share of a part looks like a share of
// the whole.
inline void fields(JsonWriter& writer, const Attribution& attribution) {
  writer.required(is_wall_known(attribution) ? "wall_ns" : "recorded_ns", attribution.wall);
  BENCH_MEMBERS(writer, attribution, attributed, unattributed);
  writer.required("wall_source", attribution.coverage ? to_string(attribution.coverage->source)
                                                      : std::string_view("iterations"));
  if (!attribution.coverage) return;
  writer.required("outside_ns", attribution.outside);
  writer.required("onednn_ns", attribution.coverage->primitives);
  writer.required("answer", describe_coverage(*attribution.coverage));
  writer.required("processes", attribution.coverage->processes);
}

bool is_wall_known(const Attribution& attribution) {
  return !attribution.coverage || attribution.coverage->source != WallSource::unknown;
}

std::string format_summary(const Summary& summary, const SummaryOptions& options) {
  const Attribution attribution = summary.attribution();
  std::string text = format_attribution(attribution, options);
  const char* share = is_wall_known(attribution) ? "share [%]" : "of recorded [%]";
  const auto add = [&](const std::string& table) { text += text.empty() ? table : "\n" + table; };
  if (const auto layers = summary.layers(options); !layers.empty())
    add(time_table("layer", layers, options, share));
  if (const auto operators = summary.operators(options); !operators.empty())
    add(time_table("operator type", operators, options, share));
  if (const SampleTimes& samples = summary.samples(); !samples.empty()) {
    const std::string answer = describe_samples(samples);
    std::string lines = options.width ? wrap(answer, *options.width, 0) : answer;
    if (!lines.ends_with('\n')) lines += '\n';
    add(lines + "\n" + sample_table("object, sampled", samples.objects(), options));
    if (const auto rows = samples.layers(); !rows.empty())
      add(sample_table("layer, sampled", rows, options));
    if (const auto rows = samples.ranges(); !rows.empty())
      add(sample_table("innermost range, sampled", rows, options));
    if (const auto rows = samples.functions(); !rows.empty())
      add(sample_table("function outside primitives, sampled", rows, options));
  }
  constexpr const char* kOfDevices = "of devices [%]";
  if (const auto layers = summary.device_layers(options); !layers.empty())
    add(time_table("layer, on devices", layers, options, kOfDevices));
  if (const auto operators = summary.device_operators(options); !operators.empty())
    add(time_table("operator type, on devices", operators, options, kOfDevices));
  for (const auto& [category, rows] : summary.categories(options)) {
    add(time_table(fmt::format("category {}", printable(category)), rows, options,
                   "of category [%]"));
  }
  if (const auto rows = summary.memory(options); !rows.empty()) add(memory_table(rows, options));
  if (const auto rows = summary.counters(options); !rows.empty()) add(counter_table(rows, options));
  if (summary.has_joined_names()) {
    const std::string note = fmt::format(
        "The profile has more than {} names. The row {} has the sum of the others; `bench analyze "
        "--aggregate-by name` shows all.",
        format_with_commas(analysis::BoundedNames::kMaxNames), analysis::kFurtherNames);
    add((options.width ? wrap(note, *options.width, 0) : note) + "\n");
  }
  return text.empty() ? "no activities\n" : text;
}

std::string summary_json(const Summary& summary, const ProfileAudit& audit,
                         const SummaryOptions& options) {
  const std::string tables = summary_json(summary, options);
  return fmt::format("{{\"audit\":{},{}", audit_json(audit), tables.substr(1));
}

std::string summary_json(const Summary& summary, const SummaryOptions& options) {
  const auto document = [&](JsonWriter& writer) {
    writer.required("attribution", summary.attribution());
    writer.required("layers", summary.layers(options));
    writer.required("operators", summary.operators(options));
    writer.optional("device_layers", summary.device_layers(options));
    writer.optional("device_operators", summary.device_operators(options));
    writer.required_object("categories", [&](JsonWriter& categories) {
      for (const auto& [category, rows] : summary.categories(options))
        categories.required(category, rows);
    });
    if (const SampleTimes& samples = summary.samples(); !samples.empty()) {
      writer.required_object("samples", [&](JsonWriter& inner) {
        inner.required("samples", samples.samples());
        inner.required("period_ns", samples.period());
        inner.required("cpu_ns", samples.cpu());
        inner.optional("processes_cpu_ns", samples.processes_cpu());
        inner.required("answer", describe_samples(samples));
        inner.optional("processes_kernel_ns", samples.kernel_cpu());
        inner.required("objects", samples.objects());
        inner.optional("layers", samples.layers());
        inner.optional("ranges", samples.ranges());
        inner.required("functions", samples.functions());
      });
    }
    writer.required("memory", summary.memory(options));
    writer.required("counters", summary.counters(options));
  };
  return json_object(document, {.indent = 0, .reals = JsonReals::with_fraction}) + "\n";
}

}  // namespace bench
