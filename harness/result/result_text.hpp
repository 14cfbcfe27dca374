// SPDX-License-Identifier: Apache-2.0
// Reads result files and files made of their lines (a gate's evidence, a self-test), whatever their
// size. Skips a profile's activities. Refuses a file that is too large, or of another kind, before
// it fills the memory.
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
  std::size_t line = std::size_t{1} << 25;     // bytes of a record
  // Bytes of one JSON document, which is parsed as a whole
  std::size_t document = std::size_t{1} << 26;
};

// Returns the file's text with an empty line in place of each activity, so that line numbers stay
// valid.
Result<std::string> read_result_text(const std::string& path, const ResultLimits& limits = {});

// The same, appended to `text`, to join several files. `limits.records` applies to all of them
// together.
Status append_result_text(const std::string& path, const ResultLimits& limits, std::string& text);

}  // namespace bench
