// SPDX-License-Identifier: Apache-2.0
// Replaces libbench_cuda.so in tests. It is compiled several times: as plugins with one fault each,
// and as one whose probe returns the file that $BENCH_FAKE_PROBE names.
#ifndef FAKE_NO_HANDOVER
#include "ops/cuda/plugin/handover.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace bench::ops::cuda {
namespace {

class FakeServices final : public PluginServices {
 public:
  std::span<const OfferedBackend> backends() const override { return {}; }
  Result<ProbeReport> probe(ProbeExtent extent) override {
#ifdef FAKE_CRASH
    // A sanitizer's handler would exit with a status instead of the signal.
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
#endif
    std::printf("a library that prints, extent %d\n", static_cast<int>(extent));
    const char* path = std::getenv("BENCH_FAKE_PROBE");
    std::stringstream text;
    if (path != nullptr) text << std::ifstream(path).rdbuf();
    return parse_probe(text.str());
  }
  std::string support(const Problem&, std::string_view, std::string_view) override { return ""; }
  std::string plan(const Network&, std::string_view) override { return ""; }
};

}  // namespace
}  // namespace bench::ops::cuda

bench::ops::cuda::Handover bench_cuda_handover(const char* build) {
  static bench::ops::cuda::FakeServices services;
  bench::ops::cuda::Handover handover = bench::ops::cuda::hand_over(build, &services);
  handover.program = "9.9";
#ifdef FAKE_OTHER_BUILD
  handover.build = "0123456789ab";
  // A caller that uses the object of another build crashes.
  handover.services = reinterpret_cast<bench::ops::cuda::PluginServices*>(8);
#endif
  return handover;
}

#endif
