// SPDX-License-Identifier: Apache-2.0
// Commands with an older oneDNN, which lacks functions that this program calls.
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::old_library_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

ProgramResult bench(std::vector<std::string> arguments, const std::string& folder = ".",
                    std::map<std::string, std::string> environment = {}) {
  arguments.insert(arguments.begin(), BENCH_BINARY);
  return run_program({std::move(arguments), folder, std::move(environment)});
}

// Writes a copy of the loaded oneDNN without a function that this program calls. Returns its path;
// empty if the program contains its library.
std::string write_library_without_a_function(const TemporaryFolder& folder) {
  const ProgramResult probe = bench({"worker", "--probe", "onednn"}, folder.path());
  const std::string path =
      json::parse(probe.out).at("devices").at(0).at("library").at("path").get<std::string>();
  if (path.find(".so") == std::string::npos) return "";
  // oneDNN itself does not call this function.
  const std::string name("\0dnnl_set_verbose\0", 18), other("\0dnnl_set_verbosX\0", 18);
  std::string library = read_text(path);
  std::size_t renamed = 0;
  for (std::size_t at = library.find(name); at != std::string::npos; at = library.find(name, at)) {
    library.replace(at, name.size(), other);
    ++renamed;
  }
  EXPECT_GT(renamed, 0U) << path;
  return folder.write(std::filesystem::path(path).filename().string(), library);
}

// Both died with the line of the loader.
TEST(ListTest, ALibraryThatLacksAFunctionIsNamedAndSaidAgainstWhatToBuild) {
  const TemporaryFolder folder;
  const std::string library = write_library_without_a_function(folder);
  if (library.empty()) GTEST_SKIP() << "this program contains its oneDNN";
  const std::map<std::string, std::string> environment = {{"LD_LIBRARY_PATH", folder.path()}};
  const std::string id = "gemm/forward/m8n8k8/f32/onednn/cpu/hot";
  const auto check = [&](const std::vector<std::string>& words) {
    const ProgramResult result = bench(words, folder.path(), environment);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.err,
                testing::AllOf(HasSubstr("bench " + words.front() + ": "),
                               HasSubstr("undefined symbol: dnnl_set_verbose"), HasSubstr(library),
                               HasSubstr("build bench against the older oneDNN")));
    return result.out;
  };
  EXPECT_THAT(check({"list", id}),
              testing::AllOf(HasSubstr("no: oneDNN does not load as this bench "
                                       "needs it; a message says why"),
                             HasSubstr("1 case, 0 can run here\n")));
  EXPECT_THAT(check({"run", "-n", id}), HasSubstr("1 case: none can run here"));
  const json listed = json::parse(check({"list", id, "--json"}));
  EXPECT_EQ(listed.at("cases").at(0).at("support").at("runs"), "no");
  // Cases of other backends do not need oneDNN.
  const ProgramResult native =
      bench({"list", "peak/forward/read-b33554432/f32/native/cpu/hot"}, folder.path(), environment);
  EXPECT_THAT(native.err, Not(HasSubstr("undefined symbol"))) << native.out;
}

}  // namespace
}  // namespace bench::test::old_library_test
