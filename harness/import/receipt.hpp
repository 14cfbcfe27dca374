// SPDX-License-Identifier: Apache-2.0
// The receipt of an import: how much became cases, and what did not, where and why.
#pragma once

#include "base/json_writer.hpp"
#include "harness/import/kind.hpp"

#include <cstddef>
#include <string>

namespace bench {

// Returns "412 of 430 problems are cases", or of a model "All 120 nodes are expressed, ...".
std::string receipt_sentence(const ImportKind& kind, const Imported& found);

// Returns lines about a model for the head of the new file: its producer, sizes and counts.
std::string describe_model(const ImportedModel& model);

// Returns the receipt as lines of at most `width` columns: the sentence, then the refused problems,
// those of the most frequent reason first. `cases`: distinct cases of the new configuration.
std::string format_receipt(const ImportKind& kind, const Imported& found, std::size_t cases,
                           std::size_t width);

// Writes the same as members of an object: `found`, `imported`, `cases`, and the array `refused`.
void write_receipt(JsonWriter& writer, const Imported& found, std::size_t cases);

}  // namespace bench
