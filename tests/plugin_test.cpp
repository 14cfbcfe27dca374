// SPDX-License-Identifier: Apache-2.0
// Plugins as a user meets them: the example of examples/plugin with every command, and a plugin
// that breaks every rule.
#include "harness/result/report.hpp"
#include "harness/result/summary.hpp"
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::plugin_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

constexpr const char* kHead = R"(
defaults: { threads: 1, warmup: { iterations: 2, time: 2ms },
            measure: { processes: 2, min_iterations: 5, max_time: 10ms } }
)";
constexpr const char* kDirect = "scale_shift/forward/2x8x6x6/f32/example/cpu/hot/t1";
constexpr const char* kLibrary = "scale_shift/forward/2x8x6x6-library/f32/example/cpu/hot/t1";

class PluginTest : public testing::Test {
 protected:
  // Writes a configuration of this plugin.
  void write(const std::string& plugin, const std::string& cases) const {
    folder_.write("plugin.yaml", "version: 1\nname: plugin\nplugins: [" + plugin + "]" + kHead +
                                     "cases:\n" + cases);
  }
  void write_example() const {
    write(BENCH_EXAMPLE_PLUGIN,
          "  - { op: scale_shift, shape: [2, 8, 6, 6], direction: [forward, backward_data],\n"
          "      sweep: { mode: [direct, library] } }\n"
          "  - { op: gemm, m: 8, n: 8, k: 8 }\n");
  }
  ProgramResult bench(std::vector<std::string> arguments,
                      std::map<std::string, std::string> environment = {}) const {
    arguments.insert(arguments.begin(), BENCH_BINARY);
    return run_program({std::move(arguments), folder_.path(), std::move(environment)});
  }
  Report run(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"run", "plugin.yaml", "--out", "r.jsonl", "--force"});
    const ProgramResult result = bench(arguments);
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    return report();
  }
  Report report() const {
    auto report = parse_report(read_text(folder_.file("r.jsonl")), "r.jsonl");
    EXPECT_TRUE(report.ok());
    return report.ok() ? *report : Report{};
  }

  TemporaryFolder folder_;
};

TEST_F(PluginTest, ValidatesAndListsOperatorsOfAPlugin) {
  write_example();
  const ProgramResult valid = bench({"validate", "plugin.yaml"});
  EXPECT_EQ(valid.status, 0) << valid.err;
  EXPECT_EQ(valid.out, "plugin.yaml: 5 cases\n");
  const ProgramResult listed = bench({"list", "plugin.yaml"});
  EXPECT_EQ(listed.status, 0) << listed.err;
  EXPECT_THAT(listed.out,
              AllOf(HasSubstr(kDirect), HasSubstr(kLibrary), HasSubstr("5 cases, 5 can run here")));
  const ProgramResult as_json = bench({"list", "plugin.yaml", "--json"});
  const json first = json::parse(as_json.out).at("cases").at(0);
  EXPECT_EQ(first.at("id"), kDirect);
  EXPECT_EQ(first.at("work").at("flops"), 2 * 576);
  // Source, destination, and two vectors of 8 channels.
  EXPECT_EQ(first.at("work").at("bytes"), 4 * (2 * 576 + 2 * 8));
}

TEST_F(PluginTest, SaysWhatIsWrongWithItsParametersAndWhere) {
  write(BENCH_EXAMPLE_PLUGIN,
        "  - { op: scale_shift, shape: [4] }\n"
        "  - { op: scale_shift, shape: [4, 4], mode: directly }\n"
        "  - { op: scale_shift, shape: [4, 4], dtype: s8 }\n"
        "  - { op: scale_shit, shape: [4, 4] }\n"
        "  - { op: scale_shift, mode: direct }\n");
  const ProgramResult result = bench({"validate", "plugin.yaml"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("plugin.yaml:7:31: `shape` has no channels; write [n, c, ...]"),
                    HasSubstr("did you mean `direct`?"),
                    HasSubstr("scale_shift is defined for f32 and f64"),
                    HasSubstr("did you mean `scale_shift`?"), HasSubstr("`shape` is missing")));
}

TEST_F(PluginTest, RunsBesideBuiltInOperatorsWithCheckedResults) {
  write_example();
  const Report report = run();
  ASSERT_EQ(report.cases.size(), 5U);
  for (const CaseRecord& record : report.cases) {
    EXPECT_EQ(record.outcome, Outcome::ok) << record.id << ": " << record.reason.value_or("");
    EXPECT_TRUE(record.time.has_value()) << record.id;
  }
  EXPECT_EQ(report.cases[0].id, kDirect);
  EXPECT_EQ(report.cases[0].backend, "example");
  EXPECT_EQ(report.cases[0].implementation, "loop");
  EXPECT_EQ(report.cases[2].implementation, "library");
  EXPECT_EQ(report.cases[0].details.at("library.scale_shift"), "1.0");
  EXPECT_EQ(report.cases[4].backend, "onednn");
  const auto& libraries = report.runs.front().environment.libraries;
  EXPECT_EQ(libraries.at("scale_shift"), "1.0");
}

TEST_F(PluginTest, ACaseIsRerunByItsId) {
  const ProgramResult result =
      bench({"run", kDirect, "--plugin", BENCH_EXAMPLE_PLUGIN, "--quick", "--out", "r.jsonl"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(report().cases.at(0).outcome, Outcome::ok);
  const ProgramResult unknown = bench({"run", kDirect, "--quick", "--out", "s.jsonl"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown operator `scale_shift`"));
}

TEST_F(PluginTest, ExplainsFormulasAndImplementation) {
  const ProgramResult result = bench({"explain", kDirect, "--plugin", BENCH_EXAMPLE_PLUGIN});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("flops = 2*elements"), HasSubstr("2*576"),
                                HasSubstr("implementation  loop"),
                                HasSubstr(std::string("--plugin ") + BENCH_EXAMPLE_PLUGIN)));
}

struct Row {
  std::string name;
  std::int64_t start, duration;
};

// Returns the executed operators of a case, and their parts.
std::pair<std::vector<Row>, std::vector<Row>> rows_of(const std::string& file,
                                                      const std::string& id) {
  std::vector<Row> operators, parts;
  for (const json& record : records_of_kind(read_text(file), "activity")) {
    if (record.at("id") != id) continue;
    const std::string kind = record.at("kind").get<std::string>();
    const Row row{record.at("name").get<std::string>(), record.at("start_ns").get<std::int64_t>(),
                  record.value("duration_ns", std::int64_t{0})};
    if (kind == "operator") operators.push_back(row);
    if (kind == "primitive") parts.push_back(row);
  }
  return {std::move(operators), std::move(parts)};
}

void expect_parts_within(const std::vector<Row>& operators, const std::vector<Row>& parts) {
  ASSERT_FALSE(operators.empty());
  for (const Row& parent : operators) {
    std::int64_t sum = 0;
    for (const Row& part : parts) {
      if (part.start < parent.start || part.start >= parent.start + parent.duration) continue;
      EXPECT_LE(part.start + part.duration, parent.start + parent.duration);
      EXPECT_TRUE(part.name.starts_with(parent.name + "::")) << part.name;
      sum += part.duration;
    }
    EXPECT_LE(sum, parent.duration);
    EXPECT_GT(sum, 0);
  }
}

TEST_F(PluginTest, AProfileHasItsPartsWhichAddUpToNoMoreThanTheWhole) {
  write_example();
  run({"--profile"});
  const auto [operators, parts] = rows_of(folder_.file("r.jsonl"), kLibrary);
  expect_parts_within(operators, parts);
  std::set<std::string> names;
  for (const Row& part : parts) names.insert(part.name);
  EXPECT_THAT(names, UnorderedElementsAre("scale_shift::host", "scale_shift::pack",
                                          "scale_shift::pointwise", "scale_shift::unpack"));
  const auto [loops, whole] = rows_of(folder_.file("r.jsonl"), kDirect);
  expect_parts_within(loops, whole);
  ASSERT_FALSE(whole.empty());
  EXPECT_EQ(whole.front().name, "scale_shift::host");
  const ProgramResult table = bench({"analyze", "r.jsonl", "-c", "name,flops", "--format", "csv"});
  EXPECT_EQ(table.status, 0) << table.err;
  // With several parts it is unknown which did the work; an operator without parts did it all.
  EXPECT_THAT(table.out, AllOf(HasSubstr("\"scale_shift::pointwise\",\n"),
                               HasSubstr("\"scale_shift::host\",1152")));
}

TEST_F(PluginTest, EqualSidesPassTheGateAndADuet) {
  write(BENCH_EXAMPLE_PLUGIN, "  - { op: scale_shift, shape: [4, 32, 28, 28] }\n");
  const ProgramResult gate =
      bench({"gate", "plugin.yaml", "--base", BENCH_BINARY, "--out", "gate", "--kit"});
  EXPECT_EQ(gate.status, 0) << gate.out << gate.err;
  // On a busy machine the case may stay undecided.
  EXPECT_THAT(gate.out, AllOf(HasSubstr(" of 1 cases judged"), Not(HasSubstr("REGRESSION"))));
  EXPECT_THAT(read_text(folder_.file("gate/gate.json")),
              HasSubstr(std::string("--plugin ") + BENCH_EXAMPLE_PLUGIN));
  const ProgramResult duet =
      bench({"duet", "scale_shift/forward/4x32x28x28/f32/example/cpu/hot/t1", "--plugin",
             BENCH_EXAMPLE_PLUGIN, "--base", BENCH_BINARY, "--duets", "3"});
  EXPECT_EQ(duet.status, 0) << duet.err;
  EXPECT_THAT(duet.out, HasSubstr("over 3 duets"));
}

constexpr const char* kNetwork = R"(version: 1
network: small
input: { c: 8, h: 6 }
layers:
  - { name: conv, op: conv, k: 8, r: 3, pad: 1 }
  - { name: scaled, op: scale_shift }
  - { name: relu, op: pointwise, function: relu }
  - { name: again, op: scale_shift, mode: library }
)";

TEST_F(PluginTest, IsALayerOfANetwork) {
  std::filesystem::create_directory(folder_.file("networks"));
  folder_.write("networks/small.yaml", kNetwork);
  write(BENCH_EXAMPLE_PLUGIN, "  - { network: small, batch: 2 }\n");
  const Report report = run({"--profile"});
  std::set<std::string> ids;
  for (const CaseRecord& record : report.cases) {
    EXPECT_EQ(record.outcome, Outcome::ok) << record.id << ": " << record.reason.value_or("");
    ids.insert(record.id);
  }
  EXPECT_THAT(ids,
              testing::IsSupersetOf({std::string("network/forward/small-n2/f32/onednn/cpu/hot/t1"),
                                     std::string(kDirect), std::string(kLibrary)}));
  // One network, although two backends measured its layers.
  EXPECT_EQ(summarise_networks(report).size(), 1U);
  const auto [operators, parts] =
      rows_of(folder_.file("r.jsonl"), "network/forward/small-n2/f32/onednn/cpu/hot/t1");
  std::set<std::string> names;
  for (const Row& part : parts) names.insert(part.name);
  EXPECT_THAT(
      names, testing::IsSupersetOf({std::string("scaled::host"), std::string("again::pointwise")}));
  EXPECT_EQ(std::ranges::count(operators, std::string("scaled"), &Row::name) > 0, true);
}

TEST_F(PluginTest, OperatorsOfForeignProfilesGetWorkWithoutAPlugin) {
  folder_.write("log.txt",
                "onednn_verbose,exec,cpu,lrn,simple,forward_training,"
                "data_f32::blocked:abcd:f0,,alg:lrn_across_channels,mb4ic8ih4iw4,0.05\n");
  folder_.write("work.yaml",
                "version: 1\noperators:\n"
                "  lrn: { flops: 8*512, bytes: 2*4*512 }\n");
  const ProgramResult table = bench(
      {"analyze", "log.txt", "--work", "work.yaml", "-c", "name,flops,bytes", "--format", "csv"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("\"lrn\",4096,4096"));
  folder_.write("bad.yaml", "version: 1\noperators:\n  a: { flops: 2*, bytes: 1 }\n");
  const ProgramResult bad = bench({"analyze", "log.txt", "--work", "bad.yaml"});
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.yaml:3:15: `flops`: expected a number"));
  folder_.write("worse.yaml", "version: 1\noperators:\n  a: { flops: 2*, bytes: 2* }\n");
  const ProgramResult worse = bench({"analyze", "log.txt", "--work", "worse.yaml"});
  EXPECT_THAT(worse.err, HasSubstr("; 1 more error\n"));
}

// ---- What goes wrong ---------------------------------------------------------------------------

class FaultyPluginTest : public PluginTest {
 protected:
  FaultyPluginTest() {
    write(BENCH_FAULTY_PLUGIN,
          "  - { op: twice, count: 100 }\n  - { op: gemm, m: 8, n: 8, k: 8 }\n");
  }
  ProgramResult validate(const std::string& fault) const {
    return bench({"validate", "plugin.yaml"}, {{"FAULTY_PLUGIN", fault}});
  }
  // Outcomes of the plugin's case and of the other one.
  std::pair<CaseRecord, CaseRecord> cases(const std::string& fault, int status) const {
    const ProgramResult result =
        bench({"run", "plugin.yaml", "--out", "r.jsonl", "--force"}, {{"FAULTY_PLUGIN", fault}});
    EXPECT_EQ(result.status, status) << result.out << result.err;
    const Report report = this->report();
    if (report.cases.size() != 2) return {};
    return {report.cases[0], report.cases[1]};
  }
};

TEST_F(FaultyPluginTest, WorksWithoutAFault) {
  const auto [own, other] = cases("", 0);
  EXPECT_EQ(own.outcome, Outcome::ok) << own.reason.value_or("");
  EXPECT_EQ(other.outcome, Outcome::ok);
}

TEST_F(FaultyPluginTest, WhatCannotBeLoadedIsAnErrorAtItsPlace) {
  const std::map<std::string, std::string> words = {
      {"abi", "has version 3 of the plugin interface, this program has version 2"},
      {"short", "with a struct that is too short"},
      {"long",
       "with a struct that is 72 bytes long, but this program supports 64: its `size` is wrong"},
      {"long_backend", "number 0 of its backends is 18446744073709551615 bytes long"},
      {"null", "bench_plugin_entry() returned no plugin"},
      {"collide", "its operator `conv` has the name of a built-in one"},
      {"axis", "has a parameter `threads`, which every case has"},
      {"describe", "has a parameter `count` without a token"},
      {"crash_load", "SIGSEGV"},
  };
  for (const auto& [fault, expected] : words) {
    const ProgramResult result = validate(fault);
    EXPECT_EQ(result.status, 2) << fault;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr(std::string("plugin.yaml:3:11: plugin ") + BENCH_FAULTY_PLUGIN),
                      HasSubstr(expected)))
        << fault;
  }
}

TEST_F(FaultyPluginTest, WhatItsModelDoesIsAnErrorOfTheCase) {
  const std::map<std::string, std::string> words = {
      {"fail_model", "no model today"},
      {"overflow", "2^63"},
      {"crash_model", "SIGSEGV"},
  };
  for (const auto& [fault, expected] : words) {
    const ProgramResult result = validate(fault);
    EXPECT_EQ(result.status, 2) << fault;
    EXPECT_THAT(result.err, AllOf(HasSubstr("plugin.yaml:7:"), HasSubstr(expected))) << fault;
  }
}

TEST_F(FaultyPluginTest, FilesThatAreNoPluginsSaySo) {
  folder_.write("text.so", "no library");
  const std::map<std::string, std::string> words = {
      {"missing.so", "cannot be read: No such file or directory"},
      {"text.so", "cannot be loaded: "},
  };
  for (const auto& [file, expected] : words) {
    write(file, "  - { op: gemm, m: 8, n: 8, k: 8 }\n");
    const ProgramResult result = bench({"run", "plugin.yaml"});
    EXPECT_EQ(result.status, 2) << file;
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("plugin.yaml:3:11: plugin " + file + ": "), HasSubstr(expected)));
  }
  const ProgramResult option = bench({"list", kDirect, "--plugin", "missing.so"});
  EXPECT_EQ(option.status, 2);
  EXPECT_THAT(option.err, HasSubstr("--plugin missing.so: plugin missing.so: cannot be read"));
}

TEST_F(FaultyPluginTest, ACrashWhileRunningIsThatCasesOutcomeAlone) {
  const auto [own, other] = cases("crash_run", 3);
  EXPECT_EQ(own.outcome, Outcome::crashed);
  EXPECT_THAT(own.reason.value_or(""), HasSubstr("SIGSEGV"));
  EXPECT_EQ(other.outcome, Outcome::ok);
}

TEST_F(FaultyPluginTest, WrongResultsFailuresAndRefusalsAreToldApart) {
  struct Expected {
    std::string fault;
    int status;
    Outcome outcome;
    std::string reason;
  };
  const std::vector<Expected> all = {
      {"wrong", 3, Outcome::wrong_result, "destination"},
      {"lazy", 3, Outcome::wrong_result, "after the samples: destination"},
      {"fail_run", 3, Outcome::failed, "no run today"},
      {"fail_reference", 3, Outcome::failed, "no reference today"},
      {"refuse", 0, Outcome::unsupported, "no kernel today"},
  };
  for (const Expected& expected : all) {
    const auto [own, other] = cases(expected.fault, expected.status);
    EXPECT_EQ(own.outcome, expected.outcome) << expected.fault;
    EXPECT_THAT(own.reason.value_or(""), HasSubstr(expected.reason)) << expected.fault;
    EXPECT_EQ(other.outcome, Outcome::ok) << expected.fault;
  }
}

}  // namespace
}  // namespace bench::test::plugin_test
