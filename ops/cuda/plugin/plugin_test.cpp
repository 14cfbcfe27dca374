// SPDX-License-Identifier: Apache-2.0
// Tests libbench_cuda.so as a file: its dependencies, exports and answers.
#include "base/version.hpp"
#include "ops/cuda/plugin/handover.hpp"
#include "ops/cuda/probe.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> output_of(const std::string& command) {
  const auto close = [](FILE* file) { pclose(file); };
  const std::unique_ptr<FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  std::vector<std::string> lines;
  std::array<char, 4096> line{};
  while (pipe && std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    lines.emplace_back(line.data());
  }
  return lines;
}

const std::string kPlugin = BENCH_CUDA_PLUGIN;

// If the plugin needed libcuda.so.1, it could not be loaded without a driver. It searches for the
// other libraries at run time.
TEST(Plugin, NeedsNoLibraryOfNvidia) {
  const auto needed = output_of("readelf -dW '" + kPlugin + "' | grep NEEDED");
  ASSERT_FALSE(needed.empty());
  for (const std::string& line : needed) {
    for (const char* name : {"libcuda", "libcublas", "libcudnn", "libcupti", "libnv", "libdnnl"}) {
      EXPECT_THAT(line, testing::Not(HasSubstr(name)));
    }
  }
}

TEST(Plugin, LooksBesideItself) {
  const auto path = output_of("readelf -dW '" + kPlugin + "' | grep RUNPATH");
  ASSERT_EQ(path.size(), 1u);
  EXPECT_THAT(path[0], HasSubstr("[$ORIGIN]"));
}

TEST(Plugin, ExportsItsFunctionAndNothingElse) {
  std::vector<std::string> names;
  for (const std::string& line : output_of("nm -D --defined-only '" + kPlugin + "'")) {
    std::istringstream fields(line);
    std::string address, kind, name;
    fields >> address >> kind >> name;
    names.push_back(name);
  }
  EXPECT_THAT(names, ElementsAre(kHandoverFunction));
}

Handover load(std::string_view build) {
  void* library = dlopen(kPlugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  if (library == nullptr) return {};
  const auto hand_over = reinterpret_cast<HandoverFunction>(dlsym(library, kHandoverFunction));
  return hand_over == nullptr ? Handover{} : hand_over(std::string(build).c_str());
}

TEST(Plugin, HandsOverToItsOwnBuildOnly) {
  const Handover same = load(build_id());
  EXPECT_EQ(same.version, kHandoverVersion);
  EXPECT_EQ(same.build, build_id());
  EXPECT_EQ(same.program, tool_version());
  EXPECT_NE(same.services, nullptr);
  const Handover other = load("0123456789ab");
  EXPECT_EQ(other.build, build_id());
  EXPECT_EQ(other.services, nullptr);
}

TEST(Plugin, LoadsAndAnswersWithoutADevice) {
  PluginServices* services = load(build_id()).services;
  ASSERT_NE(services, nullptr);
  const auto report = services->probe(ProbeExtent::devices);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_FALSE(report->architectures.empty());
  EXPECT_THAT(report->operators, testing::Contains("gemm"));
}

// This program has a table of operators of its own, other than that of the plugin's file.
TEST(Plugin, KnowsTheOperatorsOfItsCaller) {
  PluginServices* services = load(build_id()).services;
  ASSERT_NE(services, nullptr);
  const Problem gemm = bench::ops::op_test::problem("gemm", "m64n64k64", DataType::f32);
  EXPECT_THAT(services->support(gemm, "cublaslt", R"({"deviceVer":900})"),
              HasSubstr(R"("runs":"yes","by":"cuBLASLt")"));
  const Problem softmax = bench::ops::op_test::problem("softmax", "4x8", DataType::f32);
  EXPECT_THAT(services->support(softmax, "cublaslt", R"({"deviceVer":900})"),
              HasSubstr("cublaslt does not serve the operator softmax"));
}

TEST(Plugin, OffersItsBackends) {
  PluginServices* services = load(build_id()).services;
  ASSERT_NE(services, nullptr);
  std::vector<std::string> names;
  for (const OfferedBackend& backend : services->backends()) {
    names.push_back(backend.name);
    EXPECT_FALSE(backend.operators.empty());
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"cublaslt", "cublas"}));
}

// Opening a backend without a device gives a reason and is not a failure.
TEST(Plugin, WithoutADeviceItsBackendsAreSkipped) {
  PluginServices* services = load(build_id()).services;
  ASSERT_NE(services, nullptr);
  for (const OfferedBackend& backend : services->backends()) {
    SCOPED_TRACE(backend.name);
    const std::optional<std::string> reason = backend.probe();
    if (!reason) GTEST_SKIP() << "there is a device";
    EXPECT_NE(*reason, "");
  }
}

}  // namespace
}  // namespace bench::ops::cuda
