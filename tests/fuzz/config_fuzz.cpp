// SPDX-License-Identifier: Apache-2.0
// Any bytes as a configuration, as a network, as a case id and as a filter: the result is errors or
// a plan, never a crash.
#include "harness/config/load.hpp"
#include "harness/config/network_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

// The input serves as every file: it includes itself, and its networks are itself.
bench::LoadRequest request_for(const std::string& text) {
  bench::LoadRequest request;
  request.read = [text](const std::string& path) -> bench::Result<std::string> {
    if (!path.ends_with(".yaml")) return bench::Error{"no such file", path, ""};
    return text;
  };
  return request;
}

void load(bench::LoadRequest request, const std::string& argument) {
  request.arguments = {argument};
  const auto plan = bench::load_plan(request);
  if (plan.ok()) return;
  for (const bench::Diagnostic& diagnostic : plan.error()) {
    if (diagnostic.message().empty()) __builtin_trap();  // an error must have a message
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A sweep of many cases is legal and slow; long inputs find nothing that short ones do not.
  constexpr std::size_t kMaxSize = 4096;
  if (size > kMaxSize) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  bench::LoadRequest request = request_for(text);
  load(request, "a.yaml");
  load(request, text);
  request.filters = {text};
  request.overrides = {text, "measure=" + text};
  load(request, "gemm/forward/m1n1k1/f32/onednn/cpu/hot");
  static_cast<void>(bench::parse_network(text, "a.yaml"));
  return 0;
}
