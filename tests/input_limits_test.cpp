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
      {"analyze huge.jsonl", "huge.jsonl: the format of the file is unknown"},
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

// Command lines with `text` in each place where a message may quote it; the files are those of the
// test below.
std::vector<std::vector<std::string>> calls_with(const std::string& text) {
  return {{"validate", "keys.yaml"},
          {"validate", "value.yaml"},
          {"validate", "name.yaml"},
          {"validate", "space.yaml"},
          {"validate", "tag.yaml"},
          {"validate", text},
          {text},
          {"list", "--" + text, "c.yaml"},
          {"list", "c.yaml", "--filter", text},
          {"list", "c.yaml", "--filter", "/(" + text + "/"},
          {"list", "c.yaml", "--device", text},
          {"list", "c.yaml", "--set", text},
          {"list", "c.yaml", "--set", text + "=1"},
          {"list", "c.yaml", "--set", "measure.processes=" + text},
          {"list", "c.yaml", "--shard", text},
          {"list", "gemm/forward/" + text + "/f32/native/cpu/hot"},
          {"list", "c.yaml", "--quiet=" + text},
          {"completion", text},
          {"explain", text},
          {"report", text},
          {"report", "r.jsonl"},
          {"report", "r.jsonl", "--format", text},
          {"report", "r.jsonl", "--columns", text},
          {"compare", "g.json", text},
          {"compare", "r.jsonl", "g.json"},
          {"compare", "g.json", "--by", text},
          {"analyze", "p.jsonl"},
          {"analyze", "p.jsonl", "--aggregate-by", text},
          {"analyze", "p.jsonl", "-c", text},
          {"analyze", "p.jsonl", "--name", "(" + text},
          {"trace", "--check", "t.json"},
          {"history", text},
          {"baseline", text},
          {"run", "c.yaml", "--out", text},
          {"run", "c.yaml", "--budget", text},
          {"run", "c.yaml", "--seed", text},
          {"gate", "c.yaml", "--base", text},
          {"gate", "c.yaml", "--cand-env", text},
          {"profile", "--window", text, "--", "true"},
          {"profile", "--profile=" + text, "--", "true"},
          {"profile", "--", text}};
}

// `a: ` 100,000 times in one line gave a message of 300 kB.
TEST(InputLimits, AMessageQuotesABoundedPieceOfTheInput) {
  const TemporaryFolder folder;
  std::string keys;
  for (int i = 0; i < 30'000; ++i) keys += "a: ";
  const std::string text(30'000, 'z');
  folder.write("keys.yaml", keys);
  folder.write("value.yaml", "version: 1\ncases: [{op: " + text + "}]");
  folder.write("name.yaml", "version: 1\n" + text + ": 1");
  folder.write("space.yaml", "version: 1\n" + text + ":1\n");
  folder.write("tag.yaml", "version: !" + text + " 1");
  folder.write("c.yaml", "version: 1\ncases: [{op: gemm, m: 2, n: 2, k: 2}]");
  folder.write("r.jsonl", R"({"record":"run","schema":")" + text + "\"}\n");
  folder.write("g.json", R"({"context":{},"benchmarks":[{"name":")" + text + "\"}]}");
  folder.write("p.jsonl", R"({"record":"profile","schema":")" + text + "\"}\n");
  folder.write("t.json", R"([{"ph":")" + text + "\"}]");
  constexpr std::size_t kMaxText = 5000;
  for (const auto& call : calls_with(text)) {
    std::vector<std::string> command = {BENCH_BINARY};
    command.insert(command.end(), call.begin(), call.end());
    const ProgramResult result = test::run_program({command, folder.path(), {}});
    const std::string what = call.front().substr(0, 20) + " " +
                             (call.size() > 1 ? call[1].substr(0, 20) : "") + " " +
                             (call.size() > 2 ? call[2].substr(0, 20) : "");
    EXPECT_NE(result.status, 0) << what;
    EXPECT_NE(result.err + result.out, "") << what;
    EXPECT_LT(result.err.size() + result.out.size(), kMaxText)
        << what << ": " << result.err.substr(0, 300);
  }
}

// The text that a message quotes is short wherever the text is not a path.
TEST(InputLimits, AMessageAboutTwoKeysInALineShowsTheBeginningOfTheLine) {
  const TemporaryFolder folder;
  std::string keys;
  for (int i = 0; i < 1000; ++i) keys += "a: ";
  folder.write("keys.yaml", keys);
  const ProgramResult result =
      test::run_program({{BENCH_BINARY, "validate", "keys.yaml"}, folder.path(), {}});
  EXPECT_THAT(result.err, HasSubstr("`a` and `a` are two keys in one line; write `a: { a: a: "));
  EXPECT_LT(result.err.size(), 400u);
}

// A configuration from a pull request chose the folder of the gate's files.
TEST(InputLimits, TheNameOfAConfigurationChoosesNoFolder) {
  const TemporaryFolder folder;
  folder.write("deep/er/c.yaml",
               "version: 1\nname: \"x/../../../ESCAPED/x\\e[31m\"\n"
               "defaults: {backend: native, threads: 1}\ncases: [{op: gemm, m: 2, n: 2, k: 2}]");
  for (const char* command : {"gate", "run"}) {
    std::vector<std::string> words = {BENCH_BINARY, command, "c.yaml", "--quick"};
    if (std::string_view(command) == "gate") words.insert(words.end(), {"--base-env", "X=1"});
    test::run_program({words, folder.file("deep/er"), {}});
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("ESCAPED")));
  int made = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("deep/er"))) {
    const std::string name = entry.path().filename().string();
    if (name == "c.yaml") continue;
    ++made;
    EXPECT_THAT(name, HasSubstr("-x-..-..-..-ESCAPED-x--31m-"));
  }
  EXPECT_EQ(made, 2);
}

}  // namespace
}  // namespace bench
