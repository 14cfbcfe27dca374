// SPDX-License-Identifier: Apache-2.0
// Reads result files, and what is made of their lines (a gate's evidence, a self-test), whatever
// their size: a profile's activities are passed over, and a file that is too large, or none of
// these, is refused before it fills the memory.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>

namespace bench {

// What is read at most. A run of as many cases as a configuration may have writes 500 MB of
// records, and a process with a million samples of a GPU one of 23 MB. Parsed JSON takes up to 25
// times its text.
struct ResultLimits {
  std::size_t records = std::size_t{1} << 29;   // bytes of all lines but activities
  std::size_t line = std::size_t{1} << 25;      // bytes of a record
  std::size_t document = std::size_t{1} << 26;  // bytes of one JSON document: parsed as a whole
};

// The file's text, in which each activity is an empty line, so that line numbers hold.
Result<std::string> read_result_text(const std::string& path, const ResultLimits& limits = {});

// The same, appended to `text`: of several files that become one. `limits.records` holds for all.
Status append_result_text(const std::string& path, const ResultLimits& limits, std::string& text);

}  // namespace bench
