// SPDX-License-Identifier: Apache-2.0
// Imports of texts for tests.
#pragma once

#include "harness/config/load.hpp"
#include "harness/import/kind.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench::test {

// Imports one file; `others` are the files that it can include.
inline Result<ImportOutput> import_text(std::string_view kind, const std::string& path,
                                        const std::string& text,
                                        std::map<std::string, std::string> others = {},
                                        const std::string& driver = {}) {
  ImportRequest request{.files = {{path, text}}, .driver = driver};
  request.read = [others = std::move(others)](const std::string& name) -> Result<std::string> {
    const auto file = others.find(name);
    if (file == others.end()) return Error{"no such file", name, {}};
    return file->second;
  };
  request.open = [&](const std::string& name) -> Result<std::unique_ptr<TextSource>> {
    return text_source_for_test(name, text);
  };
  return import_files(*find_import_kind(kind), request);
}

// Loads a configuration; adds a failure for each error in it.
inline Plan load_suite(const std::string& text) {
  LoadRequest request;
  request.arguments = {"suite.yaml"};
  request.read = [&](const std::string&) -> Result<std::string> { return text; };
  auto plan = load_plan(request);
  if (plan.ok()) return *std::move(plan);
  for (const Diagnostic& diagnostic : plan.error()) ADD_FAILURE() << diagnostic.message();
  return {};
}

// The ids of the cases of an import.
inline std::vector<std::string> imported_ids(const Result<ImportOutput>& output) {
  std::vector<std::string> ids;
  if (!output.ok()) {
    ADD_FAILURE() << output.error().message();
    return ids;
  }
  for (const Case& entry : load_suite(output->text).cases) ids.push_back(entry.id);
  return ids;
}

// "3: the reason", in the order of the lines.
inline std::vector<std::string> refusals(const Result<ImportOutput>& output) {
  std::vector<std::string> lines;
  if (!output.ok()) return {output.error().message()};
  for (const RefusedProblem& problem : output->found.refused)
    lines.push_back(std::to_string(problem.place.line) + ": " + problem.reason);
  return lines;
}

}  // namespace bench::test
