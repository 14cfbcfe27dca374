// SPDX-License-Identifier: Apache-2.0
// Any bytes as inputs of benchdnn and tritonbench, and as profiles (models: onnx_fuzz.cpp): each
// problem is either a case or refused at a line of the text, and the configuration that results has
// no error.
#include "harness/config/load.hpp"
#include "harness/import/kind.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace {

using bench::fuzz::require;

void check_suite(const std::string& text) {
  bench::LoadRequest request;
  request.arguments = {"suite.yaml"};
  request.read = [&](const std::string&) -> bench::Result<std::string> { return text; };
  const auto plan = bench::load_plan(request);
  require(plan.ok() && !plan->cases.empty());
}

void check(const bench::ImportKind& kind, const std::string& text, const std::string& path) {
  bench::ImportRequest request{.files = {{path, text}}};
  // Each file that the text includes has the text itself.
  request.read = [&](const std::string&) -> bench::Result<std::string> { return text; };
  request.open = [&](const std::string& name) -> bench::Result<std::unique_ptr<bench::TextSource>> {
    return bench::text_source_for_test(name, text);
  };
  const auto output = bench::import_files(kind, request);
  if (!output.ok()) return require(!output.error().what.empty());
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  for (const bench::RefusedProblem& problem : output->found.refused)
    require(!problem.reason.empty() && problem.place.line <= lines &&
            problem.place.line >= (kind.input == bench::ImportInput::text ? 1 : 0));
  require(output->origins.size() ==
          static_cast<std::size_t>(std::ranges::count(output->text, '\n')));
  if (!output->found.cases.empty()) check_suite(output->text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const bench::ImportKind& kind : bench::import_kinds()) {
    if (kind.input == bench::ImportInput::bytes) continue;
    check(kind, text, "matmul/problems");
    check(kind, text, "conv/problems");
  }
  bench::recognise_import("problems", text);
  return 0;
}
