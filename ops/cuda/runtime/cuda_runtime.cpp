// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/cuda_runtime.hpp"

#include "base/env.hpp"
#include "ops/cuda/runtime/cuda_error.hpp"
#include "ops/cuda/runtime/kernels.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace bench::ops::cuda {
namespace {

constexpr int kDevice = 0;

CudaFailure make_failure(std::string_view call, cudaError_t code) {
  return {call, code, cudaGetErrorName(code), cudaGetErrorString(code)};
}

std::size_t to_size(Bytes size) { return static_cast<std::size_t>(size.count); }

class CudaRuntime final : public Runtime {
 public:
  CudaRuntime() = default;
  CudaRuntime(const CudaRuntime&) = delete;
  CudaRuntime& operator=(const CudaRuntime&) = delete;
  ~CudaRuntime() override {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  Status open();

  const DeviceTraits& traits() const override { return traits_; }
  cudaStream_t stream() const override { return stream_; }
  bool lost() const override { return is_lost_; }

  Result<void*, BackendError> allocate(Bytes size) override;
  void release(void* address) noexcept override { cudaFree(address); }
  Result<MemoryState> memory() override;
  Result<MappedMemory> allocate_mapped(Bytes size) override;
  void release_mapped(const MappedMemory& memory) noexcept override { cudaFreeHost(memory.host); }
  Status copy_in(void* device, const void* host, Bytes size) override {
    return copy_and_wait(device, host, size, cudaMemcpyHostToDevice);
  }
  Status copy_out(void* host, const void* device, Bytes size) override {
    return copy_and_wait(host, device, size, cudaMemcpyDeviceToHost);
  }
  Status copy_within(void* target, const void* source, Bytes size) override {
    return checked("cudaMemcpyAsync", cudaMemcpyAsync(target, source, to_size(size),
                                                      cudaMemcpyDeviceToDevice, stream_));
  }
  Status fill(void* device, std::uint8_t value, Bytes size) override {
    return checked("cudaMemsetAsync", cudaMemsetAsync(device, value, to_size(size), stream_));
  }

  Result<cudaEvent_t> create_event() override;
  void destroy_event(cudaEvent_t event) noexcept override { cudaEventDestroy(event); }
  Status record(cudaEvent_t event) override {
    return checked("cudaEventRecord", cudaEventRecord(event, stream_));
  }
  Result<Nanoseconds> elapsed(cudaEvent_t begin, cudaEvent_t end) override;
  Status synchronise() override {
    return checked("cudaStreamSynchronize", cudaStreamSynchronize(stream_));
  }
  Status synchronise_device() override {
    return checked("cudaDeviceSynchronize", cudaDeviceSynchronize());
  }

  Status begin_capture() override;
  Result<cudaGraphExec_t> end_capture() override;
  void abandon_capture() noexcept override;
  Status launch(cudaGraphExec_t graph) override {
    return checked("cudaGraphLaunch", cudaGraphLaunch(graph, stream_));
  }
  void destroy_graph(cudaGraphExec_t graph) noexcept override { cudaGraphExecDestroy(graph); }

  Status launch_empty() override {
    return checked("launch of the empty kernel", cuda::launch_empty(stream_));
  }
  Status launch_blocking(const std::int32_t* release, std::int32_t* timed_out,
                         Nanoseconds limit) override {
    return checked("launch of the blocking kernel",
                   cuda::launch_blocking(stream_, release, timed_out, limit.count()));
  }
  Status read_clock(ClockReading* reading) override {
    return checked("launch of the clock's kernel",
                   launch_read_clock(stream_, reading, traits_.multiprocessors));
  }
  Status flush(void* scratch, Bytes size) override {
    return checked("launch of the flushing kernel", launch_flush(stream_, scratch, to_size(size)));
  }
  Nanoseconds now() const override { return MonotonicClock().now(); }

 private:
  Status checked(std::string_view call, cudaError_t code) {
    if (code == cudaSuccess) return Done{};
    return error(call, code);
  }
  Error error(std::string_view call, cudaError_t code);
  Status copy_and_wait(void* target, const void* source, Bytes size, cudaMemcpyKind kind);
  Status read_traits();

  DeviceTraits traits_;
  cudaStream_t stream_ = nullptr;
  bool is_capturing_ = false;
  bool is_lost_ = false;
};

// Converts an error of a call, and determines whether the device is lost. The next call returns a
// sticky error again; any other error is cleared when it is read. A stream that is being captured
// must not be queried.
Error CudaRuntime::error(std::string_view call, cudaError_t code) {
  cudaGetLastError();
  is_lost_ = is_lost_ || is_sticky(code);
  if (!is_lost_ && !is_capturing_ && stream_ != nullptr) {
    const cudaError_t stream_status = cudaStreamQuery(stream_);
    cudaGetLastError();  // otherwise the next launch would report "not ready" as its own error
    is_lost_ = stream_status != cudaSuccess && stream_status != cudaErrorNotReady;
  }
  return cuda_error(make_failure(call, code), is_lost_ ? DeviceHealth::lost : DeviceHealth::usable);
}

Status CudaRuntime::open() {
  const Nanoseconds begin = now();
  // Since CUDA 12, cudaSetDevice creates the context. Older releases create it at the next call.
  BENCH_RETURN_IF_ERROR(checked("cudaSetDevice", cudaSetDevice(kDevice)));
  BENCH_RETURN_IF_ERROR(checked("cudaFree", cudaFree(nullptr)));
  note_setup("context", now() - begin);
  BENCH_RETURN_IF_ERROR(checked("cudaStreamCreateWithFlags",
                                cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)));
  return read_traits();
}

Status CudaRuntime::read_traits() {
  cudaDeviceProp properties{};
  BENCH_RETURN_IF_ERROR(
      checked("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, kDevice)));
  traits_.index = kDevice;
  traits_.name = properties.name;
  traits_.major = properties.major;
  traits_.minor = properties.minor;
  traits_.multiprocessors = properties.multiProcessorCount;
  traits_.memory = {static_cast<std::int64_t>(properties.totalGlobalMem)};
  traits_.cache = {properties.l2CacheSize};
  std::array<char, 32> bus_id{};
  BENCH_RETURN_IF_ERROR(
      checked("cudaDeviceGetPCIBusId",
              cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), kDevice)));
  traits_.bus_id = bus_id.data();
  int kilohertz = 0;  // not a field of cudaDeviceProp since CUDA 13
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, kDevice) == cudaSuccess &&
      kilohertz > 0) {
    traits_.default_clock_hz = std::int64_t{kilohertz} * 1000;
  }
  return Done{};
}

Result<void*, BackendError> CudaRuntime::allocate(Bytes size) {
  void* address = nullptr;
  const cudaError_t code = cudaMalloc(&address, to_size(size));
  if (code == cudaSuccess) return address;
  if (code != cudaErrorMemoryAllocation) {
    return BackendError{BackendError::Kind::failed, error("cudaMalloc", code).message()};
  }
  cudaGetLastError();  // the error is not sticky
  std::optional<Bytes> free, total;
  if (const auto state = memory()) {
    free = state->free;
    total = state->total;
  }
  return out_of_memory(size, free, total);
}

Result<MemoryState> CudaRuntime::memory() {
  std::size_t free = 0, total = 0;
  BENCH_RETURN_IF_ERROR(checked("cudaMemGetInfo", cudaMemGetInfo(&free, &total)));
  return MemoryState{{static_cast<std::int64_t>(free)}, {static_cast<std::int64_t>(total)}};
}

Result<MappedMemory> CudaRuntime::allocate_mapped(Bytes size) {
  MappedMemory memory;
  BENCH_RETURN_IF_ERROR(
      checked("cudaHostAlloc", cudaHostAlloc(&memory.host, to_size(size), cudaHostAllocMapped)));
  std::memset(memory.host, 0, to_size(size));
  const cudaError_t code = cudaHostGetDevicePointer(&memory.device, memory.host, 0);
  if (code == cudaSuccess) return memory;
  release_mapped(memory);
  return error("cudaHostGetDevicePointer", code);
}

Status CudaRuntime::copy_and_wait(void* target, const void* source, Bytes size,
                                  cudaMemcpyKind kind) {
  BENCH_RETURN_IF_ERROR(
      checked("cudaMemcpyAsync", cudaMemcpyAsync(target, source, to_size(size), kind, stream_)));
  return synchronise();
}

Result<cudaEvent_t> CudaRuntime::create_event() {
  cudaEvent_t event = nullptr;
  BENCH_RETURN_IF_ERROR(
      checked("cudaEventCreateWithFlags", cudaEventCreateWithFlags(&event, cudaEventDefault)));
  return event;
}

// CUDA counts in half microseconds and returns milliseconds.
Result<Nanoseconds> CudaRuntime::elapsed(cudaEvent_t begin, cudaEvent_t end) {
  float milliseconds = 0;
  BENCH_RETURN_IF_ERROR(
      checked("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, begin, end)));
  return Nanoseconds(std::llround(static_cast<double>(milliseconds) * 1e6));
}

Status CudaRuntime::begin_capture() {
  // Captures only what this thread does; libraries may use other threads freely.
  const cudaError_t code = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal);
  if (code != cudaSuccess) return error("cudaStreamBeginCapture", code);
  is_capturing_ = true;
  return Done{};
}

Result<cudaGraphExec_t> CudaRuntime::end_capture() {
  cudaGraph_t graph = nullptr;
  cudaError_t code = cudaStreamEndCapture(stream_, &graph);
  is_capturing_ = false;
  if (code != cudaSuccess) {
    if (graph != nullptr) cudaGraphDestroy(graph);
    return error("cudaStreamEndCapture", code);
  }
  cudaGraphExec_t instance = nullptr;
  code = cudaGraphInstantiate(&instance, graph, 0);
  cudaGraphDestroy(graph);
  if (code != cudaSuccess) return error("cudaGraphInstantiate", code);
  code = cudaGraphUpload(instance, stream_);
  if (code == cudaSuccess) return instance;
  destroy_graph(instance);
  return error("cudaGraphUpload", code);
}

void CudaRuntime::abandon_capture() noexcept {
  if (!is_capturing_) return;
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream_, &graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaGetLastError();  // clears the known error that the capture was invalid
  is_capturing_ = false;
}

}  // namespace

Result<std::shared_ptr<Runtime>, BackendError> make_cuda_runtime() {
  auto runtime = std::make_shared<CudaRuntime>();
  if (const Status opened = runtime->open(); !opened) {
    return BackendError{BackendError::Kind::failed, opened.error().message()};
  }
  return std::shared_ptr<Runtime>(std::move(runtime));
}

}  // namespace bench::ops::cuda
