// SPDX-License-Identifier: Apache-2.0
// Times as texts: "2026-11-21T08:00:00Z", as Env::utc_now() returns them.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace bench {

// Returns whether a text is a valid date, optionally with the beginning of a time: "2026-11-01",
// "2026-11-01T08:00". Does not check the range of the time.
bool is_utc_date(std::string_view text);
// Returns whether a text is a complete and valid time: "2026-11-21T08:00:00Z".
bool is_utc_time(std::string_view text);
// Returns the time; nullopt if is_utc_time() is false.
std::optional<std::chrono::sys_seconds> parse_utc_time(std::string_view text);

}  // namespace bench
