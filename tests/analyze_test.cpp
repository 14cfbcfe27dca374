// SPDX-License-Identifier: Apache-2.0
// `bench analyze` as a user calls it: tables of recorded profiles (goldens in
// tests/data/analyze_golden), every option, every source.
#include "tests/support/golden.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <utility>

namespace bench::test::analyze_test {
namespace {

using nlohmann::json;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Words = std::vector<std::string>;

constexpr const char* kPyprof = "profiler/readers/testdata/pyprof_resnet50.txt";
constexpr const char* kSeedLog = "profiler/onednn/testdata/onednn_1.1.2_seed.log";
constexpr const char* kNsys = "profiler/readers/testdata/nsys.sqlite";
constexpr const char* kNvprof = "profiler/readers/testdata/nvprof.sqlite";
constexpr const char* kLog = "profiler/onednn/testdata/onednn_3.6.log";

// Runs in the root of the sources, so that file names are the same everywhere.
ProgramResult analyze(const std::string& file, Words options,
                      const std::string& folder = BENCH_SOURCE_DIR) {
  Words command{BENCH_BINARY, "analyze", file};
  command.insert(command.end(), options.begin(), options.end());
  return run_program({std::move(command), folder, {}});
}

// Runs a shell script; $BENCH is the program.
ProgramResult shell(const std::string& script, const std::string& folder = BENCH_SOURCE_DIR,
                    std::map<std::string, std::string> environment = {}) {
  environment.emplace("BENCH", BENCH_BINARY);
  return run_program(
      {{"/bin/bash", "-c", "set -o pipefail; " + script}, folder, std::move(environment)});
}

json analyze_json(const std::string& file, Words options,
                  const std::string& folder = BENCH_SOURCE_DIR) {
  options.push_back("--json");
  const ProgramResult result = analyze(file, options, folder);
  EXPECT_EQ(result.status, 0) << result.err;
  return json::parse(result.out);
}

template <class Value>
std::vector<Value> column_values(const json& document, const char* name) {
  std::vector<Value> values;
  for (const json& row : document["rows"]) values.push_back(row.value(name, Value()));
  return values;
}

void expect_table(const std::string& golden, const std::string& file, const Words& options) {
  const ProgramResult result = analyze(file, options);
  EXPECT_EQ(result.status, 0) << result.err;
  expect_golden("tests/data/analyze_golden/" + golden, result.out);
}

TEST(AnalyzeGolden, OfPyprofsResnet50) {
  expect_table("pyprof_longest.txt", kPyprof, {"-t", "5"});
  expect_table("pyprof_by_op.txt", kPyprof, {"--aggregate-by", "op", "-t", "0"});
  expect_table("pyprof_by_layer.md", kPyprof,
               {"--aggregate-by", "layer", "--format", "markdown", "-t", "0"});
  expect_table("pyprof_narrow.txt", kPyprof, {"-w", "210", "-t", "3"});
  expect_table("pyprof.csv", kPyprof, {"--format", "csv", "--order-by", "+index"});
  expect_table("pyprof_columns.txt", kPyprof,
               {"-c", "idx,dir,op,kernel,params,sil,tc,flops,bytes", "--format", "space", "-t", "4",
                "--order-by", "+idx"});
}

TEST(AnalyzeGolden, OfOtherBenchmarksAndTraces) {
  const std::string folder = "profiler/readers/testdata/";
  expect_table("google_benchmark.txt", folder + "google_benchmark.json",
               {"-c", "name,time_ns,iterations,bytes,bandwidth,value", "-t", "0"});
  expect_table("nvbench.txt", folder + "nvbench.json",
               {"-c", "name,device,time_ns,iterations,bytes,bandwidth", "-t", "0"});
  expect_table("hyperfine.txt", folder + "hyperfine.json",
               {"--aggregate-by", "name", "-c", "name,count,min_ns,p50_ns,max_ns"});
  expect_table("pyprof_dict.txt", folder + "pyprof_net.dict",
               {"-c", "name,time_ns,layer,trace,op,in_shapes,flops,bytes", "-t", "0"});
  expect_table("nvprof.txt", folder + "nvprof_trace.csv",
               {"-c", "kind,name,start_ns,time_ns,grid,block,bytes,bandwidth", "-t", "0"});
  expect_table("nsys.txt", folder + "nsys_trace.csv",
               {"-c", "kind,name,start_ns,time_ns,grid,block,bytes,bandwidth", "-t", "0"});
}

TEST(AnalyzeGolden, OfNsightSystemsAndNvprof) {
  for (const auto& [name, file] : {std::pair{"nsys", kNsys}, std::pair{"nvprof", kNvprof}}) {
    expect_table(fmt::format("{}_kernels.txt", name), file,
                 {"--kind", "kernel", "-c",
                  "layer,op,direction,time_ns,wait_ns,flops,flops_per_s,tensor_cores,name", "-t",
                  "0", "--order-by", "+start_ns"});
    expect_table(fmt::format("{}_by_layer.txt", name), file,
                 {"--aggregate-by", "layer,kind", "-t", "0"});
    expect_table(fmt::format("{}_ranges.csv", name), file,
                 {"--kind", "range", "--format", "csv", "--order-by", "+start_ns"});
  }
}

// SQLite needs a file; what comes from a pipe or is packed is copied to one.
TEST(AnalyzeFile, AnSqliteFileMayBePackedOrComeFromAPipe) {
  const std::string options = " --kind kernel --format csv";
  const ProgramResult plain = shell("$BENCH analyze " + std::string(kNsys) + options);
  EXPECT_EQ(plain.status, 0) << plain.err;
  const ProgramResult pipe = shell("cat " + std::string(kNsys) + " | $BENCH analyze -" + options);
  EXPECT_EQ(pipe.status, 0) << pipe.err;
  EXPECT_EQ(pipe.out, plain.out);
  const TemporaryFolder folder;
  const std::string file = folder.file("packed.gz");
  const ProgramResult packed = shell("gzip -c " + std::string(kNsys) + " > " + file +
                                     " && $BENCH analyze " + file + options);
  EXPECT_EQ(packed.out, plain.out);
}

TEST(AnalyzeGolden, OfOnednnLogs) {
  expect_table("seed_log.txt", kSeedLog, {});
  expect_table("seed_log.json", kSeedLog, {"--format", "json"});
  expect_table("log_by_type.txt", kLog, {"--aggregate-by", "type"});
  expect_table("log_by_implementation_mean.txt", kLog,
               {"--aggregate-by", "implementation", "--aggregate", "mean", "--order-by", "count",
                "-t", "4"});
  expect_table("log_dispatch.txt", kLog,
               {"--type", "dispatch", "-c", "implementation,reason,line", "-t", "0"});
  expect_table("log_create.txt", kLog, {"--phase", "create", "-t", "0"});
}

TEST(AnalyzeGolden, OfPyprofFlagWhatIsImpossibleAndWhatIsUnknown) {
  expect_table("pyprof_peak.txt", kPyprof,
               {"--peak-bandwidth", "900GB/s", "-c", "index,op,time_ns,bandwidth,flags", "-t", "0",
                "--order-by", "+index"});
  const json rows =
      analyze_json(kPyprof, {"--peak-bandwidth", "600GB/s", "-c", "index,flags,time_ns"});
  EXPECT_EQ(rows["selected"], 34);
  EXPECT_EQ(rows["total_ns"], 3'683'771);
  std::vector<int> flagged;
  for (const json& row : rows["rows"]) {
    const std::string flags = row.value("flags", "");
    if (flags == "above peak bandwidth") flagged.push_back(row["index"]);
    if (row["index"] == 8) {
      EXPECT_EQ(flags, "work unknown");
    }
  }
  EXPECT_THAT(flagged, testing::UnorderedElementsAre(6, 13, 21, 27, 32));
}

// PyProf printed no FLOPs for row 17, whose kernel it did not know, and 1.5 for each element that
// row 33 adds.
TEST(AnalyzeTables, PyprofsRowsHaveTheWorkOfTheirParameters) {
  const json rows =
      analyze_json(kPyprof, {"-c", "index,flops,bytes,given_flops,given_bytes,flags,tc,pid,tid",
                             "--order-by", "+index"})["rows"];
  EXPECT_EQ(
      rows[15],
      (json{{"index", 17}, {"flops", 7'398'752'256}, {"tensor_cores", "used (name: mma-word)"}}));
  EXPECT_EQ(rows[31].at("flops"), 25'690'112);
  EXPECT_EQ(rows[31].at("given_flops"), 38'535'168);
  EXPECT_EQ(rows[31].at("bytes"), 154'140'672);
  EXPECT_FALSE(rows[31].contains("given_bytes"));
  EXPECT_EQ(rows[31].at("flags"), "file gives other work");
}

// The seven kernels of tables that prof.py itself printed, with --csv and with -w 300.
TEST(AnalyzeTables, PyprofsWrongValuesAreRecomputedAndFlagged) {
  for (const char* table :
       {"profiler/readers/testdata/pyprof_csv.txt", "profiler/readers/testdata/pyprof_w300.txt"}) {
    const json rows = analyze_json(table, {"-c", "op,flops,bytes,given_flops,given_bytes,flags",
                                           "--order-by", "+index"})["rows"];
    ASSERT_EQ(rows.size(), 7u) << table;
    EXPECT_EQ(rows[0], (json{{"op", "linear"},
                             {"flops", 67'108'864},
                             {"bytes", 1'245'184},
                             {"given_bytes", 655'360},
                             {"flags", "file gives other work"}}));
    EXPECT_EQ(rows[1], (json{{"op", "matmul"},
                             {"flops", 268'435'456},
                             {"bytes", 8'388'608},
                             {"given_bytes", 65'536},
                             {"flags", "file gives other work"}}));
    EXPECT_EQ(rows[2].at("flops"), 7'398'752'256);
    EXPECT_EQ(rows[3].at("bytes"), 154'140'672);
    EXPECT_FALSE(rows[3].contains("flags"));
    EXPECT_EQ(rows[4].at("bytes"), 1'245'184);
    EXPECT_EQ(rows[5].at("flags"), "work unknown");
    EXPECT_THAT(analyze(table, {}).out,
                HasSubstr("3 activities whose FLOPs or bytes differ from those in the file"));
    EXPECT_THAT(analyze(table, {"-c", "op,time_ns"}).out,
                Not(HasSubstr("differ from those in the file")));
  }
}

TEST(AnalyzeTables, ColumnsThatPyprofsTableLacksAreUnknownAndWhole) {
  const ProgramResult table = analyze(kPyprof, {"-c", "tid,pid,op,sub", "-t", "1"});
  EXPECT_THAT(table.out, HasSubstr("\ntid  pid  op      sub\nn/a  n/a  conv2d  n/a\n"));
}

TEST(AnalyzeTables, ThePeakOfFlopsFlagsToo) {
  const ProgramResult result = analyze(kPyprof, {"--peak-flops", "15TFLOP/s"});
  EXPECT_THAT(result.out,
              HasSubstr("3 activities faster than the peak of 15.00 TFLOP/s (line 17, 24, 29)"));
}

TEST(AnalyzeTables, PyprofsCsvGivesWhatItsColumnsGive) {
  const TemporaryFolder folder;
  const std::string columns = read_text(std::string(BENCH_SOURCE_DIR) + "/" + kPyprof);
  std::string csv = "\"";
  for (const char c : columns) {
    csv += c == '\t' ? "\",\"" : c == '"' ? "\"\"" : c == '\n' ? "\"\n\"" : std::string(1, c);
  }
  csv.pop_back();
  folder.write("t.csv", csv);
  const Words options = {"--format", "csv"};
  EXPECT_EQ(analyze("t.csv", options, folder.path()).out, analyze(kPyprof, options).out);
}

TEST(AnalyzeSeed, TheLineOfTheSeedHasItsFlopsTimeAndRate) {
  const json row = analyze_json(kSeedLog, {})["rows"].at(0);
  EXPECT_EQ(row["flops"], 38'654'705'664);
  EXPECT_EQ(row["time_ns"], 20'753'900);
  EXPECT_EQ(row["implementation"], "jit:avx512_common");
  EXPECT_NEAR(row["flops_per_s"].get<double>(), 1.8625e12, 5e7);
  EXPECT_THAT(analyze(kSeedLog, {}).out, HasSubstr("1.8625 TFLOP/s"));
}

// MegEngine's table: a convolution (n32c64h56k64r1 in f16) and an elementwise operator. Its 21.76
// and 79.75 GiB/s are in powers of 1000 here, like all rates.
TEST(AnalyzeSeed, TheRatesAndSharesOfMegenginesTable) {
  const TemporaryFolder folder;
  const auto line = [](const char* name, int time, int flops, int bytes) {
    return fmt::format(
        R"({{"record":"activity","kind":"operator","name":"{}","start_ns":0,"duration_ns":{},)"
        R"("pid":1,"tid":1,"attributes":{{"flops":{},"bytes":{}}}}})"
        "\n",
        name, time, flops, bytes);
  };
  folder.write("p.jsonl", R"({"record":"profile","schema":"bench.profile/1",)"
                          R"("tool":{"version":"0.1.0"},"started":"2026-11-22T10:00:00Z"})"
                          "\n" +
                              line("conv", 1'100'000, 822'083'584, 25'698'304) +
                              line("elementwise", 300'000, 6'422'528, 25'690'112));
  const ProgramResult table =
      analyze("p.jsonl", {"-c", "name,flops_per_s,bandwidth,share"}, folder.path());
  EXPECT_EQ(table.status, 0) << table.err;
  for (const char* value :
       {"747.35 GFLOP/s", "23.36 GB/s", "78.6 %", "21.41 GFLOP/s", "85.63 GB/s", "21.4 %"}) {
    EXPECT_THAT(table.out, HasSubstr(value));
  }
}

// The totals are those of
// `grep "exec,cpu,convolution" | awk 'BEGIN{FS=","} {SUM+=$11} END {print SUM}'`, and the same
// for create.
TEST(AnalyzeSeed, BothTotalsOfItsAwkLines) {
  const TemporaryFolder folder;
  std::string log = read_text(std::string(BENCH_SOURCE_DIR) + "/" + kSeedLog);
  const std::string exec = log.substr(log.find("dnnl_verbose,exec"));
  std::string create = exec;
  create.replace(create.find("exec"), 4, "create");
  create.replace(create.find("20.7539"), 7, "0.103027");
  log += create + exec + create;
  folder.write("log", log);
  for (const std::string phase : {"exec", "create"}) {
    const ProgramResult awk =
        shell("grep '" + phase + ",cpu,convolution' log | " +
                  R"(awk 'BEGIN{FS=","} {SUM+=$11} END {printf "%.6f", SUM}')",
              folder.path());
    const json document =
        analyze_json("log", {"--type", "convolution", "--phase", phase}, folder.path());
    EXPECT_EQ(document["total_ns"], std::llround(std::strtod(awk.out.c_str(), nullptr) * 1e6));
    EXPECT_EQ(document["selected"], 2);
  }
  const json all = analyze_json("log", {"--phase", "all"}, folder.path());
  EXPECT_EQ(all["selected"], 4);
  EXPECT_EQ(all["total_ns"], 2 * (20'753'900 + 103'027));
}

TEST(AnalyzeOptions, TopCutsAnd0IsAll) {
  EXPECT_EQ(analyze_json(kPyprof, {"-t", "3"})["rows"].size(), 3u);
  EXPECT_EQ(analyze_json(kPyprof, {"--top", "0"})["rows"].size(), 34u);
  EXPECT_EQ(analyze_json(kPyprof, {})["rows"].size(), 34u);
  EXPECT_THAT(analyze(kPyprof, {}).out, HasSubstr("20 of 34 rows; -t 0 shows all"));
  EXPECT_EQ(analyze_json(kPyprof, {"-t", "3"})["total_ns"], 3'683'771);
}

TEST(AnalyzeOptions, FiltersChooseExactRows) {
  const auto indices = [](Words options) {
    options.insert(options.end(), {"-c", "index", "--order-by", "+index"});
    return column_values<int>(analyze_json(kPyprof, options), "index");
  };
  EXPECT_THAT(indices({"--type", "relu"}), ElementsAre(7, 14, 22, 34));
  EXPECT_THAT(indices({"--type", "relu", "--type", "iadd"}), ElementsAre(7, 14, 22, 33, 34));
  EXPECT_THAT(indices({"--type", "conv2d", "--name", "^volta_.*884cudnn"}),
              ElementsAre(10, 24, 29));
  EXPECT_THAT(indices({"--layer", "BN2"}), ElementsAre(19, 20, 21));
  EXPECT_THAT(indices({"--layer", "Bottleneck_1:ReLU"}), ElementsAre(14, 22, 34));
  EXPECT_THAT(indices({"--dtype", "f16", "--type", "batch_norm", "--layer", "BN1"}),
              ElementsAre(12, 13));
  EXPECT_THAT(indices({"--min-time", "200us"}), ElementsAre(3, 5, 33));
  EXPECT_THAT(indices({"--min-time", "0.0002"}), ElementsAre(3, 5, 33));
  EXPECT_THAT(indices({"--max-time", "1472ns"}), ElementsAre(9, 28, 35));
  EXPECT_THAT(indices({"--min-time", "2us", "--max-time", "0.003ms"}), ElementsAre(2, 4, 16));
  EXPECT_THAT(indices({"--direction", "backward"}), IsEmpty());
  EXPECT_EQ(indices({"--direction", "forward"}).size(), 34u);
  EXPECT_EQ(indices({"--device", "cuda"}).size(), 34u);
  EXPECT_THAT(indices({"--device", "cpu"}), IsEmpty());
  EXPECT_EQ(indices({"--kind", "kernel"}).size(), 34u);
  EXPECT_THAT(indices({"--kind", "primitive", "--kind", "memcpy"}), IsEmpty());
}

TEST(AnalyzeOptions, AnEmptySelectionSaysSoWithStatus0) {
  const ProgramResult table = analyze(kPyprof, {"--type", "no_such"});
  EXPECT_EQ(table.status, 0);
  EXPECT_THAT(table.out, HasSubstr("nothing selected; the file contains 34 kernel"));
  const ProgramResult csv = analyze(kPyprof, {"--type", "no_such", "--format", "csv"});
  EXPECT_EQ(csv.status, 0);
  EXPECT_EQ(csv.out.find('\n'), csv.out.size() - 1);  // only the header
  EXPECT_THAT(csv.err, HasSubstr("nothing selected"));
}

TEST(AnalyzeOptions, UnknownValuesAreLastInEveryOrder) {
  const auto known_bandwidths = [](const std::string& order) {
    const json document = analyze_json(kPyprof, {"--order-by", order, "-c", "bandwidth"});
    std::vector<bool> is_known;
    for (const json& row : document["rows"]) is_known.push_back(row.contains("bandwidth"));
    return is_known;
  };
  for (const std::string order : {"bandwidth", "+bandwidth"}) {
    const std::vector<bool> rows = known_bandwidths(order);
    ASSERT_EQ(rows.size(), 34u);
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(), std::greater<>())) << order;
    EXPECT_EQ(std::count(rows.begin(), rows.end(), false), 2) << order;
  }
}

TEST(AnalyzeOptions, UnknownColumnsAreAnErrorWithThePlaceOfTheList) {
  const ProgramResult result = analyze(kPyprof, {"-c", "index,bandwith"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--columns: unknown column `bandwith`"));
  EXPECT_THAT(result.err, HasSubstr("did you mean `bandwidth`"));
  EXPECT_THAT(result.err, HasSubstr("docs/analyze.md all"));
  EXPECT_THAT(result.out, IsEmpty());
}

TEST(AnalyzeOptions, AWidthThatIsTooSmallIsRefused) {
  const ProgramResult fewer = analyze(kPyprof, {"-w", "80"});
  EXPECT_EQ(fewer.status, 0) << fewer.err;
  EXPECT_THAT(fewer.out, HasSubstr("more columns: a larger --width, or -c, shows them"));
  const ProgramResult narrow = analyze(kPyprof, {"-w", "40", "-c", "kernel,op,sil"});
  EXPECT_EQ(narrow.status, 0) << narrow.err;
  const ProgramResult result = analyze(kPyprof, {"-w", "20", "-c", "kernel,op,sil"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--width: the table needs a width of"));
}

TEST(AnalyzeStreams, StandardInputIsAFileLikeOthers) {
  const ProgramResult result =
      shell(fmt::format("cat {} | \"$BENCH\" analyze - --format csv", kPyprof));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, analyze(kPyprof, {"--format", "csv"}).out);
}

TEST(AnalyzeStreams, PackedFilesAreUnpacked) {
  const TemporaryFolder folder;
  const std::string text = read_text(std::string(BENCH_SOURCE_DIR) + "/" + kPyprof);
  gzFile file = gzopen(folder.file("t.gz").c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(file);
  EXPECT_EQ(analyze_json("t.gz", {}, folder.path())["total_ns"], 3'683'771);
}

TEST(AnalyzeStreams, AClosedPipeIsNoError) {
  const TemporaryFolder folder;
  std::string table = "Idx,Op,Kernel,Sil(ns)\n";
  for (int i = 0; i < 20'000; ++i) table += fmt::format("{},relu,elementwise_kernel,100\n", i);
  folder.write("long.csv", table);
  const ProgramResult result =
      shell("\"$BENCH\" analyze long.csv --format csv | head -n 1", folder.path());
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, StartsWith("time_ns,"));
  EXPECT_THAT(result.err, HasSubstr("\nbench analyze: What was recorded was 2.000 ms."));
}

TEST(AnalyzeStreams, AFullDiskIsOne) {
  const ProgramResult result = shell(fmt::format("\"$BENCH\" analyze {} > /dev/full", kPyprof));
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("cannot write"));
}

TEST(AnalyzeSources, TheSpoolOfAKilledProfile) {
  const TemporaryFolder folder;
  std::string line = read_text(std::string(BENCH_SOURCE_DIR) + "/" + kSeedLog);
  line = line.substr(line.find("dnnl_verbose,exec"));
  line.pop_back();
  folder.write("p.jsonl.spool",
               "{\"record\":\"process\",\"pid\":7,\"tid\":7,\"ns\":1,\"program\":\"/usr/bin/p\"}\n"
               "{\"record\":\"verbose\",\"pid\":7,\"tid\":8,\"ns\":90000000,\"text\":\"" +
                   line + "\"}\n{\"record\":\"verbose\",\"pid\":7,\"tid");
  const json document =
      analyze_json("p.jsonl.spool", {"-c", "type,tid,start_ns,flops"}, folder.path());
  EXPECT_EQ(document["rows"], json::parse(R"([{"type": "convolution", "tid": 8,
                                               "start_ns": 69246100, "flops": 38654705664}])"));
}

TEST(AnalyzeSources, AProfileThatAProgramMadeWithTheLibrary) {
  const TemporaryFolder folder;
  const ProgramResult program =
      shell("\"$PROGRAM\" plain && mv profile-*.jsonl p.jsonl", folder.path(),
            {{"PROGRAM", BENCH_PROFILED_PROGRAM}, {"BENCH_PROFILE_AUTOSTART", "1"}});
  ASSERT_EQ(program.status, 0) << program.err;
  const ProgramResult plain = analyze("p.jsonl", {}, folder.path());
  EXPECT_EQ(plain.status, 0);
  EXPECT_THAT(plain.err, IsEmpty());
  const json ranges =
      analyze_json("p.jsonl", {"-c", "name,domain", "--order-by", "+start_ns"}, folder.path());
  EXPECT_THAT(column_values<std::string>(ranges, "name"),
              testing::IsSupersetOf({"epoch", "step", "load"}));
  const json inner = analyze_json("p.jsonl", {"--layer", "encoder:a\\:b"}, folder.path());
  EXPECT_THAT(column_values<std::string>(inner, "name"), testing::Contains("attention"));
  EXPECT_GT(analyze_json("p.jsonl", {"--kind", "counter"}, folder.path())["selected"], 0);
  EXPECT_GT(analyze_json("p.jsonl", {"--kind", "marker"}, folder.path())["selected"], 0);
}

// A profile of these activities: name, start, duration. Ranges are steps.
std::string step_profile(const std::string& rank, std::int64_t realtime, std::int64_t time) {
  std::string text = fmt::format(
      R"({{"record":"profile","schema":"bench.profile/1","environment":{{"details":{{"rank":"{}",)"
      R"("clock.start.realtime_ns":"{}","clock.start.monotonic_ns":"1000","clock.boot":"{}"}}}}}})"
      "\n",
      rank, realtime, rank);
  for (int i = 0; i < 3; ++i) {
    text += fmt::format(
        R"({{"record":"activity","kind":"primitive","name":"conv","start_ns":{},"duration_ns":{},)"
        R"("pid":7,"tid":7}})"
        "\n"
        R"({{"record":"activity","kind":"range","name":"step","start_ns":{},"duration_ns":1000,)"
        R"("pid":7,"tid":7}})"
        "\n",
        2000 + 1000 * i, time, 2000 + 1000 * i);
  }
  return text;
}

TEST(AnalyzeSeveral, RanksAreOnOneClockAndGroups) {
  const TemporaryFolder folder;
  folder.write("a.jsonl", step_profile("0", 5'000'000, 100));
  folder.write("b.jsonl", step_profile("1", 5'000'400, 200));
  const ProgramResult table =
      run_program({{BENCH_BINARY, "analyze", "a.jsonl", "b.jsonl", "--aggregate-by", "rank"},
                   folder.path(),
                   {}});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("Times are those of the clock of a.jsonl."));
  EXPECT_THAT(table.out, HasSubstr("b.jsonl: offset +400 ns (+400 ns)"));
  EXPECT_THAT(table.out, HasSubstr("a.jsonl and 1 more file: profile, 12 activities"));
  const ProgramResult rows = run_program({{BENCH_BINARY, "analyze", "a.jsonl", "b.jsonl", "--json",
                                           "--order-by", "+start_ns", "-c", "rank,start_ns"},
                                          folder.path(),
                                          {}});
  EXPECT_THAT(column_values<int>(json::parse(rows.out), "start_ns"),
              ElementsAre(2000, 2400, 3000, 3400, 4000, 4400));
  EXPECT_THAT(rows.err, HasSubstr("bench analyze: b.jsonl: offset +400 ns"));
}

TEST(AnalyzeSteps, EachStepHasItsBusyAndIdleTime) {
  const TemporaryFolder folder;
  folder.write("a.jsonl", step_profile("0", 5'000'000, 100));
  const json document = analyze_json("a.jsonl", {"--steps"}, folder.path());
  EXPECT_THAT(column_values<int>(document, "busy_ns"), ElementsAre(100, 100, 100));
  EXPECT_THAT(column_values<int>(document, "idle_ns"), ElementsAre(900, 900, 900));
  EXPECT_THAT(document["answer"].get<std::string>(), StartsWith("3 steps took 1.000 us"));
  const ProgramResult none = analyze("a.jsonl", {"--steps=epoch"}, folder.path());
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("ranges: step (3)"));
  EXPECT_THAT(analyze("a.jsonl", {"--steps", "--name", "x"}, folder.path()).err,
              HasSubstr("--steps accepts only"));
}

TEST(AnalyzeAgainst, TheDifferenceOfTwoProfilesIsARowPerType) {
  const TemporaryFolder folder;
  folder.write("new.jsonl", step_profile("0", 5'000'000, 200));
  folder.write("old.jsonl", step_profile("1", 5'000'400, 100));
  const json document = analyze_json("new.jsonl", {"--against", "old.jsonl"}, folder.path());
  ASSERT_EQ(document["rows"].size(), 1U);
  EXPECT_EQ(document["rows"][0]["difference_ns"], 100);
  EXPECT_THAT(document["answer"].get<std::string>(),
              StartsWith("new.jsonl is slower than old.jsonl: 200 ns against 100 ns"));
  const struct {
    Words options;
    const char* what;
  } rows[] = {
      {{"--against", "new.jsonl"}, "is the same file as"},
      {{"--against", std::string(BENCH_SOURCE_DIR) + "/" + kLog}, "is a log of oneDNN"},
      {{"--against", "nowhere.jsonl"}, "nowhere.jsonl"},
      {{"--against", "old.jsonl", "--align", "start"}, "--align: does not apply to --against"},
      {{"--align", "start"}, "--align: puts several files onto one clock"},
      {{"old.jsonl", "--against", "old.jsonl"}, "compares one profile with one other"},
      {{"--against", "old.jsonl", "--steps"}, "cannot be combined with --against"}};
  for (const auto& row : rows) {
    const ProgramResult refused = analyze("new.jsonl", row.options, folder.path());
    EXPECT_EQ(refused.status, 2) << row.what;
    EXPECT_THAT(refused.err, HasSubstr(row.what));
  }
}

TEST(AnalyzeSources, AProfiledRun) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", R"(version: 1
name: tiny
defaults:
  warmup: { iterations: 1, time: 1ms }
  measure: { processes: 1, min_iterations: 3, max_time: 4ms }
cases:
  - { op: conv, c: 8, h: 8, k: 8, r: 3, pad: 1 }
  - { op: gemm, m: 64, n: 64, k: 64 }
)");
  const ProgramResult run =
      run_program({{BENCH_BINARY, "run", "tiny.yaml", "--profile=operators,api,memory",
                    "--profile-iterations", "0-3", "--out", "r.jsonl"},
                   folder.path(),
                   {}});
  ASSERT_EQ(run.status, 0) << run.err;
  const ProgramResult plain = analyze("r.jsonl", {}, folder.path());
  EXPECT_EQ(plain.status, 0);
  EXPECT_THAT(plain.err, IsEmpty());  // no malformed or unknown lines

  const json cases =
      analyze_json("r.jsonl", {"--aggregate-by", "case", "--type", "primitive"}, folder.path());
  EXPECT_EQ(cases["rows"].size(), 2u);
  EXPECT_THAT(column_values<int>(cases, "count"), Each(4));
  const json gemm =
      analyze_json("r.jsonl", {"--type", "gemm", "-c", "flops,flops_per_s,op"}, folder.path());
  EXPECT_THAT(column_values<int>(gemm, "flops"), ElementsAre(524288, 524288, 524288, 524288));
  for (const json& row : gemm["rows"]) EXPECT_GT(row["flops_per_s"], 0.0);
  for (const Words& options : {Words{"--phase", "create"}, Words{"--kind", "api"},
                               Words{"--kind", "allocation"}, Words{"--kind", "counter"}}) {
    EXPECT_GT(analyze_json("r.jsonl", options, folder.path())["selected"], 0) << options[1];
  }
}

}  // namespace
}  // namespace bench::test::analyze_test
