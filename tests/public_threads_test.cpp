// SPDX-License-Identifier: Apache-2.0
// Files as public threads and documents show them (tests/data/public_threads, whose README.md names
// each source and derives the right values), and what mail programs, terminals, web pages and
// collectors of logs make of a log.
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench::test::public_threads_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

ProgramResult bench(Words arguments) {
  arguments.insert(arguments.begin(), BENCH_BINARY);
  return run_program(
      {std::move(arguments), BENCH_SOURCE_DIR "/tests/data/public_threads", {{"COLUMNS", "200"}}});
}

std::string test_name(std::string name) {
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

// The execution of one primitive; a value that is unknown is missing.
struct Execution {
  std::int64_t time_ns;
  std::optional<std::int64_t> flops;
  std::optional<std::int64_t> bytes;
  friend bool operator==(const Execution&, const Execution&) = default;
  friend void PrintTo(const Execution& execution, std::ostream* out) {
    *out << execution.time_ns << " ns, " << execution.flops.value_or(-1) << " FLOP, "
         << execution.bytes.value_or(-1) << " B";
  }
};

std::vector<Execution> parse_executions(const ProgramResult& result, const std::string& file) {
  EXPECT_EQ(result.status, 0) << file << ": " << result.err;
  if (result.status != 0) return {};
  const auto integer_at = [](const json& row, const char* name) {
    return row.contains(name) ? std::optional(row.at(name).get<std::int64_t>()) : std::nullopt;
  };
  std::vector<Execution> executions;
  const json document = json::parse(result.out);
  for (const json& row : document.at("rows")) {
    executions.push_back({row.at("time_ns").get<std::int64_t>(), integer_at(row, "flops"),
                          integer_at(row, "bytes")});
  }
  return executions;
}

ProgramResult analyze(const std::string& file) {
  return bench({"analyze", file, "--order-by", "+line", "--format", "json", "-t", "0", "-c",
                "time_ns,flops,bytes,line"});
}

struct LogCase {
  const char* file;
  std::vector<Execution> executions;  // in the order of their lines
};

class ThreadLog : public testing::TestWithParam<LogCase> {};

TEST_P(ThreadLog, HasTheTimesAndTheWorkOfItsLines) {
  EXPECT_THAT(parse_executions(analyze(GetParam().file), GetParam().file),
              testing::ElementsAreArray(GetParam().executions));
}

constexpr std::nullopt_t kNone = std::nullopt;
constexpr std::int64_t kVgg = 2LL * 64 * 112 * 112 * 3 * 7 * 7;
constexpr std::int64_t kVggBytes = 4LL * (3 * 224 * 224 + 64 * 3 * 49 + 64 * 112 * 112);
constexpr std::int64_t kRows43 = 100'000'000;  // rows that an inner product of 43 by 43 multiplies
constexpr std::int64_t kPooled = 10'000LL * 200 * 39 * 39;
constexpr std::int64_t kPoolBytes = 4 * (10'000LL * 200 * 43 * 43 + kPooled);

INSTANTIATE_TEST_SUITE_P(
    Files, ThreadLog,
    testing::Values(
        LogCase{"mkldnn_0.10_wrapped.log",
                {{484'863, 0, 2 * 4 * 2 * 16 * 7 * 7},
                 {219'971, 0, 2 * 4 * 16},
                 {17'090, 2 * 2 * 16 * 7 * 7 * 16 * 5 * 5 + 2 * 16 * 7 * 7, kNone},
                 {488'037, 0, 2 * 4 * 2 * 16 * 7 * 7}}},
        LogCase{"mkldnn_0.1x_sum.log",
                {{746'094, 2 * 44 * 96 * 24 * 11 * 7 + 44 * 96 * 24, kNone},
                 {352'783, 4 * 44 * 96 * 24, kNone},
                 {10'986, 576, 3 * 4 * 576},
                 {4'150, 576, 3 * 4 * 576}}},
        LogCase{"dnnl_0.95_no_attributes.log",
                {{468'994, 0, 2 * 4 * 2 * 16 * 7 * 7}, {462'891, 0, 2 * 4 * 16}}},
        LogCase{"gemm_api_2.7.log",
                {{359'131, 2 * 512 * 512, 4 * (512 + 512 * 512 + 512)},
                 {34'180, 2 * 1000 * 16, 4 * (1000 + 16 + 16'000)}}},
        LogCase{"nose_1.0.4.log",
                {{559'605'000, kRows43 * 2 * 43 * 43, 4 * (2 * 43 * kRows43 + 43 * 43)},
                 {760'226'000, kRows43*(2 * 43 * 43 + 43), 4 * (2 * 43 * kRows43 + 43 * 43 + 43)},
                 {3'277'870'000, kPooled * 25, kPoolBytes},
                 {10'394'700'000, kPooled * 24, kPoolBytes}}},
        LogCase{"backticks_1.6.log", {{988'037, kVgg, kVggBytes}, {152'100, kVgg, kVggBytes}}},
        LogCase{"scratchpad_1.5.log",
                {{1'953, 0, 2 * 4 * 64 * 16},
                 {908'203, 300 * 64 * 25 * (2 * 16 + 1),
                  4 * (300 * 25 * 16 + 64 * 16 + 64 + 300 * 64 * 25)}}},
        LogCase{
            "timestamps_2.6_relu.log",
            {{33'152'100, 200LL * 512 * (2 * 15'680 + 2),
              4 * (200 * 15'680 + 15'680 * 512 + 512 + 200 * 512)},
             {255'859, 200 * 128 * (2 * 512 + 2), 4 * (200 * 512 + 512 * 128 + 128 + 200 * 128)},
             {15'137, 200 * 31 * (2 * 64 + 1), 4 * (200 * 64 + 64 * 31 + 31 + 200 * 31)}}},
        LogCase{"emoji_2.7.log", {{141'846, 4 * 12 * 4, 2 * 4 * 12 * 4}}},
        LogCase{"emphasis_3.3.log",
                {{15'952'100, 0, 5 * 256 * 16}, {47'852, 2 * 256 * 16, 256 + 256 * 16 + 16}}},
        LogCase{"acl_rms_3.9.log", {{1'500'000, 3 * 5120 * 1024, (4 + 2) * 5120 * 1024}}},
        LogCase{"sdpa_host_scale_3.9.log",
                {{234'863, 2 * 2 * 385 * (128 + 128), 4 * 2 * (128 + 2 * 128 * 385 + 128)}}},
        LogCase{"sdpa_wrapped_by_hand.log",
                {{2'620'000, 2 * 2 * 125 * 125 * (64 + 64), 4 * 2 * 4 * 125 * 64}}},
        LogCase{"matmul_wrapped_by_hand.log", {{21'558'100, 2 << 24, 2 * 3 * 256 * 256}}},
        LogCase{"pooling_in_a_comment.log",
                {{40'039, 96 * 28 * 28 * (4 + 1), 96 * (56 * 56 + 28 * 28)}}},
        LogCase{"inner_product_in_a_comment.log",
                {{21'570'100, 2LL * 8 * 151'936 * 896,
                  2LL * (8 * 896 + 896 * 151'936) + 4LL * 8 * 151'936}}},
        LogCase{"graph_kernel_3.12.log", {{193'115, kNone, kNone}}},
        LogCase{"deconvolution_f64_gpu.log",
                {{101'074, 2 * 3 * 3 * 16 * 9 + 3 * 36, 8 * (3 * 16 + 3 * 36 + 81 + 3)},
                 {78'857, 2 * 3 * 3 * 16 * 9 + 3 * 36, 8 * (3 * 16 + 3 * 36 + 81 + 3)}}},
        LogCase{"gtest_windows_zero_batch.log",
                {{10'100, 0, 0},
                 {4'351'000, 2 * 19 * 169 * (2 * 23 + 1),
                  4 * (2 * 23 * 169 + 19 * 23 + 19 + 2 * 19 * 169)}}},
        LogCase{"ctest_deconvolution.log",
                {{937'012, 2 * 2 * 6 * 4 * 16 * 9 + 2 * 4 * 16,
                  4 * (2 * 6 * 16 + 6 * 4 * 9 + 4 + 2 * 4 * 16)}}},
        LogCase{"serving_0.1x_batch_norm.log",
                {{31'982, 4 * 256 * 196, kNone},
                 {28'809, 256 * 196, kNone},
                 {287'109, 0, 2 * 4 * 1024 * 256},
                 {1'415'040, 2 * 1024 * 196 * 256, kNone}}},
        LogCase{"no_time_1.90.log", {{704'982'000, 3 * 169, 2 * 4 * 3 * 169}}},
        LogCase{"fp8_reorder_3.9.log", {{14'281'000, 0, 5 * 100}}},
        LogCase{"xpu_weights_s8_3.7.log",
                {{732'178, 4160LL * 1280 * (2 * 3420 + 2),
                  2LL * 4160 * 3420 + 3420 * 1280 + 2 * 1280 + 2 * 2 * 4160LL * 1280}}},
        LogCase{"sparse_grouped_3.12.log",
                {{77'665'000, 2 * 16 * 32 * 24, 4 * (16 * 32 + 3 * 32 * 24 + 16 * 24)}}}),
    [](const auto& test) { return test_name(test.param.file); });

TEST(ThreadLogMessages, SayWhatIsMissingAndWhyNot) {
  EXPECT_THAT(bench({"analyze", "no_time_1.90.log"}).err,
              HasSubstr("no_time_1.90.log:5: ends before its time"));
  const ProgramResult refusals = bench(
      {"analyze", "acl_rms_3.9.log", "--type", "dispatch", "--format", "csv", "-c", "name,reason"});
  EXPECT_THAT(refusals.out,
              HasSubstr("\"acl\",\"unsupported: Only Ab4a/Ab8a, BA8b4a/BA4b4a and Acdb8a/Acdb4a "
                        "destination formats supported\""));
}

// What a mail program, a terminal, a web page or a collector makes of the lines of a log.
struct Variant {
  const char* name;
  std::function<std::string(const Words& lines)> write;
};

const Words& log_lines() {
  static const Words lines = {
      "onednn_verbose,info,oneDNN v3.2.0 (commit 7710bdc92064a08b985c5cbdb09de773b19cba1f)",
      "onednn_verbose,info,cpu,runtime:OpenMP,nthr:4",
      "onednn_verbose,info,cpu,isa:Intel AVX-512 with float16, Intel DL Boost and bfloat16 "
      "support and Intel AMX with bfloat16 and 8-bit integer support",
      "onednn_verbose,info,prim_template:operation,engine,primitive,implementation,prop_kind,"
      "memory_descriptors,attributes,auxiliary,problem_desc,exec_time",
      "onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd::f0 "
      "dst_f32::blocked:aBcd16b::f0,attr-scratchpad:user ,,8x16x28x28,0.25",
      "onednn_verbose,exec,cpu,convolution,brgconv:avx512_core,forward_training,"
      "src_f32::blocked:aBcd16b::f0 wei_f32::blocked:ABcd16b16a::f0 bia_f32::blocked:a::f0 "
      "dst_f32::blocked:aBcd16b::f0,attr-post-ops:eltwise_relu ,alg:convolution_direct,"
      "mb8_ic16oc32_ih28oh28kh3sh1dh0ph1_iw28ow28kw3sw1dw0pw1,2.125",
      "onednn_verbose,exec,cpu,matmul,brg:avx512_core,undef,src_f32::blocked:ab::f0 "
      "wei_f32::blocked:ab::f0 dst_f32::blocked:ab::f0,attr-scratchpad:user ,,64x128:128x32,"
      "0.0625",
      "onednn_verbose,exec,cpu,softmax,jit:avx512_core,forward_inference,src_f32::blocked:ab::f0 "
      "dst_f32::blocked:ab::f0,,alg:softmax_accurate axis:1,64x32,0.5"};
  return lines;
}

constexpr std::int64_t kConvResults = 8LL * 32 * 28 * 28;

const std::vector<Execution>& log_executions() {
  static const std::vector<Execution> executions = {
      {250'000, 0, 2 * 4 * 8 * 16 * 28 * 28},
      {2'125'000, kConvResults * (2 * 16 * 9 + 2),
       4 * (8 * 16 * 28 * 28 + 32 * 16 * 9 + 32 + kConvResults)},
      {62'500, 2 * 64 * 128 * 32, 4 * (64 * 128 + 128 * 32 + 64 * 32)},
      {500'000, 4 * 64 * 32, 2 * 4 * 64 * 32}};
  return executions;
}

// Writes each line between two texts.
auto around(std::string before, std::string behind) {
  return [=](const Words& lines) {
    std::string text;
    for (const std::string& line : lines) text += before + line + behind;
    return text;
  };
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Replaces a text in the whole log.
auto replacing(std::string from, std::string to) {
  return [=](const Words& lines) { return replaced(around("", "\n")(lines), from, to); };
}

auto between(std::string first, std::string last) {
  return [=](const Words& lines) { return first + around("", "\n")(lines) + last; };
}

// The soft line breaks of an e-mail.
std::string quoted_printable(const Words& lines) {
  constexpr std::size_t kWidth = 75;
  std::string text;
  for (const std::string& line : lines) {
    for (std::size_t i = 0; i < line.size(); i += kWidth) {
      text += line.substr(i, kWidth) + (i + kWidth < line.size() ? "=\n" : "\n");
    }
  }
  return text;
}

// Quoted by a mail program that breaks lines at blanks.
std::string quoted_mail(const Words& lines) {
  return around("> ", "\n")({replaced(lines[0], "\n", ""), lines[1], lines[3],
                             replaced(lines[4], " dst", "\n> dst"),
                             replaced(replaced(lines[5], " wei", "\n> wei"), " dst", "\n> dst"),
                             lines[6], replaced(lines[7], " axis", "\n> axis")});
}

std::string interrupted_by_record(const Words& lines) {
  constexpr std::size_t kHere = 90;
  return around("", "\n")({lines[0], lines[3], lines[5].substr(0, kHere) + lines[4],
                           lines[5].substr(kHere), lines[6], lines[7]});
}

std::string utf16(const Words& lines) {
  std::string text;
  for (const char c : around("", "\r\n")(lines)) text.append(1, c).append(1, '\0');
  return text;
}

std::string as_json(const Words& lines, const char* key, const std::string& end) {
  std::string text;
  for (const std::string& line : lines) {
    text += json{{key, line + end}, {"stream", "stdout"}, {"time", "2024-05-03T10:11:12Z"}}.dump();
    text += '\n';
  }
  return text;
}

class LogVariant : public testing::TestWithParam<Variant> {};

TEST_P(LogVariant, IsReadAsTheLogItself) {
  const TemporaryFolder folder;
  const std::string file = folder.write("variant.log", GetParam().write(log_lines()));
  const ProgramResult result = analyze(file);
  auto executions = parse_executions(result, file);
  std::ranges::sort(executions, {}, &Execution::time_ns);
  auto expected = log_executions();
  std::ranges::sort(expected, {}, &Execution::time_ns);
  EXPECT_EQ(executions, expected);
  EXPECT_THAT(result.err, Not(HasSubstr("could not be read")));
  EXPECT_THAT(result.err, Not(HasSubstr("unknown kind")));
}

INSTANTIATE_TEST_SUITE_P(
    Hostile, LogVariant,
    testing::Values(
        Variant{"the log itself", around("", "\n")}, Variant{"CRLF", around("", "\r\n")},
        Variant{"carriage returns", around("", "\r")},
        Variant{"progress bars", around(" 42%|####      | 3/9 [00:01<00:02]\r", "\n")},
        Variant{"a progress bar behind", around("", "\r 42%|####      | 3/9\n")},
        Variant{"UTF-8 mark", between("\xef\xbb\xbf", "")}, Variant{"UTF-16 without a mark", utf16},
        Variant{"NUL", replacing("cpu,matmul", std::string("cpu,\0matmul", 11))},
        Variant{"zero width", replacing(",", ",\xe2\x80\x8b")},
        Variant{"no-break spaces", replacing(" ", "\xc2\xa0")},
        Variant{"colours", around("\x1b[32m", "\x1b[0m\n")},
        Variant{"colours of grep", replacing("exec", "\x1b[01;31m\x1b[Kexec\x1b[m\x1b[K")},
        Variant{"docker", around("2024-05-03T10:11:12.123456789Z stdout F ", "\n")},
        Variant{"docker's files", [](const Words& lines) { return as_json(lines, "log", "\n"); }},
        Variant{"JSON logger", [](const Words& lines) { return as_json(lines, "msg", ""); }},
        Variant{"journald", around("May 03 10:11:12 host python3[12345]: ", "\n")},
        Variant{"kubectl", around("[pod/train-0/main] ", "\n")},
        Variant{"Slurm", around(" 0: ", "\n")},
        Variant{"mpirun", around("Fri May  3 10:11:12 2024[1,0]<stdout>:", "\n")},
        Variant{"Horovod", around("[0]<stdout>:", "\n")},
        Variant{"Ray", around("(Worker pid=1234, ip=10.0.0.1) ", "\n")},
        Variant{"log4j", around("2024-05-03 10:11:12,345 INFO  [main] com.x.Run - ", "\n")},
        Variant{"HTML", around("", "<br>\n")},
        Variant{"HTML page", between("<html><pre><code>", "</code></pre></html>\n")},
        Variant{"HTML blanks", replacing(" ", "&nbsp;")}, Variant{"quote", around("> ", "\n")},
        Variant{"quoted mail", quoted_mail}, Variant{"code fence", between("```\n", "```\n")},
        Variant{"inline code", around("`", "`\n")}, Variant{"diff", around("+", "\n")},
        Variant{"table of Markdown", around("| ", " |\n")}, Variant{"tab", around("\t", "\n")},
        Variant{"comments", around("# ", "\n")}, Variant{"CSV", around("\"", "\"\n")},
        Variant{"list of Python", around("    '", "',\n")},
        Variant{"JSON array", around("  \"", "\",\n")},
        Variant{"text of Python",
                [](const Words& lines) { return "b'" + around("", "\\n")(lines) + "'\n"; }},
        Variant{"gdb", around("~\"", "\\n\"\n")}, Variant{"grep", around("run.log:12:", "\n")},
        Variant{"blanks behind commas", replacing(",", ", ")},
        Variant{"blank lines", around("", "\n\n")}, Variant{"quoted printable", quoted_printable},
        Variant{"interrupted by a record", interrupted_by_record},
        Variant{"shell's line breaks", replacing(" dst", " \\\n    dst")},
        Variant{"indented line breaks", replacing(",alg:", ",\n      alg:")}),
    [](const auto& test) { return test_name(test.param.name); });

// "slower BM_One": verdict and case of each row.
Words verdicts(const std::string& name, const std::string& ending, std::string* messages) {
  const ProgramResult result =
      bench({"compare", name + "_a" + ending, name + "_b" + ending, "--json"});
  EXPECT_EQ(result.status, 0) << name << ": " << result.err;
  *messages = result.err;
  Words words;
  if (result.status != 0) return words;
  const json document = json::parse(result.out);
  for (const json& row : document.at("cases")) {
    words.push_back(fmt::format(
        "{} {} {:.4g}", row.at("verdict").get<std::string>(), row.at("id").get<std::string>(),
        row.contains("ratio") && !row.at("ratio").is_null() ? row.at("ratio").get<double>() : 0.0));
  }
  return words;
}

struct ReportCase {
  const char* name;
  const char* ending;
  Words cases;
  const char* message;  // part of the messages; empty if there are none
};

class ThreadReport : public testing::TestWithParam<ReportCase> {};

TEST_P(ThreadReport, HasTheTimesOfItsEntries) {
  std::string messages;
  EXPECT_THAT(verdicts(GetParam().name, GetParam().ending, &messages),
              testing::UnorderedElementsAreArray(GetParam().cases));
  if (std::string(GetParam().message).empty()) {
    EXPECT_EQ(messages, "");
  } else {
    EXPECT_THAT(messages, HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    GoogleBenchmark, ThreadReport,
    testing::Values(
        ReportCase{"gb_complexity_2017", ".json", {"unclear ComputationBenchmarks/64 2"}, ""},
        ReportCase{"gb_custom_context_2022", ".json", {"unclear BM_SomeFunction 0.5"}, ""},
        ReportCase{"gb_concatenated", ".json", {"slower BM_memcpy/8 2"}, ""},
        ReportCase{"gb_ctest", ".txt", {"unclear BM_Complexity_O_N_log_N/65536 0.5"}, ""},
        ReportCase{"gb_console_header", ".json", {"slower dabnn_5x5_256 3"}, ""},
        ReportCase{"gb_base_name_2018", ".json", {"unclear NOP 2", "unclear NOP/repeats:3 2"}, ""},
        ReportCase{"gb_only_means_2016",
                   ".json",
                   {"slower BM_a/8 3", "slower BM_a/64 3"},
                   "2 cases have neither repetitions nor a median: the mean counts"},
        ReportCase{"gb_counter_named_rms",
                   ".json",
                   {"unclear BM_fit/10 1.5", "unclear BM_fit/20 1.5"},
                   ""},
        ReportCase{"gb_percentage", ".json", {"unclear BM_One 2"}, ""},
        ReportCase{"gb_killed",
                   ".json",
                   {"unclear BM_SetInsert/1024/1 1.5"},
                   "gb_killed_a.json: the file ends early; its 1 complete entry counts"},
        ReportCase{"gb_decimal_comma", ".json", {"unclear BM_locale 2"}, ""}),
    [](const auto& test) { return test_name(test.param.name); });

struct TraceCase {
  const char* file;
  const char* problem;  // empty if both viewers show the trace
};

class ThreadTrace : public testing::TestWithParam<TraceCase> {};

TEST_P(ThreadTrace, IsJudgedAsTheViewersShowIt) {
  const ProgramResult result = bench({"trace", "--check", GetParam().file});
  const std::string problem = GetParam().problem;
  EXPECT_EQ(result.status, problem.empty() ? 0 : 2) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr(problem));
}

INSTANTIATE_TEST_SUITE_P(
    Traces, ThreadTrace,
    testing::Values(
        TraceCase{"trace_open_array.json", ""}, TraceCase{"trace_leading_comma.json", "byte 19: "},
        TraceCase{"trace_leading_comma_array.json", "byte 2: "},
        TraceCase{"trace_async_overlap.json",
                  "the end of `test0` at 3000 ns would end `test1`, which began last"},
        TraceCase{"trace_async_shared_id.json",
                  "the end of `31 ` at 1000 ns would end `RoutineControl`"},
        TraceCase{"trace_pid_zero.json", ""}, TraceCase{"trace_pytorch_2022.json", ""},
        TraceCase{"trace_counter.json", ""}, TraceCase{"trace_counter_without_tid.json", ""},
        TraceCase{"trace_negative_time_of_a_name.json",
                  "event 1: `ts` is negative: Perfetto leaves out the event"},
        TraceCase{"trace_large_tid.json", "`tid` is 140339968804608, expected a text or"},
        TraceCase{"trace_names.json", ""},
        TraceCase{"trace_counter_without_pid.json", "event 1: `pid` is missing"},
        TraceCase{"trace_truncated_object.json", "byte "},
        TraceCase{"trace_nested_object.json", "no `traceEvents`"}),
    [](const auto& test) { return test_name(test.param.file); });

TEST(ThreadFiles, OfOtherProgramsAreNamed) {
  const auto message = [](const char* file) {
    const ProgramResult result = bench({"analyze", file});
    EXPECT_EQ(result.status, 2) << file;
    return result.err;
  };
  EXPECT_THAT(
      message("torch_table_2021.txt"),
      HasSubstr("is a table of torch.profiler, which has sums only; to analyze the program"));
  EXPECT_THAT(message("mkl_verbose_2018.log"), HasSubstr("is a log of MKL; record the program"));
  EXPECT_THAT(message("nsys_summary_2021.txt"), HasSubstr("is a summary of nvprof or Nsight"));
}

TEST(ThreadFiles, ReportsOfGoogleBenchmarkAreProfilesToo) {
  for (const char* file : {"gb_percentage_a.json", "gb_ctest_a.txt", "gb_killed_a.json",
                           "gb_concatenated_a.json", "gb_decimal_comma_a.json"}) {
    const ProgramResult result = bench({"analyze", file});
    EXPECT_EQ(result.status, 0) << file << result.err;
    EXPECT_THAT(result.out, HasSubstr("google_benchmark, ")) << file;
  }
}

}  // namespace
}  // namespace bench::test::public_threads_test
