// SPDX-License-Identifier: Apache-2.0
// The backends of matrix products, with a fake library that records its calls.
#include "ops/blas/backend.hpp"

#include "base/dynamic_library.hpp"
#include "base/folder.hpp"
#include "ops/backend/test_support.hpp"
#include "ops/blas/loaded_blas.hpp"
#include "ops/blas/product.hpp"
#include "ops/network/network.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <filesystem>
#include <map>

namespace bench::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kFakeBlas = BENCH_FAKE_BLAS;

Variables blas_variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

// A backend on the fake library in a folder of kFakeBlas.
class FakeBlas {
 public:
  FakeBlas(std::string_view backend, const std::string& folder) {
    const BlasLibrary& library = *find_blas_library(backend);
    const std::string place = kFakeBlas + "/" + folder;
    auto made = make_blas_backend(library, blas_variables({{library.variable, place}}));
    EXPECT_TRUE(made.ok()) << made.error().reason;
    backend_ = std::move(made).value();
    const SearchStep step{place, "a test"};
    const auto opened = DynamicLibrary::open(library.files, std::span(&step, 1));
    EXPECT_TRUE(opened.ok());
    calls_ = opened->function<const char*()>("fake_blas_calls");
    forget_ = opened->function<void()>("fake_blas_forget_calls");
    threads_ = opened->function<int()>("fake_blas_threads");
  }
  Backend& backend() { return *backend_; }
  int threads() const { return threads_(); }

  // Runs a problem once; returns the library's calls.
  std::string calls_of(const Problem& problem) {
    forget_();
    run(problem);
    return calls_();
  }
  std::vector<std::vector<double>> run(const Problem& problem) {
    auto kernel = backend_->create(problem);
    EXPECT_TRUE(kernel.ok()) << kernel.error().reason;
    if (!kernel.ok()) return {};
    name_ = (*kernel)->implementation();
    return op_test::plain_outputs(**kernel, problem, op_test::random_inputs(problem, 1));
  }
  const std::string& implementation() const { return name_; }  // name for the last problem

 private:
  std::unique_ptr<Backend> backend_;
  const char* (*calls_)() = nullptr;
  void (*forget_)() = nullptr;
  int (*threads_)() = nullptr;
  std::string name_;
};

Problem gemm_problem(std::string_view tokens, DataType dtype = DataType::f32,
                     Direction direction = Direction::forward) {
  return op_test::problem("gemm", tokens, dtype, direction);
}

TEST(BlasBackend, CallsCblasRowMajorWithTheLeadingDimensionsOfTheStoredMatrices) {
  FakeBlas fake("openblas", "openblas");
  EXPECT_EQ(fake.calls_of(gemm_problem("m2n3k4")),
            "sgemm 101 111 111 m2 n3 k4 alpha1 a0/4 b0/3 beta0 c0/3\n");
  EXPECT_EQ(fake.calls_of(gemm_problem("m2n3k4+ta")),
            "sgemm 101 112 111 m2 n3 k4 alpha1 a0/2 b0/3 beta0 c0/3\n");
  EXPECT_EQ(fake.calls_of(gemm_problem("m2n3k4+tb")),
            "sgemm 101 111 112 m2 n3 k4 alpha1 a0/4 b0/4 beta0 c0/3\n");
  EXPECT_EQ(fake.calls_of(gemm_problem("m2n3k4+ta+tb", DataType::f64)),
            "dgemm 101 112 112 m2 n3 k4 alpha1 a0/2 b0/4 beta0 c0/3\n");
  EXPECT_EQ(fake.implementation(), "cblas_dgemm:Fake");
  EXPECT_EQ(fake.calls_of(gemm_problem("m2n3k4+scale0.5")),
            "sgemm 101 111 111 m2 n3 k4 alpha0.5 a0/4 b0/3 beta0 c0/3\n");
}

TEST(BlasBackend, ABatchIsALoopOfCallsInOrder) {
  FakeBlas fake("openblas", "openblas");
  EXPECT_EQ(fake.calls_of(gemm_problem("b2m2n3k4")),
            "sgemm 101 111 111 m2 n3 k4 alpha1 a0/4 b0/3 beta0 c0/3\n"
            "sgemm 101 111 111 m2 n3 k4 alpha1 a8/4 b12/3 beta0 c6/3\n");
  EXPECT_EQ(fake.implementation(), "2*cblas_sgemm:Fake");
  // Two products share each matrix of the weights.
  EXPECT_EQ(fake.calls_of(gemm_problem("b4wb2m1n2k3")),
            "sgemm 101 111 111 m1 n2 k3 alpha1 a0/3 b0/2 beta0 c0/2\n"
            "sgemm 101 111 111 m1 n2 k3 alpha1 a3/3 b0/2 beta0 c2/2\n"
            "sgemm 101 111 111 m1 n2 k3 alpha1 a6/3 b6/2 beta0 c4/2\n"
            "sgemm 101 111 111 m1 n2 k3 alpha1 a9/3 b6/2 beta0 c6/2\n");
}

TEST(BlasBackend, TheGradientOfASharedMatrixAddsToTheProductBefore) {
  FakeBlas fake("openblas", "openblas");
  EXPECT_EQ(
      fake.calls_of(gemm_problem("b2wb1m2n3k4+ta", DataType::f32, Direction::backward_weights)),
      "sgemm 101 111 111 m4 n3 k2 alpha1 a0/2 b0/3 beta0 c0/3\n"
      "sgemm 101 111 111 m4 n3 k2 alpha1 a8/2 b6/3 beta1 c0/3\n");
}

TEST(BlasBackend, AStridedCallComputesABatchIfTheLibraryHasOne) {
  FakeBlas fake("mkl", "mkl");
  EXPECT_EQ(fake.calls_of(gemm_problem("b3m2n3k4")),
            "sgemm_batch_strided 101 111 111 m2 n3 k4 alpha1 a0/4 b0/3 beta0 c0/3 strides 8 12 6 "
            "batch 3\n");
  EXPECT_EQ(fake.implementation(), "cblas_sgemm_batch_strided:AVX2");
  EXPECT_THAT(fake.calls_of(gemm_problem("b3wb1m2n3k4+ta")), StartsWith("sgemm 101"));
  EXPECT_EQ(fake.implementation(), "3*cblas_sgemm:AVX2");
  EXPECT_THAT(fake.calls_of(gemm_problem("b3m2n3k4", DataType::f64)), StartsWith("dgemm 101"));
}

// Every kind of product, against the reference.
TEST(BlasBackend, ComputesWhatTheReferenceComputes) {
  FakeBlas fake("mkl", "mkl");
  for (const Direction direction :
       {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
    for (const std::string_view tokens :
         {"m5n3k4", "m5n3k4+ta", "m5n3k4+tb", "m5n3k4+ta+tb", "b4m2n3k4", "b4m2n3k4+ta+tb",
          "b4wb2m2n3k4", "b4sb2m2n3k4+tb", "b4wb1m2n3k4", "b6wb3m2n3k4+ta"}) {
      const Problem problem = gemm_problem(tokens, DataType::f64, direction);
      const auto inputs = op_test::random_inputs(problem, 1);
      const auto want = built_in_reference(problem, inputs, 0, {});
      const auto got = fake.run(problem);
      ASSERT_EQ(got.size(), 1u);
      ASSERT_EQ(got[0].size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i) {
        ASSERT_NEAR(got[0][i], want[i], 1e-12)
            << tokens << " " << static_cast<int>(direction) << " at " << i;
      }
    }
  }
}

std::string refusal(std::string_view backend, const Problem& problem) {
  const auto unloaded = make_unloaded_blas_backend(*find_blas_library(backend));
  const auto error = unloaded->support_error(problem);
  EXPECT_TRUE(error.has_value());
  if (!error) return "";
  EXPECT_EQ(error->kind, BackendError::Kind::unsupported);
  return error->reason;
}

TEST(BlasBackend, RefusesWhatCblasDoesNotHaveAndSaysWhy) {
  EXPECT_THAT(refusal("openblas", gemm_problem("m2n3k4+bias")),
              HasSubstr("OpenBLAS computes no bias, because CBLAS has none"));
  EXPECT_THAT(refusal("blis", gemm_problem("m2n3k4+relu")),
              HasSubstr("BLIS computes no post-op `relu`"));
  EXPECT_THAT(refusal("mkl", gemm_problem("m2n3k4+scale2+add")), HasSubstr("post-op `add`"));
  EXPECT_THAT(
      refusal("mkl", gemm_problem("m2n3k4+bias", DataType::f32, Direction::backward_weights)),
      HasSubstr("gradient of a bias"));
  EXPECT_THAT(refusal("mkl", gemm_problem("m2n3k4", DataType::bf16)),
              HasSubstr("backend mkl multiplies f32 and f64, not bf16"));
  EXPECT_THAT(refusal("openblas", op_test::problem("conv", "c8h4w4k8r3s3p1")),
              HasSubstr("backend openblas computes gemm, not conv"));
  EXPECT_THAT(refusal("openblas", gemm_problem("m1n1k3000000000")),
              HasSubstr("`k` is 3000000000, but backend openblas calls functions with 32-bit"));
  Network network;
  network.name = "net";
  const auto unloaded = make_unloaded_blas_backend(*find_blas_library("mkl"));
  EXPECT_THAT(unloaded->create(network).error().reason, HasSubstr("computes gemm, not networks"));
  EXPECT_EQ(unloaded->create(gemm_problem("m2n3k4")).error().reason, "MKL is not loaded");
}

TEST(BlasBackend, SaysWhatTheLibraryTellsAboutItself) {
  omp_set_num_threads(2);
  FakeBlas openblas("openblas", "openblas"), blis("blis", "blis"), mkl("mkl", "mkl");
  EXPECT_EQ(openblas.backend().library().version, "1.2.3");
  EXPECT_EQ(openblas.backend().library().detail, "OpenMP, OpenBLAS 1.2.3 FAKE MAX_THREADS=4");
  EXPECT_EQ(openblas.backend().library().path,
            std::filesystem::canonical(kFakeBlas + "/openblas/libopenblas.so.0").string());
  EXPECT_EQ(blis.backend().library().detail, "pthreads per call, BLIS 1.2.3");
  EXPECT_EQ(mkl.backend().library().version, "2030.1");
  EXPECT_THAT(mkl.backend().library().detail, HasSubstr("2030.1-Product Build 20300101"));
  blis.run(gemm_problem("m2n3k4"));
  EXPECT_EQ(blis.implementation(), "cblas_sgemm:fakearch");
  for (const FakeBlas* fake : {&openblas, &blis, &mkl}) EXPECT_EQ(fake->threads(), 2);
  omp_set_num_threads(1);
}

TEST(BlasBackend, ABuildWithoutThreadsComputesOnlyOnOne) {
  FakeBlas fake("openblas", "serial");
  omp_set_num_threads(2);
  const auto kernel = fake.backend().create(gemm_problem("m2n3k4"));
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(kernel.error().reason, HasSubstr("is built without threads; use `threads: 1`"));
  omp_set_num_threads(1);
  EXPECT_TRUE(fake.backend().create(gemm_problem("m2n3k4")).ok());
}

BackendError load_failure(std::string_view backend, std::map<std::string, std::string> variables) {
  auto loaded = load_blas(*find_blas_library(backend), blas_variables(std::move(variables)));
  EXPECT_FALSE(loaded.ok());
  return loaded.error();
}

TEST(BlasSearch, AMissingLibrarySaysHowToGetIt) {
  const BackendError error = load_failure("openblas", {{"BENCH_OPENBLAS", "/nowhere"}});
  EXPECT_EQ(error.kind, BackendError::Kind::skipped);
  EXPECT_EQ(error.reason,
            "no OpenBLAS: `/nowhere` (BENCH_OPENBLAS) does not exist; install it by `sudo apt "
            "install libopenblas0-pthread` or `pip install scipy-openblas32`, or set "
            "BENCH_OPENBLAS to its file or folder");
  EXPECT_THAT(load_failure("blis", {{"BENCH_BLIS", kFakeBlas + "/mkl"}}).reason,
              HasSubstr("libblis.so was not found in `" + kFakeBlas + "/mkl` (BENCH_BLIS); "));
}

TEST(BlasSearch, ALibraryWithoutAFunctionIsRefusedByName) {
  const BackendError error =
      load_failure("openblas", {{"BENCH_OPENBLAS", kFakeBlas + "/incomplete"}});
  EXPECT_EQ(error.kind, BackendError::Kind::failed);
  EXPECT_THAT(error.reason, HasSubstr("the library does not export cblas_dgemm"));
  // BLIS's file does not make an OpenBLAS.
  EXPECT_THAT(
      load_failure("openblas", {{"BENCH_OPENBLAS", kFakeBlas + "/blis/libblis.so.4"}}).reason,
      HasSubstr("does not export openblas_get_parallel"));
}

TEST(BlasSearch, TheVariableExcludesAllOtherPlaces) {
  std::vector<std::string> files;
  const BlasLibrary& library = *find_blas_library("openblas");
  auto steps =
      blas_search_path(library,
                       blas_variables({{"BENCH_OPENBLAS", kFakeBlas + "/slow/libopenblas.so.0"},
                                       {"VIRTUAL_ENV", "/venv"}}),
                       files);
  EXPECT_THAT(files, ElementsAre("libopenblas.so.0"));
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].folder, kFakeBlas + "/slow");
}

TEST(BlasSearch, FindsTheFoldersOfPythonEnvironments) {
  auto folder = TemporaryFolder::create("test");
  ASSERT_TRUE(folder.ok());
  const std::string package = folder->file("lib/python3.11/site-packages/scipy_openblas32/lib");
  std::filesystem::create_directories(package);
  const std::string prefix = std::filesystem::path(folder->file("x")).parent_path().string();
  std::vector<std::string> files;
  std::vector<std::string> folders;
  for (const SearchStep& step :
       blas_search_path(*find_blas_library("openblas"),
                        blas_variables({{"VIRTUAL_ENV", prefix}, {"MKLROOT", "/opt/mkl"}}), files))
    folders.push_back(step.folder);
  EXPECT_THAT(folders, ElementsAre("", prefix + "/lib", package, "/opt/mkl/lib"));
  EXPECT_EQ(files.front(), "libopenblas.so.0");
}

TEST(BlasLibraries, AFileBelongsToTheLibraryOfItsName) {
  const BlasLibrary& library = *find_blas_library("openblas");
  EXPECT_TRUE(is_file_of(library, "libopenblas.so.0"));
  EXPECT_TRUE(is_file_of(library, "libopenblasp-r0.3.21.so"));
  EXPECT_TRUE(is_file_of(library, "libscipy_openblas.so"));
  EXPECT_FALSE(is_file_of(library, "libblis.so.4"));
  EXPECT_FALSE(is_file_of(library, "libopenblas.a"));
  EXPECT_EQ(find_blas_library("onednn"), nullptr);
}

}  // namespace
}  // namespace bench::ops
