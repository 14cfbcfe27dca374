// SPDX-License-Identifier: Apache-2.0
// Tests a device's memory, samples, details and trace through the plugin interface and back, and
// the handling of exceptions.
#include "ops/plugin/exported_backend.hpp"
#include "ops/plugin/exported_kernel.hpp"
#include "ops/plugin/plugin.hpp"
#include "ops/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// The device's behaviour, and its recorded calls.
struct Device {
  std::function<void()> when_created = [] {};
  std::function<Result<DeviceSample>(const SampleRequest&)> sample;
  std::vector<std::string> asked;
  std::optional<Bytes> cache = Bytes{4096};
  bool memory_left = true;
  void ask(std::string what) { asked.push_back(std::move(what)); }
};

class Memory final : public DeviceMemory {
 public:
  explicit Memory(Device& device) : device_(device) {}
  Result<void*> allocate(Bytes size) override {
    if (!device_.memory_left) return Error{"out of memory on the device", "", "use less"};
    return std::malloc(static_cast<std::size_t>(size.count));
  }
  void release(void* address) noexcept override { std::free(address); }
  Status copy_in(void* device, const void* host, Bytes size) override {
    std::memcpy(device, host, static_cast<std::size_t>(size.count));
    return Done{};
  }
  Status copy_out(void* host, const void* device, Bytes size) override {
    std::memcpy(host, device, static_cast<std::size_t>(size.count));
    return Done{};
  }
  Status fill(void* device, std::uint8_t value, Bytes size) override {
    std::memset(device, value, static_cast<std::size_t>(size.count));
    return Done{};
  }
  std::optional<Bytes> cache() override { return device_.cache; }
  std::optional<Bytes> available() override { return Bytes{1 << 20}; }

 private:
  Device& device_;
};

class Tracer final : public DeviceTracer {
 public:
  explicit Tracer(Device& device) : device_(device) {}
  Status begin(std::uint32_t groups) override {
    device_.ask("begin " + std::to_string(groups));
    return Error{"Nsight Systems is attached", "", "end it"};
  }
  Status open_window() override {
    device_.ask("open_window");
    return Done{};
  }
  void region_begins(std::uint64_t id) noexcept override {
    device_.ask("region " + std::to_string(id));
  }
  void region_ends() noexcept override { device_.ask("region ends"); }
  Result<std::string> finish() override { return std::string("line 1\nline 2\n"); }

 private:
  Device& device_;
};

class DeviceInvocation final : public Invocation {
 public:
  DeviceInvocation(Device& device, void* first) : device_(device), first_(first) {}
  bool run() noexcept override { return false; }
  bool run_observed(StepObserver& observer) noexcept override {
    observer.begins(0);
    observer.part_begins("inside");
    observer.part_ends();
    observer.enqueued(0);
    if (observer.wait() == StepWait::each_step) observer.done(0);
    return true;
  }
  std::string error() const override { return "an illegal address was met"; }
  void* first() const { return first_; }

 private:
  Device& device_;
  void* first_;
};

class DeviceKernel final : public Kernel {
 public:
  DeviceKernel(Device& device, const Problem& problem) : device_(device) {
    for (const Tensor& tensor : problem.tensors) {
      buffers_.push_back({BufferRole::input, tensor.size(), "abcd"});
    }
  }
  std::string implementation() const override { return "eng7"; }
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {12}; }
  Status pack(std::size_t, const void*, void*) override { return Error{"no pack", "", ""}; }
  Status unpack(std::size_t, const void*, void*) override { return Error{"no unpack", "", ""}; }
  Status prepare(std::span<void* const>) override { throw std::runtime_error("no prepare"); }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override {
    return std::unique_ptr<Invocation>(
        std::make_unique<DeviceInvocation>(device_, buffers.front()));
  }
  std::map<std::string, std::string> details() const override {
    std::map<std::string, std::string> details = {{"engine", "7"}, {"setup.plan_ns", "1500"}};
    if (samples_ > 0) details["sample_method"] = std::to_string(samples_);
    return details;
  }
  Summation summation() const override { return Summation::reduced; }
  bool has_device_clock() const override { return true; }
  Result<DeviceSample> sample(const SampleRequest& request) override {
    for (Invocation* invocation : request.rotation) {
      const auto* first = static_cast<int*>(static_cast<DeviceInvocation*>(invocation)->first());
      device_.ask("samples " + std::to_string(*first));
    }
    ++samples_;
    return device_.sample(request);
  }

 private:
  Device& device_;
  std::vector<KernelBuffer> buffers_;
  int samples_ = 0;
};

class DeviceBackend final : public Backend {
 public:
  explicit DeviceBackend(Device& device) : device_(device), memory_(device), tracer_(device) {}
  std::string_view name() const override { return "fake"; }
  std::string_view device() const override { return "cuda"; }
  LibraryInfo library() const override { return {"fake", "9.1", "/lib/fake.so", ""}; }
  std::vector<LibraryInfo> further_libraries() const override {
    return {{"driver", "580", "/lib/driver.so", "open"}};
  }
  DeviceMemory* memory() override { return &memory_; }
  DeviceTracer* tracer() override { return &tracer_; }
  void set_tuning(std::int64_t candidates) override {
    device_.ask("tuning " + std::to_string(candidates));
  }
  void set_tuned_caches(const TunedCaches& caches) override {
    device_.ask(fmt::format("caches {} {}", static_cast<int>(caches.state), caches.rotation.count));
  }
  std::string choices() const override { return "conv\tengine_4\n"; }
  void set_choices(std::string_view choices) override {
    device_.ask("choices " + std::string(choices));
  }
  bool reject_last_engine(std::string_view reason) override {
    device_.ask("reject " + std::string(reason));
    return reason == "wrong";
  }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Problem& problem) override {
    device_.when_created();
    return std::unique_ptr<Kernel>(std::make_unique<DeviceKernel>(device_, problem));
  }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Network&) override {
    return BackendError{BackendError::Kind::unsupported, "no networks"};
  }

 private:
  Device& device_;
  Memory memory_;
  Tracer tracer_;
};

class ExportedDeviceTest : public ::testing::Test {
 protected:
  ExportedDeviceTest() {
    auto opened = open_backend(*plugin_.raw()->backends[0], {}, *built_in_);
    backend_ = std::move(opened).value();
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
  plugin::Plugin plugin_ = export_plugin(
      "p", "1",
      {{"fake", "cuda", {"gemm"}, {}, [this]() -> Result<std::unique_ptr<Backend>, BackendError> {
          return std::unique_ptr<Backend>(std::make_unique<DeviceBackend>(device_));
        }}});
  std::unique_ptr<Backend> built_in_ = make_onednn_backend();
  std::unique_ptr<Backend> backend_;
  const Problem gemm_ = op_test::problem("gemm", "m4n4k4");
};

TEST_F(ExportedDeviceTest, HandsOnMemoryAndLibraries) {
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
  EXPECT_EQ(backend_->library().path, "/lib/fake.so");
  ASSERT_EQ(backend_->further_libraries().size(), 1U);
  EXPECT_EQ(backend_->further_libraries()[0].detail, "open");
}

TEST_F(ExportedDeviceTest, HandsOnTuningDetailsAndParts) {
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
  EXPECT_FALSE(kernel->takes_plain());
  EXPECT_EQ(kernel->pack(0, nullptr, nullptr).error().what, "no pack");
  EXPECT_EQ(kernel->prepare(std::vector<void*>(3)).error().what, "no prepare");

  struct Parts final : StepObserver {
    void begins(std::size_t) noexcept override {}
    void enqueued(std::size_t) noexcept override {}
    void done(std::size_t) noexcept override { ++awaited; }
    void part_begins(std::string_view name) noexcept override { names.emplace_back(name); }
    StepWait wait() const noexcept override { return asked; }
    StepWait asked = StepWait::end;
    int awaited = 0;
    std::vector<std::string> names;
  } parts;
  int marker = 0;
  const auto invocation = bind(*kernel, marker);
  EXPECT_TRUE(invocation->run_observed(parts));
  EXPECT_THAT(parts.names, ElementsAre("inside"));
  EXPECT_EQ(parts.awaited, 0);
  parts.asked = StepWait::each_step;
  EXPECT_TRUE(invocation->run_observed(parts));
  EXPECT_EQ(parts.awaited, 1);
  EXPECT_FALSE(invocation->run());
  EXPECT_EQ(invocation->error(), "an illegal address was met");
}

TEST_F(ExportedDeviceTest, HandsOnSamples) {
  const auto kernel = create();
  ASSERT_TRUE(kernel->has_device_clock());
  int first = 1, second = 2;
  const auto one = bind(*kernel, first);
  const auto two = bind(*kernel, second);
  Invocation* const rotation[] = {one.get(), two.get()};
  SampleRequest seen;
  for (const SampleVerdict verdict : {SampleVerdict::counted, SampleVerdict::unsteady,
                                      SampleVerdict::throttled, SampleVerdict::voided}) {
    device_.sample = [&](const SampleRequest& request) -> Result<DeviceSample> {
      seen = request;
      const std::string reason = verdict == SampleVerdict::counted ? "" : "the reason";
      return DeviceSample{Nanoseconds(900),    Nanoseconds(50), 1'500'000'000,
                          SampleMethod::graph, verdict,         reason};
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
  EXPECT_EQ(seen.first, 3);
  EXPECT_EQ(seen.iterations, 7);
  EXPECT_EQ(seen.method, SampleMethod::stream);
  EXPECT_THAT(std::vector(device_.asked.end() - 2, device_.asked.end()),
              ElementsAre("samples 1", "samples 2"));
  device_.sample = [](const SampleRequest&) -> Result<DeviceSample> {
    return Error{"the device is lost", "", ""};
  };
  EXPECT_EQ(kernel->sample({rotation, 0, 1}).error().what, "the device is lost");
}

// Reading between any two samples would cost time, and the host would keep every text.
TEST_F(ExportedDeviceTest, DetailsAreReadAfterSamplesThatArePowersOfTwo) {
  const auto kernel = create();
  int first = 1;
  const auto one = bind(*kernel, first);
  Invocation* const rotation[] = {one.get()};
  device_.sample = [](const SampleRequest&) -> Result<DeviceSample> {
    return DeviceSample{Nanoseconds(900),    std::nullopt,           std::nullopt,
                        SampleMethod::graph, SampleVerdict::counted, ""};
  };
  std::vector<std::string> reported;
  for (int i = 0; i < 9; ++i) {
    ASSERT_TRUE(kernel->sample({rotation, 0, 1}).ok());
    reported.push_back(kernel->details().at("sample_method"));
  }
  EXPECT_THAT(reported, ElementsAre("1", "2", "2", "4", "4", "4", "4", "8", "8"));
}

TEST_F(ExportedDeviceTest, HandsOnTheTracer) {
  DeviceTracer* tracer = backend_->tracer();
  ASSERT_NE(tracer, nullptr);
  const Status begun = tracer->begin(kTraceApi | kTraceDevice);
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.error().what, "Nsight Systems is attached");
  EXPECT_TRUE(tracer->open_window().ok());
  tracer->region_begins(77);
  tracer->region_ends();
  EXPECT_EQ(tracer->finish().value(), "line 1\nline 2\n");
  EXPECT_THAT(device_.asked, ElementsAre("begin 5", "open_window", "region 77", "region ends"));
}

TEST_F(ExportedDeviceTest, ExceptionsBecomeRefusals) {
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
