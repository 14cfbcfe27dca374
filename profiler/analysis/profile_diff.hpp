// SPDX-License-Identifier: Apache-2.0
// The difference of two profiles of one program, by layer, operator, kernel name or any other
// column.
#pragma once

#include "base/result.hpp"
#include "profiler/analysis/query.hpp"
#include "profiler/reader.hpp"
#include "profiler/work_sink.hpp"

namespace bench {

// Reads both inputs and writes a row per value of `aggregate_by` (default: type): the times in `a`
// and `b`, their difference and ratio, and their share of the whole difference. The filters, `top`,
// `format` and `width` of the options count. If both files have iterations (steps, or those of
// `bench run`), a time is the median over them, else the sum. Returns an error for other options,
// if nothing of a file is selected, and if the files contain activities of different levels.
Result<AnalysisOutcome> compare_profiles(const ActivityInput& a, const ActivityInput& b,
                                         const WorkProvider& compute_work,
                                         const AnalysisOptions& options,
                                         const AnalysisTarget& target);

}  // namespace bench
