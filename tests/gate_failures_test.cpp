// SPDX-License-Identifier: Apache-2.0
// `bench gate` with a candidate that crashes or computes wrong results: verdict, status, the kit
// and GitHub's annotations. A preloaded library affects the only matrix multiplication. The gate
// has no base.
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::gate_failures_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Words = std::vector<std::string>;

constexpr const char* kConv = "conv/forward/c8h8w8k8r3s3p1/f32/onednn/cpu/hot/t1";
constexpr const char* kGemm = "gemm/forward/m16n16k16/f32/onednn/cpu/hot/t1";
constexpr const char* kKit = "gate/gemm__forward__m16n16k16__f32__onednn__cpu__hot__t1";
constexpr const char* kConfig = R"(version: 1
name: faults
defaults: { threads: 1, warmup: { iterations: 2, time: 0ms },
            measure: { processes: 2, min_iterations: 4, max_time: 2ms } }
cases:
  - { op: conv, c: 8, h: 8, k: 8, r: 3, pad: 1 }
  - { op: gemm, m: 16, n: 16, k: 16 }
)";

class GateFailures : public ::testing::Test {
 protected:
  ProgramResult bench(Words arguments, std::map<std::string, std::string> environment = {}) {
    arguments.insert(arguments.begin(), BENCH_BINARY);
    return run_program({std::move(arguments), folder_.path(), std::move(environment)});
  }
  ProgramResult gate(const std::string& fault,
                     std::map<std::string, std::string> environment = {}) {
    folder_.write("faults.yaml", kConfig);
    const char* const sanitizer = std::getenv("ASAN_OPTIONS");
    // Set for the whole gate: with --cand-env, the gate would also measure a base.
    faults_ = {{"LD_PRELOAD", BENCH_FAULTY_PRIMITIVE},
               {"BENCH_FAULT", fault},
               {"BENCH_FAULT_AFTER", "0"},
               {"ASAN_OPTIONS", (sanitizer != nullptr ? sanitizer + std::string(":") : "") +
                                    "verify_asan_link_order=0"}};
    environment.insert(faults_.begin(), faults_.end());
    return bench({"gate", "faults.yaml", "--out", "gate", "--quiet"}, std::move(environment));
  }

  json find_case(const std::string& id) const {
    const json report = json::parse(read_text(folder_.file("gate/gate.json")));
    for (const json& entry : report.at("cases")) {
      if (entry.at("id") == id) return entry;
    }
    return {};
  }
  std::string readme() const { return read_text(folder_.file(std::string(kKit) + "/README.md")); }
  // The candidate's slices in the kit's trace, in order of time.
  std::vector<json> slices() {
    const std::string path = std::string(kKit) + "/trace.json";
    const ProgramResult check = bench({"trace", "--check", path});
    EXPECT_EQ(check.status, 0) << check.out << check.err;
    std::vector<json> found;
    const json trace = json::parse(read_text(folder_.file(path)));
    for (const json& event : trace.at("traceEvents")) {
      if (event.at("ph") == "X") found.push_back(event);
    }
    std::ranges::stable_sort(found, {},
                             [](const json& slice) { return slice["ts"].get<double>(); });
    return found;
  }
  static bool is_unfinished(const json& slice) {
    return slice.contains("args") && slice["args"].value("unfinished", false);
  }
  Words open_slices() {
    Words names;
    for (const json& slice : slices()) {
      if (is_unfinished(slice)) {
        names.push_back(slice["cat"].get<std::string>() + " " + slice["name"].get<std::string>());
      }
    }
    return names;
  }
  // Returns the folders of all kits.
  Words kits() const {
    Words names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("gate"))) {
      if (entry.is_directory()) names.push_back("gate/" + entry.path().filename().string());
    }
    return names;
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> faults_;
};

TEST_F(GateFailures, ACrashIsAnErrorWithAKitThatEndsWhereItDied) {
  const ProgramResult result = gate("crash");
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 ERROR"), HasSubstr("crashed: "), HasSubstr("SIGSEGV"),
                                HasSubstr(std::string("kit: ") + kKit)));
  EXPECT_EQ(find_case(kGemm).at("verdict"), "ERROR");
  EXPECT_EQ(find_case(kConv).at("verdict"), "NO BASELINE");
  EXPECT_THAT(kits(), ElementsAre(kKit));
  EXPECT_THAT(readme(), AllOf(HasSubstr(std::string("# ERROR: ") + kGemm), HasSubstr("crashed: "),
                              HasSubstr("SIGSEGV"), HasSubstr("candidate ended: ")));
  EXPECT_THAT(open_slices(), ElementsAre("range preparation", "operator gemm", "primitive matmul"));
  EXPECT_TRUE(is_unfinished(slices().back()));
}

TEST_F(GateFailures, AWrongResultIsAnErrorWithAKitWhoseCheckIsOpen) {
  const ProgramResult result = gate("wrong");
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 ERROR"), HasSubstr("wrong_result: ")));
  const json verdict = find_case(kGemm);
  EXPECT_EQ(verdict.at("verdict"), "ERROR");
  EXPECT_FALSE(verdict.contains("candidate_ns")) << "what is wrong has no time";
  EXPECT_THAT(kits(), ElementsAre(kKit));
  EXPECT_THAT(readme(), AllOf(HasSubstr("wrong\\_result: destination"),
                              HasSubstr("1 of 256 compared elements are wrong")));
  EXPECT_THAT(open_slices(), ElementsAre("range check"));
  EXPECT_TRUE(is_unfinished(slices().back()));
}

// Runs the line at the end of the README.
TEST_F(GateFailures, TheReproductionLineOfTheKitFailsAlike) {
  ASSERT_EQ(gate("crash").status, 3);
  const std::string text = readme();
  const std::string heading = "Measure it again:\n\n    ";
  const std::size_t begin = text.find(heading);
  ASSERT_NE(begin, std::string::npos) << text;
  const std::string line = text.substr(
      begin + heading.size(), text.find('\n', begin + heading.size()) - begin - heading.size());
  const ProgramResult again = run_program({{"/bin/sh", "-c", line}, folder_.path(), faults_});
  EXPECT_EQ(again.status, 3) << line << again.err;
  EXPECT_THAT(again.out, AllOf(HasSubstr("crashed"), HasSubstr("SIGSEGV")));
}

TEST_F(GateFailures, GitHubIsToldTheLineOfTheCase) {
  const ProgramResult result = gate("crash", {{"GITHUB_ACTIONS", "true"}});
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("::error title=bench gate::1 case has an error; 0 of 2 cases "
                              "judged: 1 ERROR"),
                    HasSubstr(std::string("\n::error file=faults.yaml,line=7,title=ERROR ") +
                              kGemm + "::crashed: ")));
  EXPECT_THAT(bench({"gate", "--from", "gate/gate.jsonl"}, {{"GITHUB_ACTIONS", "false"}}).out,
              Not(HasSubstr("::error")));
}

TEST_F(GateFailures, ACandidateThatFailsNowhereLeavesNoKit) {
  const ProgramResult result = gate("none");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(kits(), IsEmpty());
}

}  // namespace
}  // namespace bench::test::gate_failures_test
