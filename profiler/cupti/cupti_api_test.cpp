// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/cupti_api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

using testing::HasSubstr;

std::string message_of(const std::vector<std::string>& candidates) {
  const auto library = load_cupti(candidates);
  return library.ok() ? "loaded " + library->path : library.error().message();
}

TEST(CuptiApi, TheToolkitsLibraryLoadsWithoutADriver) {
  const std::vector<std::string> candidates = {"/nowhere/libcupti.so", BENCH_CUPTI_LIBRARY};
  const auto library = load_cupti(candidates);
  ASSERT_TRUE(library.ok()) << library.error().message();
  EXPECT_EQ(library->version / 100, CUPTI_API_VERSION / 100);
  EXPECT_THAT(library->path, HasSubstr("libcupti.so"));
  EXPECT_EQ(format_cupti_result(library->api, CUPTI_ERROR_INVALID_KIND),
            "CUPTI_ERROR_INVALID_KIND (21)");
  EXPECT_EQ(format_cupti_result(library->api, static_cast<CUptiResult>(12345)),
            "unknown result (12345)");
}

TEST(CuptiApi, AbsenceIsAReason) {
  EXPECT_THAT(message_of({"/nowhere/libcupti.so.13", "libnot_there_at_all.so"}),
              testing::AllOf(HasSubstr("CUPTI: cannot be loaded: "),
                             HasSubstr("/nowhere/libcupti.so.13: cannot open"),
                             HasSubstr("libnot_there_at_all.so"), HasSubstr("CUDA toolkit")));
  EXPECT_THAT(message_of({}), HasSubstr("no path to search"));
}

TEST(CuptiApi, ALibraryWithoutTheFunctionsIsNone) {
  EXPECT_THAT(message_of({"libm.so.6"}), HasSubstr("has no function cuptiGetVersion"));
}

TEST(CuptiApi, VersionsOfOneMinorAgree) {
  EXPECT_TRUE(check_cupti_version(130001, 130001).ok());
  EXPECT_TRUE(check_cupti_version(130003, 130001).ok());
  const Status later = check_cupti_version(130200, 130001);
  ASSERT_FALSE(later.ok());
  EXPECT_THAT(later.error().message(), testing::AllOf(HasSubstr("is version 13.2.0"),
                                                      HasSubstr("reads the records of 13.0.1"),
                                                      HasSubstr("libcupti of CUDA 13.0")));
  EXPECT_FALSE(check_cupti_version(140001, 130001).ok());
  const Status earlier = check_cupti_version(28, 130001);  // from CUDA 12.9
  ASSERT_FALSE(earlier.ok());
  EXPECT_THAT(earlier.error().message(), HasSubstr("is version API 28"));
}

}  // namespace
}  // namespace bench
