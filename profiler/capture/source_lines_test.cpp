// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/source_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

using Places = std::optional<std::string>;

template <class Number>
std::string little_endian(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// Returns a table with the text behind the two lengths of its header.
std::string line_table(std::uint16_t version, const std::string& header,
                       const std::string& program) {
  const std::string sizes = version >= 5 ? std::string("\x08\0", 2) : std::string();
  const std::string unit = little_endian(version) + sizes +
                           little_endian(static_cast<std::uint32_t>(header.size())) + header +
                           program;
  return little_endian(static_cast<std::uint32_t>(unit.size())) + unit;
}

// 9 opcodes with the usual operands, lines -3 to +8.
const std::string kOpcodes("\xfd\x0c\x0a\0\1\1\1\1\0\0\0\1", 12);

// Two rows of line 12 and 14 from address 0x1000 on, which end at 0x1010.
std::string sample_program(std::uint64_t address) {
  std::string program = std::string("\0\x09\x02", 3) + little_endian(address);
  program += std::string("\x03\x0b\x01", 3);          // line 12, a row
  program += "\x02\x04\x03\x02\x01";                  // address + 4, line 14, a row
  program += std::string("\x02\x0c\x00\x01\x01", 5);  // address + 12, the end
  return program;
}

// The header of version 4: instructions of 1 byte; one directory, one file in it, one beside it.
const std::string kVersion4 = std::string("\1\1\1", 3) + kOpcodes +
                              std::string("src\0\0main.cpp\0\1\0\0top.cpp\0\0\0\0\0", 30);

TEST(SourceLines, AreThoseOfTheTable) {
  const std::string table = line_table(4, kVersion4, sample_program(0x1000));
  const SourceLines lines = SourceLines::parse({table, {}, {}});
  EXPECT_EQ(lines.place_at(0xfff), std::nullopt);
  EXPECT_EQ(lines.place_at(0x1000), Places("src/main.cpp:12"));
  EXPECT_EQ(lines.place_at(0x1003), Places("src/main.cpp:12"));
  EXPECT_EQ(lines.place_at(0x1004), Places("src/main.cpp:14"));
  EXPECT_EQ(lines.place_at(0x100f), Places("src/main.cpp:14"));
  EXPECT_EQ(lines.place_at(0x1010), std::nullopt);
}

TEST(SourceLines, VersionFiveHasItsTextsInOtherSections) {
  // Directories: one field, a path in .debug_line_str; files: path and directory.
  const std::string header = std::string("\1\1\1", 3) + kOpcodes + std::string("\1\1\x1f\2", 4) +
                             little_endian(std::uint32_t{0}) + little_endian(std::uint32_t{6}) +
                             std::string("\2\1\x1f\2\x0b\2", 6) + little_endian(std::uint32_t{10}) +
                             std::string(1, '\0') + little_endian(std::uint32_t{10}) + "\1";
  const std::string texts("/home\0inc\0a.cpp\0", 16);
  const std::string table = line_table(5, header, sample_program(0x2000));
  const SourceLines lines = SourceLines::parse({table, texts, {}});
  EXPECT_EQ(lines.place_at(0x2000), Places("inc/a.cpp:12"));
}

TEST(SourceLines, CodeThatTheLinkerRemovedHasNone) {
  const std::string table = line_table(4, kVersion4, sample_program(0)) +
                            line_table(4, kVersion4, sample_program(0x1000));
  const SourceLines lines = SourceLines::parse({table, {}, {}});
  EXPECT_EQ(lines.place_at(4), std::nullopt);
  EXPECT_EQ(lines.place_at(0x1000), Places("src/main.cpp:12"));
}

TEST(SourceLines, MalformedTablesAreReadAsFarAsTheyAreComplete) {
  const std::string table = line_table(4, kVersion4, sample_program(0x1000));
  for (std::size_t size = 0; size < table.size(); ++size) {
    const std::string cut = table.substr(0, size);
    EXPECT_EQ(SourceLines::parse({cut, {}, {}}).place_at(0x1000), std::nullopt) << size;
    std::string changed = table + table;
    changed[size] = static_cast<char>(changed[size] ^ 0x55);
    static_cast<void>(SourceLines::parse({changed, changed, changed}).place_at(0x1000));
  }
  const std::string unknown = line_table(9, kVersion4, sample_program(0x1000));
  EXPECT_EQ(SourceLines::parse({unknown + table, {}, {}}).place_at(0x1000),
            Places("src/main.cpp:12"));
}

TEST(SourceLines, FilesWithoutTablesHaveNone) {
  EXPECT_EQ(SourceLines::read("/no/such/file").place_at(0x1000), std::nullopt);
  EXPECT_EQ(SourceLines::read("/proc/self/maps").place_at(0x1000), std::nullopt);
  FramePlaces places;
  EXPECT_EQ(places.place("/no/such/file+0x10"), std::nullopt);
  EXPECT_EQ(places.place("?"), std::nullopt);
}

TEST(CodeFrames, AreSplitAtTheirAddress) {
  const auto frame = parse_frame("/a/b+0x1f");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->file, "/a/b");
  EXPECT_EQ(frame->address, 0x1f);
  EXPECT_FALSE(parse_frame("/a/b+0xzz"));
  EXPECT_FALSE(parse_frame("/a/b+0x"));
}

}  // namespace
}  // namespace bench
