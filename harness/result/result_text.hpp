// SPDX-License-Identifier: Apache-2.0
// Reads result files, and files that consist of their lines (a gate's evidence, a self-test). Skips
// a profile's activities, so that their number does not matter. Returns an error for a file that is
// too large, or of another kind, before it fills the memory.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>

namespace bench {

// Upper limits for reading. A run with the maximum number of cases writes 500 MB of records. A
// process with a million GPU samples writes a record of 23 MB. Parsed JSON takes up to 25 times the
// size of its text.
struct ResultLimits {
  std::size_t records = std::size_t{1} << 29;  // bytes of all lines except activities
  std::size_t line = std::size_t{1} << 25;     // bytes of one line
  // Bytes of one JSON document, which the reader parses as a whole.
  std::size_t document = std::size_t{1} << 26;
};

// Returns the file's text. Replaces each activity by an empty line, so that line numbers stay
// valid.
Result<std::string> read_result_text(const std::string& path, const ResultLimits& limits = {});

// Appends the file's text to `text`, to join several files. `limits.records` applies to the sum of
// all files.
Status append_result_text(const std::string& path, const ResultLimits& limits, std::string& text);

}  // namespace bench
