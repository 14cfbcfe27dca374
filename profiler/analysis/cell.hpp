// SPDX-License-Identifier: Apache-2.0
// One value of a table: text, a number, or unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace bench::analysis {

using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

// Meaning of a number, which determines its human-readable form.
enum class Quantity { none, time, flop, flop_rate, byte, byte_rate, share, ratio, item_rate };

inline bool is_known(const Cell& cell) { return !std::holds_alternative<std::monostate>(cell); }
double to_number(const Cell& cell);  // 0 for text and unknown

// Formats for humans: "20.75 ms", "747.35 GFLOP/s", "24.51 MiB", "78.6 %", a ratio "131.9"; unknown
// is "n/a".
std::string readable(const Cell& cell, Quantity quantity);
// Formats numbers as digits without a unit; unknown is empty.
std::string raw(const Cell& cell);
// Appends a field of a CSV line (RFC 4180). Text is quoted, with control characters escaped. Text
// that a spreadsheet would evaluate gets a leading apostrophe. Unknown is empty.
void append_csv(const Cell& cell, std::string& line);
// Width sufficient for any readable() number of this quantity.
std::size_t readable_width(Quantity quantity);

// Three-way comparison: -1, 0 or 1. Numbers come before text. Unknown cells must not be compared.
int compare(const Cell& a, const Cell& b);

}  // namespace bench::analysis
