// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Collected final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  std::vector<Activity> activities;
};

struct Log {
  Result<ReadReport> report = Error{};
  std::vector<Activity> activities;
};

Log read_text(std::string text) {
  const auto source = text_source_for_test("log", std::move(text));
  Collected sink;
  Log log;
  log.report = onednn_reader.read(*source, sink);
  log.activities = std::move(sink.activities);
  return log;
}

std::string read_testdata(const std::string& name) {
  std::ifstream file(std::string(BENCH_SOURCE_DIR) + "/profiler/onednn/testdata/" + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string format_record(std::string_view operation, std::string_view time) {
  std::string text = "onednn_verbose,";
  text.append(operation);
  return text.append(",cpu,convolution,jit,undef,src_f32::blocked:ab:f0,,,2x2,").append(time);
}

// Returns the total time of a phase, as the awk command below computes it.
Nanoseconds total(const std::vector<Activity>& activities, std::string_view phase) {
  Nanoseconds sum{0};
  for (const Activity& activity : activities) {
    const Attributes& attributes = activity.attributes;
    const bool matches = attributes.text(Attribute::phase) == phase &&
                         attributes.text(Attribute::engine) == "cpu" &&
                         attributes.text(Attribute::primitive) == "convolution";
    if (matches) sum += activity.duration.value_or(Nanoseconds(0));
  }
  return sum;
}

TEST(OnednnReader, TheSeedsLog) {
  const Log log = read_text(read_testdata("onednn_1.1.2_seed.log"));
  ASSERT_TRUE(log.report.ok());
  EXPECT_EQ(log.report->lines, 3);
  EXPECT_EQ(log.report->activities, 1);
  EXPECT_EQ(log.report->malformed + log.report->unknown + log.report->ignored, 0);
  EXPECT_EQ(log.report->facts.at("library.onednn.version"), "1.1.2");
  EXPECT_EQ(total(log.activities, "exec"), Nanoseconds(20'753'900));
  EXPECT_EQ(log.activities.at(0).attributes.integer(Attribute::line), 3);
}

// The totals are those of
// `grep "create,cpu,convolution" | awk -F, '{SUM+=$11} END {print SUM}'`, and the same for exec.
TEST(OnednnReader, BothTotalsOfTheSeed) {
  std::string text = read_testdata("onednn_1.1.2_seed.log");
  const std::string exec = text.substr(text.find("dnnl_verbose,exec"));
  std::string create = exec;
  create.replace(create.find("exec"), 4, "create");
  create.replace(create.rfind(',') + 1, std::string::npos, "0.250977\n");
  std::string reorder = exec;
  reorder.replace(reorder.find("convolution"), std::string("convolution").size(), "reorder");
  const Log log = read_text(text + create + exec + reorder + create);
  ASSERT_TRUE(log.report.ok());
  EXPECT_EQ(total(log.activities, "exec"), Nanoseconds(2 * 20'753'900));
  EXPECT_EQ(total(log.activities, "create"), Nanoseconds(2 * 250'977));
}

TEST(OnednnReader, ReadsLogsOfAllVersionsWhole) {
  struct Row {
    const char* name;
    int executions;
    const char* version;
  };
  for (const auto& [name, executions, version] : {Row{"onednn_1.0.log", 33, "1.0.4"},
                                                  {"onednn_2.0.log", 42, "2.0.0"},
                                                  {"onednn_2.4.log", 42, "2.4.0"},
                                                  {"onednn_2.6_timestamps.log", 42, "2.6.0"},
                                                  {"onednn_3.0.log", 43, "3.0.0"},
                                                  {"onednn_3.2_timestamps.log", 43, "3.2.0"},
                                                  {"onednn_3.3_timestamps.log", 43, "3.3.0"},
                                                  {"onednn_3.5.log", 43, "3.5.0"},
                                                  {"onednn_3.6.log", 43, "3.6.1"},
                                                  {"onednn_3.13_timestamps.log", 43, "3.13.2"}}) {
    SCOPED_TRACE(name);
    const std::string text = read_testdata(name);
    EXPECT_TRUE(onednn_reader.recognises(text));
    const Log log = read_text(text);
    ASSERT_TRUE(log.report.ok()) << log.report.error().message();
    EXPECT_THAT(log.report->notes, IsEmpty());
    EXPECT_EQ(log.report->malformed + log.report->unknown, 0);
    EXPECT_GE(log.report->ignored, 2);  // "program: starts", "program: ends"
    EXPECT_EQ(log.report->facts.at("library.onednn.version"), version);
    const auto executed = std::ranges::count_if(log.activities, [](const Activity& activity) {
      return activity.attributes.text(Attribute::phase) == "exec";
    });
    EXPECT_EQ(executed, executions);
  }
}

TEST(OnednnReader, WithoutTimestampsRecordsAreLaidEndToEnd) {
  const Log log =
      read_text(format_record("create", "2") + "\n" + format_record("exec", "0.5") +
                "\nonednn_verbose,exec:check,primitive,unused,src/a.cpp:1\n" +
                format_record("create_nested:cache_miss", "3") + "\n" +
                format_record("create:cache_miss", "4") + "\n" + format_record("exec", "1") + "\n");
  ASSERT_TRUE(log.report.ok());
  std::vector<std::int64_t> starts;
  for (const Activity& activity : log.activities) starts.push_back(activity.start.count());
  EXPECT_THAT(starts, ElementsAre(0, 2'000'000, 2'500'000, 2'500'000, 2'500'000, 6'500'000));
}

TEST(OnednnReader, TimestampsWhereThereAreSome) {
  const Log log = read_text(read_testdata("onednn_3.13_timestamps.log"));
  Nanoseconds previous_end{0};
  for (const Activity& activity : log.activities) {
    // Includes a debugging line before the first record, which has no timestamp itself.
    EXPECT_GT(activity.start.count(), 1'795'264'000'000'000'000) << activity.name;
    if (activity.attributes.text(Attribute::phase) != "exec") continue;
    EXPECT_GE(activity.start, previous_end);
    previous_end = activity.start + *activity.duration;
  }
}

TEST(OnednnReader, GraphPartitionsHaveATrackOfTheirOwn) {
  const Log log = read_text(read_testdata("onednn_3.13_graph.log"));
  ASSERT_TRUE(log.report.ok());
  for (const Activity& activity : log.activities) {
    const bool is_graph = activity.attributes.text(Attribute::phase) == "graph";
    EXPECT_EQ(activity.track.tid, is_graph ? -1 : 0);
  }
}

TEST(OnednnReader, DamageIsCountedAndTold) {
  const std::string valid_record = format_record("exec", "1");
  const Log log = read_text("epoch 1\n" + valid_record + "\n" + valid_record.substr(0, 40) + "\n" +
                            valid_record + "7,\n\x01\xff\n" + valid_record + valid_record +
                            "\nonednn_verbose,v2,exec,cpu\n" + valid_record.substr(0, 30));
  ASSERT_TRUE(log.report.ok());
  EXPECT_EQ(log.report->lines, 8);
  EXPECT_EQ(log.report->activities, 2);
  EXPECT_EQ(log.report->malformed, 4);
  EXPECT_EQ(log.report->unknown, 1);
  EXPECT_EQ(log.report->ignored, 2);
  EXPECT_THAT(log.report->notes,
              ElementsAre("log:3: 4 fields after the operation, expected 9",
                          HasSubstr("log:4: 10 fields after the operation, expected 9"),
                          "log:6: another record begins before this line ends: its last number may "
                          "be cut",
                          HasSubstr("log:7: unknown format `v2`"), HasSubstr("log:8: ")));
}

// Earlier, a log that ended within its last number, 14.02 ms, was read as 1 ms.
TEST(OnednnReader, ALogTornInItsLastNumberDoesNotBecomeThatNumber) {
  const std::string full_text =
      format_record("exec", "2") + "\n" + format_record("exec", "14.02") + "\n";
  const Log complete = read_text(full_text);
  ASSERT_EQ(complete.activities.size(), 2U);
  EXPECT_EQ(complete.activities[1].duration, Nanoseconds(14'020'000));
  for (std::size_t missing_bytes = 1; missing_bytes <= std::string("4.02\n").size();
       ++missing_bytes) {
    const Log log = read_text(full_text.substr(0, full_text.size() - missing_bytes));
    ASSERT_TRUE(log.report.ok());
    ASSERT_THAT(log.activities, SizeIs(1)) << missing_bytes;
    EXPECT_EQ(log.activities[0].duration, Nanoseconds(2'000'000));
    EXPECT_EQ(log.report->malformed, 1);
    EXPECT_THAT(log.report->notes, ElementsAre("log:2: the text ends before this line does: its "
                                               "last number may be cut"));
  }
  const Log only_record = read_text(format_record("exec", "14"));
  ASSERT_FALSE(only_record.report.ok());
  EXPECT_THAT(only_record.report.error().message(),
              HasSubstr("log:1: no record of oneDNN could be read"));
}

TEST(OnednnReader, TornRecordsAreJoined) {
  const std::string valid_record = format_record("exec", "1");
  for (std::size_t position = std::string("onednn_verbose,").size();
       position + 1 < valid_record.size(); ++position) {
    const Log log = read_text(valid_record.substr(0, position) + "\n" +
                              valid_record.substr(position) + "\n" + valid_record + "\n");
    ASSERT_TRUE(log.report.ok()) << position;
    EXPECT_EQ(log.report->activities, 2) << position;
    EXPECT_EQ(log.report->malformed + log.report->ignored, 0) << position;
  }
  const Log log = read_text(valid_record.substr(0, 40) + "\nloss 0.5\n" + valid_record + "\n");
  EXPECT_EQ(log.report->malformed, 1);
  EXPECT_EQ(log.report->ignored, 1);
  EXPECT_THAT(log.activities, SizeIs(1));
}

// oneDNN 2.3 to 3.5 print the template in several pieces.
TEST(OnednnReader, ATornTemplateIsJoined) {
  const Log log = read_text(
      "onednn_verbose,info,prim_template:\noperation,exec_time,primitive,engine\n"
      "onednn_verbose,exec,0.5,softmax,cpu\n");
  ASSERT_TRUE(log.report.ok());
  ASSERT_THAT(log.activities, SizeIs(1));
  EXPECT_EQ(log.activities[0].duration, Nanoseconds(500'000));
}

TEST(OnednnReader, UnknownVersionsAreErrorsNeverZeros) {
  const Log v2 = read_text("onednn_verbose,v2,info,oneDNN v9.0.0\nonednn_verbose,v2,exec,cpu,1\n");
  ASSERT_FALSE(v2.report.ok());
  EXPECT_EQ(v2.report.error().message(),
            "log:1: no record of oneDNN could be read: unknown format `v2`, supported up to `v1`; "
            "supported are the verbose lines of MKL-DNN 0.10 to oneDNN 3.13");
}

// Earlier, these logs were refused.
TEST(OnednnReader, ReadsVersion0) {
  const Log log = read_text(
      "mkldnn_verbose,info,Intel(R) MKL-DNN v0.21.1 (Git Hash 7d2fd5), Intel AVX2\n"
      "mkldnn_verbose,exec,convolution,jit:avx2,forward_training,fsrc:nchw,alg:a,mb2,0.5\n");
  ASSERT_TRUE(log.report.ok());
  EXPECT_EQ(log.report->facts.at("library.onednn.version"), "0.21.1");
  EXPECT_EQ(log.report->facts.at("library.onednn.commit"), "7d2fd5");
  ASSERT_THAT(log.activities, SizeIs(1));
  EXPECT_EQ(log.activities[0].duration, Nanoseconds(500'000));
}

std::string wrapped_at(std::size_t width, const std::string& text) {
  std::string result;
  std::size_t column = 0;
  for (const char c : text) {
    if (column == width && c != '\n') {
      result += '\n';
      column = 0;
    }
    result += c;
    column = c == '\n' ? 0 : column + 1;
  }
  return result;
}

// Earlier, only records that continue on one more line were read.
TEST(OnednnReader, LinesWrappedByATerminalAreReadAtEveryWidth) {
  std::string text = "onednn_verbose,info,cpu,isa:Intel AVX-512 with float16 and more\n";
  for (const char* time : {"1", "27000.5", "0.0625", "1e-05", "12.5"}) {
    text += format_record("exec", time) + "\n";
  }
  const Log whole = read_text(text);
  ASSERT_THAT(whole.activities, SizeIs(5));
  // From 76 characters on, each record would be complete at the end of its first line.
  for (std::size_t width = 20; width < 76; ++width) {
    const Log log = read_text("a program's output\n" + wrapped_at(width, text) + "end\n");
    ASSERT_TRUE(log.report.ok()) << width;
    ASSERT_THAT(log.activities, SizeIs(5)) << width;
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(log.activities[i].duration, whole.activities[i].duration) << width;
    }
    EXPECT_EQ(log.report->malformed, 0) << width;
    EXPECT_EQ(log.report->ignored, 2) << width;
    EXPECT_EQ(log.report->facts, whole.report->facts) << width;
  }
}

// Earlier, such a record grew with every line, and each line was decoded with all before it.
TEST(OnednnReader, ARecordThatNeverEndsIsRefused) {
  const std::string record = format_record("exec", "2");
  const std::string cut = record.substr(0, record.size() / 2);
  for (const std::string& next : {std::string("x\\"), std::string(cut.size(), 'x')}) {
    std::string text = record + "\n" + cut + (next.ends_with('\\') ? "\\" : "") + "\n";
    for (int i = 0; i < 10000; ++i) text += next + "\n";
    const Log log = read_text(text + record + "\n");
    EXPECT_THAT(log.activities, SizeIs(2)) << next;
    EXPECT_EQ(log.report->malformed, 1) << next;
    EXPECT_EQ(log.report->ignored, 10000) << next;
  }
}

// Equally long lines do not make a wrapped log.
TEST(OnednnReader, AProgramsNumbersAreNotJoinedToWholeRecords) {
  std::string text;
  for (int i = 0; i < 9; ++i) text += format_record("exec", "0.5") + "\n42\n";
  const Log log = read_text(text);
  ASSERT_THAT(log.activities, SizeIs(9));
  for (const Activity& activity : log.activities) {
    EXPECT_EQ(activity.duration, Nanoseconds(500'000));
  }
  EXPECT_EQ(log.report->ignored, 9);
}

// Earlier, the label was thrown away, and the processes became one.
TEST(OnednnReader, LabelsOfALauncherAreRanks) {
  const std::string record = format_record("exec", "2");
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {"[1,0]<stdout>:", "[1,12]<stderr>:"},
           {"[prterun-host-12@1,0]<stdout>: ", "[prterun-host-12@1,12]<stdout>: "},
           {"Fri Nov 27 [1,0]<stdout>:", "Fri Nov 27 [1,12]<stdout>:"},
           {"[0]<stdout>:", "[12]<stderr>:"},
           {"[0] ", "[12] "},
           {" 0: ", "12: "},
           {"[default0]:", "[default12]:"},
           {"[rank0]:", "[rank12]: "}}) {
    const Log log =
        read_text(first + record + "\n" + second + record + "\n" + first + record.substr(0, 40) +
                  "\n" + second + "loss 1\n" + first + record.substr(40) + "\nloss 2\n");
    ASSERT_TRUE(log.report.ok()) << first;
    ASSERT_THAT(log.activities, SizeIs(3)) << first;
    std::vector<std::int64_t> ranks, starts;
    for (const Activity& activity : log.activities) {
      ranks.push_back(activity.attributes.integer(Attribute::rank).value_or(-1));
      starts.push_back(activity.start.count());
    }
    EXPECT_THAT(ranks, ElementsAre(0, 12, 0)) << first;
    EXPECT_THAT(starts, ElementsAre(0, 0, 2'000'000)) << first;
    EXPECT_NE(log.activities[0].track.pid, log.activities[1].track.pid) << first;
    EXPECT_EQ(log.report->ignored, 2) << first;
  }
  const Log unlabelled = read_text("[3] loss 1 " + record + "\n" + record + "\n");
  ASSERT_THAT(unlabelled.activities, SizeIs(2));
  EXPECT_EQ(unlabelled.activities[0].attributes.integer(Attribute::rank), std::nullopt);
}

// Earlier, they were rows of the table only if one asked for them.
TEST(OnednnReader, ErrorsOfTheLibraryAreCounted) {
  const Log log = read_text(format_record("exec", "1") +
                            "\nonednn_verbose,v1,common,error,ocl,no device,src/a.cpp:1\n" +
                            "onednn_verbose,v1,primitive,error,gpu,jit,no,src/a.cpp:2\n");
  ASSERT_TRUE(log.report.ok());
  EXPECT_EQ(log.report->library_errors, 2);
  EXPECT_THAT(log.report->library_error_lines, ElementsAre(2, 3));
}

TEST(OnednnReader, ALogWithoutRecordsIsEmpty) {
  const Log log = read_text("onednn_verbose,info,oneDNN v3.2.0 (commit x)\n");
  ASSERT_TRUE(log.report.ok());
  EXPECT_EQ(log.report->activities, 0);
}

TEST(OnednnReader, LinesMayComeLate) {
  std::string text;
  while (text.size() <= kHeadSize) text += "epoch 1, loss 0.25\n";
  EXPECT_TRUE(onednn_reader.recognises(text_source_for_test("log", text)->head()));
  const Log nothing = read_text(text);
  ASSERT_FALSE(nothing.report.ok());
  EXPECT_THAT(nothing.report.error().message(), HasSubstr("no oneDNN verbose line found"));
  const Log late = read_text(text + format_record("exec", "0.5") + "\n");
  ASSERT_TRUE(late.report.ok());
  EXPECT_THAT(late.activities, SizeIs(1));
}

TEST(OnednnReader, RecognisesItsOwnLinesAlone) {
  EXPECT_TRUE(onednn_reader.recognises("loss 1\ndnnl_verbose,info,"));
  EXPECT_FALSE(onednn_reader.recognises("loss 1\n"));
  EXPECT_TRUE(onednn_reader.recognises("{\"log\":\"dnnl_verbose,info,\"}"));  // a collector's line
  EXPECT_FALSE(onednn_reader.recognises("{\"schema\":\"x/1\",\"log\":\"dnnl_verbose,info,\"}"));
}

TEST(OnednnReader, ASinkThatTakesNoMoreEndsTheReading) {
  class Full final : public ActivitySink {
    Status consume(const Activity& /*activity*/) override { return Error{"disk full", "", ""}; }
  };
  const auto source = text_source_for_test("log", format_record("exec", "1") + "\n");
  Full sink;
  EXPECT_EQ(onednn_reader.read(*source, sink).error().what, "disk full");
}

}  // namespace
}  // namespace bench
