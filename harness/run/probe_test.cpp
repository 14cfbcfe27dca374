// SPDX-License-Identifier: Apache-2.0
#include "harness/run/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// As oneDNN 3.2 prints them, twice for a primitive that is created twice.
constexpr const char* kPrinted =
    "onednn_verbose,info,oneDNN v3.2.0 (commit 40112196)\n"
    "onednn_verbose,create:dispatch,matmul,cpu,matmul,brg:avx512_core_amx,undef,"
    "src_f32::blocked:ab::f0 wei_f32:a:any:any::f0 dst_f32::blocked:ab::f0,attr-scratchpad:user ,,"
    "64x64:64x64,unsupported isa,src/cpu/x64/matmul/brgemm_matmul.cpp:101\n"
    "a program's own words\n"
    "onednn_verbose,create:dispatch,matmul,cpu,matmul,brg:avx512_core_amx,undef,"
    "src_f32::blocked:ab::f0 wei_f32:a:any:any::f0 dst_f32::blocked:ab::f0,attr-scratchpad:user ,,"
    "64x64:64x64,unsupported isa,src/cpu/x64/matmul/brgemm_matmul.cpp:101\n"
    "onednn_verbose,create:dispatch,convolution,bad flags,src/cpu/x64/jit_utils.cpp:2541";

TEST(DispatchReasons, EachOnceInTheirOrder) {
  EXPECT_THAT(parse_dispatch_reasons(kPrinted),
              ElementsAre(DispatchReason{"matmul", "brg:avx512_core_amx", "unsupported isa",
                                         "src/cpu/x64/matmul/brgemm_matmul.cpp:101"},
                          DispatchReason{"convolution", "", "bad flags",
                                         "src/cpu/x64/jit_utils.cpp:2541"}));
}

TEST(DispatchReasons, NoneOfOtherLines) {
  EXPECT_THAT(parse_dispatch_reasons(""), IsEmpty());
  EXPECT_THAT(parse_dispatch_reasons("onednn_verbose,info,cpu,runtime:OpenMP,nthr:2\n\n"),
              IsEmpty());
}

}  // namespace
}  // namespace bench
