// SPDX-License-Identifier: Apache-2.0
// Files of other people, as their issues and forum posts show them, shortened and with neutral
// names (tests/data/public_cases). The right values were counted by hand. Earlier, `bench` refused
// these files, or showed other values.
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::test::public_cases_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Words = std::vector<std::string>;

ProgramResult bench(Words arguments) {
  arguments.insert(arguments.begin(), BENCH_BINARY);
  return run_program(
      {std::move(arguments), BENCH_SOURCE_DIR "/tests/data/public_cases", {{"COLUMNS", "200"}}});
}

// One row of the table; a value that is unknown is missing.
struct Row {
  std::int64_t time_ns;
  std::optional<std::int64_t> flops;
  std::optional<std::int64_t> bytes = std::nullopt;
  friend bool operator==(const Row&, const Row&) = default;
  friend void PrintTo(const Row& row, std::ostream* out) {
    *out << row.time_ns << " ns, " << row.flops.value_or(-1) << " FLOP, " << row.bytes.value_or(-1)
         << " B";
  }
};

std::optional<std::int64_t> integer_at(const json& row, const char* name) {
  return row.contains(name) ? std::optional(row.at(name).get<std::int64_t>()) : std::nullopt;
}

std::vector<Row> rows_of(const std::string& file, bool with_bytes) {
  const ProgramResult result = bench({"analyze", file, "--order-by", "+line", "--format", "json",
                                      "-c", "time_ns,flops,bytes,line"});
  EXPECT_EQ(result.status, 0) << file << ": " << result.err;
  std::vector<Row> rows;
  const json document = json::parse(result.out);
  for (const json& row : document.at("rows")) {
    rows.push_back({row.at("time_ns").get<std::int64_t>(), integer_at(row, "flops"),
                    with_bytes ? integer_at(row, "bytes") : std::nullopt});
  }
  return rows;
}

struct LogCase {
  const char* file;
  std::vector<Row> rows;  // executions in the order of their lines
};

class PublicLog : public testing::TestWithParam<LogCase> {};

TEST_P(PublicLog, HasTheWorkAndTheTimesOfItsLines) {
  bool with_bytes = false;
  for (const Row& row : GetParam().rows) with_bytes = with_bytes || row.bytes;
  EXPECT_THAT(rows_of(GetParam().file, with_bytes), testing::ElementsAreArray(GetParam().rows));
}

constexpr std::int64_t kConv48 = 4'303'355'904;      // 2*48*192*16*16*912
constexpr std::int64_t kConv16 = 4'948'876'066'816;  // 2*16*256*512*512*256*9, bias 16*256*512*512

INSTANTIATE_TEST_SUITE_P(
    Files, PublicLog,
    testing::Values(
        LogCase{"01_decimal_comma_2.6.log",
                {{12'372'300, kConv48}, {1'432'000, 0}, {2'000'000, 0}}},
        LogCase{"01_decimal_comma_0.x.log",
                {{1'432'000, 0},
                 {3'270'900, 0},
                 {12'372'300, kConv48},
                 {15'292'200, 3'623'878'656},
                 {8'701'800, 2'717'908'992},
                 {118'412'000, 45'298'483'200},
                 {26'967'500, 23'592'960}}},
        LogCase{"02_template_cut.log", {{127'159'000, 0}}},
        LogCase{"02_wrapped_at_125.log", {{127'159'000, 0}, {27'000'500'000, kConv16}}},
        LogCase{"02_wrapped_twice.log", {{127'159'000, 0}, {27'000'500'000, kConv16}}},
        LogCase{"04_gemm_api_lda.log", {{50'000, 524'288}, {50'000, 524'800}}},
        LogCase{"05_sdpa.log", {{51'200, 393'216}, {101'000, 150'994'944}}},
        LogCase{"08_int4_weights.log",
                {{1'058'590'000, 134'217'728, 2 * 4 * 4096 + 4096 * 4096 / 2 + 2 * 4 * 4096},
                 {520'000, 134'217'728, 2 * (4 * 4096 + 4096 * 4096 + 4 * 4096)},
                 {10'000'000, 0, 4096 * 4096 * 4 + 4096 * 4096 / 2}}},
        LogCase{"17_exec_external.log", {{267'822, 262'144}}},
        LogCase{"19_post_ops.log",
                {{500'000, 1'240},
                 {200'000, 1'813'118'976},
                 {200'000, 231'813'120},
                 {500'000, 39'739'392 + 5'419'008}}},
        LogCase{"20_logsoftmax_2.x.log", {{200'000, 128'000, 256'000}}},
        LogCase{"22_mpi_ranks.log",
                {{12'372'300, kConv48}, {1'432'000, 0}, {12'372'300, kConv48}, {1'432'000, 0}}},
        LogCase{"26_powershell_utf16.log", {{12'372'300, kConv48}, {1'432'000, 0}}}),
    [](const auto& test) {
      std::string name = test.param.file;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      return name;
    });

TEST(PublicCases, ADamagedHeaderCostsAMessage) {
  EXPECT_EQ(bench({"analyze", "02_template_cut.log"}).err,
            "bench analyze: 1 line could not be read\n"
            "  02_template_cut.log:3: the template ends before its last field\n");
  EXPECT_EQ(bench({"analyze", "02_wrapped_at_125.log"}).err, "");
}

TEST(PublicCases, AGpuIsNotAssumedToBeOfNvidia) {
  for (const char* file : {"07_intel_gpu.log", "07_intel_gpu_indented.log"}) {
    const ProgramResult rows =
        bench({"analyze", file, "--device", "gpu", "--format", "json", "-c", "device,time_ns"});
    ASSERT_EQ(rows.status, 0) << rows.err;
    const json document = json::parse(rows.out).at("rows");
    EXPECT_THAT(document, testing::Not(IsEmpty())) << file;
    for (const json& row : document) EXPECT_EQ(row.at("device"), "gpu:0") << file;
  }
}

TEST(PublicCases, AnExternalKernelIsWithinItsPrimitive) {
  const ProgramResult rows = bench({"analyze", "17_exec_external.log", "--phase", "all", "--format",
                                    "json", "-c", "type,time_ns"});
  ASSERT_EQ(rows.status, 0) << rows.err;
  const json document = json::parse(rows.out);
  ASSERT_GE(document.at("rows").size(), 2U);
  const json& row = document.at("rows").at(1);
  EXPECT_EQ(row.at("time_ns"), 242'188);
  EXPECT_THAT(row.at("type").get<std::string>(), StartsWith("CpuGemmAssemblyWrapperKernel/"));
}

TEST(PublicCases, ALaunchersLabelIsTheRank) {
  const ProgramResult result = bench({"analyze", "22_mpi_ranks.log", "--aggregate-by", "rank",
                                      "--format", "json", "-c", "rank,time_ns"});
  ASSERT_EQ(result.status, 0) << result.err;
  std::vector<std::int64_t> times;
  const json document = json::parse(result.out);
  for (const json& row : document.at("rows")) times.push_back(row.at("time_ns"));
  EXPECT_THAT(times, ElementsAre(13'804'300, 13'804'300));
}

TEST(PublicCases, ErrorsOfTheLibraryAreSaid) {
  EXPECT_THAT(bench({"analyze", "23_error_lines.log"}).err,
              HasSubstr("bench analyze: 2 errors of oneDNN (lines 5, 6)\n"));
}

TEST(PublicCases, ATraceOfTorchProfilerWithTextsAsProcessesIsRead) {
  const ProgramResult result = bench({"analyze", "10_kineto_header.json"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("c10d::barrier"));
  EXPECT_EQ(result.err, "");
}

TEST(PublicCases, TheTraceCheckKnowsWhatTheViewersShow) {
  for (const char* file : {"10_kineto_header.json", "10_string_pid.json"}) {
    EXPECT_EQ(bench({"trace", "--check", file}).status, 0) << file;
  }
  const ProgramResult names = bench({"trace", "--check", "10_string_pid_autograd.json"});
  EXPECT_EQ(names.status, 2);  // its flows join two names, which Perfetto does not
  EXPECT_EQ(names.out.find("`pid`"), std::string::npos) << names.out;
  EXPECT_THAT(bench({"trace", "--check", "11_be_overlap.json"}).out,
              HasSubstr("`Event5` from 209690000 to 209973000 ns and `Event6` from 209948000"));
  EXPECT_THAT(bench({"trace", "--check", "11_be_overlap_named.json"}).out,
              HasSubstr("the end of `E6` at 264000 ns would end `E7`"));
  EXPECT_THAT(bench({"trace", "--check", "25_pid_above_uint32.json"}).out,
              HasSubstr("`pid` is 7168000001, expected a text or an integer from 0 to 2^32 - 1"));
}

// "slower BM_One", "same BM_Two": verdict and case of each row.
Words verdicts(const std::string& base, const std::string& candidate) {
  const ProgramResult result = bench({"compare", base, candidate, "--json"});
  EXPECT_EQ(result.status, 0) << base << ": " << result.err;
  EXPECT_EQ(result.err, "") << base;
  Words words;
  const json document = json::parse(result.out);
  for (const json& row : document.at("cases")) {
    words.push_back(row.at("verdict").get<std::string>() + " " + row.at("id").get<std::string>());
  }
  return words;
}

TEST(PublicCases, OnlyTimesOfGoogleBenchmarkAreCases) {
  EXPECT_THAT(verdicts("13_gb2018_a.json", "13_gb2018_b.json"), ElementsAre("slower BM_One"));
  EXPECT_THAT(verdicts("14_bigo_a.json", "14_bigo_b.json"),
              testing::UnorderedElementsAre("unclear BM_B/8", "unclear BM_B/64"));
  EXPECT_THAT(verdicts("14_bigo_2017_a.json", "14_bigo_2017_b.json"),
              testing::UnorderedElementsAre("unclear BM_C/8", "unclear BM_C/64"));
  for (const char* base : {"16_nonfinite_a.json", "16_nonfinite_2019_a.json"}) {
    EXPECT_THAT(verdicts(base, "16_nonfinite_b.json"), ElementsAre("slower BM_One", "same BM_Two"));
  }
}

// Asked for in public threads: what became slower between two logs, by primitive and shape.
TEST(PublicCases, TwoLogsAreComparedByPrimitiveAndShape) {
  const TemporaryFolder folder;
  const auto write_log = [&](const char* name, const std::string& implementation, int factor) {
    std::string text = "onednn_verbose,info,oneDNN v2.6.0 (commit x)\n";
    for (int i = 0; i < 40; ++i) {
      text += "onednn_verbose,exec,cpu,reorder," + implementation +
              ",undef,src_f32::blocked:aBcd8b:f0 dst_f32::blocked:abcd:f0,,,8x16x4x4," +
              std::to_string(factor * (100 + i % 3)) + "\n";
    }
    return folder.write(name, text);
  };
  const std::string base = write_log("a.log", "jit:uni", 1);
  const std::string candidate = write_log("b.log", "simple:any", 2);
  const ProgramResult result = bench({"compare", base, candidate, "--fail-on", "regression"});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\n1 slower.\n"));
  EXPECT_THAT(result.out,
              HasSubstr("slower   reorder/8x16x4x4/f32  101.0 ms   202.0 ms  2.0x slower"));
  EXPECT_THAT(result.out, HasSubstr("implementation: jit:uni -> simple:any"));
}

}  // namespace
}  // namespace bench::test::public_cases_test
