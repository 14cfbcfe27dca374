// SPDX-License-Identifier: Apache-2.0
// Pieces of JUnit XML and OpenMetrics text that the reports of runs and of gates share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench::junit {

// Returns ` name="value"` with the value escaped.
std::string attribute(std::string_view name, std::string_view value);
// Returns the escaped lines, each with its line end.
std::string escape_lines(const std::vector<std::string>& lines);
// Returns one <property> on its own line.
std::string property(std::string_view name, std::string_view value);

}  // namespace bench::junit

namespace bench::open_metrics {

// Returns the value of a label, escaped.
std::string escape_label_value(std::string_view text);
// Returns the lines that declare a gauge, the only kind of metric here. `unit` may be empty.
std::string format_gauge_header(std::string_view name, std::string_view unit,
                                std::string_view help);

}  // namespace bench::open_metrics
