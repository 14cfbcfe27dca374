// SPDX-License-Identifier: Apache-2.0
// What `bench analyze` does with invalid files: it shows what it can read, counts what it cannot
// read, and trusts no name or size in a file.
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

namespace bench::test::analyze_bad_input_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSeedLog = "profiler/onednn/testdata/onednn_1.1.2_seed.log";

ProgramResult analyze(const std::string& file, const std::vector<std::string>& options,
                      const std::string& folder) {
  std::vector<std::string> command{BENCH_BINARY, "analyze", file};
  command.insert(command.end(), options.begin(), options.end());
  return run_program({std::move(command), folder, {}});
}

TEST(AnalyzeBadInput, WhatIsNoProfileIsAnErrorThatNamesWhatWouldBe) {
  const TemporaryFolder folder;
  folder.write("empty", "");
  folder.write("prose", "Once upon a time\n");
  folder.write("binary", std::string("\x7f"
                                     "ELF\0\x01\x02\xff\xfe",
                                     9));
  folder.write("newer", "{\"record\":\"run\",\"schema\":\"bench.result/9\"}\n");
  for (const char* name : {"empty", "prose", "binary", "newer", "absent", "."}) {
    const ProgramResult result = analyze(name, {}, folder.path());
    EXPECT_EQ(result.status, 2) << name;
    EXPECT_THAT(result.out, IsEmpty()) << name;
    EXPECT_THAT(result.err, StartsWith(std::string("bench analyze: ") + name)) << name;
  }
  EXPECT_THAT(analyze("prose", {}, folder.path()).err, HasSubstr("onednn"));
  EXPECT_THAT(analyze("newer", {}, folder.path()).err, HasSubstr("bench.result/9"));
}

TEST(AnalyzeBadInput, ALogWhoseFormatIsUnknownIsAnErrorAndNoZeros) {
  const TemporaryFolder folder;
  folder.write("log", "onednn_verbose,v9,profile,exec,all,new,0.5\n");
  const ProgramResult result = analyze("log", {}, folder.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("log:1"));
}

TEST(AnalyzeBadInput, TornAndInterleavedLinesAreCountedAndShown) {
  const TemporaryFolder folder;
  const std::string log = read_text(std::string(BENCH_SOURCE_DIR) + "/" + kSeedLog);
  const std::string exec = log.substr(log.find("dnnl_verbose,exec"));
  const std::string half = exec.substr(0, exec.size() / 2);
  folder.write("log", log + "Epoch 1\n" + half + "\n" + std::string("\0\xff\n", 3) + exec + half);
  const ProgramResult result = analyze("log", {}, folder.path());
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("selected 2, 41.51 ms"));
  EXPECT_THAT(result.err, HasSubstr("2 lines could not be read"));
  EXPECT_THAT(result.err, HasSubstr("2 lines skipped: not profile data"));
  EXPECT_THAT(result.err, HasSubstr("  log:5: "));
  EXPECT_THAT(analyze("log", {"--quiet"}, folder.path()).err, Not(HasSubstr("not profile data")));
}

TEST(AnalyzeBadInput, ATornPackedLogGivesWhatItHolds) {
  const TemporaryFolder folder;
  const std::string line =
      "onednn_verbose,exec,cpu,eltwise,jit,forward_inference,data_f32::blocked:ab:f0,,"
      "alg:eltwise_relu,4x4,";
  gzFile file = gzopen(folder.file("whole.gz").c_str(), "wb");
  for (int i = 0; i < 20'000; ++i) {
    gzputs(file, (line + std::to_string(i * 7919 % 10'007) + "\n").c_str());
  }
  gzclose(file);
  const std::string complete = read_text(folder.file("whole.gz"));
  folder.write("torn.gz", complete.substr(0, complete.size() / 2));
  const ProgramResult result = analyze("torn.gz", {}, folder.path());
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("20 of "));
  EXPECT_THAT(result.err, HasSubstr("torn.gz: cannot unpack"));
}

TEST(AnalyzeBadInput, NoNameWritesToATerminalWhatItObeys) {
  const TemporaryFolder folder;
  folder.write("p.jsonl",
               "{\"record\":\"profile\",\"schema\":\"bench.profile/1\"}\n"
               "{\"record\":\"activity\",\"kind\":\"kernel\",\"name\":\"\\u001b]0;x\\u0007\","
               "\"start_ns\":0,\"duration_ns\":5,\"attributes\":{\"trace\":\"$(touch pwned)\"}}\n"
               "{\"record\":\"activity\",\"kind\":\"\\u001b[2J\",\"name\":\"a\",\"start_ns\":0}\n");
  for (const char* format : {"table", "space", "json", "markdown"}) {
    const ProgramResult result = analyze("p.jsonl", {"--format", format}, folder.path());
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, Not(HasSubstr("\x1b"))) << format;
    EXPECT_THAT(result.out, HasSubstr("]0;x")) << format;
    EXPECT_THAT(result.err, HasSubstr("1 line could not be read"));
    EXPECT_THAT(result.err, Not(HasSubstr("\x1b"))) << format;
  }
  folder.write("\x1b[2J", "{\"record\":\"run\",\"schema\":\"bench.result/\\u001b[2J\"}\n");
  const ProgramResult result = analyze("\x1b[2J", {}, folder.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
}

TEST(AnalyzeBadInput, ALineNestedDeeperThanAStackIsADamagedLine) {
  const TemporaryFolder folder;
  const std::string deep(1 << 20, '[');
  folder.write("result", "{\"record\":\"run\",\"schema\":\"bench.result/1\"}\n" + deep + "\n");
  folder.write("spool", "{\"record\":\"process\",\"pid\":1,\"tid\":1,\"ns\":1}\n" + deep + "\n");
  for (const char* name : {"result", "spool"}) {
    const ProgramResult result = analyze(name, {}, folder.path());
    EXPECT_EQ(result.status, 0) << name << result.err.substr(0, 1000);
    EXPECT_THAT(result.err, HasSubstr("1 line could not be read"));
  }
}

}  // namespace
}  // namespace bench::test::analyze_bad_input_test
