// SPDX-License-Identifier: Apache-2.0
// Inputs that are too large are refused with a message, however little memory there is.
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

using test::ProgramResult;
using test::TemporaryFolder;
using testing::EndsWith;
using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;  // a sanitizer's shadow memory is larger than any limit
#else
constexpr bool kLimitsMemory = true;
#endif

constexpr std::int64_t kTwoGigabytes = 2'097'152;  // in KiB, as in ulimit

ProgramResult bench_within(std::int64_t kibibytes, const std::string& arguments,
                           const std::string& folder) {
  const std::string limit = kLimitsMemory ? fmt::format("ulimit -v {} && ", kibibytes) : "";
  return test::run_program(
      {{"/bin/sh", "-c", fmt::format("{}exec {} {}", limit, BENCH_BINARY, arguments)}, folder, {}});
}

// "[1, 2, 3]"
std::string numbers(int count) {
  std::string text = "[1";
  for (int i = 2; i <= count; ++i) text += fmt::format(", {}", i);
  return text + "]";
}

std::string suite(std::string_view entry, int first, int second, int third) {
  return fmt::format("version: 1\ncases:\n  - {{{}, sweep: {{n: {}, c: {}, k: {}}}}}\n", entry,
                     numbers(first), numbers(second), numbers(third));
}

constexpr std::string_view kConv =
    "op: conv, h: 56, r: 3, pad: 1, bias: true, post_ops: [add, relu]";

// Before they had a limit, the readers used 1 to 3 GB for a sparse file, and aborted if there was
// less memory.
TEST(InputLimits, ASparseFileOf3GbIsRefusedByEveryReader) {
  const TemporaryFolder folder;
  folder.write("q.yaml", "version: 1\ncases: [{op: gemm, m: 2, n: 2, k: 2}]");
  std::filesystem::create_directories(folder.file("networks"));
  for (const char* name : {"huge.jsonl", "networks/huge.yaml"}) {
    std::filesystem::resize_file(folder.write(name, ""), std::uintmax_t{3} << 30);
  }
  folder.write("n.yaml", "version: 1\ncases: [{network: huge}]");
  const std::string line = "huge.jsonl:1: the line is longer than 32.00 MiB, more than any record";
  const std::string file = "huge.jsonl: the file is larger than the limit of";
  struct Row {
    std::string arguments, message;
  };
  const Row rows[] = {
      {"report huge.jsonl", line},
      {"compare huge.jsonl huge.jsonl", line},
      {"gate --from huge.jsonl", line},
      {"selftest --from huge.jsonl", line},
      {"baseline save huge.jsonl --reason test --baseline store", line},
      {"run q.yaml --resume huge.jsonl", line},
      {"validate huge.jsonl", file},
      {"analyze huge.jsonl", "huge.jsonl: unknown profile format"},
      {"analyze q.yaml --work huge.jsonl", file},
      {"validate n.yaml", "networks/huge.yaml: the file is larger than the limit of"},
  };
  for (const Row& row : rows) {
    const ProgramResult result = bench_within(kTwoGigabytes, row.arguments, folder.path());
    EXPECT_EQ(result.status, 2) << row.arguments;
    EXPECT_THAT(result.err, HasSubstr(row.message)) << row.arguments;
  }
}

TEST(InputLimits, ASparseFileInAStoreCostsItsCaseOnly) {
  const TemporaryFolder folder;
  const std::string path = "store/machine/gemm__forward__m2n2k2__f32__onednn__cpu__hot.jsonl";
  std::filesystem::create_directories(folder.file("store/machine"));
  std::filesystem::resize_file(folder.write(path, ""), std::uintmax_t{3} << 30);
  for (const char* action : {"list", "prune", "verify"}) {
    const ProgramResult result = bench_within(
        kTwoGigabytes, fmt::format("baseline {} --baseline store", action), folder.path());
    EXPECT_THAT(result.err + result.out,
                HasSubstr(path + ": the file is larger than the limit of 64.00 MiB"));
  }
}

// Before there was a limit, three sweeps of 100 values used 2.5 GB.
TEST(InputLimits, AMillionCasesAreRefusedWithTheirNumber) {
  const TemporaryFolder folder;
  folder.write("million.yaml", suite(kConv, 100, 100, 100));
  folder.write("billion.yaml", suite(kConv, 1000, 1000, 1000));
  for (const char* command : {"list", "validate", "run --dry-run"}) {
    const ProgramResult million =
        bench_within(500'000, fmt::format("{} million.yaml", command), folder.path());
    EXPECT_EQ(million.status, 2);
    EXPECT_EQ(million.err,
              "million.yaml:3:5: there are 1,000,000 cases up to here, the limit is 100,000; vary "
              "fewer keys, or split the configuration\n");
    const ProgramResult billion =
        bench_within(500'000, fmt::format("{} billion.yaml", command), folder.path());
    EXPECT_EQ(billion.status, 2);
    EXPECT_THAT(billion.err, HasSubstr("there are 1,000,000,000 cases up to here"));
  }
}

TEST(InputLimits, AsManyCasesAsAreAllowedFitInto500Mb) {
  const TemporaryFolder folder;
  folder.write("many.yaml", suite(kConv, 10, 100, 100));
  const ProgramResult list = bench_within(500'000, "list many.yaml", folder.path());
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_THAT(list.out, EndsWith("\n100000 cases, 100000 can run here\n"));
}

TEST(InputLimits, MemoryThatIsNotThereIsAMessageAndStatus3) {
  if (!kLimitsMemory) GTEST_SKIP() << "sanitizers cannot run within a limit";
  const TemporaryFolder folder;
  folder.write("many.yaml", suite(kConv, 10, 100, 100));
  const ProgramResult result = bench_within(200'000, "validate many.yaml", folder.path());
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.err, HasSubstr("bench: not enough memory; free some, raise the limit"));
}

}  // namespace
}  // namespace bench
