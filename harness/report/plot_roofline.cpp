// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "harness/report/label_layout.hpp"
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
    const std::vector<Point> legend = place_legend(width);
    const double top = legend.empty() ? 46 : legend.back().y + 20;
    const double height = (is_narrow ? 294 : 394) + top;
    Svg svg({width, height},
            fmt::format("roofline: {} cases by intensity and rate", points_.size()));
    const Extent x_positions{is_narrow ? 82.0 : 84.0, width - 12};
    const Scale x(Scale::Kind::logarithmic, find_x_range(x_positions.span()), x_positions);
    const Scale y(Scale::Kind::logarithmic, y_range_, {height - 40, top});
    draw_axes(svg, x, y, {"arithmetic intensity (FLOP per byte)", format_plain_tick},
              {"achieved rate", format_flop_rate_tick});
    const std::vector<RoofLine> roofs = make_roof_lines(x, y);
    for (const RoofLine& roof : roofs) {
      svg.open_mark(fmt::format("{}: {}", roof.name, roof.rate));
      svg.polyline(svg_point(roof.from) + svg_point(roof.to), roof.classes);
      svg.close_mark();
    }
    draw_roof_labels(svg, x, y, roofs);
    for (const RooflinePoint& point : points_) draw_point(svg, x, y, point);
    for (std::size_t i = 0; i < series_.size(); ++i) {
      svg.marker(series_marker(i), legend[i], kMarkRadius, series_class(i));
      svg.text({legend[i].x + 9, legend[i].y + 4}, series_[i], Anchor::start);
    }
    return std::move(svg).finish();
  }

 private:
  static constexpr double kMarkRadius = 4.5;
  static constexpr double kLabelGap = 6;  // between a roof and its label

  // A roof in the picture, and the places that its label may have.
  struct RoofLine {
    std::string name, rate;
    std::string_view classes;
    Point from, to;
    std::vector<LabelSpot> spots;
    std::string label() const { return name + " " + rate; }
  };

  static void stretch(Extent& extent, double value) {
    if (extent.low == 0) extent = {value, value};
    extent = {std::min(extent.low, value), std::max(extent.high, value)};
  }

  // Returns the range of x for an axis of this length. If there are several diagonals, extends the
  // range so that the label of the steepest one fits left of it. The others are close to its right.
  Extent find_x_range(double length) const {
    if (roofs_.memory.size() < 2 || roofs_.compute.empty()) return x_range_;
    const Roofs::Memory& steepest = roofs_.memory.back();
    const double knee = roofs_.compute.rbegin()->first / steepest.bandwidth.value;
    const double label =
        strong_text_width(fmt::format("{} {}", steepest.level, format_rate(steepest.bandwidth)));
    const double needed = label + 3 * kLabelGap;
    const double right = std::log(x_range_.high / knee);
    if (needed > length / 2) return x_range_;
    const double low = knee * std::exp(-right * needed / (length - needed));
    return {std::min(x_range_.low, low), x_range_.high};
  }

  // Returns a diagonal per level of memory, which ends at the highest compute ceiling, the steepest
  // first. Then a horizontal line per compute ceiling, which begins at the steepest diagonal.
  std::vector<RoofLine> make_roof_lines(const Scale& x, const Scale& y) const {
    std::vector<RoofLine> lines;
    if (roofs_.compute.empty()) return lines;
    const double highest = roofs_.compute.rbegin()->first;
    for (auto roof = roofs_.memory.rbegin(); roof != roofs_.memory.rend(); ++roof) {
      const double slope = roof->bandwidth.value;
      const double begin = std::max(x.values().low, y_range_.low / slope);
      lines.push_back({roof->level,
                       format_rate(roof->bandwidth),
                       "roof dashed",
                       {x.position(begin), y.position(begin * slope)},
                       {x.position(highest / slope), y.position(highest)},
                       {}});
      // Left of another diagonal is the next steeper one.
      add_diagonal_spots(lines.back(), lines.size() == 1 ? Sides::both : Sides::right);
    }
    for (const auto& [flops, name] : roofs_.compute) {
      const double begin = roofs_.memory.empty() ? 0 : flops / roofs_.memory.back().bandwidth.value;
      lines.push_back({name,
                       format_rate(FlopsPerSecond{flops}),
                       "roof",
                       {x.position(std::max(begin, x.values().low)), y.position(flops)},
                       {x.positions().high, y.position(flops)},
                       {}});
      add_flat_spots(lines.back());
    }
    return lines;
  }

  enum class Sides { right, both };

  // Adds spots right below the line, or left above it as well, from its upper end downwards.
  static void add_diagonal_spots(RoofLine& line, Sides sides) {
    constexpr int kSteps = 20;
    for (int step = kSteps - 1; step > 0; --step) {
      const double fraction = static_cast<double>(step) / kSteps;
      const Point at{line.from.x + fraction * (line.to.x - line.from.x),
                     line.from.y + fraction * (line.to.y - line.from.y)};
      if (sides == Sides::both) line.spots.push_back({{at.x - kLabelGap, at.y - 4}, Anchor::end});
      line.spots.push_back({{at.x + kLabelGap, at.y + 11}, Anchor::start});
    }
  }

  // Adds spots above and below the line, from its right end to the left. A label may begin left of
  // a short line, where it crosses diagonals but hides no marks.
  static void add_flat_spots(RoofLine& line) {
    constexpr int kSteps = 12;
    const double room =
        std::max(0.0, line.to.x - line.from.x - strong_text_width(line.label()) / 2);
    for (int step = 0; step <= kSteps; ++step) {
      const double right = line.to.x - 4 - room * step / kSteps;
      line.spots.push_back({{right, line.from.y - kLabelGap}, Anchor::end});
      line.spots.push_back({{right, line.from.y + 10 + kLabelGap}, Anchor::end});
    }
  }

  // Draws the labels above the roofs. Marks are drawn later, so no label hides a mark.
  void draw_roof_labels(Svg& svg, const Scale& x, const Scale& y,
                        const std::vector<RoofLine>& roofs) const {
    LabelLayout layout({x.positions().low, y.positions().high},
                       {x.positions().span(), -y.positions().span()});
    for (const RoofLine& roof : roofs) layout.avoid_line(roof.from, roof.to);
    for (const RooflinePoint& point : points_) {
      layout.avoid_mark({x.position(point.intensity), y.position(point.rate)}, kMarkRadius);
    }
    for (const RoofLine& roof : roofs) {
      const LabelSpot spot = layout.place(roof.label(), roof.spots);
      svg.text(spot.at, roof.label(), spot.anchor, "strong halo");
    }
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
      text += fmt::format("\n{:.0f} % of the ceiling, bound by {}",
                          100 * record.roofline->efficiency, to_string(record.roofline->bound));
    }
    svg.open_mark(text);
    svg.marker(series_marker(series), {x.position(point.intensity), y.position(point.rate)},
               kMarkRadius, series_class(series));
    svg.close_mark();
  }

  // Returns where the marks of the legend's entries are, in as many rows as they need.
  std::vector<Point> place_legend(double width) const {
    const double begin = width < 600 ? 14 : 96;
    Point at{begin, 26};
    std::vector<Point> places;
    for (const std::string& name : series_) {
      const double entry_width = 30 + 7.0 * static_cast<double>(display_width(name));
      if (at.x > begin && at.x + entry_width > width) at = {begin, at.y + 16};
      places.push_back(at);
      at.x += entry_width;
    }
    return places;
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
