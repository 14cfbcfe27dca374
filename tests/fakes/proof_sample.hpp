// SPDX-License-Identifier: Apache-2.0
// What a self-test showed: a gate that works.
#pragma once

#include "harness/result/proof.hpp"

namespace bench::test {

inline ProofOfLife sample_proof() {
  ProofOfLife proof;
  proof.run_id = "s1";
  proof.time = "2026-11-28T06:00:00Z";
  proof.machine_class = "class-2c";
  proof.tool_version = "0.1.0";
  proof.commit = "1a2b3c4d";
  proof.duets = 40;
  proof.suites = 1000;
  proof.red_suites = 2;
  proof.power = {{0.02, 1000, 731}, {0.03, 1000, 952}, {0.05, 1000, 990}, {0.10, 1000, 1000}};
  proof.injected = ProofOfLife::Injected{0.03, 0.0297};
  return proof;
}

}  // namespace bench::test
