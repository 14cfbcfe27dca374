// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/library_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace bench::ops::cuda {
namespace {

constexpr const char* kLibrariesVariable = "BENCH_CUDA_LIBS";
constexpr const char* kToolkitVariable = "CUDA_HOME";
constexpr const char* kDefaultToolkit = "/usr/local/cuda";

}  // namespace

std::vector<SearchStep> library_search_path(const Variables& variables,
                                            const std::string& plugin_folder) {
  std::vector<SearchStep> steps;
  const std::string folders = variables(kLibrariesVariable).value_or("");
  for (std::size_t begin = 0; begin < folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    if (end > begin) {
      add_search_step(steps, folders.substr(begin, end - begin),
                      fmt::format("${}", kLibrariesVariable));
    }
    begin = end + 1;
  }
  if (!plugin_folder.empty()) add_search_step(steps, plugin_folder, "beside the plugin");
  steps.push_back({"", "the loader's path"});
  add_search_step(steps, fmt::format("{}/lib64", kDefaultToolkit), "the default toolkit");
  const std::string toolkit = variables(kToolkitVariable).value_or("");
  if (!toolkit.empty())
    add_search_step(steps, toolkit + "/lib64", fmt::format("${}", kToolkitVariable));
  return steps;
}

bool load_driver_or_stub(std::span<const SearchStep> search) {
  constexpr std::string_view kDriver[] = {"libcuda.so.1"}, kStub[] = {"libcuda.so"};
  const SearchStep loader[] = {{"", "the loader's path"}};
  if (DynamicLibrary::open(kDriver, loader)) return true;
  std::vector<SearchStep> stubs;
  for (const SearchStep& step : search) {
    if (!step.folder.empty()) stubs.push_back({step.folder + "/stubs", step.origin});
  }
  return DynamicLibrary::open(kStub, stubs).ok();
}

}  // namespace bench::ops::cuda
