// SPDX-License-Identifier: Apache-2.0
#include "harness/store/proof_file.hpp"

#include "base/lines.hpp"
#include "base/text.hpp"
#include "base/utc_time.hpp"
#include "harness/result/fields.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench {
namespace {

constexpr std::string_view kProofRecord = "proof";
// A measured slowdown may be negative.
constexpr JsonRules kProofRules{.numbers = JsonRules::Numbers::any};

// Returns the first rule that the values of a record violate; empty if there is none.
std::string find_proof_violation(const ProofOfLife& proof) {
  if (!is_utc_time(proof.time)) return "`time` is not a time such as 2026-11-21T08:00:00Z";
  if (proof.red_suites > proof.suites) return "`red_suites` is above `suites`";
  double last = 0;
  for (const ProofOfLife::Power& row : proof.power) {
    if (row.found > row.cases) return "`found` is above `cases`";
    if (row.slowdown <= last) return "the slowdowns do not grow";
    last = row.slowdown;
  }
  return "";
}

}  // namespace

std::string to_json_line(const ProofOfLife& proof) {
  return json_object([&](JsonWriter& writer) {
    writer.constant("record", kProofRecord);
    writer.constant("schema", kProofSchema);
    fields(writer, proof);
  });
}

Result<ProofOfLife> proof_from_json_line(std::string_view line) {
  BENCH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(line));
  ProofOfLife proof;
  JsonReader reader(document.root(), kProofRules);
  reader.constant("record", kProofRecord);
  reader.constant("schema", kProofSchema);
  fields(reader, proof);
  std::string problem = reader.problem();
  if (problem.empty()) problem = find_proof_violation(proof);
  if (!problem.empty()) return Error{problem, "", ""};
  return proof;
}

Result<std::optional<ProofOfLife>> parse_proofs(std::string_view text, const std::string& path) {
  std::optional<ProofOfLife> latest;
  for (const NumberedLine& line : Lines(text)) {
    if (is_blank(line.text)) continue;
    auto proof = proof_from_json_line(line.text);
    if (!proof.ok()) {
      return Error{"malformed self-test: " + proof.error().what,
                   fmt::format("{}:{}", path, line.number),
                   "remove the file; `bench selftest` writes it again"};
    }
    if (!latest || latest->time <= proof->time) latest = *std::move(proof);
  }
  return latest;
}

}  // namespace bench
