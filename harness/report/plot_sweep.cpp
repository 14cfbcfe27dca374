// SPDX-License-Identifier: Apache-2.0
// Cases that differ in one parameter become a line each. The parameters are read from the case ids.
#include "base/characters.hpp"
#include "base/text.hpp"
#include "harness/report/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

namespace bench {
namespace {

constexpr std::size_t kMinPoints = 3;  // points of a line; two values are a comparison
constexpr std::size_t kMaxLines = 12;
constexpr std::size_t kMaxSweeps = 8;

struct ParameterToken {
  std::string name;  // "c"; text without a number is a token, too
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
    // A number that no double can hold is part of no sweep.
    const auto parsed = std::from_chars(parameters.data() + digits, end, number);
    if (parsed.ec == std::errc() && at > digits) token.value = number;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// The id with the parameter's value left out, and the value.
struct SweptCase {
  const CaseRecord* record = nullptr;
  double value = 0;
};
using SweepLine = std::vector<SweptCase>;
struct Sweep {
  std::string op, parameter;
  std::map<std::string, SweepLine> lines;  // by the rest of the id
};

// A parameter at its default is missing in the id ("n1"). So the parameters of an operator are
// those that any of its ids has, and a missing one counts as 1.
std::set<std::string> numeric_parameters(const std::vector<const CaseRecord*>& cases) {
  std::set<std::string> names;
  for (const CaseRecord* record : cases) {
    for (const ParameterToken& token : split_tokens(split_id(record->id).parameters)) {
      if (token.value && !token.name.empty()) names.insert(token.name);
    }
  }
  return names;
}

enum class EqualValues { stay, follow };

// `follow`: parameters with the same value change together with the swept one, as h and w, or m, n
// and k of square products.
void add_to_sweep(Sweep& sweep, const CaseRecord& record, EqualValues equal) {
  const IdSegments id = split_id(record.id);
  const std::vector<ParameterToken> tokens = split_tokens(id.parameters);
  const auto found = std::ranges::find(tokens, sweep.parameter, &ParameterToken::name);
  const double value = found == tokens.end() ? 1 : found->value.value_or(1);
  std::string rest;
  for (const ParameterToken& token : tokens) {
    if (token.name == sweep.parameter) continue;
    if (equal == EqualValues::follow && token.value == value) {
      rest += token.name;
    } else {
      rest += token.name + (token.value ? fmt::format("{:g}", *token.value) : "");
    }
  }
  std::string key;
  for (const std::string& part :
       {id.direction, rest, id.dtype, id.backend, id.device, id.cache, id.options}) {
    if (!part.empty()) key += (key.empty() ? "" : "/") + part;
  }
  sweep.lines[key].push_back({&record, value});
}

std::optional<Sweep> find_sweep(const std::vector<const CaseRecord*>& cases,
                                const std::string& parameter, EqualValues equal) {
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

// Layers of a network differ in several parameters, and some of them in one by chance. So a sweep
// must cover at least half of the operator's cases.
bool is_intended(const Sweep& sweep, std::size_t cases) {
  std::size_t covered = 0;
  for (const auto& [key, line] : sweep.lines) covered += line.size();
  return 2 * covered >= cases;
}

// The legend leaves out the parts that all lines share.
std::vector<std::string> legend_names(const Sweep& sweep) {
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

struct SweepMetric {
  std::string_view name, title;
  std::string (*tick)(double value);
  std::optional<double> (*value)(const CaseRecord& record);
};
constexpr std::array<SweepMetric, 2> kSweepMetrics = {
    {{"time", "time of one iteration", time_tick,
      [](const CaseRecord& record) {
        return std::optional(static_cast<double>(record.time->median.count()));
      }},
     {"rate", "achieved rate", flop_rate_tick, [](const CaseRecord& record) {
        return record.flops_per_s ? std::optional(record.flops_per_s->value) : std::nullopt;
      }}}};

class SweepPicture {
 public:
  SweepPicture(const Sweep& sweep, const SweepMetric& metric)
      : sweep_(sweep), metric_(metric), names_(legend_names(sweep)) {
    for (const auto& [key, line] : sweep.lines) {
      for (const SweptCase& entry : line) {
        const auto value = metric.value(*entry.record);
        if (!value || *value <= 0) continue;
        values_.insert(entry.value);
        across_ = {std::min(across_.low, entry.value), std::max(across_.high, entry.value)};
        upwards_ = {std::min(upwards_.low, *value), std::max(upwards_.high, *value)};
      }
    }
    kind_ = across_.low > 0 && across_.high / across_.low >= 4 ? Scale::Kind::logarithmic
                                                               : Scale::Kind::linear;
  }

  bool is_drawable() const { return across_.low < across_.high && upwards_.low <= upwards_.high; }

  std::string draw(double width) const {
    const bool is_narrow = width < 600;
    const std::size_t lines = std::min(sweep_.lines.size(), kMaxLines);
    const double legend = lines > 1 ? 15 * static_cast<double>(lines) : 0;
    const double height = (is_narrow ? 260 : 320) + legend;
    Svg svg({width, height}, fmt::format("{} by {}", metric_.title, sweep_.parameter));
    const Scale x(kind_, across_, {is_narrow ? 82.0 : 84.0, width - 20});
    const Scale y(Scale::Kind::logarithmic, {upwards_.low / 1.3, upwards_.high * 1.3},
                  {height - 40 - legend, 24});
    // Ticks mark the measured values if there is room.
    std::vector<double> ticks;
    if (values_.size() <= (is_narrow ? 5U : 9U)) ticks.assign(values_.begin(), values_.end());
    draw_axes(svg, x, y, {fmt::format("{} of {}", sweep_.parameter, sweep_.op), plain_tick, ticks},
              {std::string(metric_.title), metric_.tick});
    std::size_t number = 0;
    for (const auto& [key, line] : sweep_.lines) {
      if (number == lines) break;
      draw_line(svg, x, y, line, number);
      if (lines > 1) {
        const double at = height - legend + 15 * static_cast<double>(number);
        svg.marker(series_marker(number), {x.positions().low + 6, at}, 4, series_class(number));
        svg.text({x.positions().low + 16, at + 4}, names_[number], Anchor::start);
      }
      ++number;
    }
    return std::move(svg).finish();
  }

 private:
  void draw_line(Svg& svg, const Scale& x, const Scale& y, const SweepLine& line,
                 std::size_t number) const {
    const std::string colour = series_class(number);
    std::string points;
    for (const SweptCase& entry : line) {
      const auto value = metric_.value(*entry.record);
      if (value && *value > 0) points += svg_point({x.position(entry.value), y.position(*value)});
    }
    svg.polyline(points, fmt::format("curve {}{}", colour, number % 2 == 1 ? " dashed" : ""));
    for (const SweptCase& entry : line) {
      const auto value = metric_.value(*entry.record);
      if (!value || *value <= 0) continue;
      const TimeSummary& time = *entry.record->time;
      svg.open_mark(fmt::format("{}\n{} = {:g}: {}", entry.record->id, sweep_.parameter,
                                entry.value, metric_.tick(*value)));
      if (metric_.tick == time_tick && time.low && time.high) {
        svg.line({x.position(entry.value), y.position(static_cast<double>(time.low->count()))},
                 {x.position(entry.value), y.position(static_cast<double>(time.high->count()))},
                 "range " + colour);
      }
      svg.marker(series_marker(number), {x.position(entry.value), y.position(*value)}, 4, colour);
      svg.close_mark();
    }
  }

  const Sweep& sweep_;
  const SweepMetric& metric_;
  std::vector<std::string> names_;
  std::set<double> values_;  // values of the parameter
  Extent across_{1e300, 0}, upwards_{1e300, 0};
  Scale::Kind kind_ = Scale::Kind::linear;
};

std::vector<Sweep> find_sweeps(const std::vector<CaseRecord>& cases) {
  std::map<std::string, std::vector<const CaseRecord*>> by_op;
  for (const CaseRecord& record : cases) {
    if (record.time && record.time->median.count() > 0 && record.op != "network") {
      by_op[record.op].push_back(&record);
    }
  }
  std::vector<Sweep> sweeps;
  for (const auto& [op, of_op] : by_op) {
    for (const EqualValues equal : {EqualValues::stay, EqualValues::follow}) {
      const std::size_t before = sweeps.size();
      for (const std::string& parameter : numeric_parameters(of_op)) {
        auto sweep = find_sweep(of_op, parameter, equal);
        if (!sweep || !is_intended(*sweep, of_op.size())) continue;
        sweeps.push_back(*std::move(sweep));
        // Parameters that change together would each give the same plot.
        if (equal == EqualValues::follow) break;
      }
      if (sweeps.size() > before) break;
    }
  }
  if (sweeps.size() > kMaxSweeps) sweeps.resize(kMaxSweeps);
  return sweeps;
}

}  // namespace

std::vector<Plot> sweep_plots(const std::vector<CaseRecord>& cases) {
  std::vector<Plot> plots;
  for (const Sweep& sweep : find_sweeps(cases)) {
    for (const SweepMetric& metric : kSweepMetrics) {
      const SweepPicture picture(sweep, metric);
      if (!picture.is_drawable()) continue;
      std::string caption = fmt::format(
          "{} of each case against its parameter {}; cases that differ in nothing else are one "
          "line.",
          metric.title, sweep.parameter);
      caption.front() = static_cast<char>(caption.front() - 'a' + 'A');
      const std::size_t drawn = std::min(sweep.lines.size(), kMaxLines);
      caption += format_left_out(sweep.lines.size() - drawn, "further line");
      plots.push_back(
          make_plot(fmt::format("sweep-{}-{}-{}", sweep.op, sweep.parameter, metric.name),
                    fmt::format("{}: {} by {}", sweep.op, metric.name, sweep.parameter), caption,
                    [&](double width) { return picture.draw(width); }));
    }
  }
  if (plots.empty()) {
    plots.push_back(absent_plot("sweep", "Sweeps",
                                "No parameter has three or more values while the others stay "
                                "equal, so there is no sweep."));
  }
  return plots;
}

}  // namespace bench
