// SPDX-License-Identifier: Apache-2.0
// table: one row per kind of file
#include "harness/import/kind.hpp"

#include "base/folder.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/import/network_text.hpp"
#include "harness/import/receipt.hpp"
#include "harness/import/suite_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kGiveOthers = "give the files that contain them";

constexpr std::array kKinds = {
    ImportKind{"benchdnn", "inputs of oneDNN's benchdnn, with the files that they include",
               "problem", ImportInput::text, kGiveOthers, is_benchdnn_file, read_benchdnn},
    ImportKind{"tritonbench", "tritonbench's operator logs, and its tables of products (M,N,K)",
               "call", ImportInput::text, kGiveOthers, is_tritonbench_file, read_tritonbench},
    // Never in place of a configuration: `bench run PROFILE` would hide what was refused.
    ImportKind{"profile", "what a program executed: profiles, also of GPUs, and logs of oneDNN",
               "primitive of oneDNN and no operator of a framework on a GPU", ImportInput::stream,
               "of a GPU, record operators with their shapes: torch.profiler with "
               "record_shapes=True, or PyProf's markers (docs/import.md#a-gpu)",
               [](std::string_view, std::string_view) { return false; }, read_profile},
    ImportKind{"onnx", "a model in ONNX: its network, or its distinct operators", "node",
               ImportInput::bytes, kGiveOthers,
               [](std::string_view, std::string_view) { return false; }, read_onnx},
};

}  // namespace

std::span<const ImportKind> import_kinds() { return kKinds; }

const ImportKind* find_import_kind(std::string_view name) {
  const auto* row = std::ranges::find(kKinds, name, &ImportKind::name);
  return row == kKinds.end() ? nullptr : row;
}

std::vector<std::string_view> import_kind_names() {
  std::vector<std::string_view> names;
  for (const ImportKind& kind : kKinds) names.push_back(kind.name);
  return names;
}

const ImportKind* recognise_import(std::string_view path, std::string_view text) {
  if (path.ends_with(".yaml") || path.ends_with(".yml")) return nullptr;
  const auto* row = std::ranges::find_if(
      kKinds, [&](const ImportKind& kind) { return kind.recognises(path, text); });
  return row == kKinds.end() ? nullptr : row;
}

Result<ImportOutput> import_files(const ImportKind& kind, const ImportRequest& request) {
  BENCH_ASSIGN_OR_RETURN(Imported found, kind.read(request));
  const std::size_t all = found.cases.size() + found.refused_count();
  std::vector<std::string> words = {"import", std::string(kind.name)};
  for (const ImportFile& file : request.files) words.push_back(file.path);
  if (!request.driver.empty()) words.insert(words.end(), {"--driver", request.driver});
  for (const std::string& size : request.dimensions)
    words.insert(words.end(), {"--dimension", size});
  const std::string amount =
      found.coverage || found.model
          ? receipt_sentence(kind, found)
          : fmt::format("{} of {}", found.cases.size(), pluralise(all, kind.noun));
  std::string title = fmt::format("{}, imported by\n  {}", amount, shell_command("bench", words));
  if (found.model) title += '\n' + describe_model(*found.model);
  if (found.model && found.model->network) {
    std::string text = format_network(*found.model->network, title);
    std::vector<std::optional<ImportPlace>> origins(
        static_cast<std::size_t>(std::ranges::count(text, '\n')));
    return ImportOutput{std::move(text), std::move(origins), std::move(found)};
  }
  const std::string& path = request.files.front().path;
  const std::string stem = std::filesystem::path(path).stem().string();
  SuiteText suite = format_suite(found, stem == "-" ? "stdin" : file_stem(stem), title);
  return ImportOutput{std::move(suite.text), std::move(suite.origins), std::move(found)};
}

}  // namespace bench
