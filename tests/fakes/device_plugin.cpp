// SPDX-License-Identifier: Apache-2.0
// A plugin with its own device, using only the C++ wrapper. The addresses of its memory cannot be
// used by the host, and its clock advances by the time of executions. Its operator `triple` takes
// 10 ns per element, and 5 ns more if the buffers differ from those of the previous execution.
// DEVICE_PLUGIN selects another behaviour: absent, full, small, fail_copy, wrong, touch,
// void_third, void_all, timeless_third, throttled, throw_sample, throw_odd.
#include <bench/plugin.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace bench::plugin;
using std::chrono::nanoseconds;

bool has_fault(std::string_view fault) {
  const char* selected = std::getenv("DEVICE_PLUGIN");
  return selected != nullptr && selected == fault;
}

// Offset between the host's address and the device's address of the same memory. It is larger than
// all addresses of processes, so that the host cannot use an address of the device.
constexpr std::uintptr_t kOffset = std::uintptr_t{1} << 54;
constexpr std::size_t kLine = 64;

char* host_address(const void* device) {
  return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(device) - kOffset);
}

class DeviceMemory final : public Memory {
 public:
  void* allocate(int64_t bytes) override {
    if (has_fault("full")) throw Error(BENCH_SKIPPED, "no memory on this device today");
    const std::size_t lines = (static_cast<std::size_t>(bytes) + kLine - 1) / kLine;
    void* memory = std::aligned_alloc(kLine, lines * kLine);
    if (memory == nullptr) throw std::bad_alloc();
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory) + kOffset);
  }
  void release(void* address) noexcept override { std::free(host_address(address)); }
  void copy_in(void* device, const void* host, int64_t bytes) override {
    std::memcpy(host_address(device), host, static_cast<std::size_t>(bytes));
  }
  void copy_out(void* host, const void* device, int64_t bytes) override {
    if (has_fault("fail_copy")) throw std::runtime_error("no way back from this device");
    std::memcpy(host, host_address(device), static_cast<std::size_t>(bytes));
  }
  void fill(void* device, uint8_t value, int64_t bytes) override {
    std::memset(host_address(device), value, static_cast<std::size_t>(bytes));
  }
  std::optional<int64_t> cache() override { return 48 << 10; }
  std::optional<int64_t> available() override { return has_fault("small") ? 1000 : 1 << 24; }
};

class Triple final : public Operator {
 public:
  Triple()
      : Operator({"triple",
                  "each element three times",
                  {{"count", "n", BENCH_COUNT, "required", "elements"}}}) {}
  void model(const Problem& problem, Model& model) const override {
    const int64_t count = problem.count("count");
    model.input("source", problem.dtype(), {count});
    model.output("destination", problem.dtype(), {count});
    model.work(count);
  }
  void reference(const Problem&, const double* const* inputs, const Wanted& positions,
                 double* values) const override {
    for (std::size_t i = 0; i < positions.count; ++i)
      values[i] = 3 * inputs[0][positions.position(i)];
  }
};

class TripleKernel final : public DeviceKernel {
 public:
  TripleKernel(int64_t count, int64_t tuned) : count_(count), tuned_(tuned) {}

  const char* implementation() const override { return "triple_on_device"; }
  std::map<std::string, std::string> details() const override {
    return {{"engine", "7"}, {"setup.compile_ns", "1500"}, {"tuned", std::to_string(tuned_)}};
  }
  void run(void* const* buffers) override { execute(buffers); }

  Sample sample(const SampleRequest& request) override {
    if (has_fault("throw_sample")) throw std::runtime_error("no sample today");
    if (has_fault("throw_odd")) throw 7;
    const nanoseconds begin = clock_;
    for (int64_t i = 0; i < request.iterations(); ++i) execute(request.buffers(i));
    Sample sample;
    sample.device = clock_ - begin;
    sample.host = nanoseconds(1500) * request.iterations();
    sample.clock_hz = 1'250'000'000;
    set_verdict(sample);
    return sample;
  }

 private:
  void execute(void* const* buffers) {
    // With `touch`, uses the address as if it were the host's.
    const auto* source = static_cast<const float*>(
        has_fault("touch") ? buffers[0] : static_cast<const void*>(host_address(buffers[0])));
    auto* destination = reinterpret_cast<float*>(host_address(buffers[1]));
    for (int64_t i = 0; i < count_; ++i) destination[i] = 3 * source[i];
    if (has_fault("wrong")) destination[count_ / 2] += 1;
    clock_ += nanoseconds(buffers[0] == last_ ? 10 : 15) * count_;
    last_ = buffers[0];
  }
  void set_verdict(Sample& sample) {
    const bool is_third = samples_++ % 3 == 2;
    if (has_fault("void_all") || (has_fault("void_third") && is_third)) {
      sample.flags = BENCH_SAMPLE_VOID;
      sample.reason = "another program was on the device";
      *sample.device *= 2;
    }
    if (has_fault("timeless_third") && is_third) sample.device.reset();
    if (has_fault("throttled")) {
      sample.flags = BENCH_SAMPLE_THROTTLED;
      sample.reason = "the device was warm";
    }
  }

  int64_t count_;
  int64_t tuned_;
  nanoseconds clock_{0};
  const void* last_ = nullptr;  // source of the latest execution
  int64_t samples_ = 0;
};

class Device final : public Backend {
 public:
  Device() : Backend("scripted", {"triple"}, "cuda", std::make_unique<DeviceMemory>()) {}

  void probe() const override {
    if (has_fault("absent")) throw Error(BENCH_SKIPPED, "the device is on holiday");
  }
  void set_tuning(int64_t candidates) noexcept override { tuning_ = candidates; }
  std::unique_ptr<Kernel> make(const Problem& problem) override {
    return std::make_unique<TripleKernel>(problem.count("count"), tuning_);
  }

 private:
  int64_t tuning_ = 0;
};

Plugin make_plugin() {
  Plugin plugin("device", "0.1");
  plugin.add(std::make_unique<Triple>()).add(std::make_unique<Device>());
  return plugin;
}

}  // namespace

BENCH_PLUGIN(make_plugin)
