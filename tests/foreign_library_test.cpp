// SPDX-License-Identifier: Apache-2.0
// `bench gate` in the CI of a library that someone else develops: one program, two versions of the
// library. The program is built against oneDNN 3.1, the other version is that of this build.
//
// Verdicts do not depend on the machine: a slowdown is at least doubled time by injection, and
// everything below +40 % passes.
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::foreign_library_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kOlderVersion = "3.1.0";
constexpr const char* kNewerVersion = BENCH_NEWER_VERSION;
constexpr const char* kConfig = R"(version: 1
name: perf
gate: { delta: 40%, detect: 60% }
defaults: { threads: 1, warmup: { iterations: 2, time: 2ms },
            measure: { processes: 2, min_iterations: 5, max_time: 20ms } }
cases:
  - { op: gemm, m: 128, n: 128, k: 128, bias: true }
  - { op: pointwise, function: relu, shape: [2, 64, 28, 28] }
)";

// Returns the path without symbolic links, as the evidence has it.
std::string canonical(const std::string& path) { return std::filesystem::canonical(path).string(); }

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

class ForeignLibrary : public testing::Test {
 protected:
  ForeignLibrary() { folder_.write("cases.yaml", kConfig); }

  ProgramResult run(std::vector<std::string> command,
                    std::map<std::string, std::string> environment = {}) const {
    return run_program({std::move(command), folder_.path(), std::move(environment)});
  }
  // The step of a library's job: libraries in these folders, by the program of the older one.
  ProgramResult gate(const std::string& base, const std::string& candidate,
                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> command = {BENCH_BINARY_OF_OLDER,
                                        "gate",
                                        "cases.yaml",
                                        "--base-env",
                                        "LD_LIBRARY_PATH=" + base,
                                        "--cand-env",
                                        "LD_LIBRARY_PATH=" + candidate,
                                        "--out",
                                        "gate",
                                        "--force"};
    command.insert(command.end(), more.begin(), more.end());
    return run(std::move(command));
  }
  std::string read(const std::string& name) const { return read_text(folder_.file(name)); }

  // Returns the oneDNN that a side of the evidence has loaded.
  json loaded_library(const std::string& side) const {
    const json gate = records_of_kind(read("gate/gate.jsonl"), "gate").at(0);
    for (const json& file : gate.at(side).at("loaded")) {
      if (file.at("name") == "onednn") return file;
    }
    return {};
  }

  TemporaryFolder folder_;
  std::string older_ = folder_of(BENCH_OLDER_LIBRARY);
  std::string newer_ = folder_of(BENCH_NEWER_LIBRARY);
};

TEST_F(ForeignLibrary, ANewVersionThatIsAsFastPassesAndEveryReportNamesBothLibraries) {
  const ProgramResult result = gate(older_, newer_, {"--strict"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("2 of 2 cases judged: 2 PASS"));
  const std::string base = canonical(older_ + "/libdnnl.so.3");
  const std::string candidate = canonical(newer_ + "/libdnnl.so.3");
  EXPECT_EQ(loaded_library("base").at("path"), base);
  EXPECT_EQ(loaded_library("candidate").at("path"), candidate);
  const json gate = records_of_kind(read("gate/gate.jsonl"), "gate").at(0);
  EXPECT_EQ(gate.at("base").at("libraries").at("onednn"), kOlderVersion);
  EXPECT_EQ(gate.at("candidate").at("libraries").at("onednn"), kNewerVersion);
  std::string markdown = read("gate/gate.md");
  std::erase(markdown, '\\');  // escapes `_`
  for (const std::string& report : {result.out, markdown, read("gate/gate.html"),
                                    read("gate/gate.json"), read("gate/gate.xml")}) {
    EXPECT_THAT(report, AllOf(HasSubstr(base), HasSubstr(candidate), HasSubstr(kOlderVersion),
                              HasSubstr(kNewerVersion)));
  }
}

TEST_F(ForeignLibrary, ASlowVersionIsARegressionInBothDirections) {
  const std::vector<std::string> slow = {"--cand-env", "BENCH_SLOWDOWN=1.0"};
  for (const auto& [base, candidate] : {std::pair(newer_, older_), std::pair(older_, newer_)}) {
    const ProgramResult result = gate(base, candidate, slow);
    EXPECT_EQ(result.status, 1) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("2 REGRESSION"));
    EXPECT_EQ(folder_of(loaded_library("base").at("path")), canonical(base));
    EXPECT_EQ(folder_of(loaded_library("candidate").at("path")), canonical(candidate));
  }
}

TEST_F(ForeignLibrary, EqualLibrariesPassAndTheAnswerBeginsWithThat) {
  const ProgramResult result = gate(older_, older_);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, StartsWith("both sides are the same program and libraries"));
  EXPECT_THAT(result.out, HasSubstr("onednn 3.1.0"));
}

// Earlier, the loader fell back to the program's own library, and the gate passed.
TEST_F(ForeignLibrary, AMisspeltFolderIsRefusedBeforeAnythingIsMeasured) {
  const ProgramResult result = gate(older_, newer_ + "/typo");
  EXPECT_EQ(result.status, 2) << result.out << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("--cand-env LD_LIBRARY_PATH="), HasSubstr("typo"),
                                HasSubstr("is not a folder")));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("gate")));
}

// Earlier, the advice was to run the gate again, and `list` and `run --dry-run` ended with the
// loader's exit status 127.
TEST_F(ForeignLibrary, AProgramOfTheNewerVersionNamesTheRuleInEachCommand) {
  const std::string path = canonical(BENCH_OLDER_LIBRARY);
  const auto rule = AllOf(
      HasSubstr("dnnl_memory_desc_query_v2"), HasSubstr("oneDNN 3.1.0 (" + path),
      HasSubstr("build bench against the older oneDNN"), Not(HasSubstr("run the gate again")));
  for (const std::string side : {"--base-env", "--cand-env"}) {
    const ProgramResult gate = run({BENCH_BINARY, "gate", "cases.yaml", side,
                                    "LD_LIBRARY_PATH=" + older_, "--out", "gate", "--force"});
    EXPECT_EQ(gate.status, 3) << gate.out << gate.err;
    EXPECT_THAT(gate.out, rule);
    EXPECT_THAT(gate.out, HasSubstr("bench is built against " + std::string(kNewerVersion)));
  }
  const std::map<std::string, std::string> older = {{"LD_LIBRARY_PATH", older_}};
  const ProgramResult measured = run({BENCH_BINARY, "run", "cases.yaml", "--quick"}, older);
  EXPECT_EQ(measured.status, 3) << measured.err;
  EXPECT_THAT(measured.out, rule);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{BENCH_BINARY, "list", "cases.yaml"},
        std::vector<std::string>{BENCH_BINARY, "run", "cases.yaml", "--dry-run"}}) {
    const ProgramResult listed = run(command, older);
    EXPECT_EQ(listed.status, 0) << listed.err;
    EXPECT_THAT(listed.err, rule);
  }
}

// Returns the rest of the line that begins with this text, with the text.
std::string line_of(const std::string& document, const std::string& begin) {
  const std::size_t at = document.find(begin);
  if (at == std::string::npos) return "the document has no line `" + begin + "`";
  return document.substr(at, document.find('\n', at) - at);
}

TEST_F(ForeignLibrary, TheCommandsOfTheDocumentsAnswerAsTheyState) {
  const std::string source = BENCH_SOURCE_DIR;
  const std::string guide = read_text(source + "/docs/gate.md");
  for (const char* side : {"main", "change", "perf", "bin"}) {
    std::filesystem::create_directory(folder_.file(side));
  }
  std::filesystem::create_directory_symlink(older_, folder_.file("main/lib"));
  std::filesystem::create_directory_symlink(newer_, folder_.file("change/lib"));
  std::filesystem::create_symlink(BENCH_BINARY_OF_OLDER, folder_.file("bin/bench"));
  const std::map<std::string, std::string> path = {
      {"PATH", folder_.file("bin") + ":" + std::getenv("PATH")}};

  std::string cases = guide.substr(guide.find("   version: 1\n   name: perf\n"));
  cases = cases.substr(0, cases.find("   ```"));
  folder_.write("perf/documented.yaml", cases);
  const ProgramResult valid = run({"bench", "validate", "perf/documented.yaml"}, path);
  EXPECT_EQ(valid.status, 0) << valid.err;
  EXPECT_THAT(valid.out, HasSubstr("2 cases"));

  folder_.write("perf/cases.yaml", kConfig);  // with limits that do not depend on the machine
  for (const std::string& command :
       {line_of(read_text(source + "/README.md"), "bench gate cases.yaml --base-env"),
        line_of(guide, "bench gate perf/cases.yaml --base-env")}) {
    const ProgramResult result = run({"sh", "-c", command}, path);
    EXPECT_EQ(result.status, 0) << command << '\n' << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr("onednn 3.1.0 from "), HasSubstr("2 PASS")));
    std::filesystem::remove_all(folder_.file("change/lib"));
    const ProgramResult misspelt = run({"sh", "-c", command}, path);
    EXPECT_EQ(misspelt.status, 2) << misspelt.out;
    std::filesystem::create_directory_symlink(newer_, folder_.file("change/lib"));
  }
}

// The short form of the variables, and what changed between the versions.
TEST_F(ForeignLibrary, ADuetOfSeveralCasesNamesBothVersionsAndWhatMoved) {
  const auto duet = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {BENCH_BINARY_OF_OLDER,
                                        "duet",
                                        "cases.yaml",
                                        "--base-library",
                                        older_,
                                        "--duets",
                                        "8",
                                        "--quiet"};
    command.insert(command.end(), more.begin(), more.end());
    return run(std::move(command));
  };
  const ProgramResult equal = duet({"--cand-library", newer_ + "/libdnnl.so.3"});
  EXPECT_EQ(equal.status, 0) << equal.out << equal.err;
  const std::string versions = "oneDNN 3.1.0 against " + std::string(kNewerVersion);
  EXPECT_THAT(equal.out, StartsWith(versions + ": none of 2 cases changed by 40 % or more.\n"));
  EXPECT_THAT(equal.out, AllOf(HasSubstr(canonical(older_ + "/libdnnl.so.3")),
                               HasSubstr(canonical(newer_ + "/libdnnl.so.3"))));
  const ProgramResult slower = duet({"--cand-library", newer_, "--cand-env", "BENCH_SLOWDOWN=1.0"});
  EXPECT_EQ(slower.status, 0) << slower.out << slower.err;
  EXPECT_THAT(slower.out, StartsWith(versions + ": 2 of 2 cases changed, 2 slower with "));
  // The older program loads the older library anyway.
  const ProgramResult same = duet({});
  EXPECT_EQ(same.status, 2) << same.out;
  EXPECT_THAT(same.err,
              HasSubstr("--base-library: both sides loaded the same build: onednn 3.1.0"));
}

// What the other tests assume: here the loader resolves every function when the program starts.
TEST_F(ForeignLibrary, OnlyTheProgramOfTheOlderVersionNeedsNoNewerFunction) {
  const std::map<std::string, std::string> strictly = {{"LD_LIBRARY_PATH", older_},
                                                       {"LD_BIND_NOW", "1"}};
  const ProgramResult older = run({BENCH_BINARY_OF_OLDER, "--version"}, strictly);
  EXPECT_EQ(older.status, 0) << older.err;
  const ProgramResult newer = run({BENCH_BINARY, "--version"}, strictly);
  EXPECT_EQ(newer.status, 127) << newer.out;
  EXPECT_THAT(newer.err, HasSubstr("undefined symbol: dnnl_"));
}

}  // namespace
}  // namespace bench::test::foreign_library_test
