// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/chrome_trace.hpp"
#include "profiler/readers/readers.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

struct KinetoTrace final : public ActivitySink {
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  // The first activity with this kind and name.
  const Activity& at(ActivityKind kind, std::string_view name) const {
    static const Activity kNone;
    const auto found = std::ranges::find_if(activities, [&](const Activity& activity) {
      return activity.kind == kind && activity.name == name;
    });
    if (found != activities.end()) return *found;
    ADD_FAILURE() << "no " << name;
    return kNone;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Activity& activity : activities) names.push_back(activity.name);
    return names;
  }
  ReadReport report;
  std::vector<Activity> activities;
};

KinetoTrace read_trace(std::string text) {
  KinetoTrace trace;
  const auto source = text_source_for_test("trace.json", std::move(text));
  auto report = kineto_reader.read(*source, trace);
  EXPECT_TRUE(report.ok());
  if (report.ok()) trace.report = *std::move(report);
  return trace;
}

std::string gpu_trace() {
  std::ifstream file(std::string(BENCH_SOURCE_DIR) + "/profiler/readers/testdata/kineto_gpu.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_recognised(std::string text) {
  const auto source = text_source_for_test("trace.json", std::move(text));
  return kineto_reader.recognises(source->head());
}

std::string in_list(const std::string& events) {
  return "{\"schemaVersion\": 1, \"traceEvents\": [" + events + "]}";
}

// An event of the category on the thread 7.
std::string slice(const std::string& category, const std::string& name, const std::string& start,
                  const std::string& duration, const std::string& args = "") {
  return "{\"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + name +
         "\", \"pid\": 7, \"tid\": 7, \"ts\": " + start + ", \"dur\": " + duration +
         ", \"args\": {" + args + "}}";
}

TEST(KinetoReader, RecognisesTracesOfTorchProfilerOnly) {
  EXPECT_TRUE(is_recognised(gpu_trace()));
  EXPECT_TRUE(is_recognised(in_list("")));
  EXPECT_TRUE(is_recognised("\n[" + slice("kernel", "k", "1", "1", "\"registers per thread\": 1")));
  EXPECT_TRUE(is_recognised("[{\"cat\":\"cuda_runtime\",\"ph\":\"X\"}]"));
  EXPECT_FALSE(is_recognised("{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\"}]}"));
  EXPECT_FALSE(is_recognised("{\"schemaVersion\": 1}"));
  EXPECT_FALSE(is_recognised("onednn_verbose,\"cat\":\"cpu_op\",\"ph\""));
}

TEST(KinetoReader, DoesNotTakeATraceOfThisProgramForKineto) {
  const test::TemporaryFolder folder;
  std::string text;
  const auto trace = ChromeTrace::to(text_bytes(text), folder.path(), {});
  for (const Activity& activity : read_trace(gpu_trace()).activities)
    ASSERT_TRUE(trace->consume(activity).ok());
  ASSERT_TRUE(trace->finish().ok());
  EXPECT_FALSE(is_recognised(text));
}

TEST(KinetoReader, KeepsEveryDigitOfATime) {
  const KinetoTrace trace =
      read_trace("{\"baseTimeNanoseconds\": 1790857026000000000, \"traceEvents\": [" +
                 slice("cpu_op", "a", "5104228899061.655", "0.001") + "]}");
  ASSERT_EQ(trace.activities.size(), 1u);
  EXPECT_EQ(trace.activities[0].start.count(), 1'795'961'254'899'061'655);
  EXPECT_EQ(trace.activities[0].duration, Nanoseconds(1));
}

TEST(KinetoReader, GivesEachKindOfEvent) {
  const KinetoTrace trace = read_trace(gpu_trace());
  EXPECT_EQ(trace.report.malformed + trace.report.unknown + trace.report.ignored, 0);
  EXPECT_THAT(trace.report.notes, IsEmpty());
  EXPECT_EQ(trace.report.activities, 20);
  std::map<ActivityKind, int> counts;
  for (const Activity& activity : trace.activities) ++counts[activity.kind];
  EXPECT_EQ(counts[ActivityKind::operation], 5);
  EXPECT_EQ(counts[ActivityKind::kernel], 3);
  EXPECT_EQ(counts[ActivityKind::range], 3);
  for (const ActivityKind kind :
       {ActivityKind::memcpy, ActivityKind::memset, ActivityKind::synchronisation,
        ActivityKind::api, ActivityKind::overhead, ActivityKind::process, ActivityKind::allocation,
        ActivityKind::counter, ActivityKind::marker}) {
    EXPECT_EQ(counts[kind], 1) << to_string(kind);
  }
  EXPECT_EQ(trace.at(ActivityKind::process, "python3").track.pid, 7);
  EXPECT_EQ(trace.at(ActivityKind::overhead, "CUPTI Overhead").track.pid, 7);
  EXPECT_EQ(trace.at(ActivityKind::counter, "GPU 0 Counters allocated_bytes")
                .attributes.text(Attribute::value_unit),
            "bytes");
}

TEST(KinetoReader, TakesFactsFromTheHeader) {
  const KinetoTrace trace = read_trace(gpu_trace());
  EXPECT_THAT(trace.report.facts, Contains(Pair("schemaVersion", "1")));
  EXPECT_THAT(trace.report.facts, Contains(Pair("gpu.name", "NVIDIA H200")));
  EXPECT_THAT(trace.report.facts, Contains(Pair("distributed.rank", "3")));
  for (const Activity& activity : trace.activities)
    EXPECT_EQ(activity.attributes.integer(Attribute::rank), 3);
}

TEST(KinetoReader, AKernelHasItsLaunchAndTheOperatorThatCalledIt) {
  const KinetoTrace trace = read_trace(gpu_trace());
  const Activity& kernel =
      trace.at(ActivityKind::kernel,
               "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32");
  EXPECT_EQ(kernel.track, (Track{7, 0, 0, 7}));
  EXPECT_EQ(kernel.start.count(), 1'000'000'245'000);
  EXPECT_EQ(kernel.duration, Nanoseconds(20'500));
  EXPECT_EQ(kernel.correlation, 41u);
  EXPECT_EQ(trace.at(ActivityKind::api, "cudaLaunchKernel").correlation, 41u);
  const Attributes& attributes = kernel.attributes;
  EXPECT_EQ(attributes.text(Attribute::grid), "4,1,2");
  EXPECT_EQ(attributes.text(Attribute::block), "128,1,1");
  EXPECT_EQ(attributes.integer(Attribute::registers), 166);
  EXPECT_EQ(attributes.integer(Attribute::shared_bytes), 49152);
  EXPECT_EQ(attributes.real(Attribute::occupancy), 0.12);
  // The convolution, not the step of it that launched the kernel and lacks its arguments.
  EXPECT_EQ(attributes.text(Attribute::op), "aten::conv2d");
  EXPECT_EQ(attributes.text(Attribute::in_shapes), "2x3x8x8 4x3x3x3");
  EXPECT_EQ(attributes.text(Attribute::dtype), "f16");
  EXPECT_EQ(kernel.scope, "Conv2d_0");
  EXPECT_EQ(kernel.direction, "forward");
}

TEST(KinetoReader, OnlyTheKernelThatComputesStatesTheWorkOfItsOperator) {
  const KinetoTrace trace = read_trace(gpu_trace());
  const Activity& layout = trace.at(ActivityKind::kernel, "cudnn::ops::nchwToNhwcKernel");
  EXPECT_EQ(layout.attributes.text(Attribute::long_name),
            "void cudnn::ops::nchwToNhwcKernel<__half, float>(cudnn::ops::Params)");
  EXPECT_EQ(layout.attributes.text(Attribute::problem), "");
  const Activity& product = trace.at(ActivityKind::kernel, "ampere_sgemm_32x128_nn");
  EXPECT_EQ(product.attributes.text(Attribute::problem), "[[8, 16], [16, 4]]");
}

TEST(KinetoReader, AGradientHasTheLayerOfItsForwardOperator) {
  const KinetoTrace trace = read_trace(gpu_trace());
  const Activity& gradient = trace.at(ActivityKind::operation, "aten::convolution_backward");
  EXPECT_EQ(gradient.scope, "Conv2d_0");
  EXPECT_EQ(gradient.direction, "backward");
  EXPECT_EQ(trace.at(ActivityKind::operation, "aten::mm").scope, "");
  EXPECT_EQ(trace.at(ActivityKind::operation, "aten::mm").direction, "forward");
}

TEST(KinetoReader, ABufferLivesFromItsAllocationToItsRelease) {
  const KinetoTrace trace = read_trace(gpu_trace());
  const Activity& buffer = trace.at(ActivityKind::allocation, "aten::conv2d");
  EXPECT_EQ(buffer.duration, Nanoseconds(375'000));
  EXPECT_EQ(buffer.track.device, 0);
  EXPECT_EQ(buffer.attributes.integer(Attribute::size_bytes), 1024);
  EXPECT_EQ(buffer.attributes.integer(Attribute::live_bytes), 1024);
}

TEST(KinetoReader, CopiesHaveTheirSize) {
  const KinetoTrace trace = read_trace(
      in_list(slice("gpu_memcpy", "Memcpy DtoD (Device -> Device)", "1", "1", "\"bytes\": 100")));
  ASSERT_EQ(trace.activities.size(), 1u);
  EXPECT_EQ(trace.activities[0].attributes.integer(Attribute::size_bytes), 100);
  EXPECT_EQ(trace.activities[0].attributes.integer(Attribute::bytes), 200);  // read and written
}

// Kineto lists Python functions after the operators that they called.
TEST(KinetoReader, SortsByTimeSoThatEnclosingActivitiesComeFirst) {
  const KinetoTrace trace =
      read_trace(in_list(slice("cpu_op", "aten::linear", "20", "10") + "," +
                         slice("cpu_op", "aten::addmm", "20", "5") + "," +
                         slice("python_function", "net.py(3): forward", "10", "50") + "," +
                         slice("python_function", "nn.Module: Linear_0", "15", "20") + "," +
                         slice("python_function", "nn.Module: Net_0", "5", "60")));
  EXPECT_THAT(trace.names(), ElementsAre("nn.Module: Net_0", "net.py(3): forward",
                                         "nn.Module: Linear_0", "aten::linear", "aten::addmm"));
  EXPECT_EQ(trace.activities.back().scope, "Net_0:Linear_0");
}

TEST(KinetoReader, ScopesAndCallStacksMayBeArguments) {
  const KinetoTrace trace = read_trace(in_list(
      slice("cpu_op", "aten::add", "1", "1",
            "\"Module Hierarchy\": \"top(Net)::forward.SELF(Net)::run.layer1(Block)::forward\", "
            "\"Call stack\": \"net.py(3): forward;train.py(9): main\"")));
  ASSERT_EQ(trace.activities.size(), 1u);
  EXPECT_EQ(trace.activities[0].scope, "top:layer1");
  EXPECT_EQ(trace.activities[0].attributes.text(Attribute::backtrace),
            "net.py(3): forward;train.py(9): main");
}

// The column `trace` was empty on all operators and kernels.
TEST(KinetoReader, OperatorsHaveThePlaceOfTheInnermostFunctionOutsidePyTorch) {
  const KinetoTrace trace = read_trace(in_list(
      slice("python_function", "train.py(9): main", "1", "90") + "," +
      slice("python_function", "/home/a/net.py(3): forward", "2", "50") + "," +
      slice("python_function", "torch/nn/modules/module.py(1501): _call_impl", "3", "40") + "," +
      slice("python_function", "<built-in method conv2d>", "4", "30") + "," +
      slice("cpu_op", "aten::conv2d", "5", "20") + "," + slice("cpu_op", "aten::add", "60", "5") +
      "," + slice("cpu_op", "aten::mul", "95", "5") + "," +
      slice("cpu_op", "aten::div", "101", "5",
            "\"Call stack\": \"torch/_tensor.py(7): f;loss.py(4): loss;train.py(9): main\"")));
  std::map<std::string, std::string> places;
  for (const Activity& activity : trace.activities) {
    if (activity.kind == ActivityKind::operation)
      places[activity.name] = activity.attributes.text(Attribute::source_location);
  }
  EXPECT_EQ(places, (std::map<std::string, std::string>{{"aten::conv2d", "/home/a/net.py:3"},
                                                        {"aten::add", "train.py:9"},
                                                        {"aten::mul", ""},
                                                        {"aten::div", "loss.py:4"}}));
}

TEST(KinetoReader, AFileOfOneLineIsReadLikeAnyOther) {
  std::string text = gpu_trace();
  std::erase(text, '\n');
  EXPECT_EQ(read_trace(text).activities, read_trace(gpu_trace()).activities);
}

TEST(KinetoReader, ATruncatedFileGivesWhatIsBeforeTheCut) {
  const std::string whole = "{\"schemaVersion\": 1, \"traceEvents\": [\n" +
                            slice("cpu_op", "a", "1", "1") + ",\n" + slice("cpu_op", "b", "2", "1");
  KinetoTrace trace = read_trace(whole + ",\n" + slice("cpu_op", "c", "3", "1").substr(0, 40));
  EXPECT_THAT(trace.names(), ElementsAre("a", "b"));
  EXPECT_EQ(trace.report.malformed, 1);
  EXPECT_THAT(trace.report.notes,
              ElementsAre("trace.json:4: the trace ends here, within event 3: it is incomplete"));
  trace = read_trace(whole + "\n");
  EXPECT_THAT(trace.names(), ElementsAre("a", "b"));
  EXPECT_EQ(trace.report.malformed, 0);
  EXPECT_THAT(trace.report.notes,
              ElementsAre("trace.json:4: the trace ends here, after event 2: it is incomplete"));
}

TEST(KinetoReader, DamagedEventsAreCountedWithTheirPlaceAndTheOthersRead) {
  const std::string good = slice("cpu_op", "good", "5", "1");
  const KinetoTrace trace = read_trace(
      "[\n" + good + ",\n" + slice("cpu_op", "a", "\"x\"", "1") + ",\n" +
      slice("cpu_op", "b", "1", "-1") + ",\n{\"ph\": \"X\", \"cat\": \"cpu_op\", \"ts\": 1},\n" +
      "{\"ph\": \"X\", \"name\": \"an open text},\n\"ts\": 1},\n17,\n{\"name\": 1},\n" +
      slice("cpu_op", "deep", "1", "1", "\"x\": " + std::string(99, '[') + std::string(99, ']')) +
      ",\n{\"ph\": \"Z\", \"name\": \"z\"},\n" + good + "]");
  EXPECT_THAT(trace.names(), ElementsAre("good", "good"));
  EXPECT_EQ(trace.report.malformed, 7);
  EXPECT_EQ(trace.report.unknown, 1);
  ASSERT_EQ(trace.report.notes.size(), 8u);
  EXPECT_THAT(trace.report.notes[0], HasSubstr("trace.json:3: event 2: `ts` is not a number of"));
  EXPECT_THAT(trace.report.notes[1], HasSubstr("trace.json:4: event 3: `dur` is not a number of"));
  EXPECT_THAT(trace.report.notes[2], HasSubstr("trace.json:5: event 4: no `name`"));
  EXPECT_THAT(trace.report.notes[3], HasSubstr("trace.json:6: event 5: not JSON"));
  EXPECT_THAT(trace.report.notes[4], HasSubstr("trace.json:8: event 6: not an object"));
  EXPECT_THAT(trace.report.notes[5], HasSubstr("trace.json:9: event 7: no `ph`"));
  EXPECT_THAT(trace.report.notes[6], HasSubstr("event 8: nests deeper than any event"));
  EXPECT_THAT(trace.report.notes[7], HasSubstr("event 9: a kind of event that Kineto does not"));
}

TEST(KinetoReader, AnEventBeyondTheLimitIsCountedAndTheNextOneRead) {
  const std::string huge = slice("cpu_op", std::string(kMaxProfileLine, 'x'), "1", "1");
  const KinetoTrace trace = read_trace(in_list(huge + "," + slice("cpu_op", "next", "2", "1")));
  EXPECT_THAT(trace.names(), ElementsAre("next"));
  EXPECT_THAT(trace.report.notes, ElementsAre(HasSubstr("event 1: longer than any event")));
}

// 10_kineto_header.json of the public cases.
TEST(KinetoReader, ProcessesMayBeTexts) {
  const KinetoTrace trace = read_trace(in_list(
      slice("cpu_op", "c10d::barrier", "1666382280874284", "1567655") +
      ",{\"ph\":\"X\",\"cat\":\"Trace\",\"ts\":1666382280000000,\"dur\":9999999,\"pid\":\"Spans\","
      "\"tid\":\"PyTorch Profiler\",\"name\":\"PyTorch Profiler (0)\",\"args\":{\"Op count\":0}},"
      "{\"name\":\"Iteration Start: PyTorch Profiler\",\"ph\":\"i\",\"s\":\"g\",\"pid\":\"Traces\","
      "\"tid\":\"Trace PyTorch Profiler\",\"ts\":1666382280000000},"
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":3,\"dur\":1,\"pid\":\"worker\",\"tid\":1,"
      "\"name\":\"a\"}"));
  const Activity& window = trace.at(ActivityKind::process, "PyTorch Profiler (0)");
  EXPECT_EQ(window.track.pid, 7);
  EXPECT_EQ(window.start.count(), 1'666'382'280'000'000'000);
  EXPECT_EQ(trace.at(ActivityKind::marker, "Iteration Start: PyTorch Profiler").track.pid, 7);
  const Activity& named = trace.at(ActivityKind::operation, "a");
  EXPECT_LT(named.track.pid, 0);
  EXPECT_EQ(named.attributes.text(Attribute::process_name), "worker");
}

TEST(KinetoReader, AnEventOfAnotherCategoryIsARange) {
  const KinetoTrace trace = read_trace(in_list(slice("mtia_insight", "a", "1", "1")));
  ASSERT_EQ(trace.activities.size(), 1u);
  EXPECT_EQ(trace.activities[0].kind, ActivityKind::range);
  EXPECT_EQ(trace.activities[0].attributes.text(Attribute::domain), "mtia_insight");
}

TEST(KinetoHead, NamesTheFirstGpu) {
  const auto named = [](const char* text) {
    const auto source = text_source_for_test("trace.json", text);
    const auto facts = head_facts(*source);
    const auto found = facts.find("gpu.name");
    return found == facts.end() ? std::string() : found->second;
  };
  EXPECT_EQ(named(R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H200"}],)"
                  R"("traceEvents":[]})"),
            "NVIDIA H200");
  EXPECT_EQ(named(R"({"schemaVersion":1,"deviceProperties":[],"traceEvents":[]})"), "");
  EXPECT_EQ(named(R"({"deviceProperties":[{"id":0,)"), "");
  EXPECT_EQ(named("hello\n"), "");
}

TEST(KinetoReader, ANumberThatNoDeviceHasCostsANote) {
  const auto kernel = [](const std::string& device) {
    return slice("kernel", "k", "1", "1", "\"device\": " + device + ", \"stream\": 1");
  };
  const KinetoTrace trace = read_trace(in_list(
      kernel("3") + ", " + kernel("1e9") + ", " + kernel("4294967296") + ", " + kernel("-7") +
      ", " + kernel("-1") + ", " +
      "{\"ph\": \"i\", \"name\": \"[memory]\", \"pid\": 7, \"tid\": 7, \"ts\": 2, \"args\": "
      "{\"Bytes\": 8, \"Addr\": 1, \"Device Type\": 1, \"Device Id\": 99999999}}"));
  std::vector<std::int64_t> devices;
  for (const Activity& activity : trace.activities)
    devices.push_back(activity.track.device.value_or(-1));
  // Without a number, the process of the row is that of the device.
  EXPECT_THAT(devices, testing::UnorderedElementsAre(3, 7, 7));
  EXPECT_EQ(trace.report.malformed, 3);
  EXPECT_THAT(trace.report.notes,
              ElementsAre(HasSubstr("`device` is not the number of a device"),
                          HasSubstr("`device` is not the number of a device"),
                          HasSubstr("`Device Id` is not the number of a device")));
}

}  // namespace
}  // namespace bench
