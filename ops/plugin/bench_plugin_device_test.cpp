// SPDX-License-Identifier: Apache-2.0
// A device of a plugin written with the C++ wrapper, as this program sees it: memory, samples,
// details, tuning, and what it throws.
#include "ops/plugin/bench_plugin.hpp"
#include "ops/plugin/plugin.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// The device's behaviour, and its recorded calls.
struct Device {
  std::function<void()> when_created = [] {};
  std::function<plugin::Sample(const plugin::SampleRequest&)> sample;
  std::vector<std::string> asked;
  std::optional<std::int64_t> cache = 4096;
  bool memory_left = true;
  std::optional<std::string> absent, unopened;
  void ask(std::string what) { asked.push_back(std::move(what)); }
};

class WrappedMemory final : public plugin::Memory {
 public:
  explicit WrappedMemory(Device& device) : device_(device) {}
  void* allocate(std::int64_t bytes) override {
    if (!device_.memory_left)
      throw plugin::Error(BENCH_FAILED, "out of memory on the device", "", "use less");
    return std::malloc(static_cast<std::size_t>(bytes));
  }
  void release(void* address) noexcept override { std::free(address); }
  void copy_in(void* device, const void* host, std::int64_t bytes) override {
    std::memcpy(device, host, static_cast<std::size_t>(bytes));
  }
  void copy_out(void* host, const void* device, std::int64_t bytes) override {
    std::memcpy(host, device, static_cast<std::size_t>(bytes));
  }
  void fill(void* device, std::uint8_t value, std::int64_t bytes) override {
    std::memset(device, value, static_cast<std::size_t>(bytes));
  }
  std::optional<std::int64_t> cache() override { return device_.cache; }
  std::optional<std::int64_t> available() override { return 1 << 20; }

 private:
  Device& device_;
};

class WrappedKernel final : public plugin::DeviceKernel, plugin::Packing {
 public:
  explicit WrappedKernel(Device& device) : device_(device) {}
  const char* implementation() const override { return "eng7"; }
  std::int64_t workspace() const override { return 12; }
  bool has_reduced_sums() const override { return true; }
  plugin::Packing* packing() override { return this; }
  void prepare(void* const*) override { throw std::runtime_error("no prepare"); }
  void run(void* const*) override { throw std::runtime_error("an illegal address was met"); }
  std::map<std::string, std::string> details() const override {
    std::map<std::string, std::string> details = {{"engine", "7"}, {"setup.plan_ns", "1500"}};
    if (samples_ > 0) details["sample_method"] = std::to_string(samples_);
    return details;
  }
  plugin::Sample sample(const plugin::SampleRequest& request) override {
    for (std::int64_t i = 0; i < 2; ++i) {
      device_.ask("samples " + std::to_string(*static_cast<int*>(request.buffers(i)[0])));
    }
    ++samples_;
    return device_.sample(request);
  }

 private:
  void pack(std::size_t, const void*, void*) override { throw std::runtime_error("no pack"); }
  void unpack(std::size_t, const void*, void*) override { throw std::runtime_error("no unpack"); }

  Device& device_;
  int samples_ = 0;
};

class WrappedBackend final : public plugin::Backend {
 public:
  explicit WrappedBackend(Device& device)
      : Backend("fake", {"gemm"}, "cuda", std::make_unique<WrappedMemory>(device)),
        device_(device) {}
  void probe() const override {
    if (device_.absent) throw plugin::Error(BENCH_SKIPPED, *device_.absent);
  }
  void opened() override {
    if (device_.unopened) throw plugin::Error(BENCH_UNSUPPORTED, *device_.unopened);
  }
  void set_tuning(std::int64_t candidates) noexcept override {
    device_.ask("tuning " + std::to_string(candidates));
  }
  void set_tuned_caches(std::int32_t caches, std::int64_t rotation) noexcept override {
    device_.ask("caches " + std::to_string(caches) + " " + std::to_string(rotation));
  }
  std::string choices() noexcept override { return "conv\tengine_4\n"; }
  void set_choices(const std::string& choices) noexcept override {
    device_.ask("choices " + choices);
  }
  bool reject_last_engine(const std::string& reason) noexcept override {
    device_.ask("reject " + reason);
    return reason == "wrong";
  }
  std::unique_ptr<plugin::Kernel> make(const plugin::Problem&) override {
    device_.when_created();
    return std::make_unique<WrappedKernel>(device_);
  }

 private:
  Device& device_;
};

class PluginDeviceTest : public ::testing::Test {
 protected:
  PluginDeviceTest() { backend_ = std::move(open()).value(); }
  Result<std::unique_ptr<Backend>, BackendError> open() {
    return open_backend(*wrapped_.raw(), {}, *built_in_);
  }
  std::unique_ptr<Kernel> create() {
    auto kernel = backend_->create(gemm_);
    EXPECT_TRUE(kernel.ok());
    return std::move(kernel).value();
  }
  std::unique_ptr<Invocation> bind(Kernel& kernel, int& marker) {
    const std::vector<void*> buffers(gemm_.tensors.size(), &marker);
    auto bound = kernel.bind(buffers);
    EXPECT_TRUE(bound.ok());
    return std::move(bound).value();
  }
  BackendError error_of(std::function<void()> thrower) {
    device_.when_created = std::move(thrower);
    auto created = backend_->create(gemm_);
    EXPECT_FALSE(created.ok());
    return created.ok() ? BackendError{} : created.error();
  }

  Device device_;
  WrappedBackend wrapped_{device_};
  std::unique_ptr<Backend> built_in_ = make_onednn_backend();
  std::unique_ptr<Backend> backend_;
  const Problem gemm_ = op_test::problem("gemm", "m4n4k4");
};

TEST_F(PluginDeviceTest, HasItsMemory) {
  DeviceMemory* memory = backend_->memory();
  ASSERT_NE(memory, nullptr);
  const auto address = memory->allocate({8});
  ASSERT_TRUE(address.ok());
  EXPECT_TRUE(memory->fill(*address, 0x5a, {8}).ok());
  std::uint32_t host = 7;
  EXPECT_TRUE(memory->copy_in(*address, &host, {4}).ok());
  std::uint32_t words[2] = {};
  EXPECT_TRUE(memory->copy_out(words, *address, {8}).ok());
  EXPECT_THAT(words, ElementsAre(7, 0x5a5a5a5a));
  memory->release(*address);
  EXPECT_EQ(memory->cache(), Bytes{4096});
  EXPECT_EQ(memory->available(), Bytes{1 << 20});
  device_.cache = std::nullopt;
  EXPECT_EQ(memory->cache(), std::nullopt);
  device_.memory_left = false;
  const auto none = memory->allocate({8});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().what, "out of memory on the device");
  EXPECT_EQ(none.error().next, "use less");
}

TEST_F(PluginDeviceTest, SaysWhyItCannotRunOrOpen) {
  EXPECT_EQ(backend_->name(), "fake");
  EXPECT_EQ(backend_->device(), "cuda");
  EXPECT_EQ(probe_backend(*wrapped_.raw()), std::nullopt);
  device_.unopened = "the driver is too old";
  EXPECT_EQ(probe_backend(*wrapped_.raw()), std::nullopt);
  const auto old = open();
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().kind, BackendError::Kind::unsupported);
  EXPECT_EQ(old.error().reason, "the driver is too old");
  device_.absent = "no device today";
  EXPECT_EQ(probe_backend(*wrapped_.raw()), "no device today");
  const auto absent = open();
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, BackendError::Kind::skipped);
  EXPECT_EQ(absent.error().reason, "no device today");
}

TEST_F(PluginDeviceTest, IsToldOfTuningAndTellsDetails) {
  backend_->set_tuning(12);
  backend_->set_choices("conv\tengine_7\n");
  backend_->set_tuned_caches({CacheState::cold_weights, {4096}});
  backend_->set_tuned_caches({});
  EXPECT_THAT(device_.asked,
              ElementsAre("tuning 12", "choices conv\tengine_7\n", "caches 2 4096", "caches 0 0"));
  EXPECT_EQ(backend_->choices(), "conv\tengine_4\n");
  const auto kernel = create();
  // Regression test: neither passed the interface of plugins, so an fp8 convolution on an H100 was
  // compared with the tolerance of f32 sums, and no wrong engine was followed by the next one.
  EXPECT_EQ(kernel->summation(), Summation::reduced);
  EXPECT_TRUE(backend_->reject_last_engine("wrong"));
  EXPECT_FALSE(backend_->reject_last_engine("failed"));
  EXPECT_EQ(device_.asked.back(), "reject failed");
  EXPECT_THAT(kernel->details(), ElementsAre(Pair("engine", "7"), Pair("setup.plan_ns", "1500")));
  EXPECT_EQ(kernel->workspace(), Bytes{12});
  EXPECT_FALSE(kernel->takes_plain());
  EXPECT_EQ(kernel->pack(0, nullptr, nullptr).error().what, "no pack");
  EXPECT_EQ(kernel->prepare(std::vector<void*>(3)).error().what, "no prepare");
  int marker = 0;
  const auto invocation = bind(*kernel, marker);
  EXPECT_FALSE(invocation->run());
  EXPECT_EQ(invocation->error(), "an illegal address was met");
}

TEST_F(PluginDeviceTest, TakesSamples) {
  const auto kernel = create();
  ASSERT_TRUE(kernel->has_device_clock());
  int first = 1, second = 2;
  const auto one = bind(*kernel, first);
  const auto two = bind(*kernel, second);
  Invocation* const rotation[] = {one.get(), two.get()};
  std::int64_t iterations = 0;
  std::int32_t how = 0;
  for (const auto& [flags, verdict] :
       {std::pair(0U, SampleVerdict::counted), std::pair(4U, SampleVerdict::unsteady),
        std::pair(2U, SampleVerdict::throttled), std::pair(1U, SampleVerdict::voided)}) {
    device_.sample = [&, flags = flags](const plugin::SampleRequest& request) {
      iterations = request.iterations();
      how = request.how();
      return plugin::Sample{
          Nanoseconds(900),  Nanoseconds(50), 1'500'000'000, flags, flags == 0 ? "" : "the reason",
          BENCH_SAMPLE_GRAPH};
    };
    const auto sample = kernel->sample({rotation, 3, 7, SampleMethod::stream});
    ASSERT_TRUE(sample.ok());
    EXPECT_EQ(sample->device, Nanoseconds(900));
    EXPECT_EQ(sample->host, Nanoseconds(50));
    EXPECT_EQ(sample->clock_hz, 1'500'000'000);
    EXPECT_EQ(sample->method, SampleMethod::graph);
    EXPECT_EQ(sample->verdict, verdict);
    EXPECT_EQ(sample->reason.empty(), verdict == SampleVerdict::counted);
  }
  // The kernel has this detail only now; the latest value counts.
  EXPECT_THAT(kernel->details(), ElementsAre(Pair("engine", "7"), Pair("sample_method", "4"),
                                             Pair("setup.plan_ns", "1500")));
  EXPECT_EQ(iterations, 7);
  EXPECT_EQ(how, BENCH_SAMPLE_STREAM);
  // Iteration 0 has the buffers of number 3 % 2.
  EXPECT_THAT(std::vector(device_.asked.end() - 2, device_.asked.end()),
              ElementsAre("samples 2", "samples 1"));
  device_.sample = [](const plugin::SampleRequest&) -> plugin::Sample {
    throw std::runtime_error("the device is lost");
  };
  EXPECT_EQ(kernel->sample({rotation, 0, 1}).error().what, "the device is lost");
}

TEST_F(PluginDeviceTest, DetailsAreReadAfterSamplesThatArePowersOfTwo) {
  const auto kernel = create();
  int first = 1;
  const auto one = bind(*kernel, first);
  Invocation* const rotation[] = {one.get()};
  device_.sample = [](const plugin::SampleRequest&) {
    plugin::Sample sample;
    sample.device = Nanoseconds(900);
    return sample;
  };
  std::vector<std::string> reported;
  for (int i = 0; i < 9; ++i) {
    ASSERT_TRUE(kernel->sample({rotation, 0, 1}).ok());
    reported.push_back(kernel->details().at("sample_method"));
  }
  EXPECT_THAT(reported, ElementsAre("1", "2", "2", "4", "4", "4", "4", "8", "8"));
}

TEST_F(PluginDeviceTest, ExceptionsBecomeRefusals) {
  const BackendError named = error_of([] { throw std::runtime_error("the reason"); });
  EXPECT_EQ(named.kind, BackendError::Kind::failed);
  EXPECT_EQ(named.reason, "the reason");
  const BackendError unnamed = error_of([] { throw 7; });
  EXPECT_EQ(unnamed.kind, BackendError::Kind::failed);
  EXPECT_THAT(unnamed.reason, HasSubstr("unknown type"));
  const BackendError memory = error_of([] { throw std::bad_alloc(); });
  EXPECT_EQ(memory.kind, BackendError::Kind::skipped);
  EXPECT_THAT(memory.reason, HasSubstr("memory"));
}

}  // namespace
}  // namespace bench::ops
