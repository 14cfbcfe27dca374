// SPDX-License-Identifier: Apache-2.0
// Pieces of OpenMetrics text that the reports of runs and of gates share.
#pragma once

#include <string>
#include <string_view>

namespace bench::open_metrics {

// Escapes a label's value.
std::string label_value(std::string_view text);
// Returns the lines that introduce a gauge. `unit` may be empty.
std::string family(std::string_view name, std::string_view unit, std::string_view help);

}  // namespace bench::open_metrics
