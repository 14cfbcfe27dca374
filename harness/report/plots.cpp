// SPDX-License-Identifier: Apache-2.0
#include "harness/report/plots.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bench {
namespace {

constexpr double kNarrowLimit = 600;  // narrower charts put labels above their rows
constexpr double kAxisHeight = 40;
constexpr double kLabelHeight = 15;
// Column of values at the right end. Neither grid nor marks reach into it.
constexpr double kValueWidth = 74, kNarrowValueWidth = 60;

double label_column_width(double width) { return width < kNarrowLimit ? 8 : 0.40 * width; }

double row_pitch(double width, double height) {
  return width < kNarrowLimit ? height + kLabelHeight + 5 : std::max(height, 14.0) + 6;
}

// Returns where each row begins, and where the last one ends.
std::vector<double> row_begins(double width, const std::vector<double>& heights) {
  std::vector<double> begins = {kAxisHeight};
  for (const double height : heights) begins.push_back(begins.back() + row_pitch(width, height));
  return begins;
}

// Writes the label of a tick below `x`, moved so that all of it is inside a picture of this width.
void draw_tick_label(Svg& svg, Point at, std::string_view text, double width) {
  constexpr double kMargin = 2;
  const double half = kLetterWidth * static_cast<double>(display_width(text)) / 2 + kMargin;
  svg.text({std::clamp(at.x, half, std::max(half, width - half)), at.y}, text, Anchor::middle,
           "soft");
}

}  // namespace

Plot make_plot(std::string name, std::string title, std::string caption, const DrawPlot& draw) {
  return {std::move(name), std::move(title),  std::move(caption),
          draw(kWidePlot), draw(kNarrowPlot), ""};
}

Plot make_absent_plot(std::string name, std::string title, std::string reason) {
  return {std::move(name), std::move(title), "", "", "", std::move(reason)};
}

std::string format_left_out(std::size_t count, std::string_view kind) {
  if (count == 0) return "";
  return count == 1 ? fmt::format(" 1 {} is not drawn.", kind)
                    : fmt::format(" {} {}s are not drawn.", count, kind);
}

RowChart::RowChart(double width, const Shape& shape, std::string_view label)
    : width_(width),
      label_width_(label_column_width(width)),
      is_narrow_(width < kNarrowLimit),
      heights_(shape.row_heights),
      begins_(row_begins(width, heights_)),
      svg_({width, begins_.back() + 6}, label),
      x_(shape.kind, shape.values,
         {label_width_ + 4, width - (is_narrow_ ? kNarrowValueWidth : kValueWidth) - 8}) {
  if (!shape.axis.empty()) {
    svg_.text({x_.positions().low, 12}, shape.axis, Anchor::start, "soft");
  }
  for (const double tick : x_.ticks(is_narrow_ ? 4 : 7)) {
    const double x = x_.position(tick);
    svg_.line({x, kAxisHeight - 6}, {x, begins_.back()}, "grid");
    draw_tick_label(svg_, {x, kAxisHeight - 11}, shape.format_tick(tick), width);
  }
}

double RowChart::top(std::size_t row) const {
  if (is_narrow_) return begins_[row] + kLabelHeight;
  return begins_[row] + (row_pitch(width_, heights_[row]) - heights_[row]) / 2;
}

void RowChart::draw_directions(double value, std::string_view below, std::string_view above) {
  const double x = x_.position(value);
  svg_.text({x - 6, 12}, below, Anchor::end, "soft");
  svg_.text({x, 12}, "|", Anchor::middle, "soft");
  svg_.text({x + 6, 12}, above, Anchor::start, "soft");
}

void RowChart::draw_label(std::size_t row, std::string_view text, std::string_view value) {
  const auto max_letters = [](double width) {
    return static_cast<std::size_t>(width / kLetterWidth);
  };
  if (is_narrow_) {
    const double y = top(row) - 4;
    svg_.text({label_width_, y}, shorten(text, max_letters(width_ - kValueWidth - 20)),
              Anchor::start, "halo");
    svg_.text({width_ - 8, y}, value, Anchor::end, "soft");
    return;
  }
  const double y = middle(row) + 4;
  svg_.text({label_width_ - 6, y}, shorten(text, max_letters(label_width_ - 8)), Anchor::end);
  svg_.text({width_ - 4, y}, value, Anchor::end, "soft");
}

void RowChart::draw_range(double y, Extent values, std::string_view classes) {
  svg_.line({x_.position(values.low), y}, {x_.position(values.high), y}, classes);
}

std::string RowChart::finish() && { return std::move(svg_).finish(); }

void draw_axes(Svg& svg, const Scale& x, const Scale& y, const AxisTitle& x_title,
               const AxisTitle& y_title) {
  const Extent& x_range = x.positions();
  const Extent& y_range = y.positions();  // y_range.low is the bottom of the picture
  const bool is_narrow = x_range.span() < kNarrowLimit / 2;
  const std::vector<double> round_ticks = x.ticks(is_narrow ? 4 : 9);
  for (const double tick : x_title.ticks.empty() ? round_ticks : x_title.ticks) {
    svg.line({x.position(tick), y_range.low}, {x.position(tick), y_range.high}, "grid");
    svg.text({x.position(tick), y_range.low + 15}, x_title.format_tick(tick), Anchor::middle,
             "soft");
  }
  for (const double tick : y.ticks(8)) {
    svg.line({x_range.low, y.position(tick)}, {x_range.high, y.position(tick)}, "grid");
    svg.text({x_range.low - 5, y.position(tick) + 4}, y_title.format_tick(tick), Anchor::end,
             "soft");
  }
  svg.line({x_range.low, y_range.low}, {x_range.high, y_range.low}, "axis");
  svg.line({x_range.low, y_range.low}, {x_range.low, y_range.high}, "axis");
  svg.text({x_range.high, y_range.low + 32}, x_title.text, Anchor::end, "soft");
  svg.text({4, 12}, y_title.text, Anchor::start, "soft");
}

}  // namespace bench
