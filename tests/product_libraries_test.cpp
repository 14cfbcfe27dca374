// SPDX-License-Identifier: Apache-2.0
// Products on several libraries of the CPU, with fake libraries: each command as a user calls it.
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::product_libraries_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kProducts = R"(version: 1
name: products
defaults: { threads: 1, warmup: { iterations: 1, time: 1ms },
            measure: { processes: 2, min_iterations: 3, max_time: 10ms } }
cases:
  - { op: gemm, m: 32, n: 32, k: 32, two_inputs: true, backend: [onednn, openblas, blis, mkl] }
)";
constexpr const char* kOpenblasOnly = R"(version: 1
name: openblas
defaults: { threads: 1, backend: openblas, warmup: { iterations: 1, time: 1ms } }
cases:
  - { op: gemm, sweep: { m: [48, 64] }, n: 48, k: 48 }
)";
const std::string kFakes = BENCH_FAKE_BLAS;
constexpr const char* kProduct = "gemm/forward/m32n32k32+two/f32/openblas/cpu/hot/t1";

class ProductLibraries : public testing::Test {
 protected:
  ProductLibraries() { folder_.write("products.yaml", kProducts); }

  // OpenBLAS and MKL are there, BLIS is not.
  ProgramResult bench(std::vector<std::string> arguments,
                      std::map<std::string, std::string> environment = {}) const {
    arguments.insert(arguments.begin(), BENCH_BINARY);
    environment.emplace("BENCH_OPENBLAS", kFakes + "/openblas");
    environment.emplace("BENCH_BLIS", "/nowhere");
    environment.emplace("BENCH_MKL", kFakes + "/mkl");
    return run_program({std::move(arguments), folder_.path(), std::move(environment)});
  }
  json case_record(const std::string& file, const std::string& backend) const {
    for (const json& record : records_of_kind(read_text(folder_.file(file)), "case")) {
      if (record.at("backend") == backend) return record;
    }
    return {};
  }

  TemporaryFolder folder_;
};

TEST_F(ProductLibraries, TheBackendIsAnAxisAndAMissingLibrarySkipsItsCases) {
  const ProgramResult result = bench({"run", "products.yaml", "--out", "a.jsonl", "--quiet"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  const json openblas = case_record("a.jsonl", "openblas");
  EXPECT_EQ(openblas.at("id"), kProduct);
  EXPECT_EQ(openblas.at("outcome"), "ok");
  EXPECT_EQ(openblas.at("implementation"), "cblas_sgemm:Fake");
  EXPECT_EQ(openblas.at("details").at("library.openblas"), "1.2.3");
  EXPECT_EQ(openblas.at("details").at("library.openblas.path"),
            std::filesystem::canonical(kFakes + "/openblas/libopenblas.so.0").string());
  EXPECT_EQ(case_record("a.jsonl", "mkl").at("implementation"), "cblas_sgemm:AVX2");
  const json blis = case_record("a.jsonl", "blis");
  EXPECT_EQ(blis.at("outcome"), "skipped");
  EXPECT_EQ(blis.at("reason"),
            "no BLIS: `/nowhere` (BENCH_BLIS) does not exist; install it by `sudo apt install "
            "libblis4-openmp`, or set BENCH_BLIS to its file or folder");
}

TEST_F(ProductLibraries, CompareAnswersWhichLibraryIsTheFastest) {
  ASSERT_EQ(bench({"run", "products.yaml", "--out", "a.jsonl", "--quiet"}).status, 0);
  const ProgramResult result = bench({"compare", "a.jsonl", "--by", "backend"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AnyOf(HasSubstr(" is the fastest in the only case"), StartsWith("Whether ")));
  EXPECT_THAT(result.out, AllOf(HasSubstr("case with onednn"), HasSubstr("blis has no times: "),
                                HasSubstr("BENCH_BLIS")));
}

TEST_F(ProductLibraries, ListAndDoctorSayWhatIsMissingAndHowToGetIt) {
  const ProgramResult listed = bench({"list", "products.yaml"});
  EXPECT_THAT(listed.out, HasSubstr("no: no BLIS: `/nowhere` (BENCH_BLIS) does not exist"));
  const json rows = json::parse(bench({"doctor", "--json", "--watch", "0s"}).out).at("rows");
  std::map<std::string, json> findings;
  for (const json& row : rows) findings[row.at("subject")] = row;
  EXPECT_EQ(findings["OpenBLAS"].at("level"), "good");
  EXPECT_THAT(findings["OpenBLAS"].at("found").get<std::string>(),
              AllOf(StartsWith("1.2.3 at "), HasSubstr("OpenBLAS 1.2.3 FAKE")));
  EXPECT_EQ(findings["BLIS"].at("level"), "note");
  EXPECT_EQ(findings["BLIS"].at("found"), "no BLIS: `/nowhere` (BENCH_BLIS) does not exist");
  EXPECT_THAT(findings["BLIS"].at("remedy").get<std::string>(),
              HasSubstr("sudo apt install libblis4-openmp"));
}

// `bench list` loaded all libraries of matrix products, whichever its cases used.
TEST_F(ProductLibraries, ListLoadsOnlyTheLibrariesOfItsCases) {
  folder_.write("openblas.yaml", kOpenblasOnly);
  std::filesystem::create_directory(folder_.file("loader"));
  const ProgramResult listed =
      bench({"list", "openblas.yaml"},
            {{"LD_DEBUG", "files"}, {"LD_DEBUG_OUTPUT", folder_.file("loader/log")}});
  EXPECT_EQ(listed.status, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("2 cases, 2 can run here"));
  std::string loaded;
  for (const auto& log : std::filesystem::directory_iterator(folder_.file("loader")))
    loaded += read_text(log.path().string());
  EXPECT_THAT(loaded, AllOf(HasSubstr("libopenblas"), Not(HasSubstr("libmkl"))));
}

TEST_F(ProductLibraries, ADescriptionStatesTheNamedLibrariesOrAll) {
  const auto backends = [&](std::vector<std::string> arguments) {
    const json document = json::parse(bench(std::move(arguments)).out);
    std::vector<std::string> names;
    for (const char* list : {"devices", "missing"}) {
      for (const json& device : document.at(list)) names.push_back(device.at("backend"));
    }
    return names;
  };
  EXPECT_THAT(backends({"worker", "--describe"}),
              ElementsAre("onednn", "native", "openblas", "mkl", "blis"));
  EXPECT_THAT(backends({"worker", "--describe", "blis", "mkl"}),
              ElementsAre("onednn", "mkl", "blis"));
}

TEST_F(ProductLibraries, WhatCblasDoesNotHaveIsUnsupportedInListAndRun) {
  const std::string biased = "gemm/forward/m32n32k32+bias/f32/openblas/cpu/hot/t1";
  const ProgramResult result = bench({"run", biased, "--out", "b.jsonl", "--quiet"});
  EXPECT_EQ(result.status, 0) << result.err;
  const json record = case_record("b.jsonl", "openblas");
  EXPECT_EQ(record.at("outcome"), "unsupported");
  EXPECT_THAT(record.at("reason").get<std::string>(), HasSubstr("OpenBLAS computes no bias"));
  EXPECT_THAT(bench({"list", biased}).out, HasSubstr("OpenBLAS computes no bias"));
}

// A stored case that cannot be measured any more is an error of the gate, as for every backend; the
// reason names the library. The others are compared.
TEST_F(ProductLibraries, AStoredCaseOfAnAbsentLibraryIsAnErrorThatNamesIt) {
  ASSERT_EQ(bench({"run", "products.yaml", "--out", "a.jsonl", "--quiet"}).status, 0);
  ASSERT_EQ(
      bench({"baseline", "save", "a.jsonl", "--baseline", "store", "--reason", "first"}).status, 0);
  const ProgramResult result = bench({"gate", "products.yaml", "--base", BENCH_BINARY, "--baseline",
                                      "store", "--out", "gate", "--quiet"},
                                     {{"BENCH_OPENBLAS", "/nowhere"}});
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_THAT(result.out, HasSubstr("no OpenBLAS: `/nowhere` (BENCH_OPENBLAS) does not exist"));
  EXPECT_THAT(result.out, HasSubstr("1 ERROR, "));
}

class LibraryDuet : public ProductLibraries {
 protected:
  LibraryDuet() { folder_.write("openblas.yaml", kOpenblasOnly); }
  ProgramResult duet(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"duet", "openblas.yaml", "--duets", "8", "--quiet"});
    return bench(std::move(arguments));
  }
};

TEST_F(LibraryDuet, SeveralCasesShowWhatMovedBetweenTwoLibraries) {
  const ProgramResult result =
      duet({"--base-library", kFakes + "/openblas", "--cand-library", kFakes + "/slow"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(
      result.out,
      StartsWith("OpenBLAS 1.2.3 against 1.3.0: 2 of 2 cases changed, 2 slower with 1.3.0."));
  EXPECT_THAT(result.out, AllOf(HasSubstr("openblas 1.2.3 from"), HasSubstr("openblas 1.3.0 from"),
                                HasSubstr("cblas_sgemm:Fake on both sides"), HasSubstr("x slower"),
                                HasSubstr("--base-env BENCH_OPENBLAS=" + kFakes + "/openblas")));
}

TEST_F(LibraryDuet, OneOptionIsEnoughAndTheOtherSideIsThisProgramAsItIs) {
  const ProgramResult result = duet({"--cand-library", kFakes + "/slow/libopenblas.so.0"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, StartsWith("OpenBLAS 1.2.3 against 1.3.0: 2 of 2 cases changed"));
}

TEST_F(LibraryDuet, ASideThatDidNotChangeIsAUsageError) {
  const ProgramResult same = duet({"--cand-library", kFakes + "/openblas"});
  EXPECT_EQ(same.status, 2) << same.out;
  EXPECT_THAT(same.err, HasSubstr("--cand-library: both sides loaded the same build: openblas "
                                  "1.2.3 from "));
}

TEST_F(LibraryDuet, PathsAndOptionsThatCannotWorkAreUsageErrors) {
  const auto refused = [&](std::vector<std::string> options, const std::string& reason) {
    const ProgramResult result = duet(std::move(options));
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(reason));
  };
  refused({"--base-library", "typo"}, "--base-library typo: does not exist");
  refused({"--base-library", kFakes + "/mkl"},
          "contains no library of these cases (libopenblas.so.0)");
  refused({"--base-library", kFakes + "/slow", "--base-env", "BENCH_OPENBLAS=/x"},
          "sets BENCH_OPENBLAS, and so does --base-env; omit one of them");
  refused({"--base-library", kFakes + "/incomplete"}, "openblas was not loaded");
  refused({}, "--base-library");
}

TEST_F(LibraryDuet, AGateTakesTheSameOptions) {
  const ProgramResult result =
      bench({"gate", "openblas.yaml", "--base-library", kFakes + "/openblas", "--cand-library",
             kFakes + "/slow", "--out", "gate", "--quiet"});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("2 REGRESSION"), HasSubstr("openblas 1.3.0 from")));
}

}  // namespace
}  // namespace bench::test::product_libraries_test
