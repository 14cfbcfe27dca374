// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/availability.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

struct Row {
  const char* architectures;
  int major, minor;
  bool has_code;
};

constexpr Row kRows[] = {
    {"75-real;80-real;120-virtual", 7, 5, true},
    {"75-real;80-real;120-virtual", 8, 9, true},   // runs on later minor versions
    {"86-real;120-virtual", 8, 0, false},          // not on earlier ones
    {"75-real;80-real;120-virtual", 9, 0, false},  // not on another major version
    {"90-real;75-virtual", 10, 0, true},           // the driver compiles the PTX
    {"90-real;75-virtual", 7, 0, false},           // Volta: toolkit 13 does not compile for it
    {"75-real;120-virtual", 12, 1, true},
    {"90", 10, 3, true},  // no suffix means real and virtual
    {"", 9, 0, false},
    {"native", 9, 0, false},
};

TEST(Architectures, DecideWhichDevicesThereIsCodeFor) {
  for (const Row& row : kRows) {
    EXPECT_EQ(code_unavailable_reason(row.architectures, row.major, row.minor).empty(),
              row.has_code)
        << row.architectures << " on " << row.major << "." << row.minor;
  }
  EXPECT_EQ(code_unavailable_reason("80-real;80-virtual", 7, 0),
            "compute capability 7.0, for which this build has no code (80-real;80-virtual)");
}

}  // namespace
}  // namespace bench::ops::cuda
