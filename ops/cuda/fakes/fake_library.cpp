// SPDX-License-Identifier: Apache-2.0
// Replaces NVIDIA's libraries in tests of loading. It is compiled once for each library, with
// FAKE_<NAME> defined. Each reports a version that no real library has.
#include <cstddef>
#include <cstring>

// NOLINTBEGIN(readability-identifier-naming): the libraries' names
extern "C" {

#if defined(FAKE_CUDNN)
std::size_t cudnnGetVersion() { return 91234; }
#elif defined(FAKE_CUDNN_GRAPH)
int fake_cudnn_graph() { return 0; }
#elif defined(FAKE_CUBLASLT)
std::size_t cublasLtGetVersion() { return 139876; }
#elif defined(FAKE_CUBLAS)
int cublasGetProperty(int type, int* value) {
  constexpr int kVersion[] = {13, 98, 76};
  *value = kVersion[type];
  return 0;
}
#elif defined(FAKE_CUPTI)
int cuptiGetVersion(unsigned* version) {
  *version = FAKE_CUPTI;
  return 0;
}
#elif defined(FAKE_NVML)

// One device, at "0000:1B:00.0", without MIG support.
namespace {
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kTimeout = 10;
int a_device = 0;
int an_event_set = 0;
unsigned long long raised_xid = 0;  // 0: none

struct FakeField {
  unsigned id, scope;
  long long timestamp, latency;
  int type, status;
  union {
    double real;
    unsigned natural;
    unsigned long long count;
  } value;
};
struct FakeMemory {
  unsigned long long total, free, used;
};
struct FakeEvent {
  void* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
struct FakeProcess {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

int write_text(char* target, unsigned size, const char* text) {
  std::strncpy(target, text, size - 1);
  return 0;
}
}  // namespace

int nvmlInit_v2() { return FAKE_NVML; }
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int code) { return code == 9 ? "Driver Not Loaded" : "Not Found"; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  return write_text(text, size, "580.82.07");
}
int nvmlSystemGetNVMLVersion(char* text, unsigned size) {
  return write_text(text, size, "13.580.82.07");
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  if (std::strcmp(bus_id, "0000:1B:00.0") != 0) return kNotFound;
  *device = &a_device;
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* clock) {
  *clock = type == 1 ? 1755 : 2619;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int type, unsigned* clock) {
  *clock = type == 1 ? 1980 : 3201;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x4 | 0x20 | 0x400;
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* temperature) {
  *temperature = 41;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* power) {
  *power = 123456;
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = 123456789;
  return 0;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* power) {
  *power = 700000;
  return 0;
}
int nvmlDeviceGetPersistenceMode(void*, int* mode) {
  *mode = 1;
  return 0;
}
int nvmlDeviceGetMigMode(void*, unsigned*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetEccMode(void*, int* current, int* pending) {
  *current = *pending = 1;
  return 0;
}
int nvmlDeviceGetPerformanceState(void*, int* state) {
  *state = 0;
  return 0;
}
int nvmlDeviceGetTotalEccErrors(void*, int type, int since, unsigned long long* count) {
  *count = type == 1 && since == 0 ? 2 : 99;
  return 0;
}
// Twenty processes: more than the first call provides room for.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, FakeProcess* processes) {
  constexpr unsigned kProcesses = 20;
  const bool fits = *count >= kProcesses;
  for (unsigned i = 0; fits && i < kProcesses; ++i) {
    processes[i].pid = 1000 + i;
    processes[i].memory = i == 0 ? ~0ull : i << 20;  // NVML does not know the memory of process 0
  }
  *count = kProcesses;
  return fits ? 0 : kInsufficientSize;
}
int nvmlDeviceGetMemoryInfo(void*, FakeMemory* memory) {
  *memory = {80ull << 30, 79ull << 30, 1ull << 30};
  return 0;
}
int nvmlEventSetCreate(void** set) {
  *set = &an_event_set;
  return 0;
}
int nvmlEventSetFree(void*) { return 0; }
int nvmlDeviceRegisterEvents(void*, unsigned long long types, void* set) {
  return types == 0x8 && set == &an_event_set ? 0 : kNotSupported;
}
int nvmlEventSetWait_v2(void*, FakeEvent* event, unsigned timeout) {
  if (raised_xid == 0 || timeout != 0) return kTimeout;
  *event = {&a_device, 0x8, raised_xid, 0, 0};
  raised_xid = 0;
  return 0;
}
// For tests: makes the next nvmlEventSetWait_v2 report this Xid error.
void fake_nvml_raise_xid(unsigned long long number) { raised_xid = number; }
// Behaves as driver 580: supports the counter ids 74, 251 and 252. Id 186, which is a counter only
// in later drivers, returns a value of another type.
int nvmlDeviceGetFieldValues(void*, int count, FakeField* fields) {
  for (int i = 0; i < count; ++i) {
    FakeField& field = fields[i];
    const bool counter = field.id == 74 || field.id == 251 || field.id == 252;
    field.status = counter || field.id == 186 ? 0 : kNotSupported;
    field.type = counter ? 3 : 1;
    if (counter) field.value.count = 1'000'000'000'000ull + field.id;
    if (field.id == 186) field.value.natural = 654321;
  }
  return 0;
}

#endif
}
// NOLINTEND(readability-identifier-naming)
