// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/sides.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SideVariables : public testing::Test {
 protected:
  SideVariables() {
    for (const char* folder : {"bundled", "new", "empty", "later", "openmp"})
      std::filesystem::create_directory(folder_.file(folder));
    bundled_ = folder_.write("bundled/libdnnl.so.3.2", "3.2");
    new_ = folder_.write("new/libdnnl.so.3.3", "3.3");
    std::filesystem::create_symlink("libdnnl.so.3.3", folder_.file("new/libdnnl.so.3"));
    folder_.write("later/libdnnl.so.4", "4");
    openmp_ = folder_.write("openmp/libgomp.so.1", "gomp");
    other_ = side("", "", bundled_);
  }

  // Returns a side with a variable that has loaded this oneDNN.
  static GateSide side(const std::string& variable, const std::string& value,
                       const std::string& library) {
    GateSide made;
    if (!variable.empty()) made.environment[variable] = value;
    made.loaded = {{std::string(kProgramFile), "/opt/bench", ""}, {"onednn", library, "AVX2"}};
    made.other_files = {"/lib/libc.so.6"};
    return made;
  }
  // Returns the error about LD_LIBRARY_PATH of a side that has loaded this oneDNN; empty for none.
  std::string path_error(const std::string& value, const std::string& library) const {
    return error(side("LD_LIBRARY_PATH", value, library));
  }
  std::string error(const GateSide& checked) const {
    const Status status = check_variables(checked, &other_);
    return status ? "" : status.error().message();
  }

  test::TemporaryFolder folder_;
  std::string bundled_, new_, openmp_;
  GateSide other_;
};

TEST_F(SideVariables, AreTakenIfTheLibraryComesFromAFolderOfThePath) {
  EXPECT_EQ(path_error(folder_.file("new"), new_), "");
  EXPECT_EQ(path_error(folder_.file("empty") + ":" + folder_.file("new"), new_), "");
  EXPECT_EQ(path_error("", bundled_), "") << "the variable is unset for this side";
  EXPECT_EQ(path_error("$ORIGIN/../lib", bundled_), "") << "only the loader knows this folder";
}

// The gate compared the bundled library with itself and passed.
TEST_F(SideVariables, AMisspeltFolderIsAnError) {
  EXPECT_THAT(path_error(folder_.file("typo"), bundled_),
              AllOf(HasSubstr("LD_LIBRARY_PATH=" + folder_.file("typo") + ": `"),
                    HasSubstr("/typo` is not a folder; onednn was loaded from " + bundled_)));
}

TEST_F(SideVariables, AFolderWithoutTheLibraryIsAnError) {
  EXPECT_THAT(path_error(folder_.file("empty"), bundled_), HasSubstr("it has no libdnnl.so.3; "));
  EXPECT_THAT(path_error(folder_.file("later"), bundled_),
              HasSubstr("it has no libdnnl.so.3, but libdnnl.so.4; onednn was loaded from"));
}

TEST_F(SideVariables, ALibraryThatAnRpathHidesIsAnError) {
  EXPECT_THAT(path_error(folder_.file("new"), bundled_),
              HasSubstr("the loader did not take its libdnnl.so.3, perhaps because the program has "
                        "an RPATH"));
  EXPECT_THAT(path_error(folder_.file("new"), "/opt/bench"),
              HasSubstr("the program contains its library"));
}

TEST_F(SideVariables, AnotherLibraryOfThisSideAloneIsTaken) {
  GateSide openmp = side("LD_LIBRARY_PATH", folder_.file("openmp"), bundled_);
  EXPECT_NE(error(openmp), "");
  openmp.other_files.push_back(openmp_);
  EXPECT_EQ(error(openmp), "");
  other_.other_files.push_back(openmp_);
  EXPECT_NE(error(openmp), "") << "the other side loads it without the variable";
  EXPECT_FALSE(check_variables(openmp, nullptr).ok());
}

TEST_F(SideVariables, APreloadedLibraryMustBeLoaded) {
  GateSide preloading = side("LD_PRELOAD", openmp_ + " libjemalloc.so.2", bundled_);
  preloading.other_files = {openmp_, "/lib/libjemalloc.so.2.1"};
  EXPECT_EQ(error(preloading), "");
  preloading.other_files = {openmp_};
  EXPECT_EQ(
      error(preloading),
      "LD_PRELOAD=" + openmp_ +
          " libjemalloc.so.2: the loader did not load `libjemalloc.so.2`; name a library that "
          "exists and suits this program");
  EXPECT_THAT(error(side("LD_PRELOAD", folder_.file("typo.so"), bundled_)), HasSubstr("/typo.so`"));
}

TEST_F(SideVariables, PathsOfGpuLibrariesMustExist) {
  EXPECT_EQ(error(side("BENCH_CUDA_LIBS", folder_.file("new") + ":/tmp", bundled_)), "");
  EXPECT_THAT(error(side("BENCH_CUDA_LIBS", "/tmp:" + folder_.file("typo"), bundled_)),
              HasSubstr("/typo` does not exist"));
  EXPECT_THAT(error(side("BENCH_CUDA_PLUGIN", "/no/plugin.so", bundled_)),
              HasSubstr("BENCH_CUDA_PLUGIN=/no/plugin.so: `/no/plugin.so` does not exist"));
}

// A gate of two versions of cuDNN accepted any existing folder, so it could compare one with
// itself.
TEST_F(SideVariables, AFolderOfGpuLibrariesFromWhichNothingIsLoadedIsAnError) {
  const std::string cudnn = folder_.write("later/libcudnn.so.9", "9.19");
  GateSide gpu = side("BENCH_CUDA_LIBS", folder_.file("later"), bundled_);
  gpu.loaded.push_back({"cublaslt", "/usr/lib/libcublasLt.so.13", ""});
  gpu.loaded.push_back({"cudnn", cudnn, ""});
  EXPECT_EQ(error(gpu), "");
  gpu.loaded.back().path = "/usr/lib/libcudnn.so.9";
  EXPECT_THAT(error(gpu), HasSubstr("no library of the GPU was loaded from there; cudnn was loaded "
                                    "from `/usr/lib/libcudnn.so.9`; name the folders that"));
}

TEST_F(SideVariables, OfASideThatDidNotAnswerAreNotChecked) {
  GateSide unknown;
  unknown.environment = {{"LD_LIBRARY_PATH", "typo"}};
  EXPECT_TRUE(check_variables(unknown, nullptr).ok());
}

}  // namespace
}  // namespace bench
