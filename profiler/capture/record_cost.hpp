// SPDX-License-Identifier: Apache-2.0
// Measures what it costs a program to write one record of a capture (spool_format.hpp).
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "base/units.hpp"

#include <cstddef>
#include <string>

namespace bench {

struct RecordCost {
  Nanoseconds each{0};
  std::string method;  // how it was measured, for the reader of a profile
};

// Writes records of `length` bytes to a new file `path`, one write(2) each, as the capture does,
// and removes the file. Returns an error if it cannot be written. The time to format a record is
// not included, so a record costs at least this.
Result<RecordCost> measure_record_cost(const std::string& path, std::size_t length, Clock& clock);

}  // namespace bench
