// SPDX-License-Identifier: Apache-2.0
// Tests libbench_cuda.so as a file: its dependencies, exports and answers.
#include "ops/cuda/plugin/bench_cuda.h"
#include "ops/cuda/probe.hpp"

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
using testing::UnorderedElementsAre;

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

TEST(Plugin, ExportsItsFunctionsAndNothingElse) {
  std::vector<std::string> names;
  for (const std::string& line : output_of("nm -D --defined-only '" + kPlugin + "'")) {
    std::istringstream fields(line);
    std::string address, kind, name;
    fields >> address >> kind >> name;
    names.push_back(name);
  }
  EXPECT_THAT(names, UnorderedElementsAre("bench_plugin_entry", "bench_cuda_probe",
                                          "bench_cuda_support", "bench_cuda_plan"));
}

TEST(Plugin, LoadsAndAnswersWithoutADevice) {
  void* library = dlopen(kPlugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto entry =
      reinterpret_cast<const bench_plugin* (*)()>(dlsym(library, BENCH_PLUGIN_ENTRY));
  ASSERT_NE(entry, nullptr);
  const bench_plugin* plugin = entry();
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(plugin->size, sizeof(bench_plugin));
  EXPECT_EQ(plugin->abi, BENCH_PLUGIN_ABI);
  EXPECT_STREQ(plugin->name, "cuda");

  const auto probe =
      reinterpret_cast<decltype(&bench_cuda_probe)>(dlsym(library, BENCH_CUDA_PROBE));
  ASSERT_NE(probe, nullptr);
  std::vector<std::string> texts;
  probe(
      BENCH_CUDA_PROBE_DEVICES,
      [](void* self, const char* text, size_t size) {
        static_cast<std::vector<std::string>*>(self)->emplace_back(text, size);
      },
      &texts);
  ASSERT_EQ(texts.size(), 1u);
  const auto report = parse_probe(texts[0]);
  ASSERT_TRUE(report.ok()) << report.error().message();
  EXPECT_FALSE(report->architectures.empty());
  EXPECT_THAT(report->operators, testing::Contains("gemm"));
}

const bench_plugin* loaded_plugin() {
  void* library = dlopen(kPlugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<const bench_plugin* (*)()>(dlsym(library, BENCH_PLUGIN_ENTRY))();
}

// Buffers for a plugin's reason.
struct Message {
  std::array<char, 1024> text{}, where{}, next{};
  bench_message raw{sizeof(bench_message), text.data(), text.size(), where.data(),
                    where.size(),          next.data(), next.size()};
};

TEST(Plugin, OffersItsBackends) {
  const bench_plugin* plugin = loaded_plugin();
  ASSERT_NE(plugin, nullptr);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < plugin->backend_count; ++i) {
    const bench_backend& backend = *plugin->backends[i];
    names.emplace_back(backend.name);
    EXPECT_STREQ(backend.device, "cuda");
    EXPECT_GT(backend.operator_count, 0u);
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"cublaslt", "cublas"}));
}

// Opening a backend without a device gives a reason and is not a failure.
TEST(Plugin, WithoutADeviceItsBackendsAreSkipped) {
  const bench_plugin* plugin = loaded_plugin();
  ASSERT_NE(plugin, nullptr);
  bench_host host{};
  host.size = sizeof(host);
  host.abi = BENCH_PLUGIN_ABI;
  host.log = [](void*, const char*) {};
  host.range_begin = [](void*, const char*) {};
  host.range_end = [](void*) {};
  for (std::size_t i = 0; i < plugin->backend_count; ++i) {
    const bench_backend& backend = *plugin->backends[i];
    SCOPED_TRACE(backend.name);
    Message probed;
    if (backend.probe(backend.self, &probed.raw) == BENCH_OK) GTEST_SKIP() << "there is a device";
    EXPECT_STRNE(probed.text.data(), "");
    Message opened;
    void* state = nullptr;
    EXPECT_EQ(backend.open(backend.self, &host, &state, &opened.raw), BENCH_SKIPPED);
    EXPECT_STREQ(opened.text.data(), probed.text.data());
  }
}

}  // namespace
}  // namespace bench::ops::cuda
