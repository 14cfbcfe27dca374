// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/perf_recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <linux/perf_event.h>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

// Writes a record as the kernel does.
class PerfBytes {
 public:
  PerfBytes(std::uint32_t type, std::uint16_t misc) { add(perf_event_header{type, misc, 0}); }
  template <class T>
  PerfBytes& add(const T& value) {
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof value);
    return *this;
  }
  // Texts end in zeros, up to a multiple of 8 bytes.
  PerfBytes& add_text(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    do bytes_.push_back(std::byte{0});
    while (bytes_.size() % 8 != 0);
    return *this;
  }
  PerfBytes& add_ids(std::uint32_t pid, std::uint32_t tid) { return add(pid).add(tid); }

  std::vector<std::byte> bytes() const {
    std::vector<std::byte> record = bytes_;
    const auto size = static_cast<std::uint16_t>(record.size());
    std::memcpy(record.data() + offsetof(perf_event_header, size), &size, sizeof size);
    return record;
  }
  std::string lines() const {
    std::string text;
    append_perf_record(bytes(), text);
    return text;
  }

 private:
  std::vector<std::byte> bytes_;
};

PerfBytes map_record() {
  return PerfBytes(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER)
      .add_ids(7, 8)
      .add(std::uint64_t{0x7000})
      .add(std::uint64_t{0x2000})
      .add(std::uint64_t{0x1000})
      .add(std::uint64_t{1})
      .add(std::uint64_t{2})
      .add(std::uint64_t{3})
      .add(std::uint64_t{5})
      .add_text("/lib/a \"b\".so")
      .add_ids(7, 8)
      .add(std::uint64_t{99});
}

TEST(PerfRecords, OfSamplesHaveThreadTimeAndAddress) {
  const auto sample = [](std::uint16_t misc) {
    return PerfBytes(PERF_RECORD_SAMPLE, misc)
        .add(std::uint64_t{0x401234})
        .add_ids(7, 8)
        .add(std::uint64_t{123456789})
        .lines();
  };
  EXPECT_EQ(sample(PERF_RECORD_MISC_USER),
            "{\"record\":\"sample\",\"pid\":7,\"tid\":8,\"ns\":123456789,\"address\":4198964}\n");
  EXPECT_THAT(sample(PERF_RECORD_MISC_KERNEL), testing::EndsWith(",\"kernel\":1}\n"));
}

TEST(PerfRecords, OfModulesHaveTheirPlaceInMemoryAndFile) {
  EXPECT_EQ(map_record().lines(),
            "{\"record\":\"map\",\"pid\":7,\"tid\":8,\"ns\":99,\"begin\":28672,\"size\":8192,"
            "\"offset\":4096,\"file\":\"/lib/a \\\"b\\\".so\"}\n");
}

TEST(PerfRecords, OfProcessesAreTheirProgramsAndChildren) {
  const auto named = [](std::uint16_t misc) {
    return PerfBytes(PERF_RECORD_COMM, misc)
        .add_ids(7, 7)
        .add_text("python3")
        .add_ids(7, 7)
        .add(std::uint64_t{5})
        .lines();
  };
  EXPECT_EQ(named(PERF_RECORD_MISC_COMM_EXEC),
            "{\"record\":\"exec\",\"pid\":7,\"tid\":7,\"ns\":5,\"name\":\"python3\"}\n");
  EXPECT_EQ(named(0), "") << "a thread that gets a name executes no program";
  const auto forked = [](std::uint32_t pid) {
    return PerfBytes(PERF_RECORD_FORK, 0)
        .add_ids(pid, 7)
        .add_ids(9, 7)
        .add(std::uint64_t{6})
        .add_ids(7, 7)
        .add(std::uint64_t{6})
        .lines();
  };
  EXPECT_EQ(forked(9), "{\"record\":\"child\",\"pid\":9,\"tid\":9,\"ns\":6,\"parent\":7}\n");
  EXPECT_EQ(forked(7), "") << "a thread";
}

TEST(PerfRecords, OfLossesHaveTheirNumber) {
  EXPECT_EQ(PerfBytes(PERF_RECORD_LOST, 0)
                .add(std::uint64_t{1})
                .add(std::uint64_t{17})
                .add_ids(7, 7)
                .add(std::uint64_t{5})
                .lines(),
            "{\"record\":\"lost\",\"pid\":7,\"tid\":7,\"ns\":5,\"count\":17}\n");
}

// A malformed ring must not make the reader leave the record.
TEST(PerfRecords, ThatAreCutAreReadNoFurtherThanTheirEnd) {
  const std::vector<std::byte> whole = map_record().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(size));
    std::string text;
    append_perf_record(cut, text);
    EXPECT_TRUE(text.empty() || text.ends_with("}\n")) << size;
  }
}

}  // namespace
}  // namespace bench
