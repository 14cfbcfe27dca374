// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "harness/report/exchange_text.hpp"

#include <fmt/format.h>

namespace bench::open_metrics {

// Escapes line feeds, quotes and backslashes as the format requires. Makes other control characters
// visible.
std::string escape_label_value(std::string_view text) {
  std::string escaped;
  for (;;) {
    const std::size_t end = text.find('\n');
    for (const char c : escape_controls(text.substr(0, end))) {
      if (c == '\\' || c == '"') escaped += '\\';
      escaped += c;
    }
    if (end == std::string_view::npos) return escaped;
    escaped += "\\n";
    text.remove_prefix(end + 1);
  }
}

std::string format_gauge_header(std::string_view name, std::string_view unit,
                                std::string_view help) {
  std::string text = fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
  if (!unit.empty()) text += fmt::format("# UNIT {} {}\n", name, unit);
  return text;
}

}  // namespace bench::open_metrics
