// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/caller_frames.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

using Frames = std::vector<StackFrame>;

TEST(CallerFrames, BeginBehindTheLibraryAndItsHeader) {
  EXPECT_EQ(count_library_frames(
                Frames{{"", "/usr/lib/libdnnl.so.3", "dnnl::impl::primitive_execute(...)"},
                       {"", "/usr/lib/libdnnl.so.3", "void dnnl::impl::run<float>()"},
                       {"", "/usr/lib/libdnnl.so.3", ""},
                       {"", "/usr/lib/libdnnl.so.3", "dnnl_primitive_execute"},
                       {"", "/home/me/app", "dnnl::primitive::execute(dnnl::stream const&) const"},
                       {"", "/home/me/app", "execute_relu()"},
                       {"", "/home/me/app", "main"}}),
            5U);
}

// Recorded from PyTorch, whose libtorch_cpu.so contains oneDNN.
TEST(CallerFrames, ALibraryInsideOfAnotherOneIsToldByNames) {
  EXPECT_EQ(count_library_frames(Frames{
                {"", "libtorch_cpu.so", "dnnl::impl::verbose_printf_impl(char const*, int)"},
                {"", "libtorch_cpu.so", "dnnl::impl::primitive_execute(dnnl_primitive const*)"},
                {"", "libtorch_cpu.so", "std::shared_ptr<int> dnnl::impl::get<int>()"},
                {"", "libtorch_cpu.so", "dnnl_primitive_execute"},
                {"", "libtorch_cpu.so", "dnnl::primitive::execute(dnnl::stream const&) const"},
                {"", "libtorch_cpu.so", "ideep::tensor::reorder_to(ideep::tensor&) const"},
                {"", "libtorch_cpu.so", "at::native::mkldnn_to_dense(dnnl::memory)"}}),
            5U);
}

TEST(CallerFrames, WithoutNamesTheFirstNamedFunctionIsTheCaller) {
  EXPECT_EQ(count_library_frames(Frames{{"", "libtorch_cpu.so", ""},
                                        {"", "libtorch_cpu.so", ""},
                                        {"", "libtorch_cpu.so", "at::native::convolution()"},
                                        {"", "libtorch_cpu.so", ""}}),
            2U);
  EXPECT_EQ(count_library_frames(
                Frames{{"", "app", ""}, {"", "libpython.so", ""}, {"", "libc.so.6", ""}}),
            0U);
}

TEST(CallerFrames, NoCallerLeavesAllOfThem) {
  EXPECT_EQ(count_library_frames(Frames{}), 0U);
  EXPECT_EQ(count_library_frames(Frames{{"", "app", ""}, {"", "app", ""}}), 0U);
  EXPECT_EQ(count_library_frames(Frames{{"", "libdnnl.so.3", "dnnl_stream_wait"}}), 0U);
}

}  // namespace
}  // namespace bench
