// SPDX-License-Identifier: Apache-2.0
// Sweeps: plots of the time and rate over one parameter. Cases that differ only in this parameter
// form a line. The parameters come from the case ids.
#include "base/characters.hpp"
#include "base/text.hpp"
#include "harness/judge/parameter_split.hpp"
#include "harness/report/plots.hpp"
#include "harness/report/serving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <set>

namespace bench {
namespace {

constexpr std::size_t kMinPoints = 3;  // minimum points of a line; two values are only a comparison
constexpr std::size_t kMaxLines = 12;
constexpr std::size_t kMaxSweeps = 8;

// A parameter in an id, or text without a number such as "+bias".
struct ParameterToken {
  std::string name;
  std::optional<double> value;
};

// Splits "n32c64h56+bias" into n=32, c=64, h=56, "+bias".
std::vector<ParameterToken> split_tokens(std::string_view parameters) {
  std::vector<ParameterToken> tokens;
  std::size_t at = 0;
  while (at < parameters.size()) {
    const std::size_t begin = at;
    while (at < parameters.size() && !is_digit(parameters[at])) ++at;
    ParameterToken token{std::string(parameters.substr(begin, at - begin)), std::nullopt};
    const std::size_t digits = at;
    while (at < parameters.size() && is_digit(parameters[at])) ++at;
    double number = 0;
    const char* end = parameters.data() + at;
    // A number that is too large for a double has no value, so it is not part of a sweep.
    const auto parsed = std::from_chars(parameters.data() + digits, end, number);
    if (parsed.ec == std::errc() && at > digits) token.value = number;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// A case with its value of the swept parameter.
struct SweptCase {
  const CaseRecord* record = nullptr;
  double value = 0;
  // Only in pictures of serving
  std::optional<ItemsPerSecond> rate = std::nullopt;
  std::optional<LatencyPercentile> latency = std::nullopt;
};
using SweepLine = std::vector<SweptCase>;  // by ascending value

// Orders texts with numbers: "n256" before "n1024".
struct NaturalOrder {
  static std::string_view leading_digits(std::string_view text) {
    return text.substr(
        0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin()));
  }
  bool operator()(std::string_view a, std::string_view b) const {
    while (!a.empty() && !b.empty()) {
      const std::string_view a_number = leading_digits(a), b_number = leading_digits(b);
      // Numbers in ids have no leading zeros, so the longer one is larger. Without a number in both
      // texts, compares one character.
      if (a_number.size() != b_number.size() && !a_number.empty() && !b_number.empty()) {
        return a_number.size() < b_number.size();
      }
      const std::size_t length =
          std::max<std::size_t>(1, std::min(a_number.size(), b_number.size()));
      const int order = a.substr(0, length).compare(b.substr(0, length));
      if (order != 0) return order < 0;
      a.remove_prefix(length);
      b.remove_prefix(length);
    }
    return a.empty() && !b.empty();
  }
};

struct Sweep {
  std::string op, parameter;
  // By the id without the swept parameter.
  std::map<std::string, SweepLine, NaturalOrder> lines;
};

// Returns the numeric parameters that any of the ids contains. An id omits a parameter with the
// default value, such as a batch of 1, so add_to_sweep() counts a missing parameter as 1.
std::set<std::string> list_numeric_parameters(const std::vector<const CaseRecord*>& cases) {
  std::set<std::string> names;
  for (const CaseRecord* record : cases) {
    for (const ParameterToken& token : split_tokens(split_id(record->id).parameters)) {
      if (token.value && !token.name.empty()) names.insert(token.name);
    }
  }
  return names;
}

// Whether parameters with the same value as the swept one are fixed within a line or change with
// the swept one. Typical coupled parameters are h and w, or m, n and k of square products.
enum class EqualParameters { fixed, coupled };

// Adds a case to the line of its other parameters.
void add_to_sweep(Sweep& sweep, const CaseRecord& record, EqualParameters equal) {
  const IdSegments id = split_id(record.id);
  const std::vector<ParameterToken> tokens = split_tokens(id.parameters);
  const auto found = std::ranges::find(tokens, sweep.parameter, &ParameterToken::name);
  const double value = found == tokens.end() ? 1 : found->value.value_or(1);
  std::string other_parameters;
  for (const ParameterToken& token : tokens) {
    if (token.name == sweep.parameter) continue;
    if (equal == EqualParameters::coupled && token.value == value) {
      other_parameters += token.name;
    } else {
      other_parameters += token.name + (token.value ? fmt::format("{:g}", *token.value) : "");
    }
  }
  std::string key;
  for (const std::string& segment :
       {id.direction, other_parameters, id.dtype, id.backend, id.device, id.cache, id.options}) {
    if (!segment.empty()) key += (key.empty() ? "" : "/") + segment;
  }
  sweep.lines[key].push_back({&record, value});
}

// Returns the sweep of a parameter, or nullopt if no line has kMinPoints points.
std::optional<Sweep> find_sweep(const std::vector<const CaseRecord*>& cases,
                                const std::string& parameter, EqualParameters equal) {
  Sweep sweep{cases.front()->op, parameter, {}};
  for (const CaseRecord* record : cases) add_to_sweep(sweep, *record, equal);
  for (auto& [key, line] : sweep.lines) {
    std::ranges::sort(line, {}, &SweptCase::value);
    // std::ranges::unique of GCC 12 does not compile with clang 14.
    const auto is_same = [](const SweptCase& a, const SweptCase& b) { return a.value == b.value; };
    line.erase(std::unique(line.begin(), line.end(), is_same), line.end());
  }
  std::erase_if(sweep.lines, [](const auto& entry) { return entry.second.size() < kMinPoints; });
  if (sweep.lines.empty()) return std::nullopt;
  return sweep;
}

// Whether the sweep covers at least half of the operator's `cases`. Layers of a network differ in
// several parameters, and a few layers differ in only one by chance.
bool is_deliberate(const Sweep& sweep, std::size_t cases) {
  std::size_t covered = 0;
  for (const auto& [key, line] : sweep.lines) covered += line.size();
  return 2 * covered >= cases;
}

// Returns the names of the lines, without the parts that all lines share.
std::vector<std::string> make_legend_names(const Sweep& sweep) {
  std::vector<std::vector<std::string>> parts;
  for (const auto& [key, line] : sweep.lines) {
    std::vector<std::string>& words = parts.emplace_back();
    std::size_t begin = 0;
    for (std::size_t end = key.find('/'); begin <= key.size(); end = key.find('/', begin)) {
      words.push_back(key.substr(begin, end - begin));
      if (end == std::string::npos) break;
      begin = end + 1;
    }
  }
  std::vector<std::string> names(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = 0; j < parts[i].size(); ++j) {
      const bool is_shared = std::ranges::all_of(parts, [&](const auto& words) {
        return words.size() == parts[i].size() && words[j] == parts[i][j];
      });
      if (!is_shared) names[i] += (names[i].empty() ? "" : " ") + parts[i][j];
    }
  }
  return names;
}

// A quantity that a sweep shows.
struct SweepMetric {
  std::string_view name, title;
  std::string (*format_tick)(double value);
  std::optional<double> (*value)(const SweptCase& entry);
  // Returns the interval of the value, if the picture shows intervals.
  std::optional<Extent> (*interval)(const SweptCase& entry);
};

double to_axis(Nanoseconds time) { return static_cast<double>(time.count()); }
std::optional<Extent> time_interval(const std::optional<Nanoseconds>& low,
                                    const std::optional<Nanoseconds>& high) {
  return low && high ? std::optional(Extent{to_axis(*low), to_axis(*high)}) : std::nullopt;
}
std::optional<Extent> no_interval(const SweptCase& /*entry*/) { return std::nullopt; }

constexpr std::array<SweepMetric, 2> kSweepMetrics = {
    {{"time", "time of one iteration", format_time_tick,
      [](const SweptCase& entry) { return std::optional(to_axis(entry.record->time->median)); },
      [](const SweptCase& entry) {
        return time_interval(entry.record->time->low, entry.record->time->high);
      }},
     {"rate", "achieved rate", format_flop_rate_tick,
      [](const SweptCase& entry) {
        const auto& rate = entry.record->flops_per_s;
        return rate ? std::optional(rate->value) : std::nullopt;
      },
      no_interval}}};
constexpr SweepMetric kThroughput = {"throughput", "items per second", format_plain_tick,
                                     [](const SweptCase& entry) {
                                       return entry.rate ? std::optional(entry.rate->value)
                                                         : std::nullopt;
                                     },
                                     no_interval};
constexpr SweepMetric kLatency = {
    "latency", "latency of one iteration", format_time_tick,
    [](const SweptCase& entry) {
      return entry.latency ? std::optional(to_axis(entry.latency->time)) : std::nullopt;
    },
    [](const SweptCase& entry) { return time_interval(entry.latency->low, entry.latency->high); }};

// Returns the style of a line. The first kSeriesColours lines are solid and dashed in turn, the
// next ones the other way round, so that two lines of the same colour differ.
std::string sweep_line_class(std::size_t number) {
  const bool is_dashed = (number + number / kSeriesColours) % 2 == 1;
  return fmt::format("curve {}{}", series_class(number), is_dashed ? " dashed" : "");
}

class SweepChartMaker {
 public:
  SweepChartMaker(const Sweep& sweep, const SweepMetric& metric) : sweep_(sweep), metric_(metric) {}

  // Returns nullopt if no two values of the parameter have a value of the metric.
  std::optional<PlaneChart> make() {
    std::size_t number = 0;
    for (const auto& [key, line] : sweep_.lines) add_line(line, number++);
    if (x_.low >= x_.high) return std::nullopt;
    Plane plane{{.title = std::string(metric_.title),
                 .kind = Scale::Kind::logarithmic,
                 .values = {y_.low / 1.3, y_.high * 1.3},
                 .format_tick = metric_.format_tick},
                256,
                196,
                std::move(marks_)};
    return PlaneChart{.label = fmt::format("{} by {}", metric_.title, sweep_.parameter),
                      .x = make_x_axis(),
                      .planes = {std::move(plane)},
                      .legend = make_legend()};
  }

 private:
  static constexpr double kRadius = 4;  // radius of the marks

  // Adds the values of a line to the ranges of the axes, and its marks if it is drawn.
  void add_line(const SweepLine& line, std::size_t number) {
    Curve curve{{}, sweep_line_class(number)};
    std::vector<Mark> points;
    for (const SweptCase& entry : line) {
      const auto value = metric_.value(entry);
      if (!value || *value <= 0) continue;
      const Point at{entry.value, *value};
      x_ = {std::min(x_.low, at.x), std::max(x_.high, at.x)};
      y_ = {std::min(y_.low, at.y), std::max(y_.high, at.y)};
      values_.insert(at.x);
      curve.points.push_back(at);
      points.push_back(make_point(entry, at, number));
    }
    if (number >= kMaxLines || points.empty()) return;
    marks_.push_back({"", {std::move(curve)}});
    std::ranges::move(points, std::back_inserter(marks_));
  }

  Mark make_point(const SweptCase& entry, Point at, std::size_t number) const {
    Mark point{fmt::format("{}\n{} = {:g}: {}", entry.record->id, sweep_.parameter, at.x,
                           metric_.format_tick(at.y)),
               {}};
    if (const auto interval = metric_.interval(entry)) {
      point.shapes.push_back(
          Stroke{{at.x, interval->low}, {at.x, interval->high}, "range " + series_class(number)});
    }
    point.shapes.push_back(series_symbol(number, at, kRadius));
    return point;
  }

  // Ticks mark the measured values if there is room.
  ChartAxis make_x_axis() const {
    const bool is_wide = x_.low > 0 && x_.high / x_.low >= 4;
    ChartAxis axis{.title = fmt::format("{} of {}", sweep_.parameter, sweep_.op),
                   .kind = is_wide ? Scale::Kind::logarithmic : Scale::Kind::linear,
                   .values = x_};
    for (const double value : values_) axis.ticks.push_back({value, format_plain_tick(value)});
    return axis;
  }

  std::vector<LegendEntry> make_legend() const {
    if (sweep_.lines.size() == 1) return {};
    std::vector<LegendEntry> legend;
    for (const std::string& name : make_legend_names(sweep_)) {
      const std::size_t number = legend.size();
      if (number == kMaxLines) break;
      legend.push_back({name, series_symbol(number, {}, kRadius), sweep_line_class(number)});
    }
    return legend;
  }

  const Sweep& sweep_;
  const SweepMetric& metric_;
  std::vector<Mark> marks_;
  std::set<double> values_;  // values of the parameter
  Extent x_{1e300, 0}, y_{1e300, 0};
};

// Returns at most kMaxSweeps sweeps. Couples parameters only if an operator has no other sweep.
std::vector<Sweep> find_sweeps(const std::vector<CaseRecord>& cases) {
  std::map<std::string, std::vector<const CaseRecord*>> cases_by_op;
  for (const CaseRecord& record : cases) {
    if (record.time && record.time->median.count() > 0 && record.op != "network") {
      cases_by_op[record.op].push_back(&record);
    }
  }
  std::vector<Sweep> sweeps;
  for (const auto& [op, op_cases] : cases_by_op) {
    for (const EqualParameters equal : {EqualParameters::fixed, EqualParameters::coupled}) {
      const std::size_t old_count = sweeps.size();
      for (const std::string& parameter : list_numeric_parameters(op_cases)) {
        auto sweep = find_sweep(op_cases, parameter, equal);
        if (!sweep || !is_deliberate(*sweep, op_cases.size())) continue;
        sweeps.push_back(*std::move(sweep));
        // Parameters that change together would each give the same plot.
        if (equal == EqualParameters::coupled) break;
      }
      if (sweeps.size() > old_count) break;
    }
  }
  if (sweeps.size() > kMaxSweeps) sweeps.resize(kMaxSweeps);
  return sweeps;
}

// Two points are enough: many machines can share their threads among only two streams.
constexpr std::size_t kMinServingPoints = 2;

// Returns the cases with known items, in lines along this parameter of their ids.
std::optional<Sweep> find_serving_sweep(const std::vector<CaseRecord>& cases,
                                        const std::string& parameter) {
  const ServedRates rates(cases);
  Sweep sweep{"network", parameter, {}};
  for (const CaseRecord& record : cases) {
    const auto rate = rates.of(record);
    const auto split = rate ? split_parameter(record.id, parameter) : std::nullopt;
    const auto value = split ? parse_number<double>(split->value) : std::nullopt;
    if (!value) continue;
    if (record.op != "network") sweep.op = record.op;
    sweep.lines[split->rest].push_back({&record, *value, rate});
  }
  for (auto& [key, line] : sweep.lines) std::ranges::sort(line, {}, &SweptCase::value);
  std::erase_if(sweep.lines,
                [](const auto& entry) { return entry.second.size() < kMinServingPoints; });
  return sweep.lines.empty() ? std::nullopt : std::optional(std::move(sweep));
}

// Returns the same sweep with a line per percentile. With one stream there is no distribution: the
// line of the median has the time of an iteration.
Sweep with_latencies(const Sweep& sweep) {
  Sweep latencies{sweep.op, sweep.parameter, {}};
  for (const auto& [key, line] : sweep.lines) {
    for (const LatencyPercentileRow& row :
         {kLatencyPercentiles.front(), kLatencyPercentiles.back()}) {
      SweepLine points;
      for (SweptCase entry : line) {
        const auto& latency = entry.record->latency;
        const TimeSummary& time = *entry.record->time;
        if (latency) entry.latency = *latency.*row.value;
        if (!latency && row.value == &Latency::p50)
          entry.latency = LatencyPercentile{time.median, time.low, time.high};
        if (entry.latency) points.push_back(entry);
      }
      if (!points.empty()) latencies.lines[fmt::format("{}/{}", key, row.name)] = std::move(points);
    }
  }
  return latencies;
}

// Adds the plot, if it can be drawn. `kind`: of the plot, the first word of its name.
void add_sweep_plot(const Sweep& sweep, const SweepMetric& metric, const std::string& kind,
                    std::string title, std::string caption, std::vector<Plot>& plots) {
  const auto chart = SweepChartMaker(sweep, metric).make();
  if (!chart) return;
  const std::size_t drawn = std::min(sweep.lines.size(), kMaxLines);
  caption += format_left_out(sweep.lines.size() - drawn, "further line");
  plots.push_back(make_plot(fmt::format("{}-{}-{}", kind, sweep.parameter, metric.name),
                            std::move(title), std::move(caption), *chart));
}

void add_serving_plot(const Sweep& sweep, const SweepMetric& metric, std::string caption,
                      std::vector<Plot>& plots) {
  add_sweep_plot(sweep, metric, "serving", fmt::format("{} by {}", metric.name, sweep.parameter),
                 std::move(caption), plots);
}

}  // namespace

std::vector<Plot> serving_plots(const std::vector<CaseRecord>& cases) {
  std::vector<Plot> plots;
  for (const char* parameter : {"streams", "batch"}) {
    const auto sweep = find_serving_sweep(cases, parameter);
    if (!sweep) continue;
    add_serving_plot(
        *sweep, kThroughput,
        fmt::format("Items per second against {}; cases that differ in nothing else are one line. "
                    "An item is an image or sequence of the batch, else an iteration.",
                    parameter),
        plots);
    add_serving_plot(
        with_latencies(*sweep), kLatency,
        fmt::format("Time of one iteration against {}: the median (p50), and what 99 % of the "
                    "iterations do not exceed (p99), which cases with one stream do not have.",
                    parameter),
        plots);
  }
  return plots;
}

std::vector<Plot> sweep_plots(const std::vector<CaseRecord>& cases) {
  std::vector<Plot> plots;
  for (const Sweep& sweep : find_sweeps(cases)) {
    for (const SweepMetric& metric : kSweepMetrics) {
      std::string caption = fmt::format(
          "{} of each case against its parameter {}; cases that differ in nothing else are one "
          "line.",
          metric.title, sweep.parameter);
      caption.front() = static_cast<char>(caption.front() - 'a' + 'A');
      add_sweep_plot(sweep, metric, "sweep-" + sweep.op,
                     fmt::format("{}: {} by {}", sweep.op, metric.name, sweep.parameter),
                     std::move(caption), plots);
    }
  }
  if (plots.empty()) {
    plots.push_back(make_absent_plot("sweep", "Sweeps",
                                     "No parameter has three or more values while the others stay "
                                     "equal, so there is no sweep."));
  }
  return plots;
}

}  // namespace bench
