// SPDX-License-Identifier: Apache-2.0
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
    const bool is_narrow = width < 600;
    const double height = is_narrow ? 340 : 440;
    Svg svg({width, height},
            fmt::format("roofline: {} cases by intensity and rate", points_.size()));
    const Scale x(Scale::Kind::logarithmic, x_range_, {is_narrow ? 82.0 : 84.0, width - 12});
    const Scale y(Scale::Kind::logarithmic, y_range_, {height - 40, 46});
    draw_axes(svg, x, y, {"arithmetic intensity (FLOP per byte)", format_plain_tick},
              {"achieved rate", format_flop_rate_tick});
    draw_roofs(svg, x, y);
    for (const RooflinePoint& point : points_) draw_point(svg, x, y, point);
    draw_legend(svg, width);
    return std::move(svg).finish();
  }

 private:
  static void stretch(Extent& extent, double value) {
    if (extent.low == 0) extent = {value, value};
    extent = {std::min(extent.low, value), std::max(extent.high, value)};
  }

  // Draws a diagonal per level of memory, which ends at the highest compute ceiling. Draws a
  // horizontal line per compute ceiling, which begins at the steepest diagonal.
  void draw_roofs(Svg& svg, const Scale& x, const Scale& y) const {
    if (roofs_.memory.empty() || roofs_.compute.empty()) {
      for (const auto& [flops, name] : roofs_.compute) draw_flat_roof(svg, x, y, flops, name, 0);
      return;
    }
    const double highest = roofs_.compute.rbegin()->first;
    // Position along the diagonal, as a fraction of its length. The labels of several diagonals are
    // at different positions, so that they do not overlap.
    double label_position = 0.15;
    for (const auto& [bandwidth, level] : roofs_.memory) {
      const double slope = bandwidth.value;
      const double begin = std::max(x_range_.low, y_range_.low / slope);
      svg.open_mark(fmt::format("{}: {}", level, format_rate(bandwidth)));
      svg.polyline(svg_point({x.position(begin), y.position(begin * slope)}) +
                       svg_point({x.position(highest / slope), y.position(highest)}),
                   "roof dashed");
      svg.close_mark();
      const double label_x = begin * std::pow(highest / slope / begin, label_position);
      label_position = label_position < 0.7 ? label_position + 0.25 : 0.15;
      svg.text({x.position(label_x) + 6, y.position(label_x * slope) + 14},
               fmt::format("{} {}", level, format_rate(bandwidth)), Anchor::start, "strong");
    }
    const double steepest = roofs_.memory.back().bandwidth.value;
    for (const auto& [flops, name] : roofs_.compute) {
      draw_flat_roof(svg, x, y, flops, name, flops / steepest);
    }
  }

  void draw_flat_roof(Svg& svg, const Scale& x, const Scale& y, double flops,
                      const std::string& name, double begin) const {
    svg.open_mark(fmt::format("{}: {}", name, format_rate(FlopsPerSecond{flops})));
    svg.polyline(svg_point({x.position(std::max(begin, x_range_.low)), y.position(flops)}) +
                     svg_point({x.position(x_range_.high), y.position(flops)}),
                 "roof");
    svg.close_mark();
    svg.text({x.positions().high - 4, y.position(flops) - 5},
             fmt::format("{} {}", name, format_rate(FlopsPerSecond{flops})), Anchor::end, "strong");
  }

  std::size_t find_series(const std::string& op) const {
    return static_cast<std::size_t>(std::ranges::find(series_, op) - series_.begin());
  }

  void draw_point(Svg& svg, const Scale& x, const Scale& y, const RooflinePoint& point) const {
    const CaseRecord& record = *point.record;
    const std::size_t series = find_series(record.op);
    std::string text = fmt::format("{}\n{} at {:.3g} FLOP/byte", record.id,
                                   format_rate(FlopsPerSecond{point.rate}), point.intensity);
    if (record.time) text += fmt::format("\nmedian {}", format_time(record.time->median));
    if (record.roofline) {
      text +=
          fmt::format("\n{:.0f} % of the ceiling, bound by {}", 100 * record.roofline->efficiency,
                      bound_names()[static_cast<std::size_t>(record.roofline->bound)]);
    }
    svg.open_mark(text);
    svg.marker(series_marker(series), {x.position(point.intensity), y.position(point.rate)}, 4.5,
               series_class(series));
    svg.close_mark();
  }

  void draw_legend(Svg& svg, double width) const {
    double left = width < 600 ? 14 : 96;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const double entry_width = 30 + 7.0 * static_cast<double>(series_[i].size());
      if (left + entry_width > width) break;
      svg.marker(series_marker(i), {left, 26}, 4.5, series_class(i));
      svg.text({left + 9, 30}, series_[i], Anchor::start);
      left += entry_width;
    }
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
