// SPDX-License-Identifier: Apache-2.0
#include "harness/report/page.hpp"

#include "base/characters.hpp"
#include "base/markup.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace bench {

// Generated at build time from the files with these names.
extern const std::string_view kEmbeddedPageHtml;
extern const std::string_view kEmbeddedPageCss;
extern const std::string_view kEmbeddedPageJs;

namespace {

// Maximum number of rows in the table at first. Further rows are in a template, from which page.js
// shows them on request.
constexpr std::size_t kMaxDrawnRows = 250;

// Classes by ColumnKind and by Tone.
constexpr std::array<std::string_view, 5> kKindClasses = {"id", "", "prose", "number", ""};
constexpr std::array<std::string_view, 5> kToneClasses = {"", "good", "doubt", "bad", ""};

std::string format_class_attribute(ColumnKind kind, std::string_view extra, std::string_view text) {
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

// Returns a text as HTML that a browser may break after each of these characters, except at the
// start of a word.
std::string breakable_html(std::string_view text, std::string_view separators) {
  std::string html;
  while (!text.empty()) {
    const std::size_t found = text.find_first_of(separators);
    const std::size_t end = std::min(text.find_first_not_of(separators, found), text.size());
    const bool is_inside_word =
        found != std::string_view::npos && found > 0 && text[found - 1] != ' ';
    html += escape_markup(text.substr(0, end));
    text.remove_prefix(end);
    if (is_inside_word && !text.empty()) html += "<wbr>";
  }
  return html;
}

std::string cell_html(ColumnKind kind, std::string_view text) {
  if (kind == ColumnKind::id) return breakable_html(text, "/+");
  // Names of implementations, such as brg_conv:avx512_core_bf16, have no spaces.
  if (kind == ColumnKind::prose) return breakable_html(text, ":_/");
  return escape_markup(text);
}

// Marks columns whose texts need much width. Other prose shares the width that remains.
constexpr std::size_t kMinLongText = 48;  // about two lines of the width that page.css gives
std::string_view width_class(const Table& table, std::size_t column) {
  const bool is_long = table.columns[column].kind == ColumnKind::prose &&
                       std::ranges::any_of(table.rows, [&](const TableRow& row) {
                         return row.cells[column].text.size() >= kMinLongText;
                       });
  return is_long ? "long" : "";
}

// Returns the text of the row's first cell with an id; nullptr if it has none.
const std::string* find_id(const std::vector<TableColumn>& columns, const TableRow& row) {
  const auto found = std::ranges::find(columns, ColumnKind::id, &TableColumn::kind);
  if (found == columns.end()) return nullptr;
  return &row.cells[static_cast<std::size_t>(found - columns.begin())].text;
}

void append_row(const std::vector<TableColumn>& columns, const TableRow& row,
                std::string_view fragment, std::string& html) {
  html += fmt::format("<tr id=\"{}\">", fragment);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const TableCell& cell = row.cells[i];
    const ColumnKind kind = columns[i].kind;
    html += "<td" + format_class_attribute(kind, kToneClasses[static_cast<std::size_t>(cell.tone)],
                                           cell.text);
    const double value = analysis::to_number(cell.value);
    if (kind == ColumnKind::number && analysis::is_known(cell.value) && std::isfinite(value)) {
      fmt::format_to(std::back_inserter(html), " data-v=\"{:.6g}\"", value);
    }
    if (kind != ColumnKind::id) {
      html += " data-name=\"" + escape_markup(columns[i].heading) + '"';
    }
    html += '>' + cell_html(kind, cell.text) + "</td>";
  }
  html += "</tr>\n";
}

std::string head_html(const Table& table) {
  std::string html = "<thead><tr>";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const TableColumn& column = table.columns[i];
    html += fmt::format("<th scope=\"col\" aria-sort=\"none\"{}><button>{}</button></th>",
                        format_class_attribute(column.kind, width_class(table, i), column.heading),
                        escape_markup(column.heading));
  }
  return html + "</tr></thead>\n";
}

// A table with fewer rows needs no filter.
constexpr std::size_t kMinFilteredRows = 5;

std::string tools_html(const std::vector<TableColumn>& columns, std::size_t rows) {
  std::string html =
      fmt::format("<div class=\"tools\"{}>", rows < kMinFilteredRows ? " hidden" : "");
  html +=
      "<label>Filter <input type=\"search\" spellcheck=\"false\" "
      "placeholder=\"words that a row contains\"></label>"
      "<span class=\"sorter\"><label>Sort by <select><option value=\"\">as listed</option>";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    html += fmt::format("<option value=\"{}\">{}</option>", i, escape_markup(columns[i].heading));
  }
  return html +
         "</select></label> <button class=\"reverse\" disabled>Reverse</button></span>"
         "<span role=\"status\" class=\"soft\"></span>"
         "<button class=\"all\" hidden>Show all rows</button></div>\n";
}

// Percent-encodes all characters of a path that may have another meaning in a URL: "a b#1.svg"
// becomes "a%20b%231.svg".
std::string encode_url_path(std::string_view path) {
  constexpr std::string_view kUnescaped = "-._~/";
  std::string text;
  for (const char c : path) {
    const bool is_plain =
        is_letter(c) || is_digit(c) || kUnescaped.find(c) != std::string_view::npos;
    text += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

// Returns the picture, or the sentence that says why there is none.
std::string plot_html(const Plot& plot) {
  if (!plot.absent.empty()) {
    return fmt::format("<p class=\"soft\">{}</p>\n", sentence_html(plot.absent));
  }
  return fmt::format(
      "<figure data-plot=\"{}\"><figcaption>{}</figcaption>\n<div class=\"wide\">{}</div>\n"
      "<div class=\"narrow\">{}</div></figure>\n",
      escape_markup(plot.name), sentence_html(plot.caption), plot.wide, plot.narrow);
}

std::string folded_html(std::string_view attributes, std::string_view title,
                        std::string_view summary, std::string_view body) {
  return fmt::format(
      "<details class=\"section\"{}><summary><h2>{}</h2><span class=\"soft\">{}</span></summary>\n"
      "{}</details>\n",
      attributes, title, summary, body);
}

}  // namespace

Page::Page(std::string_view title, std::string_view lead)
    : title_(escape_markup(title)),
      head_(fmt::format("<header><h1>{}</h1>\n<p class=\"lead\">{}</p></header>\n", title_,
                        escape_markup(lead))) {}

void Page::open(const Plot& picture, PageFindings findings) {
  picture_ = picture;
  findings_ = std::move(findings);
}

void Page::section(std::string_view title, std::string_view summary) {
  sections_.push_back({escape_markup(title), escape_markup(summary), "", false});
}

void Page::add_content(std::string_view html) {
  sections_.back().has_content = true;
  body() += html;
}

void Page::heading(std::string_view text) {
  body() += fmt::format("<h3>{}</h3>\n", escape_markup(text));
}

void Page::paragraph(std::string_view text) {
  body() += fmt::format("<p>{}</p>\n", sentence_html(text));
}

void Page::list(const std::vector<std::string>& items) {
  if (items.empty()) return;
  add_content("<ul>\n");
  for (const std::string& item : items) body() += fmt::format("<li>{}</li>\n", sentence_html(item));
  body() += "</ul>\n";
}

void Page::facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  add_content("<dl>\n");
  for (const auto& [name, value] : facts) {
    if (value.empty()) continue;
    body() += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(name), escape_markup(value));
  }
  body() += "</dl>\n";
}

void Page::plot(const Plot& plot) {
  if (plot.absent.empty()) {
    add_content(plot_html(plot));
  } else {
    body() += plot_html(plot);
  }
}

void Page::plots(std::string_view title, std::string_view summary, std::span<const Plot> plots) {
  if (plots.empty()) return;
  section(title, summary);
  for (const Plot& entry : plots) {
    if (plots.size() > 1) heading(entry.title);
    plot(entry);
  }
}

void Page::links(std::string_view heading, const std::vector<std::string>& files) {
  std::string items;
  for (const std::string& file : files) {
    items += fmt::format("{}<a href=\"./{}\">{}</a>", items.empty() ? "" : ", ",
                         encode_url_path(file), escape_markup(file));
  }
  add_content(fmt::format("<p>{}: {}.</p>\n", escape_markup(heading), items));
}

void Page::frame(std::string_view summary, std::string_view html, FrameContent content) {
  add_content(fmt::format(
      "<details class=\"frame\"><summary>{}</summary>\n<iframe{} loading=\"lazy\" title=\"{}\" "
      "srcdoc=\"{}\"></iframe></details>\n",
      escape_markup(summary), content == FrameContent::picture ? " class=\"picture\"" : "",
      escape_markup(summary), escape_markup(html)));
}

void Page::table(const Table& table) {
  const auto& [columns, rows] = table;
  add_content("<div class=\"sortable-box\">\n" + tools_html(columns, rows.size()));
  body() += "<div class=\"scroll\"><table class=\"sortable\">\n" + head_html(table) + "<tbody>\n";
  ++tables_;
  const std::size_t drawn = std::min(rows.size(), kMaxDrawnRows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == drawn) body() += "</tbody></table></div>\n<template><table><tbody>\n";
    const std::string fragment = fmt::format("t{}r{}", tables_, i + 1);
    if (const std::string* id = find_id(columns, rows[i])) rows_.emplace(*id, fragment);
    append_row(columns, rows[i], fragment, body());
  }
  body() += drawn < rows.size() ? "</tbody></table></template>\n" : "</tbody></table></div>\n";
  body() += "</div>\n";
}

std::string Page::find_place(const std::string& place) const {
  if (const auto row = rows_.find(place); row != rows_.end()) return row->second;
  const std::string title = escape_markup(place);
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    if (sections_[i].has_content && sections_[i].title == title) return fmt::format("s{}", i + 1);
  }
  return "";
}

std::string Page::finding_html(const PageFinding& finding) const {
  const std::string fragment = find_place(finding.place);
  if (fragment.empty()) return sentence_html(finding.text);
  const std::string link =
      fmt::format("<a href=\"#{}\">{}</a>", fragment, breakable_html(finding.place, "/+"));
  const std::string_view text = finding.text;
  const std::size_t begin = text.find(finding.place);
  if (begin == std::string_view::npos) return sentence_html(text) + " " + link;
  return sentence_html(text.substr(0, begin)) + link +
         sentence_html(text.substr(begin + finding.place.size()));
}

std::string Page::opening_html() const {
  std::string html = "<section class=\"opening\" aria-label=\"overview\">\n" + plot_html(picture_);
  if (findings_.list.empty()) {
    html += fmt::format("<p class=\"findings\">{}</p>\n", sentence_html(findings_.none));
  } else {
    html += "<ol class=\"findings\">\n";
    for (const PageFinding& finding : findings_.list)
      html += fmt::format("<li>{}</li>\n", finding_html(finding));
    html += "</ol>\n";
  }
  return html + "</section>\n";
}

std::string Page::finish() && {
  std::string links, body, absent, absent_titles;
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    if (section.has_content) {
      links += fmt::format("<a href=\"#s{}\">{}</a>\n", i + 1, section.title);
      body += folded_html(fmt::format(" id=\"s{}\"", i + 1), section.title, section.summary,
                          section.body);
    } else {
      absent += fmt::format("<h3>{}</h3>\n{}", section.title, section.body);
      absent_titles += (absent_titles.empty() ? "" : ", ") + section.title;
    }
  }
  if (!absent.empty()) body += folded_html("", "Without data", absent_titles, absent);
  const std::string content =
      fmt::format("{}<nav aria-label=\"sections\">\n{}</nav>\n<main>\n{}{}</main>", head_, links,
                  opening_html(), body);
  const std::string style = std::string(plot_style()) + std::string(kEmbeddedPageCss);
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

std::string count_rows(std::size_t rows) { return pluralise(rows, "row"); }

}  // namespace bench
