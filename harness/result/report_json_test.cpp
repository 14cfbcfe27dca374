// SPDX-License-Identifier: Apache-2.0
// Random records of every kind match their schema and are read back unchanged.
#include "harness/result/report.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace bench {
namespace {

using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kResultFile = "docs/result.schema.json";
constexpr const char* kReportFile = "docs/report.schema.json";

// Records with random optional parts and values from the whole range.
class RandomRecords {
 public:
  explicit RandomRecords(std::uint64_t seed) : random_(seed) {}

  RunRecord run() {
    RunRecord record;
    record.run_id = text();
    maybe(record.resumes, [&] { return text(); });
    record.tool_version = text_or_none();
    record.tool_commit = text_or_none();
    record.started = coin() ? "2026-11-21T08:00:00Z" : "";
    record.config_name = text_or_none();
    record.config_files = texts();
    record.config_hash = text_or_none();
    record.seed = random_() >> 1;  // the validator's integers are signed
    record.arguments = texts();
    maybe(record.shard, [] { return std::string("1/4"); });
    maybe(record.assignment, [&] {
      return ShardAssignment{
          1 + count(), coin() ? "1,3-5" : "",
          static_cast<AssignmentRule>(below(enumerator_names<AssignmentRule>().size()))};
    });
    record.environment.machine_class = text_or_none();
    record.environment.cpu = text_or_none();
    maybe(record.environment.threads, [&] { return 1 + below<int>(1000); });
    record.environment.libraries = map();
    record.environment.details = map();
    return record;
  }

  Roofline roofline() {
    Roofline roofline;
    roofline.intensity_flops_per_byte = real();
    roofline.bound = static_cast<Bound>(below(enumerator_names<Bound>().size()));
    roofline.level = text_or_none();
    roofline.ideal = time();
    roofline.efficiency = real();
    maybe(roofline.peak_flops_per_s, [&] { return FlopsPerSecond{real()}; });
    maybe(roofline.peak_bytes_per_s, [&] { return BytesPerSecond{real()}; });
    roofline.source = static_cast<CeilingSource>(below(enumerator_names<CeilingSource>().size()));
    return roofline;
  }

  ProcessRecord process() {
    ProcessRecord record;
    record.run_id = text();
    record.id = text();
    record.process = below<int>(100);
    record.samples = coin() ? std::vector<Nanoseconds>{} : std::vector{time(), time(), time()};
    record.iterations_per_sample = 1 + below<std::int64_t>(1'000'000);
    record.warmup_iterations = count();
    record.steady = coin();
    record.stop = static_cast<StopReason>(below(enumerator_names<StopReason>().size()));
    maybe(record.preparation.create, [&] { return time(); });
    maybe(record.preparation.create_hit, [&] { return time(); });
    maybe(record.preparation.reorder, [&] { return time(); });
    maybe(record.preparation.first_run, [&] { return time(); });
    record.implementation = text_or_none();
    for (std::size_t i = 0; i < record.samples.size() && coin(); ++i) {
      record.device.host_launch.push_back(time());
      record.device.clock_hz.push_back(1 + count());
    }
    maybe(record.device.sample_method, [&] { return std::string("graph"); });
    if (coin()) record.device.voided = remarks();
    if (coin()) record.device.throttled = remarks();
    if (coin()) record.device.unsteady_clock = remarks();
    while (coin()) record.setup[text()] = time();
    maybe(record.energy, [&] { return ProcessEnergy{count(), time(), text()}; });
    record.choices = text_or_none();
    return record;
  }

  SampleRemarks remarks() {
    SampleRemarks result{count(), {}};
    while (coin()) result.reasons[text()] = 1 + count();
    return result;
  }
  void device_part(CaseRecord& record) {
    maybe(record.sample_method, [&] { return std::string("graph"); });
    maybe(record.voided, [&] { return remarks(); });
    maybe(record.throttled, [&] { return remarks(); });
    maybe(record.unsteady_clock, [&] { return remarks(); });
    while (coin()) record.setup[text()] = time();
  }

  CaseRecord case_record() {
    CaseRecord record;
    record.run_id = text();
    record.id = text();
    for (std::string* part : {&record.op, &record.direction, &record.dtype, &record.device,
                              &record.backend, &record.source, &record.case_hash})
      *part = text_or_none();
    membership(record);
    record.outcome = static_cast<Outcome>(below(enumerator_names<Outcome>().size()));
    if (record.outcome != Outcome::ok) record.reason = text();
    for (std::size_t i = 0; i < enumerator_names<Flag>().size(); ++i) {
      if (coin()) record.flags.push_back(static_cast<Flag>(i));
    }
    maybe(record.implementation, [&] { return text(); });
    maybe(record.work, [&] { return work(); });
    maybe(record.memory, [&] { return MemoryUse{{count()}, {count()}, {count()}}; });
    maybe(record.time, [&] { return time_summary(); });
    maybe(record.flops_per_s, [&] { return FlopsPerSecond{real()}; });
    maybe(record.bytes_per_s, [&] { return BytesPerSecond{real()}; });
    maybe(record.roofline, [&] { return roofline(); });
    maybe(record.energy, [&] {
      Energy energy{real(), std::nullopt, text()};
      maybe(energy.flops_per_joule, [&] { return real(); });
      return energy;
    });
    maybe(record.preparation.create, [&] { return time(); });
    maybe(record.preparation.create_hit, [&] { return time(); });
    maybe(record.preparation.reorder, [&] { return time(); });
    maybe(record.preparation.first_run, [&] { return time(); });
    maybe(record.host_launch, [&] { return time(); });
    maybe(record.clock_hz, [&] { return 1 + count(); });
    device_part(record);
    maybe(record.check, [&] { return text(); });
    maybe(record.launch_floor, [&] { return time(); });
    maybe(record.regret, [&] {
      return ops::Regret{
          text(), time(), text(), time(), {{text(), time(), ""}, {text(), std::nullopt, text()}}};
    });
    record.details = map();
    return record;
  }

  ProfilePassRecord profile_pass() {
    ProfilePassRecord record;
    record.run_id = text();
    record.id = text();
    record.outcome = static_cast<Outcome>(below(enumerator_names<Outcome>().size()));
    if (record.outcome != Outcome::ok) record.reason = text();
    for (std::int64_t* number : {&record.iterations, &record.activities, &record.unread}) {
      *number = count();
    }
    for (auto* duration : {&record.profiled, &record.unprofiled, &record.wall, &record.attributed,
                           &record.unattributed}) {
      maybe(*duration, [&] { return time(); });
    }
    record.details = map();
    return record;
  }

  EndRecord end() {
    EndRecord record;
    record.run_id = text();
    record.finished = coin() ? "2026-11-21T08:02:00Z" : "";
    record.interrupted = coin();
    record.exit = below<int>(256);
    record.not_measured = count();
    record.accounting = {time(), time(), time(), time(), time(), time(), time()};
    return record;
  }

 private:
  template <class Integer = std::size_t>
  Integer below(Integer limit) {
    return static_cast<Integer>(random_() % static_cast<std::uint64_t>(limit));
  }
  bool coin() { return below(2) == 0; }
  // All magnitudes up to 2^62, so that sums of two stay in range.
  std::int64_t count() { return static_cast<std::int64_t>(random_() >> (2 + below(62))); }
  Nanoseconds time() { return Nanoseconds(count()); }
  double real() {
    const double value = std::abs(std::bit_cast<double>(random_()));
    return std::isfinite(value) ? value : 1.0;
  }
  std::string text() {
    const std::vector<std::string> parts = {
        "a", "/", "\"", "\\", "\n", "\x01", "\xc3\xa9", "\xf0\x9f\x98\x80", "{\"record\": ", " "};
    std::string result = "x";
    for (std::size_t i = below(6); i > 0; --i) result += parts[below(parts.size())];
    return result;
  }
  std::string text_or_none() { return coin() ? text() : ""; }
  std::vector<std::string> texts() {
    std::vector<std::string> result;
    for (std::size_t i = below(3); i > 0; --i) result.push_back(text());
    return result;
  }
  std::map<std::string, std::string> map() {
    std::map<std::string, std::string> result;
    for (std::size_t i = below(3); i > 0; --i) result[text()] = text_or_none();
    return result;
  }
  template <class T, class Make>
  void maybe(std::optional<T>& value, Make make) {
    if (coin()) value = make();
  }
  void membership(CaseRecord& record) {
    if (coin()) return;
    record.network = text();
    record.layers = texts();
    if (!record.layers.empty()) record.multiplicity = static_cast<int>(record.layers.size());
    if (coin()) record.networks = {{*record.network, record.layers}, {text(), texts()}};
  }
  ops::Work work() {
    ops::Work value;
    maybe(value.macs, [&] { return count(); });
    value.flops = count();
    value.flops_valid = count();
    value.sfu_ops = count();
    value.bytes_read = count();
    value.bytes_written = count();
    return value;
  }
  TimeSummary time_summary() {
    TimeSummary value{time(), time(), time(), time(), time(), {}, {}, {}};
    if (coin()) return value;
    value.low = time();
    value.high = time();
    value.confidence = std::fmod(real(), 1.0);
    return value;
  }

  std::mt19937_64 random_;
};

void expect_round_trip(const Record& record) {
  const std::string line = to_json_line(record);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_THAT(line, StartsWith("{\"record\":\""));
  const auto parsed = record_from_json_line(line);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message() << "\n" << line;
  EXPECT_TRUE(*parsed == record) << line << "\n" << to_json_line(*parsed);
}

TEST(JsonLine, RandomRecordsComeBackUnchanged) {
  RandomRecords random(1);
  for (int i = 0; i < 2'000; ++i) {
    expect_round_trip(random.run());
    expect_round_trip(random.process());
    expect_round_trip(random.case_record());
    expect_round_trip(random.profile_pass());
    expect_round_trip(random.end());
  }
}

TEST(JsonLine, TheLargestSeedComesBack) {
  RunRecord run;
  run.run_id = "r";
  run.seed = std::numeric_limits<std::uint64_t>::max();
  expect_round_trip(run);
}

TEST(JsonLine, RandomRecordsMatchTheSchema) {
  RandomRecords random(2);
  std::string file;
  for (int i = 0; i < 300; ++i) {
    for (const Record& record :
         {Record(random.run()), Record(random.process()), Record(random.case_record()),
          Record(random.profile_pass()), Record(random.end())})
      file += to_json_line(record) + "\n";
  }
  EXPECT_THAT(test::result_file_problems(file), IsEmpty());
}

TEST(JsonDocument, RandomReportsMatchTheirSchemaAndComeBack) {
  RandomRecords random(3);
  for (int i = 0; i < 20; ++i) {
    Report report;
    report.runs = {random.run(), random.run()};
    report.processes = {random.process()};
    report.cases = {random.case_record(), random.case_record()};
    report.cases[1].id += "2";
    report.runs[1].run_id = report.runs[0].run_id + "2";  // two runs of one id would be one
    report.processes[0].id = report.cases[0].id;
    report.processes[0].run_id = report.cases[0].run_id;  // another run would not count
    report.processes[0].samples.clear();
    report.profile_passes = {random.profile_pass()};
    report.ends = {random.end()};
    const std::string document = to_json_document(report);
    EXPECT_THAT(test::schema_problems(document, kReportFile), IsEmpty()) << document;
    const auto parsed = parse_report(document, "r.json");
    ASSERT_TRUE(parsed.ok()) << parsed.error().message();
    EXPECT_TRUE(parsed->runs == report.runs);
    EXPECT_TRUE(parsed->processes == report.processes);
    EXPECT_TRUE(parsed->cases == report.cases);
    EXPECT_TRUE(parsed->profile_passes == report.profile_passes);
    EXPECT_TRUE(parsed->ends == report.ends);
    EXPECT_THAT(parsed->warnings, IsEmpty());
  }
}

TEST(JsonDocument, EmptyReport) {
  const std::string document = to_json_document({});
  EXPECT_THAT(test::schema_problems(document, kReportFile), IsEmpty());
}

// The tests above would also pass with a validator that accepts everything. This one would not.
TEST(Schema, RefusesWhatIsWrong) {
  const std::string good = to_json_line(EndRecord{"r", "", false, 0, 0, {}});
  EXPECT_THAT(test::schema_problems(good, kResultFile), IsEmpty());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"exit\":0", "\"exit\":\"0\""},
           {"\"exit\":0", "\"exit\":0.5"},
           {"\"exit\":0", "\"exit\":-1"},
           {"\"exit\":0", "\"exitt\":0"},
           {"\"interrupted\":false", "\"interrupted\":0"},
           {"\"run_id\":\"r\"", "\"run_id\":null"},
           {"\"wall_ns\":0,", ""},
           {"\"record\":\"end\"", "\"record\":\"ende\""}}) {
    std::string bad = good;
    const auto place = bad.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    bad.replace(place, from.size(), to);
    EXPECT_FALSE(test::schema_problems(bad, kResultFile).empty()) << bad;
  }
  EXPECT_FALSE(test::schema_problems("{", kResultFile).empty());
  EXPECT_FALSE(test::schema_problems("{\"schema\":\"bench.result/1\"}", kReportFile).empty());
  EXPECT_FALSE(test::result_file_problems(good).empty()) << "no newline";
}

TEST(Schema, AnOutcomeButOkNeedsAReason) {
  CaseRecord record;
  record.run_id = record.id = "x";
  record.outcome = Outcome::skipped;
  EXPECT_FALSE(test::schema_problems(to_json_line(record), kResultFile).empty());
  record.reason = "no CUDA device";
  EXPECT_THAT(test::schema_problems(to_json_line(record), kResultFile), IsEmpty());
}

TEST(Schema, AcceptsTheExampleOfTheSmallestCase) {
  const std::string line =
      R"({"record": "case", "run_id": "r", "id": "i", "outcome": "skipped", "flags": [], )"
      R"("reason": "no CUDA device: ..."})";
  EXPECT_THAT(test::schema_problems(line, kResultFile), IsEmpty());
}

TEST(JsonLine, NamesAndOrderOfTheContract) {
  CaseRecord record;
  record.run_id = "r";
  record.id = "conv/forward/n1c64h56w56k64r3s3p1/f32/onednn/cpu/hot";
  record.op = "conv";
  record.direction = "forward";
  record.dtype = "f32";
  record.device = "cpu";
  record.backend = "onednn";
  record.source = "configs/resnet.yaml:14";
  record.case_hash = "00ff";
  record.network = "resnet50_v1_5";
  record.layers = {"layer1.0.conv2", "layer1.1.conv2"};
  record.multiplicity = 2;
  record.flags = {Flag::noisy, Flag::interrupted};
  record.implementation = "brgconv:avx512_core";
  record.work = ops::Work{115605504, 231211008, 230000000, 0, 1753000, 88};
  record.memory = MemoryUse{{3}, {2}, {1}};
  record.time = TimeSummary{Nanoseconds(5), Nanoseconds(4), Nanoseconds(6), Nanoseconds(3),
                            Nanoseconds(7), Nanoseconds(4), Nanoseconds(6), 0.9375};
  record.flops_per_s = FlopsPerSecond{460763000000};
  record.bytes_per_s = BytesPerSecond{3494000000.5};
  EXPECT_EQ(
      to_json_line(record),
      R"({"record":"case","run_id":"r","id":"conv/forward/n1c64h56w56k64r3s3p1/f32/onednn/cpu/hot",)"
      R"("op":"conv","direction":"forward","dtype":"f32","device":"cpu","backend":"onednn",)"
      R"("source":"configs/resnet.yaml:14","case_hash":"00ff","network":"resnet50_v1_5",)"
      R"("layers":["layer1.0.conv2","layer1.1.conv2"],"multiplicity":2,"outcome":"ok",)"
      R"("flags":["noisy","interrupted"],"implementation":"brgconv:avx512_core",)"
      R"("work":{"macs":115605504,"flops":231211008,"bytes":1753088,"bytes_read":1753000,)"
      R"("bytes_written":88,"flops_valid":230000000,"sfu_ops":0},)"
      R"("memory":{"peak_bytes":3,"weights_bytes":2,"workspace_bytes":1},)"
      R"("time":{"median_ns":5,"q25_ns":4,"q75_ns":6,"min_ns":3,"max_ns":7,"low_ns":4,"high_ns":6,)"
      R"("confidence":0.9375},"rates":{"flops_per_s":460763000000,"bytes_per_s":3494000000.5}})");
}

TEST(JsonLine, NumbersThatJsonCannotSayAreAbsent) {
  CaseRecord record;
  record.run_id = record.id = "x";
  record.flops_per_s = FlopsPerSecond{std::numeric_limits<double>::infinity()};
  record.bytes_per_s = BytesPerSecond{std::nan("")};
  EXPECT_EQ(to_json_line(record),
            R"({"record":"case","run_id":"x","id":"x","outcome":"ok","flags":[]})");
}

TEST(JsonLine, DamagedTextIsReplaced) {
  EndRecord end;
  end.run_id =
      "a\xff"
      "b";
  EXPECT_THAT(to_json_line(end), StartsWith("{\"record\":\"end\",\"run_id\":\"a\xef\xbf\xbd"
                                            "b\""));
}

}  // namespace
}  // namespace bench
