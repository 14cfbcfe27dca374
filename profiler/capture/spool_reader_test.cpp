// SPDX-License-Identifier: Apache-2.0
// NVTX records of spools as activities: nesting, scopes, threads, children, windows.
#include "profiler/capture/spool_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using ::testing::ElementsAre;

class KeptActivities final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  std::vector<Activity> activities;
};

// Returns "name scope start+duration", with "..." for an unfinished activity.
std::string line_of(const Activity& activity) {
  const std::string length = activity.duration ? std::to_string(activity.duration->count()) : "...";
  return fmt::format("{} [{}] {}+{}", activity.name, activity.scope, activity.start.count(),
                     length);
}

// A spool under construction. Each record is 10 ns after the previous one.
class Spool {
 public:
  Spool& on(std::int64_t pid, std::int64_t tid) {
    pid_ = pid;
    tid_ = tid;
    return *this;
  }
  Spool& add(std::string_view record, std::string_view fields = {}) {
    text_ += fmt::format(R"({{"record":"{}","pid":{},"tid":{},"ns":{}{}{}}})", record, pid_, tid_,
                         now_ += 10, fields.empty() ? "" : ",", fields);
    text_ += '\n';
    return *this;
  }
  Spool& push(std::string_view text) {
    return add("nvtx_push", fmt::format(R"("text":"{}")", text));
  }
  Spool& pop() { return add("nvtx_pop"); }

  // Without the times of the processes (sampled_spool_test.cpp).
  std::vector<Activity> read(SpoolOptions options = {}) const {
    KeptActivities first;
    const auto facts = read_spool(*text_of_spool(), first, {});
    EXPECT_TRUE(facts.ok());
    options.facts = facts->facts;
    KeptActivities kept;
    const auto report = read_spool(*text_of_spool(), kept, options);
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(report->read.malformed + report->read.unknown, 0);
    EXPECT_EQ(report->read.activities, static_cast<std::int64_t>(kept.activities.size()));
    std::erase_if(kept.activities,
                  [](const Activity& activity) { return activity.kind == ActivityKind::process; });
    return kept.activities;
  }
  Result<SpoolReport> report(ActivitySink& sink) const {
    return read_spool(*text_of_spool(), sink, {});
  }
  std::vector<std::string> texts(SpoolOptions options = {}) const {
    std::vector<std::string> texts;
    for (const Activity& activity : read(std::move(options))) {
      texts.push_back(line_of(activity));
    }
    return texts;
  }

 private:
  std::unique_ptr<TextSource> text_of_spool() const {
    return bench::text_source_for_test("spool", text_);
  }
  std::string text_;
  std::int64_t pid_ = 1, tid_ = 1, now_ = 0;
};

TEST(NvtxRecords, RangesNestAndLayersGiveScopes) {
  Spool spool;
  spool.push("step").push("layer:encoder").push("layer:a:b").pop().push("plain").pop().pop().pop();
  EXPECT_THAT(spool.texts(), ElementsAre(R"(a:b [encoder:a\:b] 30+10)", "plain [encoder] 50+10",
                                         "encoder [encoder] 20+50", "step [] 10+70"));
}

TEST(NvtxRecords, APrimitiveHasTheScopeOfItsThread) {
  Spool spool;
  const std::string line = R"("text":"onednn_verbose,exec,cpu,eltwise,jit:avx2,forward_inference,)"
                           R"(data_f32::blocked:ab:f0,,alg:eltwise_relu,4x4,0")";
  spool.push("layer:x").add("verbose", line).pop().add("verbose", line);
  spool.on(1, 2).push("layer:y").on(1, 1).add("verbose", line);
  EXPECT_THAT(spool.texts(), ElementsAre("eltwise [x] 20+0", "x [x] 10+20", "eltwise [] 40+0",
                                         "eltwise [] 60+0", "y [y] 50+..."));
}

// oneDNN prints "undef" for reorders and products. An earlier version counted them as forward, so
// the tables showed only 0.953 s of the 3.354 s that a backward pass took.
TEST(NvtxRecords, AReorderHasTheDirectionOfTheRangeAroundItElseNone) {
  const auto executed = [](std::string_view primitive, std::string_view propagation) {
    return fmt::format(R"("text":"onednn_verbose,exec,cpu,{},jit:uni,{},src_f32::blocked:ab:f0 )"
                       R"(dst_f32::blocked:ba:f0,,,4x4,0")",
                       primitive, propagation);
  };
  Spool spool;
  spool.add("verbose", executed("reorder", "undef"));
  spool.push("step").add("verbose", executed("reorder", "undef"));
  spool.push("aten::conv2d, seq = 1, op_id = 1, sizes = [[2, 3]]").push("layer:inner");
  spool.add("verbose", executed("reorder", "undef"));
  spool.pop().pop();
  spool.push("ConvolutionBackward0, seq = 1, op_id = 2, sizes = [[2, 3]]");
  spool.push("aten::convolution_backward, op_id = 3, sizes = [[2, 3]]");
  spool.add("verbose", executed("reorder", "undef"));
  spool.add("verbose", executed("matmul", "undef"));
  spool.add("verbose", executed("convolution", "backward_weights"));
  spool.add("verbose", executed("softmax", "forward_training"));
  spool.pop().pop().pop();
  std::vector<std::string> directions;
  for (const Activity& activity : spool.read()) {
    if (activity.kind == ActivityKind::primitive) directions.push_back(activity.direction);
  }
  EXPECT_THAT(directions, ElementsAre("", "", "forward", "backward", "backward", "backward_weights",
                                      "forward"));
}

TEST(CapturedBacktraces, StartAtTheCallerOfOnednn) {
  Spool spool;
  spool.add(
      "verbose",
      R"("text":"onednn_verbose,exec,cpu,reorder,x,undef,src_f32::blocked:ab:f0,,,4x4,0",)"
      R"("backtrace":["/l/libdnnl.so.3+0x9","/l/libdnnl.so.3+0x8","/a/app+0x7","/a/app+0x6"])");
  EXPECT_EQ(spool.read().at(0).attributes.text(Attribute::backtrace), "/a/app+0x7 <- /a/app+0x6");
  SpoolOptions options;
  options.code.frame_name = [](std::string_view frame) {
    return frame == "/a/app+0x7" ? std::string("dnnl::primitive::execute() (app)")
                                 : std::string(frame);
  };
  EXPECT_EQ(spool.read(options).at(0).attributes.text(Attribute::backtrace), "/a/app+0x6");
}

// The column `trace` was empty on the rows of `--backtrace`.
TEST(CapturedBacktraces, GiveThePlaceOfTheInnermostFrameWithALine) {
  Spool spool;
  for (const char* frames : {R"("/l/libdnnl.so.3+0x9","/a/app+0x7","/a/app+0x6")",
                             R"("/l/libdnnl.so.3+0x9","/a/app+0x5")"}) {
    spool.add("verbose",
              fmt::format(
                  R"("text":"onednn_verbose,exec,cpu,reorder,x,undef,src_f32::blocked:ab:f0,,,4x4,)"
                  R"(0","backtrace":[{}])",
                  frames));
  }
  SpoolOptions options;
  options.code.frame_place = [](std::string_view frame) {
    if (frame == "/a/app+0x7") return std::optional<std::string>("/usr/include/dnnl.hpp:9");
    const bool is_known = frame == "/a/app+0x6" || frame == "/l/libdnnl.so.3+0x9";
    return is_known ? std::optional<std::string>("main.cpp:12") : std::nullopt;
  };
  const auto activities = spool.read(options);
  EXPECT_EQ(activities.at(0).attributes.text(Attribute::source_location), "main.cpp:12");
  EXPECT_EQ(activities.at(1).attributes.text(Attribute::source_location), "");
}

TEST(MemorySamples, AreTakenAfterEveryNthPrimitiveOfAProcessInTheWindow) {
  const std::string primitive =
      R"("text":"onednn_verbose,exec,cpu,eltwise,jit:avx2,forward_inference,)"
      R"(data_f32::blocked:ab:f0,,alg:eltwise_relu,4x4,0")";
  Spool spool;
  const auto execute = [&](int resident) {
    spool.add("verbose", fmt::format(R"({},"resident":{})", primitive, resident));
  };
  execute(1);  // before the window
  spool.push("layer:x");
  for (const int resident : {2, 3, 4, 5, 6}) execute(resident);
  spool.on(2, 2).add("process");
  execute(7);
  spool.on(1, 1).pop();
  const auto samples = [&](std::int64_t rate) {
    std::vector<std::string> texts;
    const SpoolOptions options{.window = {CaptureWindow::Kind::by_range, "layer:x", {}},
                               .sample_rate = rate};
    for (const Activity& activity : spool.read(options)) {
      if (activity.kind != ActivityKind::counter) continue;
      texts.push_back(fmt::format("{} {} {}", line_of(activity), activity.track.pid,
                                  *activity.attributes.real(Attribute::value)));
    }
    return texts;
  };
  EXPECT_THAT(samples(2),
              ElementsAre("resident_bytes [x] 40+... 1 3", "resident_bytes [x] 60+... 1 5"));
  EXPECT_THAT(samples(5), ElementsAre("resident_bytes [x] 70+... 1 6"));
  EXPECT_THAT(samples(6), ElementsAre());
  EXPECT_THAT(samples(0), ElementsAre());
}

TEST(NvtxRecords, ThreadsDomainsAndProcessesHaveStacksOfTheirOwn) {
  Spool spool;
  spool.add("nvtx_domain", R"("id":3,"text":"library")");
  spool.push("one").add("nvtx_push", R"("domain":3,"text":"two")").pop();
  spool.on(1, 2).push("three").on(2, 2).push("four").on(1, 1).add("nvtx_pop", R"("domain":3)");
  spool.on(1, 2).pop().on(2, 2).pop();
  EXPECT_THAT(spool.texts(),
              ElementsAre("one [] 20+20", "two [] 30+40", "three [] 50+30", "four [] 60+30"));
  EXPECT_EQ(spool.read()[1].attributes.text(Attribute::domain), "library");
  EXPECT_EQ(spool.read()[0].attributes.find(Attribute::domain), nullptr);
}

TEST(NvtxRecords, StartAndEndMayBeOnDifferentThreads) {
  Spool spool;
  spool.push("layer:x").add("nvtx_start", R"("id":9,"text":"across")").pop();
  spool.on(1, 2).add("nvtx_end", R"("id":9)");
  EXPECT_THAT(spool.texts(), ElementsAre("x [x] 10+20", "across [x] 20+20"));
  EXPECT_EQ(spool.read()[1].track.tid, 1);
}

TEST(NvtxRecords, NamesPayloadsAndMarks) {
  Spool spool;
  spool.add("nvtx_string", R"("id":5,"text":"registered")");
  spool.add("nvtx_category", R"("id":2,"text":"io")");
  spool.add("nvtx_mark",
            R"("string":5,"category":2,"payload_type":3,"payload":4609434218613702656)");
  spool.add("nvtx_mark", R"("category":4,"payload_type":5,"payload":4294967295,"text":"")");
  spool.add("nvtx_thread", R"("id":1,"text":"main")");
  const auto activities = spool.read();
  ASSERT_EQ(activities.size(), 2U);
  EXPECT_EQ(activities[0].kind, ActivityKind::marker);
  EXPECT_EQ(activities[0].name, "registered");
  EXPECT_EQ(activities[0].attributes.text(Attribute::auxiliary), "category:io payload:1.5");
  EXPECT_EQ(activities[1].name, "(no name)");
  EXPECT_EQ(activities[1].attributes.text(Attribute::auxiliary), "category:4 payload:-1");
  // The thread was named after the mark.
  EXPECT_EQ(activities[0].attributes.text(Attribute::thread_name), "main");
}

TEST(NvtxRecords, WhatNeverEndedIsUnfinished) {
  Spool spool;
  spool.push("outer").push("inner").add("nvtx_start", R"("id":1,"text":"started")");
  spool.on(1, 2).push("of a thread").add("thread_end");
  spool.on(1, 1).add("process_end");
  EXPECT_THAT(spool.texts(), ElementsAre("of a thread [] 40+...", "inner [] 20+...",
                                         "outer [] 10+...", "started [] 30+..."));
  EXPECT_EQ(spool.read()[0].attributes.integer(Attribute::unfinished), 1);
}

// Regression test: the window stayed open until the process ended.
TEST(NvtxRecords, AThreadThatEndsInsideARangeEndsItsPartInTheWindow) {
  Spool spool;
  spool.on(1, 2).push("step").push("inner").add("thread_end").on(1, 1).push("later").pop();
  SpoolOptions options;
  options.window = *parse_capture_window(std::vector<std::string>{"nvtx:step"});
  EXPECT_THAT(spool.texts(options), ElementsAre("inner [] 20+...", "step [] 10+..."));
  options.window = *parse_capture_window(std::vector<std::string>{"nvtx:step", "0"});
  EXPECT_THAT(spool.texts(options), ElementsAre("inner [] 20+...", "step [] 10+..."));
}

// Regression test: the earlier range was lost, and the window stayed open.
TEST(NvtxRecords, AnIdThatIsStartedAgainLeavesTheEarlierRangeUnfinished) {
  Spool spool;
  const std::string range = R"("id":9,"text":"step")";
  spool.add("nvtx_start", range).push("inner").pop().add("nvtx_start", range);
  spool.add("nvtx_end", R"("id":9)").push("later").pop();
  EXPECT_THAT(spool.texts(),
              ElementsAre("inner [] 20+10", "step [] 10+...", "step [] 40+10", "later [] 60+10"));
  EXPECT_EQ(spool.read()[1].attributes.integer(Attribute::unfinished), 1);
  SpoolOptions options;
  options.window = *parse_capture_window(std::vector<std::string>{"nvtx:step"});
  EXPECT_THAT(spool.texts(options),
              ElementsAre("inner [] 20+10", "step [] 10+...", "step [] 40+10"));
}

TEST(NvtxRecords, ExecLeavesRangesOfThePreviousProgramUnfinished) {
  Spool spool;
  spool.add("process").push("before exec").add("process").push("after").pop();
  EXPECT_THAT(spool.texts(), ElementsAre("before exec [] 20+...", "after [] 40+10"));
}

TEST(NvtxRecords, AChildLivesInTheRangesOfTheThreadThatForked) {
  Spool spool;
  spool.on(1, 7).push("of another thread").on(1, 1).push("layer:parents");
  spool.on(2, 2)
      .add("fork", R"("parent":1,"parent_tid":1)")
      .push("layer:own")
      .pop()
      .pop()
      .push("x");
  spool.on(1, 1).pop();
  EXPECT_THAT(spool.texts(), ElementsAre("own [parents:own] 40+10", "parents [parents] 20+60",
                                         "of another thread [] 10+...", "x [] 70+..."));
}

TEST(NvtxRecords, EndsWithoutABeginAreCounted) {
  Spool spool;
  spool.pop().add("nvtx_end", R"("id":4)").push("a").add("nvtx_pop", R"("domain":2)").pop();
  KeptActivities kept;
  const auto report = spool.report(kept);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->read.notes, ElementsAre("3 NVTX ranges ended that had not begun"));
  EXPECT_EQ(report->ranges, 1);
}

TEST(NvtxRecords, TextsThatNobodyRegisteredAreNamedByTheirNumber) {
  Spool spool;
  spool.add("nvtx_mark", R"("string":5,"domain":6)");
  const auto activities = spool.read();
  ASSERT_EQ(activities.size(), 1U);
  EXPECT_EQ(activities[0].name, "(string 5)");
  EXPECT_EQ(activities[0].attributes.text(Attribute::domain), "(domain 6)");
}

TEST(NvtxRecords, AWindowKeepsWhatBeginsInIt) {
  Spool spool;
  for (int i = 0; i < 4; ++i) spool.push("step").push("layer:x").pop().pop().push("pause").pop();
  SpoolOptions options;
  options.window = *parse_capture_window(std::vector<std::string>{"nvtx:step", "1-2"});
  EXPECT_THAT(spool.texts(options), ElementsAre("x [x] 80+10", "step [] 70+30", "pause [] 110+10",
                                                "x [x] 140+10", "step [] 130+30"));
  options.window = *parse_capture_window(std::vector<std::string>{"nvtx:pause"});
  EXPECT_EQ(spool.texts(options).size(), 4U);
}

TEST(FrameworkRecords, OperatorsHaveShapesSequenceAndDirection) {
  Spool spool;
  spool.push("layer:head").push("aten::linear, seq = 5, op_id = 1, sizes = [[2, 64], [10, 64]]");
  spool.push("aten::t, op_id = 2, sizes = [[10, 64]]").pop().pop().pop();
  // Autograd has its own thread.
  spool.on(1, 2).push("autograd::engine::evaluate_function: TBackward0, op_id = 3");
  spool.push("TBackward0, seq = 5, op_id = 4, sizes = [[64, 10]]");
  spool.push("aten::mm, op_id = 5, sizes = [[1, 2], [2, 3]]").pop().pop().pop();
  const auto activities = spool.read();
  ASSERT_EQ(activities.size(), 6U);
  const Activity& linear = activities[1];
  EXPECT_EQ(linear.name, "aten::linear");
  EXPECT_EQ(linear.direction, "forward");
  EXPECT_EQ(linear.attributes.integer(Attribute::sequence), 5);
  EXPECT_EQ(linear.attributes.text(Attribute::in_shapes), "2x64 10x64");
  EXPECT_EQ(activities[0].direction, "forward");  // direction of the enclosing operator
  const Activity& product = activities[3];
  EXPECT_EQ(product.name, "aten::mm");
  EXPECT_EQ(product.direction, "backward");
  EXPECT_EQ(product.scope, "head");  // scope of the forward operator with the same sequence number
  EXPECT_EQ(activities[5].scope, "");
}

// Output shapes follow from a consumer, or from the gradient of the backward pass.
TEST(FrameworkRecords, OutputShapesOfConvolutionsComeFromConsumersOrGradients) {
  Spool spool;
  spool.push("aten::conv2d, op_id = 1, sizes = [[2, 3, 8, 8], [4, 3, 3, 3]]").pop();
  spool.push("aten::relu, op_id = 2, sizes = [[2, 4, 6, 6]], input_op_ids = [(1,0)]").pop();
  spool.push("aten::relu, op_id = 3, sizes = [[7]], input_op_ids = [(1,0)]").pop();
  spool.push("conv2d, seq = 8, sizes = [[2, 3, 8, 8], [4, 3, 3, 3]]").pop();
  spool.push("ConvolutionBackward0, seq = 8, sizes = [[2, 4, 5, 5]]").pop();
  spool.push("conv2d, seq = 9, sizes = [[2, 3, 8, 8], [4, 3, 3, 3]]").pop();
  spool.push("conv2d, seq = 9, sizes = [[2, 3, 8, 8], [4, 3, 3, 3]]").pop();
  spool.push("ConvolutionBackward0, seq = 9, sizes = [[2, 4, 5, 5]]").pop();
  const auto activities = spool.read();
  EXPECT_EQ(activities[0].attributes.text(Attribute::out_shapes), "2x4x6x6");
  EXPECT_EQ(activities[3].attributes.text(Attribute::out_shapes), "2x4x5x5");
  // Two operators share a number, so it is unknown to which of them the gradient belongs.
  EXPECT_EQ(activities[5].attributes.text(Attribute::out_shapes), "");
  EXPECT_EQ(activities[6].attributes.text(Attribute::out_shapes), "");
}

TEST(FrameworkRecords, WorkIsCountedOnce) {
  Spool spool;
  spool.push("aten::outer, sizes = [[1]]").push("aten::known, sizes = [[1]]");
  spool.push("aten::known, sizes = [[1]]").pop().pop().pop();
  SpoolOptions options;
  options.compute_work = [](const FrameworkCall& call) -> std::optional<FrameworkWork> {
    if (call.name != "aten::known") return std::nullopt;
    return FrameworkWork{.op = "pointwise", .flops = 5};
  };
  const auto activities = spool.read(options);
  EXPECT_EQ(activities[0].attributes.find(Attribute::flops), nullptr);
  EXPECT_EQ(activities[1].attributes.integer(Attribute::flops), 5);
  EXPECT_EQ(activities[2].attributes.find(Attribute::flops), nullptr);
}

using Frames = std::vector<StackFrame>;

TEST(CallerFrames, BeginBehindTheLibraryAndItsHeader) {
  EXPECT_EQ(count_library_frames(
                Frames{{"", "/usr/lib/libdnnl.so.3", "dnnl::impl::primitive_execute(...)"},
                       {"", "/usr/lib/libdnnl.so.3", "void dnnl::impl::run<float>()"},
                       {"", "/usr/lib/libdnnl.so.3", ""},
                       {"", "/usr/lib/libdnnl.so.3", "dnnl_primitive_execute"},
                       {"", "/home/me/app", "dnnl::primitive::execute(dnnl::stream const&) const"},
                       {"", "/home/me/app", "execute_relu()"},
                       {"", "/home/me/app", "main"}}),
            5U);
}

// Recorded from PyTorch, whose libtorch_cpu.so contains oneDNN.
TEST(CallerFrames, ALibraryInsideOfAnotherOneIsToldByNames) {
  EXPECT_EQ(count_library_frames(Frames{
                {"", "libtorch_cpu.so", "dnnl::impl::verbose_printf_impl(char const*, int)"},
                {"", "libtorch_cpu.so", "dnnl::impl::primitive_execute(dnnl_primitive const*)"},
                {"", "libtorch_cpu.so", "std::shared_ptr<int> dnnl::impl::get<int>()"},
                {"", "libtorch_cpu.so", "dnnl_primitive_execute"},
                {"", "libtorch_cpu.so", "dnnl::primitive::execute(dnnl::stream const&) const"},
                {"", "libtorch_cpu.so", "ideep::tensor::reorder_to(ideep::tensor&) const"},
                {"", "libtorch_cpu.so", "at::native::mkldnn_to_dense(dnnl::memory)"}}),
            5U);
}

TEST(CallerFrames, WithoutNamesTheFirstNamedFunctionIsTheCaller) {
  EXPECT_EQ(count_library_frames(Frames{{"", "libtorch_cpu.so", ""},
                                        {"", "libtorch_cpu.so", ""},
                                        {"", "libtorch_cpu.so", "at::native::convolution()"},
                                        {"", "libtorch_cpu.so", ""}}),
            2U);
  EXPECT_EQ(count_library_frames(
                Frames{{"", "app", ""}, {"", "libpython.so", ""}, {"", "libc.so.6", ""}}),
            0U);
}

TEST(CallerFrames, NoCallerLeavesAllOfThem) {
  EXPECT_EQ(count_library_frames(Frames{}), 0U);
  EXPECT_EQ(count_library_frames(Frames{{"", "app", ""}, {"", "app", ""}}), 0U);
  EXPECT_EQ(count_library_frames(Frames{{"", "libdnnl.so.3", "dnnl_stream_wait"}}), 0U);
}

}  // namespace
}  // namespace bench
