// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/side_library.hpp"

#include "base/file.hpp"
#include "base/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::optional<std::string> unset_variable(const std::string&) { return std::nullopt; }

Plan plan_on(std::vector<std::string> backends) {
  Plan plan;
  for (std::string& backend : backends) plan.cases.emplace_back().key.backend = std::move(backend);
  return plan;
}

// A folder with files, which are empty unless a link leads elsewhere.
class LibraryFolder : public testing::Test {
 protected:
  LibraryFolder() : folder_(*TemporaryFolder::create("test")) {
    root_ = std::filesystem::canonical(std::filesystem::path(folder_.file("x")).parent_path());
  }
  void add(const std::string& name) {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    EXPECT_TRUE(write_file(path.string(), "library", Existing::replace).ok());
  }
  std::string at(const std::string& name) const { return (root_ / name).string(); }

  TemporaryFolder folder_;
  std::filesystem::path root_;
};

using SideLibraryTest = LibraryFolder;

TEST_F(SideLibraryTest, AFileOrItsFolderBecomesTheVariableOfItsLibrary) {
  add("onednn/lib/libdnnl.so.3");
  for (const char* path : {"onednn/lib/libdnnl.so.3", "onednn/lib", "onednn/lib/", "onednn"}) {
    const auto found = find_side_library(at(path), plan_on({"onednn"}), unset_variable);
    ASSERT_TRUE(found.ok()) << path << found.error().message();
    EXPECT_THAT(found->names, ElementsAre("onednn"));
    EXPECT_THAT(found->variables, ElementsAre(Pair("LD_LIBRARY_PATH", at("onednn/lib"))));
  }
  const auto before = find_side_library(at("onednn"), plan_on({"onednn"}), [](const std::string&) {
    return std::optional<std::string>("/gomp");
  });
  EXPECT_EQ(before->variables.at("LD_LIBRARY_PATH"), at("onednn/lib") + ":/gomp");
}

TEST_F(SideLibraryTest, OnlyTheLibrariesOfThePlansBackendsCount) {
  add("all/libdnnl.so.3");
  add("all/libopenblas.so.0");
  add("all/libcudnn.so.9");
  const auto blas = find_side_library(at("all"), plan_on({"openblas"}), unset_variable);
  EXPECT_THAT(blas->variables, ElementsAre(Pair("BENCH_OPENBLAS", at("all"))));
  const auto gpu = find_side_library(at("all"), plan_on({"cudnn", "onednn"}), unset_variable);
  EXPECT_THAT(gpu->variables,
              ElementsAre(Pair("BENCH_CUDA_LIBS", at("all")), Pair("LD_LIBRARY_PATH", at("all"))));
  EXPECT_THAT(gpu->names, ElementsAre("onednn", "cudnn", "cublaslt", "cublas"));
  const auto file =
      find_side_library(at("all/libopenblas.so.0"), plan_on({"openblas"}), unset_variable);
  EXPECT_EQ(file->variables.at("BENCH_OPENBLAS"), at("all/libopenblas.so.0"));
}

TEST_F(SideLibraryTest, APathWithoutTheLibraryIsRefused) {
  add("other/libfoo.so.1");
  EXPECT_THAT(
      find_side_library(at("other"), plan_on({"onednn", "mkl"}), unset_variable).error().message(),
      HasSubstr("contains no library of these cases (libdnnl.so.*; libmkl_rt.so.3)"));
  EXPECT_THAT(find_side_library(at("typo"), plan_on({"onednn"}), unset_variable).error().message(),
              HasSubstr("typo: does not exist; name the file of a library"));
  // oneDNN is there, but no case uses it.
  add("onednn/libdnnl.so.3");
  EXPECT_FALSE(find_side_library(at("onednn"), plan_on({"blis"}), unset_variable).ok());
}

GateSide side_with(const std::string& path, const std::string& version) {
  GateSide side;
  side.libraries["onednn"] = version;
  side.loaded = {{"bench", "/bin/bench", ""}, {"onednn", path, ""}};
  return side;
}

TEST_F(SideLibraryTest, ASideMustHaveLoadedTheLibraryFromThere) {
  add("new/libdnnl.so.3.2");
  std::filesystem::create_symlink("libdnnl.so.3.2", at("new/libdnnl.so.3"));
  const auto library = find_side_library(at("new"), plan_on({"onednn"}), unset_variable);
  EXPECT_TRUE(check_side_library(*library, side_with(at("new/libdnnl.so.3.2"), "3.2.0")).ok());
  const Status other = check_side_library(*library, side_with("/lib/libdnnl.so.3.1", "3.1.0"));
  EXPECT_THAT(other.error().message(),
              HasSubstr("the side loaded onednn 3.1.0 from /lib/libdnnl.so.3.1 instead; the loader "
                        "searches for libdnnl.so.3: name the file of this name, or its folder"));
  EXPECT_THAT(check_side_library(*library, {}).error().message(),
              HasSubstr("onednn was not loaded"));
}

TEST_F(SideLibraryTest, EqualBuildsAreRefused) {
  const GateSide base = side_with("/a/libdnnl.so.3.2", "3.2.0");
  EXPECT_TRUE(
      check_libraries_differ({"onednn"}, base, side_with("/b/libdnnl.so.3.2", "3.2.0")).ok());
  EXPECT_THAT(check_libraries_differ({"onednn"}, base, base).error().message(),
              HasSubstr("both sides loaded the same build: onednn 3.2.0 from /a/libdnnl.so.3.2"));
  GateSide copy = side_with("/b/libdnnl.so.3.2", "3.2.0");
  GateSide original = base;
  copy.loaded[1].digest = original.loaded[1].digest = "0123";
  EXPECT_FALSE(check_libraries_differ({"onednn"}, original, copy).ok());
  // A library that neither side states is not compared: its cases are skipped.
  EXPECT_TRUE(check_libraries_differ({"cudnn"}, base, base).ok());
}

}  // namespace
}  // namespace bench
