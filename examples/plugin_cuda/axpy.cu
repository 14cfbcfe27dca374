// SPDX-License-Identifier: Apache-2.0
// A plugin with one operator on an NVIDIA GPU, `axpy`: out[i] = alpha * x[i] + y[i], with its work,
// its reference, memory from cudaMalloc and samples between two CUDA events. Everything runs on
// device 0 of those visible through CUDA_VISIBLE_DEVICES, on the default stream, which keeps
// copies, memsets and launches in order.
#include <bench/plugin.hpp>
#include <cuda_runtime.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace {

using namespace bench::plugin;
using std::chrono::nanoseconds;

constexpr int kDevice = 0;
constexpr unsigned kBlock = 256;  // threads

std::string text_of(const char* call, cudaError_t code) {
  return std::string(call) + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")";
}

// Clears a reported error, so that it is not attributed to the next launch as well.
void check(const char* call, cudaError_t code) {
  if (code == cudaSuccess) return;
  cudaGetLastError();
  throw Error(BENCH_FAILED, text_of(call, code));
}

class CudaMemory final : public Memory {
 public:
  void* allocate(int64_t bytes) override {
    void* address = nullptr;
    check("cudaMalloc", cudaMalloc(&address, static_cast<std::size_t>(bytes)));
    return address;
  }
  void release(void* address) noexcept override { cudaFree(address); }
  void copy_in(void* device, const void* host, int64_t bytes) override {
    check("cudaMemcpy",
          cudaMemcpy(device, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice));
  }
  void copy_out(void* host, const void* device, int64_t bytes) override {
    check("cudaMemcpy",
          cudaMemcpy(host, device, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost));
  }
  void fill(void* device, uint8_t value, int64_t bytes) override {
    check("cudaMemset", cudaMemset(device, value, static_cast<std::size_t>(bytes)));
  }
  std::optional<int64_t> cache() override {
    int bytes = 0;
    check("cudaDeviceGetAttribute",
          cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, kDevice));
    return bytes;
  }
  std::optional<int64_t> available() override {
    std::size_t free = 0, total = 0;
    check("cudaMemGetInfo", cudaMemGetInfo(&free, &total));
    return static_cast<int64_t>(free);
  }
};

class Event {
 public:
  Event() { check("cudaEventCreate", cudaEventCreate(&raw_)); }
  ~Event() { cudaEventDestroy(raw_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record() { check("cudaEventRecord", cudaEventRecord(raw_)); }
  // An error of an earlier launch appears here.
  void wait() { check("cudaEventSynchronize", cudaEventSynchronize(raw_)); }
  // Requires that both events have completed.
  nanoseconds since(const Event& begin) const {
    float milliseconds = 0;
    check("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, begin.raw_, raw_));
    return nanoseconds(std::llround(static_cast<double>(milliseconds) * 1e6));
  }

 private:
  cudaEvent_t raw_ = nullptr;
};

class Axpy final : public Operator {
 public:
  Axpy()
      : Operator({"axpy",
                  "a vector times a number, plus a vector",
                  {{"count", "n", BENCH_COUNT, "required", "elements"},
                   {"alpha", "a", BENCH_REAL, "2", "the number"}}}) {}

  void check(const Problem& problem) const override {
    if (problem.dtype() == BENCH_F32) return;
    throw Error(BENCH_INVALID, "axpy is defined for f32", "dtype");
  }
  void model(const Problem& problem, Model& model) const override {
    const int64_t count = problem.count("count");
    model.input("x", problem.dtype(), {count});
    model.input("y", problem.dtype(), {count});
    model.output("out", problem.dtype(), {count});
    model.formula("flops", "2*n", "2*" + std::to_string(count), 2 * count);
    model.work(2 * count);
  }
  void reference(const Problem& problem, const double* const* inputs, const Wanted& wanted,
                 double* values) const override {
    const double alpha = static_cast<float>(problem.real("alpha"));  // rounded as in the kernel
    for (std::size_t i = 0; i < wanted.count; ++i) {
      const int64_t position = wanted.position(i);
      values[i] = alpha * inputs[0][position] + inputs[1][position];
    }
  }
};

__global__ void axpy(int64_t count, float alpha, const float* x, const float* y, float* out) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) out[i] = fmaf(alpha, x[i], y[i]);
}

class AxpyKernel final : public DeviceKernel {
 public:
  explicit AxpyKernel(const Problem& problem)
      : count_(problem.count("count")), alpha_(static_cast<float>(problem.real("alpha"))) {
    if ((count_ - 1) / kBlock >= INT32_MAX) throw Error(BENCH_UNSUPPORTED, "too many blocks");
  }

  const char* implementation() const override { return "axpy"; }
  std::map<std::string, std::string> details() const override {
    return {{"threads_per_block", std::to_string(kBlock)}};
  }
  void run(void* const* buffers) override {
    launch(buffers);
    check("cudaDeviceSynchronize", cudaDeviceSynchronize());
  }

  // Uses two events around all launches: around each launch they would take longer than a short
  // kernel. The sample includes some microseconds from the first event to the first kernel; `bench`
  // requests iterations that take at least a millisecond together.
  Sample sample(const SampleRequest& request) override {
    using Clock = std::chrono::steady_clock;
    begin_.record();
    const auto start = Clock::now();
    for (int64_t i = 0; i < request.iterations(); ++i) launch(request.buffers(i));
    const auto launched = Clock::now();
    end_.record();
    end_.wait();
    Sample sample;
    sample.device = end_.since(begin_);
    sample.host = launched - start;
    if (10 * *sample.host >= 9 * *sample.device) {
      sample.flags = BENCH_SAMPLE_VOID;
      sample.reason = "the device waited for launches: they take longer than the kernels";
    }
    return sample;
  }

 private:
  void launch(void* const* buffers) {
    const auto blocks = static_cast<unsigned>((count_ + kBlock - 1) / kBlock);
    axpy<<<blocks, kBlock>>>(count_, alpha_, static_cast<const float*>(buffers[0]),
                             static_cast<const float*>(buffers[1]),
                             static_cast<float*>(buffers[2]));
    check("launch of axpy", cudaGetLastError());
  }

  int64_t count_;
  float alpha_;
  Event begin_, end_;
};

class Gpu final : public Backend {
 public:
  Gpu() : Backend("example_gpu", {"axpy"}, "cuda", std::make_unique<CudaMemory>()) {}

  void probe() const override {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && count > 0) return;
    cudaGetLastError();
    const std::string why =
        code == cudaSuccess ? "there is none" : text_of("cudaGetDeviceCount", code);
    throw Error(BENCH_SKIPPED, "no CUDA device: " + why);
  }
  std::unique_ptr<Kernel> make(const Problem& problem) override {
    return std::make_unique<AxpyKernel>(problem);
  }
};

Plugin make_plugin() {
  Plugin plugin("axpy", "1.0");
  plugin.add(std::make_unique<Axpy>()).add(std::make_unique<Gpu>());
  return plugin;
}

}  // namespace

BENCH_PLUGIN(make_plugin)
