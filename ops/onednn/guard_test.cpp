// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/guard.hpp"

#include "ops/onednn/library.hpp"

#include <dnnl.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace bench::ops {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Exception>
BackendError error_of(Exception exception) {
  return guarded("conv forward f16", [&]() -> Result<int, BackendError> { throw exception; })
      .error();
}

TEST(Guard, PassesResultsThrough) {
  EXPECT_EQ(*guarded("x", []() -> Result<int, BackendError> { return 3; }), 3);
  const auto refused = guarded("x", []() -> Result<int, BackendError> {
    return BackendError{BackendError::Kind::skipped, "because"};
  });
  EXPECT_EQ(refused.error().reason, "because");
}

TEST(Guard, UnimplementedIsUnsupportedOfThisLibraryAndCpu) {
  const BackendError error = error_of(dnnl::error(dnnl_unimplemented, "no"));
  EXPECT_EQ(error.kind, BackendError::Kind::unsupported);
  EXPECT_THAT(error.reason, AllOf(HasSubstr("conv forward f16"), HasSubstr(onednn_version()),
                                  HasSubstr(onednn_instruction_set())));
}

TEST(Guard, OutOfMemoryIsSkipped) {
  EXPECT_EQ(error_of(dnnl::error(dnnl_out_of_memory, "no")).kind, BackendError::Kind::skipped);
  EXPECT_EQ(error_of(std::bad_alloc()).kind, BackendError::Kind::skipped);
}

TEST(Guard, EverythingElseFailed) {
  const BackendError error = error_of(dnnl::error(dnnl_invalid_arguments, "could not do it"));
  EXPECT_EQ(error.kind, BackendError::Kind::failed);
  EXPECT_THAT(error.reason, AllOf(HasSubstr("could not do it"), HasSubstr("invalid_arguments")));
  EXPECT_EQ(error_of(std::runtime_error("odd")).kind, BackendError::Kind::failed);
}

TEST(Guard, StepsGetErrors) {
  const Status status =
      guarded_step("packing", []() -> Status { throw dnnl::error(dnnl_runtime_error, "broken"); });
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().what, AllOf(HasSubstr("packing"), HasSubstr("broken")));
}

}  // namespace
}  // namespace bench::ops
