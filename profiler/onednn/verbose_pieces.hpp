// SPDX-License-Identifier: Apache-2.0
// Reads pieces of oneDNN's verbose lines: facts about library and machine, and times.
#pragma once

#include "base/units.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Adds the facts in `text`, which follows "info,": "library.onednn.version",
// "library.onednn.commit", "library.onednn.isa", "library.onednn.cpu_runtime",
// "library.onednn.threads", "library.onednn.gpu_runtime". Everything else is joined in
// "library.onednn.notes", up to 1 KiB.
void add_facts(std::string_view text, std::map<std::string, std::string>& facts);

// Matches "oneDNN v3.2.0 (commit ...)", the first line of a log.
bool is_version_line(std::string_view text);

// Converts decimal milliseconds, as oneDNN prints them, into exact nanoseconds: "20.7539" ->
// 20,753,900 ns, "1e-05" -> 10 ns. The point may be a comma, as some locales print it. Digits below
// a nanosecond are rounded. Returns nullopt unless the text is a finite number >= 0 and at most 73
// years, so that sums of two stay in range.
std::optional<Nanoseconds> parse_milliseconds(std::string_view text);

}  // namespace bench
