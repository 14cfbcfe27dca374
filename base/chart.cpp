// SPDX-License-Identifier: Apache-2.0
#include "base/chart.hpp"

#include "base/label_layout.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <limits>

namespace bench {
namespace {

constexpr double kLetterWidth = 6.3;  // average width of a letter of the text

bool is_narrow(double width) { return width < kNarrowLimit; }

// Cuts the text in the middle if it is wider than this.
std::string fit_text(std::string_view text, double width) {
  return shorten(text, static_cast<std::size_t>(width / kLetterWidth));
}

// Maps the positions of shapes in a row or plane to positions in the picture.
struct MarkArea {
  const Scale& x;
  std::optional<Scale> y;  // nullopt: y positions are SVG units below the upper edge
  Extent edges;            // y of the upper and the lower edge

  Point position(Point at) const {
    return {x.position(at.x), y ? y->position(at.y) : edges.low + at.y};
  }
};

// Draws a shape: std::visit() calls the operator of its type.
struct ShapePen {
  Svg& svg;
  const MarkArea& area;

  void operator()(const Bar& bar) const {
    Extent x{area.x.position(bar.x.low), area.x.position(bar.x.high)}, y = area.edges;
    if (bar.y) {
      const double begin = area.position({bar.x.low, bar.y->low}).y;
      const double end = area.position({bar.x.low, bar.y->high}).y;
      y = {std::min(begin, end), std::max(begin, end)};
    }
    const Point size{std::max(x.span(), bar.min_size.x), std::max(y.span(), bar.min_size.y)};
    svg.rect({x.low - (size.x - x.span()) / 2, y.low - (size.y - y.span()) / 2}, size, bar.classes);
  }
  void operator()(const Stroke& stroke) const {
    svg.line(area.position(stroke.from), area.position(stroke.to), stroke.classes);
  }
  void operator()(const Curve& curve) const {
    std::string points;
    for (const Point& point : curve.points) points += svg_point(area.position(point));
    svg.polyline(points, curve.classes);
  }
  void operator()(const Symbol& symbol) const {
    svg.marker(symbol.marker, area.position(symbol.at), symbol.radius, symbol.classes);
  }
};

// Returns the values of the horizontal axis that a shape covers.
struct ShapeExtent {
  Extent operator()(const Bar& bar) const { return bar.x; }
  Extent operator()(const Stroke& stroke) const {
    return {std::min(stroke.from.x, stroke.to.x), std::max(stroke.from.x, stroke.to.x)};
  }
  Extent operator()(const Curve& curve) const {
    const auto [first, last] = std::ranges::minmax(curve.points, {}, &Point::x);
    return {first.x, last.x};
  }
  Extent operator()(const Symbol& symbol) const { return {symbol.at.x, symbol.at.x}; }
};

bool is_within(Extent inner, Extent outer) {
  return inner.low >= outer.low && inner.high <= outer.high;
}

void draw_marks(Svg& svg, const std::vector<Mark>& marks, const MarkArea& area) {
  for (const Mark& mark : marks) {
    if (!mark.text.empty()) svg.open_mark(mark.text, mark.data);
    for (const Shape& shape : mark.shapes) std::visit(ShapePen{svg, area}, shape);
    if (!mark.text.empty()) svg.close_mark();
  }
}

// Rows

constexpr double kRowAxisHeight = 40;
constexpr double kRowLabelHeight = 15;
// Column of values at the right end. Neither grid nor marks reach into it.
constexpr double kValueWidth = 74, kNarrowValueWidth = 60;
constexpr double kRowMargin = 5;  // above and below the vertical axis of a row

double row_pitch(double width, double height) {
  return is_narrow(width) ? height + kRowLabelHeight + 5 : std::max(height, 14.0) + 6;
}

// Returns where each row begins, and where the last one ends.
std::vector<double> row_begins(double width, const std::vector<ChartRow>& rows) {
  std::vector<double> begins = {kRowAxisHeight};
  for (const ChartRow& row : rows) begins.push_back(begins.back() + row_pitch(width, row.height));
  return begins;
}

class RowPicture {
 public:
  RowPicture(const RowChart& chart, double width)
      : chart_(chart),
        width_(width),
        label_width_(is_narrow(width) ? 8 : 0.40 * width),
        begins_(row_begins(width, chart.rows)),
        svg_({width, begins_.back() + 6}, chart.label),
        x_(chart.x.kind, chart.x.values,
           {label_width_ + 4, width - (is_narrow(width) ? kNarrowValueWidth : kValueWidth) - 8}) {}

  std::string draw() && {
    draw_axis();
    if (chart_.division) draw_division(*chart_.division);
    for (std::size_t i = 0; i < chart_.rows.size(); ++i) {
      const ChartRow& row = chart_.rows[i];
      draw_label(i);
      const Extent edges{top(i), top(i) + row.height};
      const Extent positions{edges.high - kRowMargin, edges.low + kRowMargin};
      std::optional<Scale> y;
      if (row.y) y = Scale(Scale::Kind::linear, *row.y, positions);
      draw_marks(svg_, row.marks, {x_, y, edges});
    }
    return std::move(svg_).finish();
  }

 private:
  // Returns y of the upper edge of the row's marks.
  double top(std::size_t row) const {
    if (is_narrow(width_)) return begins_[row] + kRowLabelHeight;
    const double height = chart_.rows[row].height;
    return begins_[row] + (row_pitch(width_, height) - height) / 2;
  }

  void draw_axis() {
    if (!chart_.x.title.empty())
      svg_.text({x_.positions().low, 12}, chart_.x.title, Anchor::start, "soft");
    for (const double tick : x_.ticks(is_narrow(width_) ? 4 : 7)) {
      const double x = x_.position(tick);
      svg_.line({x, kRowAxisHeight - 6}, {x, begins_.back()}, "grid");
      draw_tick_text(x, chart_.x.format_tick(tick));
    }
  }

  // Writes the text of a tick above `x`, moved so that all of it is inside the picture.
  void draw_tick_text(double x, std::string_view text) {
    constexpr double kMargin = 2;
    const double half = kLetterWidth * static_cast<double>(display_width(text)) / 2 + kMargin;
    svg_.text({std::clamp(x, half, std::max(half, width_ - half)), kRowAxisHeight - 11}, text,
              Anchor::middle, "soft");
  }

  void draw_division(const AxisDivision& division) {
    const double x = x_.position(division.value);
    svg_.text({x - 6, 12}, division.below, Anchor::end, "soft");
    svg_.text({x, 12}, "|", Anchor::middle, "soft");
    svg_.text({x + 6, 12}, division.above, Anchor::start, "soft");
    const double bottom = top(chart_.rows.size() - 1) + chart_.rows.back().height;
    const double begin = x_.position(division.value - division.tolerance);
    const double end = x_.position(division.value + division.tolerance);
    svg_.rect({begin, kRowAxisHeight - 4}, {end - begin, bottom - kRowAxisHeight + 6}, "band");
    svg_.line({x, kRowAxisHeight - 6}, {x, bottom}, "axis");
  }

  void draw_label(std::size_t number) {
    const ChartRow& row = chart_.rows[number];
    if (is_narrow(width_)) {
      const double y = top(number) - 4;
      svg_.text({label_width_, y}, fit_text(row.label, width_ - kValueWidth - 20), Anchor::start,
                "halo");
      svg_.text({width_ - 8, y}, row.value, Anchor::end, "soft");
      return;
    }
    const double y = top(number) + row.height / 2 + 4;
    svg_.text({label_width_ - 6, y}, fit_text(row.label, label_width_ - 8), Anchor::end);
    svg_.text({width_ - 4, y}, row.value, Anchor::end, "soft");
  }

  const RowChart& chart_;
  double width_, label_width_;
  std::vector<double> begins_;  // y where each row begins, and where the last one ends
  Svg svg_;
  Scale x_;
};

// Labels of lines

constexpr double kStrokeLabelGap = 6;  // between a line and its label

// Returns spots right below a rising line, or left above it as well, from its upper end downwards.
std::vector<LabelSpot> rising_spots(Point from, Point to, LabelSides sides) {
  constexpr int kSteps = 20;
  std::vector<LabelSpot> spots;
  for (int step = kSteps - 1; step > 0; --step) {
    const double fraction = static_cast<double>(step) / kSteps;
    const Point at{from.x + fraction * (to.x - from.x), from.y + fraction * (to.y - from.y)};
    if (sides == LabelSides::both)
      spots.push_back({{at.x - kStrokeLabelGap, at.y - 4}, Anchor::end});
    spots.push_back({{at.x + kStrokeLabelGap, at.y + 11}, Anchor::start});
  }
  return spots;
}

// Returns spots above and below a level line, from its right end to the left. A label may begin
// left of a short line, where it crosses other lines but hides no marks.
std::vector<LabelSpot> level_spots(Point from, Point to, std::string_view label) {
  constexpr int kSteps = 12;
  const double room = std::max(0.0, to.x - from.x - strong_text_width(label) / 2);
  std::vector<LabelSpot> spots;
  for (int step = 0; step <= kSteps; ++step) {
    const double right = to.x - 4 - room * step / kSteps;
    spots.push_back({{right, from.y - kStrokeLabelGap}, Anchor::end});
    spots.push_back({{right, from.y + 10 + kStrokeLabelGap}, Anchor::end});
  }
  return spots;
}

// Draws the lines of a plane, then their labels. Marks are drawn later, so no label hides a mark.
void draw_labelled_lines(Svg& svg, const Plane& plane, const MarkArea& area) {
  if (plane.lines.empty()) return;
  const Extent& x = area.x.positions();
  LabelLayout layout({x.low, area.edges.low}, {x.span(), area.edges.span()});
  for (const LabelledStroke& line : plane.lines) {
    const Point from = area.position(line.stroke.from), to = area.position(line.stroke.to);
    svg.open_mark(line.text);
    svg.polyline(svg_point(from) + svg_point(to), line.stroke.classes);
    svg.close_mark();
    layout.avoid_line(from, to);
  }
  for (const Mark& mark : plane.marks) {
    for (const Shape& shape : mark.shapes) {
      const auto* symbol = std::get_if<Symbol>(&shape);
      if (symbol != nullptr) layout.avoid_mark(area.position(symbol->at), symbol->radius);
    }
  }
  for (const LabelledStroke& line : plane.lines) {
    const Point from = area.position(line.stroke.from), to = area.position(line.stroke.to);
    const LabelSpot spot = layout.place(line.label, line.stroke.from.y == line.stroke.to.y
                                                        ? level_spots(from, to, line.label)
                                                        : rising_spots(from, to, line.sides));
    svg.text(spot.at, line.label, spot.anchor, "strong halo");
  }
}

// Planes

constexpr double kTitleHeight = 26;
constexpr double kPlaneTitleHeight = 24;  // the title of the first plane's vertical axis
constexpr double kLegendRow = 16, kLegendGap = 6;
constexpr double kLegendSample = 34;  // length of a line
constexpr double kPlaneGap = 30;
constexpr double kPlaneAxisHeight = 40;
constexpr double kPlaneRight = 20;       // room for the last tick of the horizontal axis
constexpr double kMinTickDistance = 12;  // between texts of a vertical axis

// Returns the ticks of an axis: its own ones if they are at most `max_ticks`, or round values.
std::vector<AxisTick> axis_ticks(const ChartAxis& axis, const Scale& scale, std::size_t max_ticks,
                                 std::size_t max_round_ticks) {
  if (!axis.ticks.empty() && axis.ticks.size() <= max_ticks) return axis.ticks;
  std::vector<AxisTick> ticks;
  for (const double value : scale.ticks(max_round_ticks))
    ticks.push_back({value, axis.format_tick(value)});
  return ticks;
}

class PlanePicture {
 public:
  PlanePicture(const PlaneChart& chart, double width, double top)
      : chart_(chart),
        width_(width),
        x_(chart.x.kind, chart.x.values, {chart.left, chart.left + plane_width(chart, width)}),
        x_ticks_(axis_ticks(chart.x, x_, is_narrow(width) ? 5 : 9, is_narrow(width) ? 4 : 9)),
        top_(top + (chart.title.empty() ? 0 : kTitleHeight)),
        planes_top_(top_ + kPlaneTitleHeight) {
    if (!chart.legend.empty()) place_legend();
    bottom_ = planes_top_ - kPlaneGap;
    for (const Plane& plane : chart.planes) bottom_ += kPlaneGap + height(plane);
  }

  // Returns the lower end of the chart.
  double end() const { return bottom_ + kPlaneAxisHeight; }

  void draw(Svg& svg) const {
    if (!chart_.title.empty()) svg.text({16, top_ - 6}, chart_.title, Anchor::start, "title");
    double title = top_ + kPlaneTitleHeight - 12, top = planes_top_;
    for (const Plane& plane : chart_.planes) {
      svg.text({4, title}, plane.y.title, Anchor::start, "soft");
      draw_plane(svg, plane, {top, top + height(plane)});
      top += height(plane) + kPlaneGap;
      title = top - 12;
    }
    for (const AxisTick& tick : x_ticks_)
      svg.text({x_.position(tick.value), bottom_ + 15}, tick.text, Anchor::middle, "soft");
    svg.text({x_.positions().high, bottom_ + 32}, chart_.x.title, Anchor::end, "soft");
    for (const PlacedEntry& placed : legend_) draw_entry(svg, placed);
  }

 private:
  // An entry of the legend in the picture.
  struct PlacedEntry {
    const LegendEntry* entry = nullptr;
    Point at;
    double sample = 0;  // length of its line
    std::string name;   // cut to the width of the picture
  };

  double height(const Plane& plane) const {
    return is_narrow(width_) ? plane.narrow_height : plane.height;
  }

  // Chooses places for the legend's entries, in as many rows as they need.
  void place_legend() {
    constexpr double kEntryMargin = 30;
    const double begin = is_narrow(width_) ? 14 : chart_.left + 12;
    Point at{begin, planes_top_ + 2};
    for (const LegendEntry& entry : chart_.legend) {
      const double sample = entry.line.empty() ? 0 : kLegendSample;
      std::string name = fit_text(entry.name, width_ - begin - sample - kEntryMargin);
      const double entry_width =
          kEntryMargin + sample + 7.0 * static_cast<double>(display_width(name));
      if (at.x > begin && at.x + entry_width > width_) at = {begin, at.y + kLegendRow};
      legend_.push_back({&entry, at, sample, std::move(name)});
      at.x += entry_width;
    }
    planes_top_ = at.y - 2 + kLegendRow + kLegendGap;
  }

  static void draw_entry(Svg& svg, const PlacedEntry& placed) {
    const Point end{placed.at.x + placed.sample, placed.at.y};
    const Symbol& symbol = placed.entry->symbol;
    if (placed.sample > 0) svg.polyline(svg_point(placed.at) + svg_point(end), placed.entry->line);
    svg.marker(symbol.marker, {placed.at.x + placed.sample / 2, end.y}, symbol.radius,
               symbol.classes);
    svg.text({end.x + 9, end.y + 4}, placed.name, Anchor::start);
  }

  void draw_plane(Svg& svg, const Plane& plane, Extent edges) const {
    const Scale y(plane.y.kind, plane.y.values, {edges.high, edges.low});
    const Extent& x = x_.positions();
    for (const AxisTick& tick : x_ticks_) {
      const double at = x_.position(tick.value);
      svg.line({at, edges.high}, {at, edges.low}, "grid");
    }
    double last_text = std::numeric_limits<double>::infinity();
    for (const AxisTick& tick : axis_ticks(plane.y, y, plane.y.ticks.size(), 8)) {
      const double at = y.position(tick.value);
      svg.line({x.low, at}, {x.high, at}, "grid");
      if (last_text - at < kMinTickDistance) continue;
      last_text = at;
      svg.text({x.low - 5, at + 4}, tick.text, Anchor::end, "soft");
    }
    svg.line({x.low, edges.high}, {x.high, edges.high}, "axis");
    svg.line({x.low, edges.high}, {x.low, edges.low}, "axis");
    const MarkArea area{x_, y, edges};
    draw_labelled_lines(svg, plane, area);
    draw_marks(svg, plane.marks, area);
  }

  const PlaneChart& chart_;
  double width_;
  Scale x_;
  std::vector<AxisTick> x_ticks_;
  double top_;         // below the title
  double planes_top_;  // the upper edge of the first plane
  double bottom_ = 0;  // the lower edge of the last plane
  std::vector<PlacedEntry> legend_;
};

}  // namespace

Symbol series_symbol(std::size_t series, Point at, double radius) {
  return {series_marker(series), at, radius, series_class(series)};
}

std::string draw_rows(const RowChart& chart, double width) {
  return RowPicture(chart, width).draw();
}

Extent mark_extent(const Mark& mark) {
  Extent whole = std::visit(ShapeExtent{}, mark.shapes.front());
  for (const Shape& shape : mark.shapes) {
    const Extent extent = std::visit(ShapeExtent{}, shape);
    whole = {std::min(whole.low, extent.low), std::max(whole.high, extent.high)};
  }
  return whole;
}

BeyondAxis count_beyond_axis(const RowChart& chart) {
  BeyondAxis beyond;
  for (const ChartRow& row : chart.rows) {
    for (const Mark& mark : row.marks) {
      if (is_within(mark_extent(mark), chart.x.values)) continue;
      ++beyond.marks;
      for (const Shape& shape : mark.shapes) {
        if (!is_within(std::visit(ShapeExtent{}, shape), chart.x.values)) ++beyond.shapes;
      }
    }
  }
  return beyond;
}

double plane_width(const PlaneChart& chart, double width) {
  return width - chart.left - kPlaneRight;
}

std::string draw_planes(const PlaneChart& chart, double width) {
  const PlanePicture picture(chart, width, 0);
  Svg svg({width, picture.end()}, chart.label);
  picture.draw(svg);
  return std::move(svg).finish();
}

void draw_planes(Svg& svg, const PlaneChart& chart, double width, double top) {
  PlanePicture(chart, width, top).draw(svg);
}

}  // namespace bench
