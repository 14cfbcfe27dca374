// SPDX-License-Identifier: Apache-2.0
#include "base/label_layout.hpp"
#include "base/text.hpp"
#include "harness/report/plots.hpp"
#include "harness/result/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace bench {
namespace {

// More points would hide each other and make the page slow.
constexpr std::size_t kMaxPoints = 1000;

// A case in the roofline plot. Intensity and rate count only necessary FLOPs, as the ceilings do. A
// kernel may skip the products with padding, and would otherwise appear above the roof.
struct RooflinePoint {
  const CaseRecord* record = nullptr;
  double intensity = 0;  // FLOP/byte
  double rate = 0;       // FLOP/s
};

std::vector<RooflinePoint> roofline_points(const std::vector<CaseRecord>& cases) {
  std::vector<RooflinePoint> points;
  for (const CaseRecord& record : cases) {
    if (!record.work || !record.flops_per_s || record.work->traffic().count <= 0) continue;
    const auto flops = static_cast<double>(necessary_flops(*record.work));
    const double intensity = flops / static_cast<double>(record.work->traffic().count);
    if (intensity <= 0 || record.flops_per_s->value <= 0) continue;
    const double necessary_fraction = flops / static_cast<double>(record.work->flops);
    points.push_back({&record, intensity, record.flops_per_s->value * necessary_fraction});
  }
  std::ranges::stable_sort(points, [](const RooflinePoint& a, const RooflinePoint& b) {
    return a.record->time && b.record->time && a.record->time->median > b.record->time->median;
  });
  if (points.size() > kMaxPoints) points.resize(kMaxPoints);
  return points;
}

// The measured ceilings with the names that the plot shows.
struct Roofs {
  struct Memory {
    BytesPerSecond bandwidth;
    std::string level;
  };
  std::map<double, std::string> compute;  // FLOP/s -> "f32"
  std::vector<Memory> memory;             // the slowest first
};

// Returns a roof per device, number of threads and level of memory, the slowest first. A case with
// cold weights moves data from two levels, so its bandwidth is between those of the levels.
// Therefore, the bandwidth of main memory is the lowest of its cases, and the bandwidth of a cache
// the highest.
std::vector<Roofs::Memory> memory_roofs(const std::vector<RooflinePoint>& points) {
  using Key = std::tuple<std::string, std::optional<int>, std::string>;  // device, threads, level
  std::map<Key, double> bandwidths;
  for (const RooflinePoint& point : points) {
    const CaseRecord& record = *point.record;
    if (!record.roofline || !record.roofline->peak_bytes_per_s) continue;
    const double bytes = record.roofline->peak_bytes_per_s->value;
    if (bytes <= 0) continue;
    const std::string& level = record.roofline->level;
    const Key key{record.device, threads_in(split_id(record.id).options), level};
    const auto [entry, is_new] = bandwidths.emplace(key, bytes);
    if (is_new) continue;
    entry->second = level == kMemoryLevels.back() ? std::min(entry->second, bytes)
                                                  : std::max(entry->second, bytes);
  }
  std::vector<Roofs::Memory> roofs;
  for (const auto& [key, bytes] : bandwidths)
    roofs.push_back({BytesPerSecond{bytes}, std::get<2>(key)});
  std::ranges::sort(roofs, {}, [](const Roofs::Memory& roof) { return roof.bandwidth.value; });
  return roofs;
}

Roofs find_roofs(const std::vector<RooflinePoint>& points) {
  Roofs roofs;
  for (const RooflinePoint& point : points) {
    if (!point.record->roofline) continue;
    const Roofline& roofline = *point.record->roofline;
    if (roofline.peak_flops_per_s && roofline.peak_flops_per_s->value > 0) {
      roofs.compute.emplace(roofline.peak_flops_per_s->value, point.record->dtype);
    }
  }
  roofs.memory = memory_roofs(points);
  return roofs;
}

class RooflinePicture {
 public:
  RooflinePicture(const std::vector<RooflinePoint>& points, const Roofs& roofs)
      : points_(points), roofs_(roofs) {
    std::set<std::string> ops;
    for (const RooflinePoint& point : points) {
      ops.insert(point.record->op);
      stretch(x_range_, point.intensity);
      stretch(y_range_, point.rate);
    }
    series_.assign(ops.begin(), ops.end());
    for (const auto& [flops, name] : roofs.compute) {
      stretch(y_range_, flops);
      for (const Roofs::Memory& roof : roofs.memory)
        stretch(x_range_, flops / roof.bandwidth.value);
    }
    x_range_ = {x_range_.low / 1.6, x_range_.high * 1.6};
    y_range_ = {y_range_.low / 1.6, y_range_.high * 1.8};
  }

  std::string draw(double width) const {
    PlaneChart chart{
        fmt::format("roofline: {} by intensity and rate", pluralise(points_.size(), "case"))};
    chart.x = {.title = "arithmetic intensity (FLOP per byte)",
               .kind = Scale::Kind::logarithmic,
               .values = find_x_range(plane_width(chart, width))};
    Plane plane{{.title = "achieved rate",
                 .kind = Scale::Kind::logarithmic,
                 .values = y_range_,
                 .format_tick = format_flop_rate_tick},
                354,
                254};
    plane.lines = make_roof_lines(chart.x.values);
    for (const RooflinePoint& point : points_) plane.marks.push_back(make_mark(point));
    chart.planes = {std::move(plane)};
    for (std::size_t i = 0; i < series_.size(); ++i)
      chart.legend.push_back({series_[i], series_symbol(i, {}, kMarkRadius)});
    return draw_planes(chart, width);
  }

 private:
  static constexpr double kMarkRadius = 4.5;

  static void stretch(Extent& extent, double value) {
    if (extent.low == 0) extent = {value, value};
    extent = {std::min(extent.low, value), std::max(extent.high, value)};
  }

  // Returns the range of x for an axis of this length. If there are several diagonals, extends the
  // range so that the label of the steepest one fits left of it. The others are close to its right.
  Extent find_x_range(double length) const {
    if (roofs_.memory.size() < 2 || roofs_.compute.empty()) return x_range_;
    constexpr double kGaps = 18;  // left and right of the label
    const Roofs::Memory& steepest = roofs_.memory.back();
    const double knee = roofs_.compute.rbegin()->first / steepest.bandwidth.value;
    const double needed = strong_text_width(format_memory_roof(steepest)) + kGaps;
    const double right = std::log(x_range_.high / knee);
    if (needed > length / 2) return x_range_;
    const double low = knee * std::exp(-right * needed / (length - needed));
    return {std::min(x_range_.low, low), x_range_.high};
  }

  static std::string format_memory_roof(const Roofs::Memory& roof) {
    return fmt::format("{} {}", roof.level, format_rate(roof.bandwidth));
  }

  // Returns a diagonal per level of memory, which ends at the highest compute ceiling, the steepest
  // first. Then a horizontal line per compute ceiling, which begins at the steepest diagonal.
  // `x`: the values of the axis.
  std::vector<LabelledStroke> make_roof_lines(Extent x) const {
    std::vector<LabelledStroke> lines;
    if (roofs_.compute.empty()) return lines;
    const double highest = roofs_.compute.rbegin()->first;
    for (auto roof = roofs_.memory.rbegin(); roof != roofs_.memory.rend(); ++roof) {
      const double slope = roof->bandwidth.value;
      const double begin = std::max(x.low, y_range_.low / slope);
      // Left of another diagonal is the next steeper one.
      lines.push_back({{{begin, begin * slope}, {highest / slope, highest}, "roof dashed"},
                       fmt::format("{}: {}", roof->level, format_rate(roof->bandwidth)),
                       format_memory_roof(*roof),
                       lines.empty() ? LabelSides::both : LabelSides::right});
    }
    for (const auto& [flops, name] : roofs_.compute) {
      const double begin = roofs_.memory.empty() ? 0 : flops / roofs_.memory.back().bandwidth.value;
      const std::string rate = format_rate(FlopsPerSecond{flops});
      lines.push_back({{{std::max(begin, x.low), flops}, {x.high, flops}, "roof"},
                       fmt::format("{}: {}", name, rate),
                       fmt::format("{} {}", name, rate)});
    }
    return lines;
  }

  Mark make_mark(const RooflinePoint& point) const {
    const CaseRecord& record = *point.record;
    const auto series =
        static_cast<std::size_t>(std::ranges::find(series_, record.op) - series_.begin());
    std::string text = fmt::format("{}\n{} at {:.3g} FLOP/byte", record.id,
                                   format_rate(FlopsPerSecond{point.rate}), point.intensity);
    if (record.time) text += fmt::format("\nmedian {}", format_time(record.time->median));
    if (record.roofline) {
      text += fmt::format("\n{:.0f} % of the ceiling, bound by {}",
                          100 * record.roofline->efficiency, to_string(record.roofline->bound));
    }
    return {std::move(text), {series_symbol(series, {point.intensity, point.rate}, kMarkRadius)}};
  }

  const std::vector<RooflinePoint>& points_;
  const Roofs& roofs_;
  std::vector<std::string> series_;
  Extent x_range_{0, 0}, y_range_{0, 0};
};

}  // namespace

Plot roofline_plot(const std::vector<CaseRecord>& cases) {
  const std::vector<RooflinePoint> points = roofline_points(cases);
  if (points.empty()) {
    return make_absent_plot(
        "roofline", "Roofline",
        "No case has both a time and floating-point work, so there is no roofline.");
  }
  const Roofs roofs = find_roofs(points);
  std::string caption =
      "Each mark is a case: its operations per byte to the right, its rate upwards, both on "
      "logarithmic axes. The nearer a mark is to the roof above it, the less is left to gain. "
      "Products with padding do not count.";
  if (roofs.compute.empty() && roofs.memory.empty()) {
    caption += " Roofs: n/a: no ceilings, run `bench peak`.";
  }
  if (points.size() == kMaxPoints) {
    caption += fmt::format(" Only the {} longest cases are drawn.", kMaxPoints);
  }
  const RooflinePicture picture(points, roofs);
  return make_plot("roofline", "Roofline", caption,
                   [&](double width) { return picture.draw(width); });
}

}  // namespace bench
