// SPDX-License-Identifier: Apache-2.0
// Any bytes as an ONNX model: an error with a place, a network or a suite that loads, or nodes that
// are all refused for a reason.
#include "harness/config/load.hpp"
#include "harness/import/kind.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

using bench::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const bench::ImportRequest request{.files = {{"model.onnx", bytes}}, .name = "net"};
  const auto output = bench::import_files(*bench::find_import_kind("onnx"), request);
  if (!output.ok()) {
    require(!output.error().what.empty() && !output.error().where.empty());
    return 0;
  }
  const bench::Imported& found = output->found;
  for (const bench::RefusedProblem& node : found.refused) require(!node.reason.empty());
  require(found.model.has_value());
  const auto refused = static_cast<std::int64_t>(found.refused_count());
  require(found.model->nodes == found.model->expressed + refused);
  require(output->origins.size() ==
          static_cast<std::size_t>(std::ranges::count(output->text, '\n')));
  if (!found.has_content()) return 0;
  bench::LoadRequest load;
  load.arguments = {"net.yaml"};
  load.read = [&](const std::string&) -> bench::Result<std::string> { return output->text; };
  const auto plan = bench::load_plan(load);
  require(plan.ok() && !plan->cases.empty());
  return 0;
}
