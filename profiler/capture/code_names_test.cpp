// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/code_names.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace bench {
namespace {

TEST(CodeTables, OfGeneratedCodeNameWhatTheGeneratorWrote) {
  std::istringstream text(
      "7f0000001000 20 jit_avx2_conv_fwd\n"
      "7f0000001040 10 py::forward:/home/me/net.py\n"
      "no address\n7f 0 empty\nzz 10 x\nffffffffffffffff ff overflow\n"
      "0x7f0000001000 30 jit_avx2_gemm\n");
  const CodeTable table = CodeTable::parse_perf_map(text);
  EXPECT_EQ(table.name_at(0x7f0000001000), "jit_avx2_gemm") << "the memory was used again";
  EXPECT_EQ(table.name_at(0x7f000000102f), "jit_avx2_gemm");
  EXPECT_EQ(table.name_at(0x7f0000001030), std::nullopt);
  EXPECT_EQ(table.name_at(0x7f0000001048), "py::forward:/home/me/net.py");
  EXPECT_EQ(table.name_at(0xffffffffffffffff), std::nullopt);
  EXPECT_EQ(table.name_at(1), std::nullopt);
}

TEST(CodeTables, OfTheKernelNameItsFunctionsIfTheSystemShowsAddresses) {
  std::istringstream text(
      "ffffffff81000000 T _stext\nffffffff81000100 t clear_page_erms\n"
      "ffffffff81000180 d some_data\nffffffffa0000000 t nv_ioctl\t[nvidia]\n");
  const CodeTable table = CodeTable::parse_kernel_symbols(text);
  EXPECT_EQ(table.name_at(0xffffffff810001f0), "clear_page_erms");
  EXPECT_EQ(table.name_at(0xffffffffa0000010), "nv_ioctl");
  std::istringstream hidden("0000000000000000 T _stext\n0000000000000000 t clear_page_erms\n");
  EXPECT_TRUE(CodeTable::parse_kernel_symbols(hidden).empty());
}

// The kernel gives a number again to another process, and others can write into /tmp.
TEST(CodeTables, OfAnEarlierProcessAreNotUsed) {
  constexpr std::int64_t kPid = 4194304 + 1;  // more than the system gives
  const std::string path = fmt::format("/tmp/perf-{}.map", kPid);
  std::ofstream(path) << "1000 20 kernel_of_mine\n";
  EXPECT_EQ(CodeTables(0).generated_name(kPid, 0x1008), "kernel_of_mine");
  EXPECT_EQ(CodeTables(INT64_MAX).generated_name(kPid, 0x1008), std::nullopt);
  std::remove(path.c_str());
  EXPECT_EQ(CodeTables(0).generated_name(kPid, 0x1008), std::nullopt);
  const std::string target = path + ".target";
  std::ofstream(target) << "1000 20 kernel_of_mine\n";
  ASSERT_EQ(symlink(target.c_str(), path.c_str()), 0);
  EXPECT_EQ(CodeTables(0).generated_name(kPid, 0x1008), std::nullopt);
  std::remove(path.c_str());
  std::remove(target.c_str());
}

}  // namespace
}  // namespace bench
