// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/symbols.hpp"

#include "profiler/capture/code_names.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <dlfcn.h>
#include <link.h>

namespace bench {

// Has external linkage, so that a test can find it by its name.
__attribute__((noinline)) int function_of_a_test(int value) { return value + 1; }

namespace {

std::uint64_t address_in_file() {
  const auto* function = reinterpret_cast<const void*>(&function_of_a_test);
  Dl_info info;
  void* module = nullptr;
  EXPECT_NE(dladdr1(function, &info, &module, RTLD_DL_LINKMAP), 0);
  return reinterpret_cast<std::uint64_t>(function) - static_cast<link_map*>(module)->l_addr;
}

TEST(FunctionStarts, AreThoseOfTheFile) {
  const std::uint64_t begin = address_in_file();
  const FunctionStarts starts = FunctionStarts::read("/proc/self/exe");
  EXPECT_EQ(starts.begin_at(begin), begin);
  EXPECT_EQ(starts.begin_at(begin + 1), begin);
  EXPECT_NE(starts.begin_at(begin - 1), begin);
}

TEST(FunctionStarts, AFileWithoutThemHasNone) {
  EXPECT_EQ(FunctionStarts::read("/proc/self/maps").begin_at(1 << 20), std::nullopt);
  EXPECT_EQ(FunctionStarts::read("/no/such/file").begin_at(1 << 20), std::nullopt);
}

TEST(CodeNames, CodeWithoutANameIsNamedByItsFunctionsBegin) {
  const CodeNames::FrameName named = [](std::string_view frame) {
    return frame == "/lib/a.so+0x10" ? std::string("f(int) (a.so)") : std::string(frame);
  };
  const CodeNames::FunctionBegin begin = [](std::string_view, std::uint64_t address) {
    return address < 0x200 ? std::optional<std::uint64_t>(0x100) : std::nullopt;
  };
  CodeNames names(named, begin);
  EXPECT_EQ(names.name("/lib/a.so", 0x10).function, "f(int)");
  EXPECT_EQ(names.name("/lib/a.so", 0x10).object, "a.so");
  EXPECT_EQ(names.name("/lib/a.so", 0x150).function, "a.so+0x100");
  EXPECT_EQ(names.name("/lib/a.so", 0x250).function, "a.so+0x250");
  EXPECT_EQ(names.name("", 0x250).object, "(unloaded)");
}

}  // namespace
}  // namespace bench
