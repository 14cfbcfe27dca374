// SPDX-License-Identifier: Apache-2.0
// Tests which reader reads which file, and the readers of this tool's own files.
#include "profiler/activity_json.hpp"
#include "profiler/readers/readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

struct Names final : public ActivitySink {
  Status consume(const Activity& activity) override {
    names.push_back(activity.name);
    return Done{};
  }
  std::vector<std::string> names;
};

std::string reader_for(std::string text) {
  const auto source = text_source_for_test("file", std::move(text));
  const auto reader = find_reader(*source);
  return reader.ok() ? std::string((*reader)->name) : reader.error().message();
}

Result<ReadReport> read(std::string text, Names& names) {
  const auto source = text_source_for_test("file", std::move(text));
  return read_activities(*source, names);
}

std::string activity(const std::string& name) {
  Activity made;
  made.name = name;
  return to_json_line(made, "") + "\n";
}

constexpr const char* kRun =
    "{\"record\":\"run\",\"schema\":\"bench.result/1\",\"run_id\":\"r\"}\n";
constexpr const char* kProfile = "{\"record\": \"profile\", \"schema\" : \"bench.profile/1\"}\n";
constexpr const char* kLine =
    "onednn_verbose,exec,cpu,eltwise,jit,forward_inference,data_f32::blocked:ab:f0,,"
    "alg:eltwise_relu,4x4,0.001";

TEST(Readers, AreFoundByContent) {
  EXPECT_EQ(reader_for(kRun), "result");
  EXPECT_EQ(reader_for(kProfile), "profile");
  EXPECT_EQ(reader_for("hello\n" + std::string(kLine) + "\n"), "onednn");
  EXPECT_EQ(reader_for("Idx,Op,Sil(ns)\n"), "pyprof");
  EXPECT_EQ(reader_for("{\"record\":\"process\",\"pid\":1,\"tid\":1,\"ns\":1}\n"), "capture");
  EXPECT_EQ(reader_for("{\"traceEvents\": [{\"ph\":\"X\", \"cat\": \"cpu_op\"}]}"), "kineto");
  const std::string database("SQLite format 3\0\x10\0", 18);
  EXPECT_EQ(reader_for(database), "nsys_sqlite");
  EXPECT_EQ(reader_for(database + "CREATE TABLE StringTable("), "nvprof_sqlite");
  EXPECT_EQ(reader_for(activity("of a file whose first line was lost")), "result");
  EXPECT_EQ(reader_for("torn\"}\n" + activity("a")), "result");
}

TEST(Readers, AResultThatQuotesALogOrAProfileIsStillAResult) {
  EXPECT_EQ(reader_for(kRun + activity(kLine)), "result");
  EXPECT_EQ(reader_for(kRun + activity("\"schema\":\"bench.profile/1\"")), "result");
}

TEST(Readers, OfAnUnknownOrEmptyFileThereIsNoneAndWhatThereWouldBeIsNamed) {
  EXPECT_THAT(reader_for(""), HasSubstr("file: is empty"));
  for (const char* text : {"hello\n", "{\"a\": 1}\n",
                           "\x7f"
                           "ELF\x02\x01",
                           "name,time\na,1\n"}) {
    const std::string message = reader_for(text);
    EXPECT_THAT(message, HasSubstr("file: the format of the file is unknown")) << text;
    for (const ActivityReader& reader : activity_readers()) {
      EXPECT_THAT(message, HasSubstr(std::string(reader.name)));
    }
  }
}

TEST(Readers, AFileOfAnotherProfilerIsNamedWithWhatToDo) {
  struct Foreign {
    std::string_view text, what, next;
  };
  for (const Foreign& foreign :
       {Foreign{"{\"traceEvents\": [{\"ph\": \"X\"}]}", "is a Chrome trace", "bench trace --check"},
        Foreign{"[\n{\"name\": \"a\", \"ph\": \"X\"}]", "is a Chrome trace", "bench profile --"},
        Foreign{"{\"graph_exec\": {\"operator\": {}}}", "is a profile of MegEngine's GraphProfiler",
                "profile_analyze reads it"},
        Foreign{
            "\nProfile Statistics:\n    Note the difference in units for different entries.\n"
            "operator\n=================\nName      Total Count      Time (ms)\nsum  1  0.0520\n",
            "is a table of MXNet's profiler", "bench analyze FILE --summary"},
        Foreign{"Output template: perf,%engine%,%impl%,%name%,%prb%,%Gops%\n"
                "perf,cpu,brgconv:avx2,,--mode=P --conv ic64ih56oc64oh56kh3ph1,0.462\n",
                "is output of benchdnn", "bench run FILE"},
        Foreign{"0:PASSED __REPRO: --conv ic64ih56oc64oh56kh3ph1\n"
                "tests:1 passed:1 skipped:0 mistrusted:0 unimplemented:0 invalid_arguments:0 "
                "failed:0\n",
                "is output of benchdnn", "bench import profile LOG"}}) {
    const std::string message = reader_for(std::string(foreign.text));
    EXPECT_THAT(message, HasSubstr(std::string(foreign.what)));
    EXPECT_THAT(message, HasSubstr(std::string(foreign.next)));
  }
}

TEST(JsonLines, GiveActivitiesAndFactsOfTheHeader) {
  Names names;
  const auto report = read(
      "{\"record\":\"run\",\"schema\":\"bench.result/1\",\"tool\":{\"version\":\"0.1.0\"},"
      "\"environment\":{\"cpu\":{\"model\":\"x\",\"cores\":2},\"libraries\":{\"onednn\":"
      "{\"version\":\"3.2.0\"}},\"details\":{\"isa\":\"avx2\"}}}\n"
      "\n" +
          activity("a") +
          "{\"record\":\"case\",\"id\":\"gemm\",\"device\":\"cpu\",\"kind\":\"x\"}\n" +
          activity("b"),
      names);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(names.names, ElementsAre("a", "b"));
  EXPECT_EQ(report->format, "result");
  EXPECT_EQ(report->activities, 2);
  EXPECT_EQ(report->malformed + report->unknown + report->ignored, 0);
  EXPECT_THAT(report->notes, IsEmpty());
  EXPECT_THAT(report->facts, Contains(Pair("tool.version", "0.1.0")));
  EXPECT_THAT(report->facts, Contains(Pair("library.onednn.version", "3.2.0")));
  EXPECT_THAT(report->facts, Contains(Pair("cpu.cores", "2")));
  EXPECT_THAT(report->facts, Contains(Pair("isa", "avx2")));
}

TEST(JsonLines, OnlyTheHeaderThatIsIncompleteIsNoted) {
  const std::string incomplete =
      "{\"record\":\"profile\",\"schema\":\"bench.profile/1\",\"environment\":{\"details\":"
      "{\"incomplete\":\"records could not be written\",\"isa\":\"avx2\"}}}\n";
  Names names;
  const auto report = read(incomplete + activity("a") + kProfile + activity("b"), names);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(names.names, ElementsAre("a", "b"));
  EXPECT_THAT(report->notes,
              ElementsAre("file:1: the profile is incomplete: records could not be written"));
  EXPECT_THAT(report->facts, Contains(Pair("isa", "avx2")));
}

TEST(JsonLines, DamagedLinesAreCountedAndTheOthersRead) {
  Names names;
  const std::string whole = activity("torn");
  const auto report = read(
      std::string(kProfile) + activity("a") + whole.substr(0, 30) + "\n" + whole.substr(0, 20) +
          activity("swallowed") + std::string("\0\xff\x01 binary\n", 11) +
          "{\"record\":\"activity\",\"kind\":\"teleport\",\"name\":\"x\",\"start_ns\":1}\n"
          "{\"record\":\"activity\",\"kind\":\"range\",\"name\":\"x\",\"start_ns\":\"1\"}\n"
          "{\"record\":\"activity\",\"kind\":\"range\",\"name\":\"x\"}\n"
          "[1,2]\n" +
          activity("b") + whole.substr(0, 40),
      names);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(names.names, ElementsAre("a", "b"));
  EXPECT_EQ(report->malformed, 8);
  ASSERT_EQ(report->notes.size(), 8u);
  EXPECT_THAT(report->notes[3], HasSubstr("file:6: unknown kind `teleport`"));
  EXPECT_THAT(report->notes[4], HasSubstr("file:7: `start_ns` has the wrong type"));
  EXPECT_THAT(report->notes[5], HasSubstr("file:8: no `start_ns`"));
}

// `analyze` and `trace` named what the parser missed, `report` a malformed record, `compare` this.
TEST(JsonLines, ALastLineThatIsCutIsNamedAsInResultFiles) {
  Names names;
  const auto report = read(std::string(kProfile) + activity("a") + "{\"record\":\"acti", names);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->malformed, 1);
  EXPECT_THAT(report->notes, ElementsAre("file:3: incomplete last line ignored"));
}

TEST(JsonLines, AttributesThatAreUnknownOrOfAnotherTypeAreCounted) {
  Names names;
  const auto report =
      read(std::string(kProfile) +
               "{\"record\":\"activity\",\"kind\":\"range\",\"name\":\"x\",\"start_ns\":1,"
               "\"attributes\":{\"colour\":\"red\",\"flops\":\"many\",\"bytes\":1.5,\"op\":3}}\n",
           names);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(names.names, ElementsAre("x"));
  EXPECT_EQ(report->unknown, 4);
  EXPECT_THAT(report->notes, ElementsAre(HasSubstr("file:2: ")));
}

TEST(JsonLines, AnUnknownVersionIsAnErrorAndNotAnEmptyTable) {
  Names names;
  for (const char* family : {"result", "profile"}) {
    const auto report = read(
        "{\"record\":\"run\",\"schema\":\"bench." + std::string(family) + "/2\"}\n" + activity("a"),
        names);
    ASSERT_FALSE(report.ok());
    EXPECT_THAT(report.error().message(), HasSubstr("file:1: unknown schema `bench."));
    EXPECT_THAT(report.error().message(), HasSubstr("/2`"));
  }
  EXPECT_THAT(names.names, IsEmpty());
}

TEST(JsonLines, NotesEndWhereTheyWouldFillAScreen) {
  Names names;
  std::string text = kProfile;
  for (int i = 0; i < 1000; ++i) text += "damaged\n";
  const auto report = read(text, names);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->malformed, 1000);
  EXPECT_EQ(report->notes.size(), kMaxNotes);
}

TEST(JsonLines, AnErrorOfTheSinkEndsTheReading) {
  struct Full final : public ActivitySink {
    Status consume(const Activity&) override { return Error{"disk full", "", ""}; }
  } full;
  const auto source = text_source_for_test("file", kProfile + activity("a"));
  EXPECT_FALSE(read_activities(*source, full).ok());
}

TEST(CaptureReader, ReadsWhatAKilledProfileLeft) {
  Names names;
  const std::string spool =
      "{\"record\":\"process\",\"pid\":7,\"tid\":7,\"ns\":1,\"program\":\"/usr/bin/p\"}\n"
      "{\"record\":\"verbose\",\"pid\":7,\"tid\":7,\"ns\":2000,\"text\":\"" +
      std::string(kLine) + "\"}\n";
  const auto report =
      read(spool +
               "{\"record\":\"fork\",\"pid\":8,\"tid\":8,\"ns\":-1}\n"
               "{\"record\":\"fork\",\"pid\":8,\"tid\":8,\"ns\":9223372036854775807}\n"
               "{\"record\":\"verbose\",\"pid\":7,\"ti",
           names);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->format, "capture");
  EXPECT_THAT(names.names, ElementsAre("eltwise", "p"));  // and the time of the process
  EXPECT_EQ(report->malformed, 3);
}

// The column `trace` was empty on the rows of a run.
TEST(ResultReader, ActivitiesHaveThePlaceOfTheirCaseInTheConfiguration) {
  struct Places final : public ActivitySink {
    Status consume(const Activity& activity) override {
      places.emplace_back(activity.attributes.text(Attribute::source_location));
      return Done{};
    }
    std::vector<std::string> places;
  };
  const auto of_case = [](const std::string& id, const char* place) {
    Activity made;
    made.name = "a";
    made.case_id = id;
    if (place != nullptr) made.attributes.set(Attribute::source_location, place);
    return to_json_line(made, "") + "\n";
  };
  const std::string text =
      std::string(kRun) +
      "{\"record\":\"case\",\"run_id\":\"r\",\"id\":\"gemm/a\",\"source\":\"g.yaml:5\"}\n"
      "{\"record\":\"case\",\"run_id\":\"r\",\"id\":\"gemm/b\",\"source\":\"gemm/b\"}\n" +
      of_case("gemm/a", nullptr) + of_case("gemm/a", "src/matmul.cpp:7") +
      of_case("gemm/b", nullptr) + of_case("gemm/c", nullptr) + of_case("gemm/a", nullptr) +
      of_case("", nullptr);
  Places places;
  const auto source = text_source_for_test("file", text);
  ASSERT_TRUE(read_activities(*source, places).ok());
  // The id of a case from the command line is not a place.
  EXPECT_THAT(places.places, ElementsAre("g.yaml:5", "src/matmul.cpp:7", "", "", "g.yaml:5", ""));
}

}  // namespace
}  // namespace bench
