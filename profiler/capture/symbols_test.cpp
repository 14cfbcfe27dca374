// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/symbols.hpp"

#include "profiler/capture/code_names.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <dlfcn.h>
#include <fstream>
#include <link.h>
#include <optional>
#include <string>
#include <string_view>

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
  const CodeLookup lookup = {
      .frame_name =
          [](std::string_view frame) {
            return frame == "/lib/a.so+0x10" ? std::string("f(int) (a.so)") : std::string(frame);
          },
      .function_begin =
          [](std::string_view, std::uint64_t address) {
            return address < 0x200 ? std::optional<std::uint64_t>(0x100) : std::nullopt;
          },
      .file_address =
          [](std::string_view, std::uint64_t offset) {
            return offset < 0x1000 ? std::optional<std::uint64_t>(offset - 0x800) : std::nullopt;
          },
      .generated_name = {},
      .kernel_name = [](std::uint64_t) { return std::optional<std::string>("clear_page"); }};
  CodeNames names(lookup);
  EXPECT_EQ(names.name("/lib/a.so", 0x10).function, "f(int)");
  EXPECT_EQ(names.name("/lib/a.so", 0x10).object, "a.so");
  EXPECT_EQ(names.name("/lib/a.so", 0x150).function, "a.so+0x100");
  EXPECT_EQ(names.name("/lib/a.so", 0x250).function, "a.so+0x250");
  EXPECT_EQ(names.name("", 0x250).object, "(unloaded)");
  EXPECT_EQ(names.name_at_offset("/lib/a.so", 0x810).function, "f(int)");
  EXPECT_EQ(names.name_at_offset("/lib/a.so", 0x1250).function, "a.so+0x1250");
  EXPECT_EQ(names.generated(1, 2).function, "[jit]");
  EXPECT_EQ(names.kernel(2).function, "clear_page");
  EXPECT_EQ(names.kernel(2).object, "[kernel]");
}

// The kernel states offsets in files, and symbol tables addresses.
TEST(FileSegments, AnOffsetHasTheAddressOfItsSegment) {
  const FileSegments segments = FileSegments::read("/proc/self/exe");
  FrameNames names;
  const std::uint64_t address = address_in_file();
  std::ifstream file("/proc/self/exe", std::ios::binary);
  Elf64_Ehdr header;
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  std::optional<std::uint64_t> offset;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    file.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address < segment.p_vaddr + segment.p_filesz) {
      offset = address - segment.p_vaddr + segment.p_offset;
    }
  }
  ASSERT_TRUE(offset.has_value());
  EXPECT_EQ(segments.address_at(*offset), address);
  EXPECT_EQ(names.file_address("/proc/self/exe", *offset), address);
  EXPECT_EQ(segments.address_at(std::uint64_t{1} << 60), std::nullopt);
  EXPECT_EQ(FileSegments::read("/proc/self/maps").address_at(0), std::nullopt);
}

}  // namespace
}  // namespace bench
