// SPDX-License-Identifier: Apache-2.0
// Stands in for NVIDIA's libraries in tests of loading: compiled once for each of them, with
// FAKE_<NAME> defined. Each answers a version that no real library has.
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

// One device, at "0000:1B:00.0", that does not know MIG.
namespace {
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
int a_device = 0;

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

#endif
}
// NOLINTEND(readability-identifier-naming)
