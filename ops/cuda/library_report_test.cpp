// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/library_report.hpp"

#include "base/folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace bench::ops::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr LibraryExpectations kDecodes13{130001};

SearchStep fakes(const std::string& folder) {
  return {std::string(BENCH_FAKE_LIBRARIES) + "/" + folder, "a test"};
}

std::map<std::string, LibraryReport> reports(const SearchStep& step,
                                             const LibraryExpectations& expectations) {
  std::map<std::string, LibraryReport> by_name;
  for (LibraryReport& report : report_libraries(std::span(&step, 1), expectations)) {
    by_name[report.name] = std::move(report);
  }
  return by_name;
}

TEST(LibraryReport, TellsPathAndVersionOfWhatIsThere) {
  const auto found = reports(fakes("complete"), kDecodes13);
  const std::map<std::string, std::string> versions = {{"cuDNN", "9.12.34"},
                                                       {"cuBLASLt", "13.98.76"},
                                                       {"cuBLAS", "13.98.76"},
                                                       {"NVML", "13.580.82.07"},
                                                       {"CUPTI", "13.0.1"}};
  ASSERT_EQ(found.size(), versions.size());
  for (const auto& [name, report] : found) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(report.usable()) << report.reason;
    EXPECT_EQ(report.version, versions.at(name));
    EXPECT_THAT(report.path, HasSubstr("/fakes/complete/"));
    EXPECT_EQ(report.origin, "a test");
    EXPECT_THAT(report.tried, IsEmpty());
  }
}

TEST(LibraryReport, TellsOfEachAbsenceWhatItDisables) {
  const auto found = reports({"/nowhere", "a test"}, kDecodes13);
  ASSERT_EQ(found.size(), library_specs().size());
  for (const auto& [name, report] : found) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(report.usable());
    EXPECT_THAT(report.reason, HasSubstr("was not found"));
    EXPECT_THAT(report.path, IsEmpty());
    EXPECT_THAT(report.version, IsEmpty());
    EXPECT_THAT(report.consequence, Not(IsEmpty()));
    EXPECT_THAT(report.remedy, Not(IsEmpty()));
    EXPECT_EQ(report.tried.size(), 1u);
  }
  EXPECT_THAT(found.at("cuDNN").consequence, HasSubstr("conv"));
  EXPECT_THAT(found.at("cuDNN").tried, ElementsAre("libcudnn.so.9 in /nowhere: no such file"));
}

TEST(LibraryReport, RefusesACuptiWhoseRecordsItCannotDecode) {
  const LibraryReport report = reports(fakes("other"), kDecodes13).at("CUPTI");
  EXPECT_EQ(report.reason, "API version 13.2.0, but this build decodes the records of 13.0.1");
  EXPECT_THAT(report.path, HasSubstr("/other/libcupti.so.13"));
  EXPECT_THAT(report.remedy, HasSubstr("$BENCH_CUDA_LIBS"));
  const LibraryReport without = reports(fakes("complete"), {}).at("CUPTI");
  EXPECT_EQ(without.reason, "API version 13.0.1, but this build was made without CUPTI");
  EXPECT_TRUE(reports(fakes("complete"), {130099}).at("CUPTI").usable());
}

TEST(LibraryReport, RefusesALibraryWithoutItsFunctions) {
  const LibraryReport report = reports(fakes("other"), kDecodes13).at("cuBLASLt");
  EXPECT_EQ(report.reason, "the library does not export cublasLtGetVersion");
}

// cuDNN's own loader ends the process if a sub-library is missing.
TEST(LibraryReport, FindsAMissingPartBeforeTheLibraryDoes) {
  auto folder = TemporaryFolder::create("test");
  ASSERT_TRUE(folder.ok());
  std::filesystem::copy_file(std::string(BENCH_FAKE_LIBRARIES) + "/complete/libcudnn.so.9",
                             folder->file("libcudnn.so.9"));
  const std::string_view parts[] = {"libbench_no_such_part.so"};
  LibrarySpec spec = library_spec("cuDNN");
  spec.parts = parts;
  const SearchStep step{std::filesystem::path(folder->file("x")).parent_path().string(), "a test"};
  const LibraryReport report = report_library(spec, std::span(&step, 1), kDecodes13);
  EXPECT_THAT(report.reason, HasSubstr("a part of it was not: libbench_no_such_part.so"));
  EXPECT_EQ(report.tried.size(), 2u);
}

}  // namespace
}  // namespace bench::ops::cuda
