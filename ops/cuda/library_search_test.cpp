// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/library_search.hpp"

#include "base/file.hpp"
#include "base/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace bench::ops::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kCublasLt[] = {"libcublasLt.so.13"};
const std::string kComplete = std::string(BENCH_FAKE_LIBRARIES) + "/complete";
const std::string kOther = std::string(BENCH_FAKE_LIBRARIES) + "/other";

Variables variables(std::map<std::string, std::string> values) {
  return [values](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

std::vector<std::string> folders(const std::vector<SearchStep>& steps) {
  std::vector<std::string> result;
  for (const SearchStep& step : steps) result.push_back(step.folder);
  return result;
}

TEST(LibrarySearchPath, HasTheDocumentedOrder) {
  const auto steps = library_search_path(
      variables({{"BENCH_CUDA_LIBS", "/a:/b/"}, {"CUDA_HOME", "/opt/cuda"}}), "/usr/lib/bench");
  EXPECT_THAT(folders(steps), ElementsAre("/a", "/b", "/usr/lib/bench", "", "/usr/local/cuda/lib64",
                                          "/opt/cuda/lib64"));
  EXPECT_EQ(steps[0].origin, "$BENCH_CUDA_LIBS");
  EXPECT_EQ(steps[2].origin, "beside the plugin");
  EXPECT_EQ(steps[5].origin, "$CUDA_HOME");
}

TEST(LibrarySearchPath, LeavesOutWhatIsEmptyOrRepeated) {
  EXPECT_THAT(
      folders(library_search_path(
          variables({{"BENCH_CUDA_LIBS", "::/a::/a:"}, {"CUDA_HOME", "/usr/local/cuda"}}), "/a")),
      ElementsAre("/a", "", "/usr/local/cuda/lib64"));
  EXPECT_THAT(folders(library_search_path(variables({{"CUDA_HOME", ""}}), "")),
              ElementsAre("", "/usr/local/cuda/lib64"));
}

TEST(DynamicLibrary, ComesFromTheFirstFolderThatHasIt) {
  const SearchStep steps[] = {
      {"/nowhere", "$BENCH_CUDA_LIBS"}, {kComplete, "beside the plugin"}, {kOther, "last"}};
  const auto library = DynamicLibrary::open(kCublasLt, steps);
  ASSERT_TRUE(library.ok()) << library.error().reason;
  EXPECT_THAT(library->path(), HasSubstr("/complete/libcublasLt.so.13"));
  EXPECT_EQ(library->origin(), "beside the plugin");
  auto* const version = library->function<std::size_t()>("cublasLtGetVersion");
  ASSERT_NE(version, nullptr);
  EXPECT_EQ(version(), 139876u);
  EXPECT_EQ(library->symbol("cublasLtMatmul"), nullptr);
}

TEST(DynamicLibrary, MissingLibraryErrorNamesAllPlaces) {
  const std::string_view files[] = {"libbench_no_such.so.7", "libbench_no_such.so"};
  const SearchStep steps[] = {{"/nowhere", "$BENCH_CUDA_LIBS"}, {"", "the loader's path"}};
  const auto library = DynamicLibrary::open(files, steps);
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().reason, "libbench_no_such.so.7 or libbench_no_such.so was not found");
  EXPECT_THAT(library.error().tried,
              ElementsAre("libbench_no_such.so.7 in /nowhere: no such file",
                          "libbench_no_such.so in /nowhere: no such file",
                          "libbench_no_such.so.7 in the loader's path: no such file",
                          "libbench_no_such.so in the loader's path: no such file"));
}

TEST(DynamicLibrary, SkipsALibraryThatDoesNotLoad) {
  auto folder = TemporaryFolder::create("test");
  ASSERT_TRUE(folder.ok());
  const std::string file = folder->file("libcublasLt.so.13");
  ASSERT_TRUE(write_file(file, "no library", Existing::replace).ok());
  const SearchStep broken{file.substr(0, file.rfind('/')), "$BENCH_CUDA_LIBS"};
  const SearchStep both[] = {broken, {kComplete, "beside the plugin"}};
  const auto library = DynamicLibrary::open(kCublasLt, both);
  ASSERT_TRUE(library.ok());
  EXPECT_THAT(library->path(), HasSubstr("/complete/"));
  const auto failed = DynamicLibrary::open(kCublasLt, std::span(&broken, 1));
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().reason, HasSubstr("it was found but cannot be loaded"));
  EXPECT_THAT(failed.error().reason, HasSubstr(file));
}

}  // namespace
}  // namespace bench::ops::cuda
