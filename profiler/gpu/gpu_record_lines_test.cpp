// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/gpu_record_lines.hpp"

#include "tests/fakes/gpu_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::during;
using testing::HasSubstr;

constexpr const char* kSessionLine =
    R"({"record":"session","schema":"bench.gpu_records/1","pid":7,"tracer":"CUPTI 13.0.1",)"
    R"("monotonic_ns":5,"realtime_ns":9,"dropped":0,"faults":[]})"
    "\n";

// One record of every kind with all its optional fields.
GpuSession full_session() {
  test::GpuScript script(7);
  GpuSession& session = script.session;
  session.tracer = "CUPTI 13.0.1";
  session.clock = {5ns, 1'700'000'000'000'000'009ns};
  session.dropped = 3;
  session.faults = {"a \"fault\"", "another"};
  OperatorExecution& owner = script.owner(18'446'744'073'709'551'615u, "net:a\\:b", "conv");
  owner.iteration = 5;
  owner.work = GpuOperatorWork{100, 10};
  script.owner(2, "", "");
  GpuKernel& kernel = script.kernel("_Z4gemmv", during(10, 20), 7, 3);
  kernel.grid = {1, 2, 3};
  kernel.static_shared_bytes = 16;
  kernel.dynamic_shared_bytes = 32;
  kernel.queued = 4ns;
  kernel.graph_node = 9;
  GpuMemcpy& copy = script.copy(GpuCopyKind::peer_to_peer, std::int64_t{1} << 40, during(1, 2), 4);
  copy.graph_node = 1;
  copy.source_device = 0;
  copy.destination_device = 1;
  script.add(GpuMemset{GpuMemoryKind::managed, 77, during(3, 4), {1, 2, 3}, 5, 6});
  GpuAllocation& released =
      script.memory(GpuAllocationChange::release, 0xffff'ffff'ffff'0000u, 4096, 8);
  released.library = "/lib/x.so";
  released.role = "workspace";
  script.add(GpuApiCall{GpuApiDomain::driver, "cuLaunchKernel", during(0, 3), 12, 3, 700});
  script.add(GpuExternalId{GpuExternalKind::phase, 2, 3});
  script.add(GpuOverhead{GpuOverheadKind::unified_memory, during(1, 2), 12, 3});
  script.add(GpuSynchronisation{GpuWaitKind::context, during(1, 2), 1, 7, 3});
  script.add(GpuGraphNode{9, 8, 2});
  script.add(test::hopper());
  script.add(GpuContext{1, 0});
  script.add(GpuReading{1, 9ns, 1'755'000'000, 450'000,
                        GpuProcessMemory{1 << 20, GpuMemorySource::growth}});
  script.add(GpuNote{"no \"clock\""});
  return session;
}

// One record of every kind with only its required fields.
GpuSession minimal_session() {
  test::GpuScript script(7);
  script.add(GpuKernel{});
  script.add(GpuMemcpy{});
  script.add(GpuMemset{});
  script.add(GpuAllocation{});
  script.add(GpuApiCall{});
  script.add(GpuExternalId{});
  script.add(GpuOverhead{});
  script.add(GpuSynchronisation{});
  script.add(GpuGraphNode{});
  script.add(GpuDevice{});
  script.add(GpuContext{});
  script.add(GpuReading{});
  script.add(GpuNote{});
  return script.session;
}

TEST(GpuRecordLines, RoundTrip) {
  for (const GpuSession& session : {full_session(), minimal_session(), GpuSession{}}) {
    const std::string text = format_gpu_session(session);
    const auto read = read_gpu_session(text, "session.jsonl");
    ASSERT_TRUE(read.ok()) << read.error().message() << "\n" << text;
    EXPECT_TRUE(*read == session) << text;
    EXPECT_EQ(format_gpu_session(*read), text);
  }
}

TEST(GpuRecordLines, AsDocumented) {
  test::GpuScript script(7);
  script.session.tracer = "CUPTI 13.0.1";
  script.session.clock = {5ns, 9ns};
  GpuKernel& kernel = script.kernel("_Z4gemmv", during(10, 20), 7, 3);
  kernel.grid = {2, 1, 1};
  kernel.queued = 8ns;
  kernel.graph_node = 2;
  EXPECT_EQ(format_gpu_session(script.session),
            std::string(kSessionLine) +
                R"({"record":"kernel","name":"_Z4gemmv","start_ns":10,"end_ns":20,"device":0,)"
                R"("context":1,"stream":7,"grid":[2,1,1],"block":[128,1,1],"registers":32,)"
                R"("static_shared_bytes":0,"dynamic_shared_bytes":0,"correlation":3,)"
                R"("queued_ns":8,"graph_node":2})"
                "\n");
}

TEST(GpuRecordLines, AReadingAsDocumented) {
  test::GpuScript script(7);
  script.session.tracer = "CUPTI 13.0.1";
  script.session.clock = {5ns, 9ns};
  script.add(
      GpuReading{0, 8ns, 1'755'000'000, 450'000, GpuProcessMemory{4096, GpuMemorySource::process}});
  script.add(GpuReading{0, 9ns, {}, {}, {}});
  EXPECT_EQ(format_gpu_session(script.session),
            std::string(kSessionLine) +
                R"({"record":"reading","device":0,"at_ns":8,"sm_clock_hz":1755000000,)"
                R"("power_milliwatt":450000,"memory_bytes":4096,"memory_source":"process"})"
                "\n"
                R"({"record":"reading","device":0,"at_ns":9})"
                "\n");
}

TEST(GpuRecordLines, EveryWordIsReadBack) {
  test::GpuScript script;
  for (std::size_t i = 0; i < enumerator_names(GpuMemorySource{}).size(); ++i) {
    script.add(GpuReading{0, 1ns, {}, {}, GpuProcessMemory{1, static_cast<GpuMemorySource>(i)}});
  }
  for (std::size_t i = 0; i < enumerator_names(GpuCopyKind{}).size(); ++i) {
    script.copy(static_cast<GpuCopyKind>(i), 1, during(0, 1), 1);
  }
  for (std::size_t i = 0; i < enumerator_names(GpuMemoryKind{}).size(); ++i) {
    script.add(GpuMemset{static_cast<GpuMemoryKind>(i), 1, during(0, 1), {}, {}, {}});
  }
  for (std::size_t i = 0; i < enumerator_names(GpuOverheadKind{}).size(); ++i) {
    script.add(GpuOverhead{static_cast<GpuOverheadKind>(i), during(0, 1), {}, {}});
  }
  for (std::size_t i = 0; i < enumerator_names(GpuWaitKind{}).size(); ++i) {
    script.add(GpuSynchronisation{static_cast<GpuWaitKind>(i), during(0, 1), 0, {}, {}});
  }
  const auto read = read_gpu_session(format_gpu_session(script.session), "x");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_TRUE(*read == script.session);
}

// Kernel names come from binaries, so they can contain any bytes.
TEST(GpuRecordLines, TextThatIsNoUtf8IsStillJson) {
  test::GpuScript script;
  script.kernel("bad\xff", during(0, 1), 1, 1);
  const auto read = read_gpu_session(format_gpu_session(script.session), "x");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(std::get<GpuKernel>(read->records[0]).name, "bad\xef\xbf\xbd");
}

struct BadCase {
  const char* text;  // the text after the first line
  const char* message;
};
constexpr BadCase kBadCases[] = {
    {"[]\n", "f:2: it is not a JSON object"},
    {"{\n", "f:2: it is not a JSON object"},
    {"\n", "f:2: it is not a JSON object"},
    {"{}\n", "f:2: it has no field `record`"},
    {R"({"record":"kernal"})"
     "\n",
     "unknown record `kernal`, did you mean `kernel`?"},
    {R"({"record":"context","context":1})"
     "\n",
     "f:2: `device` is missing"},
    {R"({"record":"context","context":"1","device":0})"
     "\n",
     "`context` is not an integer from -9223372036854775808 to 9223372036854775807"},
    {R"({"record":"context","context":1.5,"device":0})"
     "\n",
     "`context` is not an integer from -9223372036854775808 to 9223372036854775807"},
    {R"({"record":"context","context":9223372036854775808,"device":0})"
     "\n",
     "`context` is not an integer from -9223372036854775808 to 9223372036854775807"},
    {R"({"record":"context","context":1,"device":0,"x":1})"
     "\n",
     "contains the unknown field `x`"},
    {R"({"record":"context","context":1,"device":0})", "the line is incomplete"},
    {R"({"record":"graph_node","node":-1})"
     "\n",
     "`node` is not an integer from 0 to 18446744073709551615"},
    {R"({"record":"external_id","kind":"phrase","id":1,"correlation":1})"
     "\n",
     "`kind` has the unknown value `phrase`, did you mean `phase`?"},
    {R"({"record":"external_id","kind":1,"id":1,"correlation":1})"
     "\n",
     "`kind` is not text"},
    {R"({"record":"overhead","kind":"resource","start_ns":4611686018427387904,"end_ns":1})"
     "\n",
     "`start_ns` is not a time within 2305843009213693951 ns"},
    {R"({"record":"session","schema":"bench.gpu_records/1"})"
     "\n",
     "unknown record `session`"},
    {R"({"record":"owner","id":1,"case":"","scope":"","direction":"","op":"","bytes":1})"
     "\n",
     "contains the unknown field `bytes`"},
    {R"({"record":"context","context":1,"device":0,"device":0})"
     "\n",
     "repeats the field `device`"},
    {R"({"record":"reading","device":0,"at_ns":1,"memory_bytes":1})"
     "\n",
     "`memory_source` is missing"},
    {R"({"record":"reading","device":0,"at_ns":1,"sm_clock_mhz":1})"
     "\n",
     "contains the unknown field `sm_clock_mhz`"},
};

TEST(GpuRecordLines, StrictWithPlaceAndCause) {
  for (const BadCase& bad : kBadCases) {
    const auto read = read_gpu_session(std::string(kSessionLine) + bad.text, "f");
    ASSERT_FALSE(read.ok()) << bad.text;
    EXPECT_THAT(read.error().message(), HasSubstr(bad.message)) << bad.text;
  }
}

TEST(GpuRecordLines, StrictAboutTheFirstLineAndOwners) {
  const auto message = [](const std::string& text) {
    const auto read = read_gpu_session(text, "f");
    return read.ok() ? std::string() : read.error().message();
  };
  EXPECT_THAT(message(""), HasSubstr("the file is empty"));
  EXPECT_THAT(message(R"({"record":"context","context":1,"device":0})"
                      "\n"),
              HasSubstr("f:1: the first record must be `session`"));
  std::string other_schema(kSessionLine);
  other_schema.replace(other_schema.find("records/1"), 9, "records/2");
  EXPECT_THAT(message(other_schema),
              HasSubstr("`schema` is `bench.gpu_records/2`, expected `bench.gpu_records/1`"));
  const std::string owner =
      R"({"record":"owner","id":1,"case":"","scope":"","direction":"","op":""})"
      "\n";
  EXPECT_EQ(message(kSessionLine + owner), "");
  EXPECT_THAT(message(kSessionLine + owner + owner), HasSubstr("f:3: a second owner of id 1"));
}

// A program writes these pieces while it runs: first line, records, and a last line.
TEST(GpuRecordLines, ASessionInPiecesIsTheSame) {
  GpuSession session;
  session.pid = 7;
  session.tracer = "CUPTI 13.0.1";
  session.faults = {"one"};
  session.records = {GpuContext{1, 2}, GpuContext{3, 4}};
  std::string text = gpu_session_line(session);
  for (const GpuRecord& record : session.records) text += format_gpu_records({&record, 1});
  EXPECT_EQ(text, format_gpu_session(session));
  text += gpu_session_end_line({5, {"two"}});
  const auto read = read_gpu_session(text, "s");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->records, session.records);
  EXPECT_EQ(read->dropped, 5);
  EXPECT_EQ(read->faults, (std::vector<std::string>{"one", "two"}));
}

TEST(GpuRecordLines, NamesAreEscapedAsJsonWants) {
  GpuSession session;
  session.tracer = "a\"b\\c\n\x01\xc3\xa9";
  const auto read = read_gpu_session(format_gpu_session(session), "s");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->tracer, session.tracer);
  session.tracer = "\xff";  // invalid UTF-8 must not make the whole line unreadable
  EXPECT_TRUE(read_gpu_session(format_gpu_session(session), "s").ok());
}

}  // namespace
}  // namespace bench
