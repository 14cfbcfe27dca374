// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/timeline_page.hpp"

#include "base/markup.hpp"

#include <string_view>
#include <utility>

namespace bench {

// Generated at build time from the files with these names.
extern const std::string_view kEmbeddedTimelineHtml;
extern const std::string_view kEmbeddedTimelineCss;
extern const std::string_view kEmbeddedTimelineJs;

namespace {

void replace(std::string& text, std::string_view mark, std::string_view replacement) {
  text.replace(text.find(mark), mark.size(), replacement);
}

}  // namespace

std::unique_ptr<ByteSink> timeline_page_bytes(const std::string& title,
                                              std::unique_ptr<ByteSink> next) {
  std::string page(kEmbeddedTimelineHtml);
  const std::string_view mark = "@TRACE@";
  const std::size_t trace_position = page.find(mark);
  std::string page_end = page.substr(trace_position + mark.size());
  page.erase(trace_position);
  replace(page, "@STYLE@", kEmbeddedTimelineCss);
  const std::string heading_text = title.empty() ? "Timeline" : escape_markup(title);
  // Replaces from the last mark to the first, because a title may contain anything, including
  // another mark.
  const std::size_t heading = page.rfind("@TITLE@");
  page.replace(heading, 7, heading_text);
  replace(page, "@SCRIPT@", kEmbeddedTimelineJs);
  replace(page, "@TITLE@", heading_text);
  return gzip_bytes(base64_bytes(framed_bytes(page, std::move(page_end), std::move(next))));
}

}  // namespace bench
