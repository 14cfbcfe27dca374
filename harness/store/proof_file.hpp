// SPDX-License-Identifier: Apache-2.0
// The file of the store with the last self-test of one machine class:
// FOLDER/MACHINE_CLASS/selftest.jsonl. It has one line (schema bench.proof/1, docs/baselines.md).
#pragma once

#include "base/result.hpp"
#include "harness/result/proof.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace bench {

inline constexpr std::string_view kProofSchema = "bench.proof/1";
inline constexpr std::string_view kProofFile = "selftest.jsonl";

// Returns one line without a newline.
std::string to_json_line(const ProofOfLife& proof);
// Parses such a line; skips unknown fields. Returns an error for values that no self-test has.
Result<ProofOfLife> proof_from_json_line(std::string_view line);
// Returns the latest line of the file's text; git may have merged several. nullopt if there is
// none. A bad line is an error; `path` is for its message.
Result<std::optional<ProofOfLife>> parse_proofs(std::string_view text, const std::string& path);

}  // namespace bench
