// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of the store: every line is a problem, or a record that is the same after
// writing and reading. Everything computed from the records is finite.
#include "harness/store/baseline_file.hpp"
#include "harness/store/history.hpp"
#include "harness/store/proof_file.hpp"
#include "tests/fuzz/require.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace {

using bench::fuzz::require;

void require_finite(const std::optional<double>& value) {
  require(!value || std::isfinite(*value));
}

void require_name(const std::string& text) {
  const std::string name = bench::store_file_name(text);
  require(name.find('/') == std::string::npos && name.find('\0') == std::string::npos);
  require(name.size() <= 255 && (text.empty() || name.front() != '.'));
}

void require_history(const bench::BaselineHistory& history) {
  const auto stored = bench::run_statistics(history.records);
  const auto differences = bench::run_differences(stored.runs);
  require_finite(bench::between_run_sigma(differences));
  require_finite(bench::between_process_sigma(history.records));
  require_finite(bench::moderated_sigma(differences, 0.01));
  require_finite(bench::difference_quantile(differences, 0.95));
  require_finite(bench::center(stored.runs));
}

void require_proof(const std::string& text) {
  const auto proof = bench::parse_proofs(text, "fuzz");
  if (!proof.ok() || !*proof) return;
  const auto again = bench::proof_from_json_line(bench::to_json_line(**proof));
  require(again.ok() && *again == **proof);
  require_finite(bench::smallest_found_slowdown(**proof));
  require(bench::find_proof_problem(**proof).size() < 1000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto history = bench::parse_baseline_file(text, "fuzz", std::nullopt);
  for (const bench::BaselineRecord& record : history.records) {
    require(record.measured.id == history.records.front().measured.id);
    require_name(record.measured.id);
    require_name(record.environment.machine_class);
    const auto again = bench::baseline_from_json_line(bench::to_json_line(record));
    require(again.ok() && *again == record);
  }
  require_history(history);
  require_proof(text);
  return 0;
}
