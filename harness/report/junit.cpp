// SPDX-License-Identifier: Apache-2.0
#include "base/markup.hpp"
#include "harness/report/exchange_text.hpp"

#include <fmt/format.h>

namespace bench::junit {

std::string attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, escape_markup(value));
}

// Does not escape line ends, since some viewers show a `&#10;` between tags literally.
std::string escape_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += escape_markup(line) + "\n";
  return text;
}

std::string property(std::string_view name, std::string_view value) {
  return fmt::format("      <property{}{}/>\n", attribute("name", name), attribute("value", value));
}

}  // namespace bench::junit
