// SPDX-License-Identifier: Apache-2.0
// GPU sessions that accompany a spool: attribution of kernels, the window, and losses.
#include "profiler/capture/gpu_rows.hpp"

#include "profiler/capture/spool_format.hpp"
#include "profiler/capture/spool_reader.hpp"
#include "profiler/gpu/gpu_record_lines.hpp"
#include "profiler/text_source.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Kept final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  std::vector<Activity> activities;
};

GpuApiCall call(std::int64_t thread, std::int64_t at, std::uint64_t correlation,
                std::string name = "cudaLaunchKernel") {
  GpuApiCall made;
  made.name = std::move(name);
  made.time = {Nanoseconds(at), Nanoseconds(at + 1)};
  made.thread = thread;
  made.correlation = correlation;
  return made;
}

GpuKernel kernel(std::string name, std::int64_t at, std::uint64_t correlation) {
  GpuKernel kernel;
  kernel.name = std::move(name);
  kernel.time = GpuInterval{Nanoseconds(at), Nanoseconds(at + 5)};
  kernel.place = {0, 1, 7};
  kernel.correlation = correlation;
  return kernel;
}

// A capture under construction: the spool and the sessions of processes.
class Capture {
 public:
  Capture& record(std::int64_t pid, std::int64_t tid, std::int64_t at, std::string_view name,
                  std::string_view fields = {}) {
    spool_ += fmt::format(R"({{"record":"{}","pid":{},"tid":{},"ns":{}{}{}}})", name, pid, tid, at,
                          fields.empty() ? "" : ",", fields);
    spool_ += '\n';
    return *this;
  }
  Capture& push(std::int64_t tid, std::int64_t at, std::string_view text) {
    return record(1, tid, at, "nvtx_push", fmt::format(R"("text":"{}")", text));
  }
  Capture& pop(std::int64_t tid, std::int64_t at) { return record(1, tid, at, "nvtx_pop"); }

  // Adds a kernel that starts 50 ns after its call.
  Capture& launch(std::int64_t tid, std::int64_t at, std::string name) {
    records_.emplace_back(call(tid, at, ++correlation_));
    records_.emplace_back(kernel(std::move(name), at + 50, correlation_));
    return *this;
  }
  Capture& add(GpuRecord record) {
    records_.push_back(std::move(record));
    return *this;
  }
  // Ends the session that contains everything added since the last one.
  Capture& session(std::int64_t pid, std::string_view end = "end") {
    GpuSession session;
    session.pid = pid;
    session.tracer = "CUPTI 13.0.1";
    session.records = std::exchange(records_, {});
    std::string text = format_gpu_session(session);
    if (end == "end") text += gpu_session_end_line({0, {}});
    if (end == "torn") text.resize(text.size() - 5);
    return file(fmt::format("{}", pid), text);
  }
  Capture& file(const std::string& suffix, const std::string& text) {
    folder_.write("s" + std::string(capture::kGpuSpoolSuffix) + suffix, text);
    return *this;
  }

  GpuRowsReport read(const CaptureWindow& window = {}, const std::set<RecordGroup>& groups = kAll) {
    rows_.activities.clear();
    SpoolOptions options;
    options.window = window;
    GpuLaunches launches(window);
    const auto paths = find_gpu_spools(folder_.file("s"));
    const auto files = scan_gpu_spools(*paths, launches);
    EXPECT_TRUE(files.ok());
    options.launches = &launches;
    options.compute_work = [](const FrameworkCall& asked) -> std::optional<FrameworkWork> {
      if (asked.name == "conv2d" && asked.arguments != nullptr) {
        return FrameworkWork{
            .op = "conv", .parameters = "c3h8k4r3", .flops = 7000, .bytes = 900, .dtype = "f16"};
      }
      if (asked.name == "aten::convolution_backward" && asked.inputs->size() > 2) {
        return FrameworkWork{
            .op = "conv", .flops = 500, .extent = GpuOperatorWork::Extent::each_gradient};
      }
      if (asked.name != "aten::mm") return std::nullopt;
      return FrameworkWork{.op = "gemm", .flops = 100};
    };
    const auto spool = text_source_for_test("s", spool_);
    const auto report = read_spool(*spool, ranges_, options);
    EXPECT_TRUE(report.ok());
    launches.finish();
    auto rows = add_gpu_rows(*files, launches, report->facts, groups, rows_);
    EXPECT_TRUE(rows.ok());
    return std::move(rows).value();
  }
  // Returns "name scope" for each kernel.
  std::vector<std::string> kernels(const CaptureWindow& window = {}) {
    read(window);
    std::vector<std::string> texts;
    for (const Activity& row : rows_.activities) {
      if (row.kind == ActivityKind::kernel) texts.push_back(row.name + " " + row.scope);
    }
    return texts;
  }
  const std::vector<Activity>& rows() const { return rows_.activities; }

 private:
  static inline const std::set<RecordGroup> kAll = {RecordGroup::operators, RecordGroup::api,
                                                    RecordGroup::memory, RecordGroup::device};
  test::TemporaryFolder folder_;
  std::string spool_;
  std::vector<GpuRecord> records_;
  std::uint64_t correlation_ = 0;
  Kept ranges_, rows_;
};

CaptureWindow window_of(std::vector<std::string> words) {
  return parse_capture_window(words).value();
}

TEST(GpuRows, AKernelIsOfTheRangesInWhichItWasAskedFor) {
  Capture capture;
  capture.push(1, 100, "layer:a").push(1, 200, "layer:b").pop(1, 300).pop(1, 400);
  capture.launch(1, 90, "before").launch(1, 150, "in_a").launch(1, 250, "in_b");
  // It runs long after the range has ended. Its call begins before the next range does.
  capture.launch(1, 299, "late").launch(1, 350, "again_a").launch(1, 450, "after").session(1);
  EXPECT_THAT(capture.kernels(),
              ElementsAre("before ", "in_a a", "in_b a:b", "late a:b", "again_a a", "after "));
}

TEST(GpuRows, RangesOfOtherThreadsAndProcessesOwnNothing) {
  Capture capture;
  capture.push(1, 100, "layer:one").push(2, 110, "layer:two");
  capture.record(9, 1, 115, "nvtx_push", R"("text":"layer:other")");
  capture.pop(1, 200).pop(2, 210);
  capture.launch(1, 150, "first").launch(2, 150, "second").launch(3, 150, "third").session(1);
  EXPECT_THAT(capture.kernels(), ElementsAre("first one", "second two", "third "));
}

TEST(GpuRows, RecordsComeInAnyOrderAndRangesThatNeverEndHoldTheirCalls) {
  Capture capture;
  capture.push(1, 100, "layer:a").push(1, 200, "layer:b");
  capture.add(kernel("two", 260, 8)).add(kernel("one", 160, 7));
  capture.add(call(1, 250, 8)).add(call(1, 150, 7)).session(1);
  EXPECT_THAT(capture.kernels(), ElementsAre("one a", "two a:b"));
}

TEST(GpuRows, AnOperatorsWorkIsOnTheKernelThatComputesOnceForEachExecution) {
  Capture capture;
  for (const std::int64_t at : {100, 200}) {
    capture.push(1, at, "aten::mm, seq = 1, op_id = 4, sizes = [[2, 3], [3, 4]]");
    capture.push(1, at + 10, "aten::copy_, op_id = 5, sizes = [[2, 3]]").pop(1, at + 30);
    capture.pop(1, at + 40);
    capture.launch(1, at + 20, "splitKreduce_kernel").launch(1, at + 35, "gemm_kernel");
  }
  capture.push(1, 300, "aten::zero_, op_id = 9, sizes = [[2]]").pop(1, 400);
  capture.launch(1, 350, "fill").session(1);
  capture.read();
  std::vector<std::string> texts;
  for (const Activity& row : capture.rows()) {
    if (row.kind != ActivityKind::kernel) continue;
    const auto flops = row.attributes.integer(Attribute::flops);
    EXPECT_FALSE(row.attributes.integer(Attribute::bytes)) << "no data type was reported";
    texts.push_back(fmt::format("{} {} {} {}", row.name, row.attributes.text(Attribute::op),
                                row.attributes.text(Attribute::in_shapes),
                                flops ? std::to_string(*flops) : "n/a"));
  }
  EXPECT_THAT(texts,
              ElementsAre("splitKreduce_kernel gemm 2x3 3x4 0", "gemm_kernel gemm 2x3 3x4 100",
                          "splitKreduce_kernel gemm 2x3 3x4 0", "gemm_kernel gemm 2x3 3x4 100",
                          "fill aten::zero_ 2 n/a"));
}

// pyprof.init() and emit_nvtx() without shapes. The marker describes the call. The ranges inside it
// and those of autograd's thread have its sequence number.
TEST(GpuRows, BackwardKernelsBelowMarkersOfPyprofTakeOverBySequenceNumber) {
  Capture capture;
  const std::string tensor =
      "{'name': '', 'type': 'tensor', 'shape': (1, 3, 8, 8), 'dtype': 'float16'}";
  capture.push(1, 100, "layer:net").push(1, 110, "layer:conv1");
  capture.push(1, 120, "{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [" + tensor + "]}");
  capture.push(1, 130, "aten::conv2d, seq = 5").push(1, 140, "aten::cudnn_convolution");
  for (const std::int64_t at : {200, 210, 220, 230, 240}) capture.pop(1, at);
  capture.launch(1, 150, "volta_s884cudnn_fprop");
  capture.push(2, 300, "autograd::engine::evaluate_function: ConvolutionBackward0, seq = 5");
  capture.push(2, 310, "ConvolutionBackward0, seq = 5").push(2, 320, "aten::convolution_backward");
  for (const std::int64_t at : {400, 410, 420}) capture.pop(2, at);
  capture.launch(2, 330, "dgrad_engine").launch(2, 340, "s884cudnn_wgrad");
  capture.launch(2, 350, "reduce_kernel");
  // The gradient of another call inherits nothing.
  capture.push(2, 500, "ReluBackward0, seq = 6").pop(2, 600);
  capture.launch(2, 550, "relu_gemm").session(1);
  capture.read();
  std::vector<std::string> texts;
  for (const Activity& row : capture.rows()) {
    if (row.kind != ActivityKind::kernel) continue;
    const Attributes& attributes = row.attributes;
    texts.push_back(fmt::format("{} {} {} {} {} {} {}", row.name, row.scope, row.direction,
                                attributes.integer(Attribute::sequence).value_or(-1),
                                attributes.text(Attribute::parameters),
                                attributes.integer(Attribute::flops).value_or(-1),
                                attributes.integer(Attribute::bytes).value_or(-1)));
  }
  EXPECT_THAT(texts, ElementsAre("volta_s884cudnn_fprop net:conv1 forward 5 c3h8k4r3 7000 900",
                                 "dgrad_engine net:conv1 backward 5 c3h8k4r3 7000 900",
                                 "s884cudnn_wgrad net:conv1 backward 5 c3h8k4r3 7000 900",
                                 "reduce_kernel net:conv1 backward 5 c3h8k4r3 -1 -1",
                                 "relu_gemm  backward 6  -1 -1"));
}

// PyProf's column Trace: the kernels below a marker have its call stack, in the backward pass too.
TEST(GpuRows, KernelsBelowAMarkerOfACallStackHaveIt) {
  Capture capture;
  const std::string tensor =
      "{'name': '', 'type': 'tensor', 'shape': (1, 3, 8, 8), 'dtype': 'float16'}";
  capture.push(1, 100, "{'traceMarker': ['resnet.py:210', 'train.py:3']}");
  capture.launch(1, 110, "alone");
  capture.push(1, 120, "{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [" + tensor + "]}");
  capture.push(1, 130, "aten::conv2d, seq = 5");
  for (const std::int64_t at : {200, 210, 220}) capture.pop(1, at);
  capture.launch(1, 150, "fprop").launch(1, 250, "outside");
  capture.push(2, 310, "ConvolutionBackward0, seq = 5").pop(2, 400);
  capture.launch(2, 330, "dgrad").session(1);
  capture.read();
  std::vector<std::string> texts;
  for (const Activity& row : capture.rows()) {
    if (row.kind == ActivityKind::kernel) {
      texts.push_back(
          fmt::format("{} {}", row.name, row.attributes.text(Attribute::source_location)));
    }
  }
  EXPECT_THAT(texts, ElementsAre("alone resnet.py:210,train.py:3", "fprop resnet.py:210,train.py:3",
                                 "outside ", "dgrad resnet.py:210,train.py:3"));
}

// emit_nvtx() without PyProf: the shapes of the backward call give the work of each gradient.
TEST(GpuRows, EachGradientOfABackwardConvolutionHasItsWork) {
  Capture capture;
  capture.push(2, 300, "autograd::engine::evaluate_function: ConvolutionBackward0, op_id = 7");
  capture.push(2, 310, "ConvolutionBackward0, seq = 5, op_id = 8, sizes = [[1, 4, 6, 6]]");
  capture.push(2, 320,
               "aten::convolution_backward, op_id = 9, sizes = [[1, 4, 6, 6], [1, 3, 8, 8], "
               "[4, 3, 3, 3]]");
  for (const std::int64_t at : {400, 410, 420}) capture.pop(2, at);
  capture.launch(2, 330, "sm90_xmma_dgrad").launch(2, 340, "nchwToNhwcKernel");
  capture.launch(2, 350, "sm90_xmma_wgrad").launch(2, 360, "reduce_kernel").session(1);
  capture.read();
  std::vector<std::string> texts;
  for (const Activity& row : capture.rows()) {
    const std::int64_t flops = row.attributes.integer(Attribute::flops).value_or(-1);
    if (row.kind == ActivityKind::kernel) {
      texts.push_back(fmt::format("{} {} {}", row.name, row.attributes.text(Attribute::op), flops));
    }
  }
  EXPECT_THAT(texts, ElementsAre("sm90_xmma_dgrad conv 500", "nchwToNhwcKernel conv 0",
                                 "sm90_xmma_wgrad conv 500", "reduce_kernel conv -1"));
}

TEST(GpuRows, TheWindowHoldsWhatWasAskedForInIt) {
  Capture capture;
  capture.push(1, 100, "step").pop(1, 200).push(1, 300, "step").pop(1, 400);
  capture.launch(1, 50, "before").launch(1, 150, "one").launch(1, 250, "between");
  capture.launch(2, 350, "two").launch(1, 450, "after");
  capture.session(1);
  EXPECT_THAT(capture.kernels(), ElementsAre("before ", "one ", "between ", "two ", "after "));
  EXPECT_THAT(capture.kernels(window_of({"nvtx:step"})), ElementsAre("one ", "two "));
  EXPECT_THAT(capture.kernels(window_of({"1-1"})), ElementsAre("two "));
  EXPECT_THAT(capture.kernels(window_of({"nvtx:other"})), IsEmpty());
}

TEST(GpuRows, TheProfilersCallsAreAWindowWhereNothingElseTellsOfThem) {
  Capture capture;
  capture.push(1, 100, "layer:a").pop(1, 600);
  capture.launch(1, 150, "before").add(call(1, 200, 91, "cudaProfilerStart"));
  capture.launch(1, 250, "one").launch(2, 290, "two").add(call(2, 300, 92, "cuProfilerStop"));
  capture.launch(1, 350, "after").session(1);
  EXPECT_THAT(capture.kernels(window_of({"cuda-profiler-api"})), ElementsAre("one a", "two "));
}

TEST(GpuRows, MemoryIsKnownFromTheBeginningAndShownInTheWindow) {
  GpuAllocation early;
  early.memory = GpuMemoryKind::device;
  early.address = 16;
  early.bytes = 1000;
  early.at = Nanoseconds(50);
  early.place = {0, 1, 0};
  GpuAllocation inside = early;
  inside.address = 32;
  inside.bytes = 200;
  inside.at = Nanoseconds(150);
  Capture capture;
  capture.push(1, 100, "step").pop(1, 200).add(early).add(inside).session(1);
  capture.read(window_of({"nvtx:step"}));
  std::vector<std::string> texts;
  for (const Activity& row : capture.rows()) {
    const auto live = row.attributes.integer(Attribute::live_bytes);
    texts.push_back(fmt::format("{} {}", to_string(row.kind), live ? *live : 0));
  }
  EXPECT_THAT(texts, Contains("allocation 1200"));
  EXPECT_THAT(texts, testing::Not(Contains("allocation 1000")));
}

TEST(GpuRows, AReplayOfAGraphBelongsToWhereItWasLaunched) {
  GpuKernel node = kernel("node", 260, 5);
  node.graph_node = 77;
  Capture capture;
  capture.push(1, 200, "layer:replayed").pop(1, 300);
  capture.add(GpuGraphNode{77, std::nullopt, std::nullopt}).add(call(1, 250, 5, "cudaGraphLaunch"));
  capture.add(node).session(1);
  EXPECT_THAT(capture.kernels(), ElementsAre("node replayed"));
}

TEST(GpuRows, ProgramsThatAProcessRunsOneAfterTheOtherKeepTheirRanges) {
  Capture capture;
  capture.record(1, 1, 90, "process").push(1, 100, "layer:old");
  capture.launch(1, 150, "first").session(1);
  capture.record(1, 1, 200, "process").push(1, 300, "layer:new");
  capture.launch(1, 250, "none").launch(1, 350, "second");
  GpuSession session;  // correlations restart at 1
  session.pid = 1;
  session.tracer = "CUPTI 13.0.1";
  session.records = {call(1, 250, 1), kernel("none", 260, 1), call(1, 350, 2),
                     kernel("second", 360, 2)};
  capture.file("1.2", format_gpu_session(session) + gpu_session_end_line({0, {}}));
  EXPECT_THAT(capture.kernels(), ElementsAre("first old", "none ", "second new"));
}

TEST(GpuRows, WhatIsLostIsTold) {
  Capture capture;
  capture.launch(1, 100, "whole").launch(1, 200, "cut").session(1, "torn");
  const GpuRowsReport incomplete_line = capture.read();
  EXPECT_EQ(incomplete_line.processes, 1);
  EXPECT_EQ(incomplete_line.devices.at(0).kernels, 1);
  EXPECT_THAT(incomplete_line.notes, Contains(HasSubstr("GPU of process 1: it was killed")));
  EXPECT_THAT(incomplete_line.notes, Contains(HasSubstr("1 line is malformed")));

  capture.launch(1, 100, "whole").session(1, "killed");
  EXPECT_THAT(capture.read().notes, Contains(HasSubstr("it was killed or called _exit")));

  capture.launch(1, 100, "whole").session(1);
  EXPECT_THAT(capture.read().notes, testing::Not(Contains(HasSubstr("killed"))));
}

TEST(GpuRows, WhyAProcessWasNotTracedIsToldOnce) {
  GpuSession refused;
  refused.tracer = capture::kNoTracer;
  refused.faults = {"CUPTI: cannot be loaded"};
  const std::string text = gpu_session_line(refused) + gpu_session_end_line({0, {}});
  Capture capture;
  capture.file("1", text).file("2", text).file("3", "");  // the third process was killed at once
  const GpuRowsReport report = capture.read();
  EXPECT_EQ(report.processes, 0);
  EXPECT_EQ(report.activities, 0);
  EXPECT_THAT(report.untraced_reasons, ElementsAre("CUPTI: cannot be loaded"));
}

TEST(GpuRows, ThreadsHaveTheirNames) {
  Capture capture;
  capture.record(1, 5, 10, "nvtx_thread", R"("id":5,"text":"loader")");
  capture.launch(5, 100, "k").session(1);
  capture.read({}, {RecordGroup::operators, RecordGroup::api});
  ASSERT_EQ(capture.rows().size(), 3U);  // and the counter of calls in flight: 1, 0
  EXPECT_EQ(capture.rows()[0].kind, ActivityKind::api);
  EXPECT_EQ(capture.rows()[0].attributes.text(Attribute::thread_name), "loader");
  EXPECT_EQ(capture.rows()[1].kind, ActivityKind::counter);
}

}  // namespace
}  // namespace bench
