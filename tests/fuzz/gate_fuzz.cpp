// SPDX-License-Identifier: Apache-2.0
// Any bytes as a gate's file: the result is a gate or an error, a gate that was read can be
// decided, and a decision can be reported.
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto gate = bench::read_gate_file(text, "fuzz");
  if (!gate.ok()) return 0;
  // Huge policies are not malformed, but would request years of duets and exact tests.
  gate->judgements = bench::decide(gate->evidence).judgements;
  for (const bench::GateFormat& format : bench::gate_formats()) format.write(*gate, {});
  bench::gate_annotations(*gate, {});
  bench::gate_console(*gate, {}, {});
  return 0;
}
