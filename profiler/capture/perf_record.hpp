// SPDX-License-Identifier: Apache-2.0
// Records of perf_event_open(2) as lines of the file of samples, which spool_format.hpp describes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

struct perf_event_attr;

namespace bench {

// Sets what the function below decodes: address, thread and time of each sample, and the modules
// and processes that are needed to name them.
void request_perf_records(perf_event_attr& attributes);

// Appends the line of one record, header included. A record that names no sample appends nothing.
// Never reads beyond the record, which may be cut.
void append_perf_record(std::span<const std::byte> record, std::string& lines);

}  // namespace bench
