// SPDX-License-Identifier: Apache-2.0
// Small readers of /proc and /sys under a root. They return nullopt if a file is missing or not
// understood.
#pragma once

#include "harness/host/environment.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

std::optional<std::string> read_text(const SystemRoot& root, const std::string& path);
// Returns the whole text of the file without white space at its beginning and end.
std::optional<std::string> read_line(const SystemRoot& root, const std::string& path);
std::optional<std::int64_t> read_integer(const SystemRoot& root, const std::string& path);
// Parses the integer at the beginning of a text ("24684092 kB").
std::optional<std::int64_t> parse_integer(std::string_view text);
// Returns the value of the first line "label<spaces>: value" of a text.
std::optional<std::string> labelled_value(std::string_view text, std::string_view label);
// "0-3,8" -> 0 1 2 3 8; a malformed part ends the list.
std::vector<int> parse_list(std::string_view text);
// "48K", "2048K", "32M" -> bytes.
std::optional<std::int64_t> parse_cache_size(std::string_view text);
// Returns the word in brackets: "madvise" for "always [madvise] never".
std::optional<std::string> bracketed(std::string_view text);

}  // namespace bench
