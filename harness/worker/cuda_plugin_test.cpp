// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/cuda_plugin.hpp"

#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/version.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace bench {
namespace {

using ops::cuda::ProbeExtent;
using testing::HasSubstr;

std::string fake_plugin(const std::string& name) {
  return std::string(BENCH_FAKE_CUDA_PLUGINS) + "/" + name + ".so";
}

LookUp plugin_variable(const std::string& path) {
  return [path](const std::string& name) -> std::optional<std::string> {
    if (name != "BENCH_CUDA_PLUGIN") return std::nullopt;
    return path;
  };
}

CudaStatus inspect(const std::string& plugin) {
  return inspect_cuda("/nowhere/bench", ProbeExtent::devices, plugin_variable(plugin));
}

TEST(CudaPlugin, IsTheNamedOneOrLiesBesideTheProgram) {
  auto folder = TemporaryFolder::create("test");
  ASSERT_TRUE(folder.ok());
  const LookUp nothing = plugin_variable("");
  EXPECT_EQ(*find_cuda_plugin("/x/bench", plugin_variable("/y/some.so")), "/y/some.so");
  const auto missing = find_cuda_plugin(folder->file("bin/bench"), nothing);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().what, HasSubstr("CUDA plugin"));
  for (const char* place : {"lib/bench", "bin/lib/bench"}) {
    std::filesystem::create_directories(folder->file(place));
    const std::string file = folder->file(std::string(place) + "/libbench_cuda.so");
    ASSERT_TRUE(write_file(file, "", Existing::refuse).ok());
    EXPECT_EQ(*find_cuda_plugin(folder->file("bin/bench"), nothing), file);
    std::filesystem::remove(file);
  }
}

struct Fault {
  const char* plugin;
  const char* reason;
};
constexpr Fault kFaults[] = {
    {"no_such_file", "the CUDA plugin does not load: "},
    {"no_handover", "is not a CUDA plugin of this version: it does not export bench_cuda_handover"},
    {"other_build", "was built with bench 9.9 (build 0123456789ab), this is bench 0."},
    {"answer", "answer is invalid: not a document of schema bench.cuda_probe/1"},
};

TEST(CudaPlugin, ThatIsOfNoUseSaysWhy) {
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.plugin);
    const CudaStatus status = inspect(fake_plugin(fault.plugin));
    EXPECT_FALSE(status.report);
    EXPECT_THAT(status.reason, HasSubstr(fault.reason));
    EXPECT_EQ(status.plugin, fake_plugin(fault.plugin));
    EXPECT_EQ(cuda_unavailable_reason(status), "no CUDA device: " + status.reason);
  }
}

TEST(CudaPlugin, OfAnotherBuildGivesNoObjectAndSaysWhatToDo) {
  const std::string file = fake_plugin("other_build");
  const auto plugin = load_cuda_plugin(file);
  ASSERT_FALSE(plugin.ok());
  EXPECT_THAT(plugin.error().what, HasSubstr("the CUDA plugin " + file + " was built with"));
  EXPECT_THAT(plugin.error().what, HasSubstr(std::string(build_id())));
  EXPECT_EQ(plugin.error().next, "install both from one build");
  const auto same = load_cuda_plugin(fake_plugin("answer"));
  ASSERT_TRUE(same.ok()) << same.error().message();
  EXPECT_EQ(same->handover.build, build_id());
  EXPECT_TRUE(same->handover.services->backends().empty());
}

TEST(CudaPlugin, ThatIsMissingIsNamedWhereSupportIsAskedFor) {
  const auto found =
      inspect_cuda_support("/nowhere/bench", plugin_variable("/nowhere/libbench_cuda.so"),
                           {{"gemm/forward/m4n4k4/f32/cublaslt/cuda/hot"}}, {});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message().find("/nowhere/libbench_cuda.so"), std::string::npos);
}

}  // namespace
}  // namespace bench
