// SPDX-License-Identifier: Apache-2.0
#include "harness/report/page.hpp"

#include "base/characters.hpp"
#include "base/markup.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace bench {

// Generated at build time from the files with these names.
extern const std::string_view kEmbeddedPageHtml;
extern const std::string_view kEmbeddedPageCss;
extern const std::string_view kEmbeddedPageJs;
extern const std::string_view kEmbeddedPlotCss;

namespace {

// Maximum number of rows in the table at first. Further rows are in a template, from which page.js
// shows them on request.
constexpr std::size_t kMaxDrawnRows = 250;

// Classes by PageKind.
constexpr std::array<std::string_view, 4> kKindClasses = {"id", "", "prose", "number"};

std::string format_class_attribute(PageKind kind, std::string_view extra, std::string_view text) {
  std::string classes(kKindClasses[static_cast<std::size_t>(kind)]);
  const std::string_view absent_class = text == kUnknown || text.empty() ? "none" : "";
  for (const std::string_view name : {extra, absent_class}) {
    if (!name.empty()) classes += (classes.empty() ? "" : " ") + std::string(name);
  }
  return classes.empty() ? "" : fmt::format(" class=\"{}\"", classes);
}

// Returns a sentence as HTML. Text between two backticks becomes <code>.
std::string sentence_html(std::string_view text) {
  std::string html;
  while (true) {
    const std::size_t begin = text.find('`');
    const std::size_t end = begin == std::string_view::npos ? begin : text.find('`', begin + 1);
    if (end == std::string_view::npos) return html + escape_markup(text);
    html += fmt::format("{}<code>{}</code>", escape_markup(text.substr(0, begin)),
                        escape_markup(text.substr(begin + 1, end - begin - 1)));
    text.remove_prefix(end + 1);
  }
}

// Returns an id as HTML that a browser may break after each slash.
std::string breakable_id_html(std::string_view id) {
  std::string html;
  for (std::size_t begin = 0; begin < id.size();) {
    const std::size_t slash = std::min(id.find('/', begin), id.size() - 1);
    html += escape_markup(id.substr(begin, slash + 1 - begin));
    begin = slash + 1;
    if (begin < id.size()) html += "<wbr>";
  }
  return html;
}

void append_row(const std::vector<Page::TableColumn>& columns, const Page::TableRow& row,
                std::string& html) {
  html += "<tr>";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Page::TableCell& cell = row[i];
    html += "<td" + format_class_attribute(columns[i].kind, cell.classes, cell.text);
    if (cell.value && std::isfinite(*cell.value)) {
      fmt::format_to(std::back_inserter(html), " data-v=\"{:.6g}\"", *cell.value);
    }
    if (columns[i].kind != PageKind::id) {
      html += " data-name=\"" + escape_markup(columns[i].heading) + '"';
    }
    html += '>';
    html +=
        columns[i].kind == PageKind::id ? breakable_id_html(cell.text) : escape_markup(cell.text);
    html += "</td>";
  }
  html += "</tr>\n";
}

std::string head_html(const std::vector<Page::TableColumn>& columns) {
  std::string html = "<thead><tr>";
  for (const Page::TableColumn& column : columns) {
    html += fmt::format("<th scope=\"col\" aria-sort=\"none\"{}><button>{}</button></th>",
                        format_class_attribute(column.kind, "", column.heading),
                        escape_markup(column.heading));
  }
  return html + "</tr></thead>\n";
}

std::string tools_html(const std::vector<Page::TableColumn>& columns) {
  std::string html =
      "<div class=\"tools\"><label>Filter <input type=\"search\" spellcheck=\"false\" "
      "placeholder=\"words that a row contains\"></label>"
      "<label class=\"sorter\">Sort by <select>";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    html += fmt::format("<option value=\"{}\">{}</option>", i, escape_markup(columns[i].heading));
  }
  return html +
         "</select></label><span role=\"status\" class=\"soft\"></span>"
         "<button class=\"all\" hidden>Show all rows</button></div>\n";
}

// Percent-encodes all characters of a path that may have another meaning in a URL: "a b#1.svg"
// becomes "a%20b%231.svg".
std::string encode_url_path(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string text;
  for (const char c : path) {
    const bool is_plain = is_letter(c) || is_digit(c) || kPlain.find(c) != std::string_view::npos;
    text += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

}  // namespace

Page::Page(std::string_view title, std::string_view lead)
    : title_(escape_markup(title)),
      head_(fmt::format("<header><h1>{}</h1>\n<p class=\"lead\">{}</p></header>\n", title_,
                        escape_markup(lead))) {}

void Page::section(std::string_view title) {
  if (sections_ > 0) body_ += "</section>\n";
  ++sections_;
  const std::string shown = escape_markup(title);
  links_ += fmt::format("<a href=\"#s{}\">{}</a>\n", sections_, shown);
  body_ += fmt::format("<section id=\"s{}\">\n<h2>{}</h2>\n", sections_, shown);
}

void Page::paragraph(std::string_view text) {
  body_ += fmt::format("<p>{}</p>\n", sentence_html(text));
}

void Page::list(const std::vector<std::string>& items) {
  if (items.empty()) return;
  body_ += "<ul>\n";
  for (const std::string& item : items) body_ += fmt::format("<li>{}</li>\n", sentence_html(item));
  body_ += "</ul>\n";
}

void Page::facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  body_ += "<dl>\n";
  for (const auto& [name, value] : facts) {
    if (value.empty()) continue;
    body_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(name), escape_markup(value));
  }
  body_ += "</dl>\n";
}

void Page::plot(const Plot& plot) {
  if (!plot.absent.empty()) {
    body_ += fmt::format("<p class=\"soft\">{}</p>\n", sentence_html(plot.absent));
    return;
  }
  body_ += fmt::format(
      "<figure data-plot=\"{}\"><figcaption>{}</figcaption>\n<div class=\"wide\">{}</div>\n"
      "<div class=\"narrow\">{}</div></figure>\n",
      escape_markup(plot.name), sentence_html(plot.caption), plot.wide, plot.narrow);
}

void Page::plots(std::string_view title, std::span<const Plot> plots) {
  if (plots.empty()) return;
  section(title);
  for (const Plot& entry : plots) {
    if (plots.size() > 1) body_ += fmt::format("<h3>{}</h3>\n", escape_markup(entry.title));
    plot(entry);
  }
}

void Page::links(std::string_view heading, const std::vector<std::string>& files) {
  std::string items;
  for (const std::string& file : files) {
    items += fmt::format("{}<a href=\"./{}\">{}</a>", items.empty() ? "" : ", ",
                         encode_url_path(file), escape_markup(file));
  }
  body_ += fmt::format("<p>{}: {}.</p>\n", escape_markup(heading), items);
}

void Page::frame(std::string_view summary, std::string_view html) {
  body_ += fmt::format(
      "<details><summary>{}</summary>\n<iframe loading=\"lazy\" title=\"{}\" "
      "srcdoc=\"{}\"></iframe></details>\n",
      escape_markup(summary), escape_markup(summary), escape_markup(html));
}

void Page::table(const std::vector<TableColumn>& columns, const std::vector<TableRow>& rows) {
  body_ += "<div class=\"sortable-box\">\n" + tools_html(columns) +
           "<div class=\"scroll\"><table class=\"sortable\">\n" + head_html(columns) + "<tbody>\n";
  const std::size_t drawn = std::min(rows.size(), kMaxDrawnRows);
  for (std::size_t i = 0; i < drawn; ++i) append_row(columns, rows[i], body_);
  body_ += "</tbody></table></div>\n";
  if (drawn < rows.size()) {
    body_ += "<template><table><tbody>\n";
    for (std::size_t i = drawn; i < rows.size(); ++i) append_row(columns, rows[i], body_);
    body_ += "</tbody></table></template>\n";
  }
  body_ += "</div>\n";
}

std::string Page::finish() && {
  if (sections_ > 0) body_ += "</section>\n";
  const std::string top =
      fmt::format("{}<nav aria-label=\"sections\">\n{}</nav>\n<main>\n", head_, links_);
  const std::string content = top + std::move(body_) + "</main>";
  const std::string style = std::string(kEmbeddedPlotCss) + std::string(kEmbeddedPageCss);
  // page.html contains each mark once, in this order. The search skips inserted text, since a title
  // may contain any text, such as a mark.
  std::string page;
  std::string_view remaining = kEmbeddedPageHtml;
  for (const auto& [mark, replacement] :
       {std::pair<std::string_view, std::string_view>{"@TITLE@", title_},
        {"@STYLE@", style},
        {"@BODY@", content},
        {"@SCRIPT@", kEmbeddedPageJs}}) {
    const std::size_t position = remaining.find(mark);
    page += remaining.substr(0, position);
    page += replacement;
    remaining.remove_prefix(position + mark.size());
  }
  page += remaining;
  return page;
}

}  // namespace bench
