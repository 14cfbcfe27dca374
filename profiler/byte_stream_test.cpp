// SPDX-License-Identifier: Apache-2.0
#include "profiler/byte_stream.hpp"

#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::string_literals;

std::string read_all(ByteStream& bytes) {
  std::string text;
  std::string block(3, '\0');
  for (;;) {
    const auto count = bytes.read(block.data(), block.size());
    if (!count.ok()) return count.error().what;
    if (*count == 0) return text;
    text.append(block, 0, *count);
  }
}

// "hello\n", packed by gzip.
const std::string kPacked =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcbH\xcd\xc9\xc9\xe7\x02\x00 0:6\x06\x00\x00\x00"s;

// Earlier, only files whose name ends in .gz were unpacked, and the others were "unknown".
TEST(ByteStream, UnpacksByContentWhateverTheName) {
  const test::TemporaryFolder folder;
  for (const auto& [name, content] : std::vector<std::pair<const char*, std::string>>{
           {"a.gz", kPacked}, {"a.log", kPacked}, {"b.log", "hello\n"}, {"b.gz", "hello\n"}}) {
    const auto bytes = open_bytes(folder.write(name, content));
    ASSERT_TRUE(bytes.ok()) << name;
    EXPECT_EQ(read_all(**bytes), "hello\n") << name;
  }
  const auto cut = open_bytes(folder.write("cut", kPacked.substr(0, kPacked.size() - 6)));
  ASSERT_TRUE(cut.ok());
  EXPECT_THAT(read_all(**cut), testing::StartsWith("cannot unpack: "));
  const auto empty = open_bytes(folder.write("empty", ""));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(read_all(**empty), "");
}

// The pieces of three bytes cut the byte order mark and the characters.
TEST(ByteStream, ConvertsToUtf8InPiecesOfAnySize) {
  const test::TemporaryFolder folder;
  for (const std::string& content :
       {"hello\n"s, "\xef\xbb\xbfhello\n"s, kPacked, "\xff\xfeh\0e\0l\0l\0o\0\n\0"s}) {
    auto bytes = open_bytes(folder.write("text", content));
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(read_all(*as_utf8(*std::move(bytes))), "hello\n");
  }
}

TEST(ByteStream, NamesTheProgramThatUnpacks) {
  const test::TemporaryFolder folder;
  for (const auto& [magic, message] : std::vector<std::pair<std::string, std::string>>{
           {"\x28\xb5\x2f\xfd", ": is packed by zstd; unpack it first: `zstd -d "},
           {"\xfd\x37zXZ", ": is packed by xz; unpack it first: `xz -dk "},
           {"BZh9", ": is packed by bzip2; "},
           {"PK\x03\x04", ": is packed by zip; "}}) {
    const auto bytes = open_bytes(folder.write("x", magic + "rest"));
    ASSERT_FALSE(bytes.ok()) << message;
    EXPECT_THAT(bytes.error().message(), testing::HasSubstr(message));
  }
}

}  // namespace
}  // namespace bench
