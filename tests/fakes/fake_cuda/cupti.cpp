// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/synthetic_buffer.hpp"
#include "tests/fakes/fake_cuda/control.hpp"

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <dlfcn.h>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace {

using bench::test::SyntheticBuffer;

// The recorded buffers since the last flush, and the callbacks of the tracer.
struct State {
  std::mutex mutex;
  std::deque<SyntheticBuffer> buffers;
  std::set<std::string> names;  // kernel names, to which records point
  std::uint32_t correlation = 0;
  CUpti_BuffersCallbackRequestFunc requested = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed = nullptr;
  CUpti_TimestampCallbackFunc timestamp = nullptr;
  std::atomic<std::size_t> dropped{0};
};

State& state() {
  static auto& instance = *new State();
  return instance;
}

const char* variable(const char* name) { return std::getenv(name); }

template <class Function>
Function* real(const char* name) {
  static void* library = dlopen(BENCH_CUPTI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::uint64_t now() { return state().timestamp != nullptr ? state().timestamp() : 0; }

constexpr std::size_t kRecordsOfBuffer = 1000;

template <class Record>
void add(const Record& record) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  if (all.timestamp == nullptr) return;  // no tracer is active
  if (all.buffers.empty() || all.buffers.back().size() > kRecordsOfBuffer * sizeof(Record)) {
    all.buffers.emplace_back();
  }
  all.buffers.back().add(record);
}

void add_facts() {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return;
  CUpti_ActivityDevice5 device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.name = "Fake GPU";
  device.computeCapabilityMajor = 9;
  device.maxWarpsPerMultiprocessor = 64;
  device.maxBlocksPerMultiprocessor = 32;
  device.maxThreadsPerBlock = 1024;
  device.numThreadsPerWarp = 32;
  device.maxRegistersPerMultiprocessor = device.maxRegistersPerBlock = 65536;
  device.maxSharedMemoryPerMultiprocessor = 233472;
  device.numMultiprocessors = 132;
  add(device);
  CUpti_ActivityContext3 context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 1;
  add(context);
}

std::uint32_t call(std::uint32_t id) {
  add_facts();
  std::uint32_t correlation = 0;
  {
    const std::lock_guard lock(state().mutex);
    correlation = ++state().correlation;
  }
  const std::uint64_t start = now();
  auto record =
      bench::test::call_record(CUPTI_ACTIVITY_KIND_RUNTIME, id, start, now(),
                               static_cast<std::uint32_t>(syscall(SYS_gettid)), correlation);
  record.processId = static_cast<std::uint32_t>(getpid());
  add(record);
  return correlation;
}

void kernel(const char* name, std::uint32_t stream, std::uint32_t correlation, std::uint64_t start,
            std::uint64_t end) {
  const char* stored_name = nullptr;
  {
    const std::lock_guard lock(state().mutex);
    stored_name = state().names.insert(name).first->c_str();
  }
  bench::test::Launch launch;
  launch.name = stored_name;
  launch.start = start;
  launch.end = end;
  launch.stream = stream;
  launch.correlation = correlation;
  launch.grid = 4;
  launch.block = 128;
  add(bench::test::kernel_record(launch));
}

void copy(std::uint64_t bytes, std::uint32_t correlation, std::uint64_t start, std::uint64_t end) {
  add(bench::test::copy_record(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, bytes, start, end, correlation));
}

void allocation(std::uint64_t address, std::uint64_t bytes, std::uint32_t correlation,
                int release) {
  CUpti_ActivityMemory4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = release != 0 ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                            : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.address = address;
  record.bytes = bytes;
  record.timestamp = now();
  record.contextId = 1;
  record.correlationId = correlation;
  add(record);
}

constexpr FakeCupti kControl = {now, call, kernel, copy, allocation};

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): CUPTI's names
extern "C" {
#pragma GCC visibility push(default)

const FakeCupti* fake_cupti() { return &kControl; }

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  const char* const version_text = variable("FAKE_CUPTI_VERSION");
  *version = version_text != nullptr ? static_cast<std::uint32_t>(std::atoi(version_text))
                                     : CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  return real<decltype(cuptiGetResultString)>("cuptiGetResultString")(result, text);
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  return real<decltype(cuptiGetCallbackName)>("cuptiGetCallbackName")(domain, id, name);
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                       CUpti_Activity** record) {
  return real<decltype(cuptiActivityGetNextRecord)>("cuptiActivityGetNextRecord")(buffer, valid,
                                                                                  record);
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc, void*,
                              CUpti_SubscriberParams* parameters) {
  const char* const other_tool = variable("FAKE_CUPTI_OTHER_TOOL");
  if (other_tool != nullptr) {
    std::strncpy(parameters->oldSubscriberName, other_tool, parameters->oldSubscriberSize);
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&state());
  const char* const dropped = variable("FAKE_CUPTI_DROPPED");
  if (dropped != nullptr) state().dropped = static_cast<std::size_t>(std::atoi(dropped));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) { return CUPTI_SUCCESS; }
CUptiResult cuptiEnableCallback(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                CUpti_CallbackId) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, std::size_t*, void*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  state().timestamp = function;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  state().requested = requested;
  state().completed = completed;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableAllocationSource(std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  std::deque<SyntheticBuffer> buffers;
  {
    const std::lock_guard lock(state().mutex);
    buffers.swap(state().buffers);
  }
  for (SyntheticBuffer& filled : buffers) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0;
    std::size_t records = 0;
    state().requested(&buffer, &size, &records);
    if (buffer == nullptr || size < filled.size()) continue;
    std::memcpy(buffer, filled.data(), filled.size());
    state().completed(nullptr, 0, buffer, size, filled.size());
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  *dropped = state().dropped.exchange(0);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetGraphNodeId(CUgraphNode, std::uint64_t* id) {
  *id = 0;
  return CUPTI_ERROR_INVALID_PARAMETER;
}

#pragma GCC visibility pop
}
// NOLINTEND(readability-identifier-naming)
