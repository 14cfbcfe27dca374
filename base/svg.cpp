// SPDX-License-Identifier: Apache-2.0
#include "base/svg.hpp"

#include "base/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bench {

// Generated at build time from the file with this name.
extern const std::string_view kEmbeddedPlotCss;

namespace {

// Returns a coordinate with one decimal, which is precise enough for a screen. Returns "0" for
// values that are not finite, since these would make the picture invalid.
std::string format_coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string class_attribute(std::string_view classes) {
  return classes.empty() ? "" : fmt::format(" class=\"{}\"", classes);
}

}  // namespace

std::string series_class(std::size_t number) { return fmt::format("s{}", number % kSeriesColours); }

Marker series_marker(std::size_t number) { return static_cast<Marker>(number % 4); }

std::string svg_point(Point point) {
  return fmt::format("{},{} ", format_coordinate(point.x), format_coordinate(point.y));
}

Svg::Svg(Point size, std::string_view label)
    : text_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                        "viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\" tabindex=\"0\">\n",
                        format_coordinate(size.x), format_coordinate(size.y),
                        escape_markup(label))) {}

void Svg::line(Point from, Point to, std::string_view classes) {
  text_ += fmt::format("<line{} x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n",
                       class_attribute(classes), format_coordinate(from.x),
                       format_coordinate(from.y), format_coordinate(to.x), format_coordinate(to.y));
}

void Svg::rect(Point corner, Point size, std::string_view classes) {
  text_ += fmt::format("<rect{} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                       class_attribute(classes), format_coordinate(corner.x),
                       format_coordinate(corner.y), format_coordinate(std::max(size.x, 0.0)),
                       format_coordinate(std::max(size.y, 0.0)));
}

void Svg::text(Point at, std::string_view text, Anchor anchor, std::string_view classes) {
  const std::string_view name = to_string(anchor);
  text_ += fmt::format("<text{} x=\"{}\" y=\"{}\"{}>{}</text>\n", class_attribute(classes),
                       format_coordinate(at.x), format_coordinate(at.y),
                       anchor == Anchor::start ? "" : fmt::format(" text-anchor=\"{}\"", name),
                       escape_markup(text));
}

void Svg::polyline(const std::string& points, std::string_view classes) {
  text_ += fmt::format("<polyline{} points=\"{}\"/>\n", class_attribute(classes), points);
}

void Svg::marker(Marker shape, Point at, double radius, std::string_view classes) {
  const double r = radius;
  std::string points;
  switch (shape) {
    case Marker::circle:
      text_ += fmt::format("<circle{} cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", class_attribute(classes),
                           format_coordinate(at.x), format_coordinate(at.y), format_coordinate(r));
      return;
    case Marker::square:
      points = svg_point({at.x - r, at.y - r}) + svg_point({at.x + r, at.y - r}) +
               svg_point({at.x + r, at.y + r}) + svg_point({at.x - r, at.y + r});
      break;
    case Marker::triangle:
      points = svg_point({at.x, at.y - 1.2 * r}) + svg_point({at.x + 1.2 * r, at.y + r}) +
               svg_point({at.x - 1.2 * r, at.y + r});
      break;
    case Marker::diamond:
      points = svg_point({at.x, at.y - 1.3 * r}) + svg_point({at.x + 1.3 * r, at.y}) +
               svg_point({at.x, at.y + 1.3 * r}) + svg_point({at.x - 1.3 * r, at.y});
      break;
  }
  text_ += fmt::format("<polygon{} points=\"{}\"/>\n", class_attribute(classes), points);
}

void Svg::open_mark(std::string_view text, std::span<const DataAttribute> data) {
  text_ += "<g class=\"mark\"";
  for (const auto& [name, value] : data)
    text_ += fmt::format(" data-{}=\"{}\"", name, escape_markup(value));
  text_ += fmt::format("><title>{}</title>\n", escape_markup(text));
}

void Svg::close_mark() { text_ += "</g>\n"; }

std::string Svg::take() { return std::exchange(text_, ""); }

std::string Svg::finish() && { return std::move(text_) + "</svg>\n"; }

std::string_view plot_style() { return kEmbeddedPlotCss; }

std::string standalone_svg(std::string_view svg) {
  // A picture shrinks to the width of its window, or of a page that contains it.
  constexpr std::string_view kFileStyle =
      "body { margin: 0; }\nsvg { display: block; max-width: 100%; height: auto; }\n";
  const std::size_t end = svg.find('\n') + 1;
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}<style>\n{}{}</style>\n"
      "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}",
      svg.substr(0, end), plot_style(), kFileStyle, svg.substr(end));
}

}  // namespace bench
