// SPDX-License-Identifier: Apache-2.0
// NVML's functions and structures as nvml.cpp uses them.
#pragma once

#include "base/function_table.hpp"

namespace bench::ops::cuda {

// As in nvml.h of CUDA 13. C enumerations are ints; nvmlDevice_t is a pointer.
struct NvmlField {
  unsigned id, scope;
  long long timestamp, latency;
  int type;
  int status;  // `value` is valid if this is kNvmlSuccess
  union {
    double real;
    int integer;
    unsigned natural;
    unsigned long wide;
    unsigned long long count;
    long long difference;
    unsigned short narrow;
  } value;
};
static_assert(sizeof(NvmlField) == 40);

struct NvmlProcess {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(NvmlProcess) == 24);

struct NvmlMemory {
  unsigned long long total, free, used;
};

struct NvmlEvent {
  void* device;
  unsigned long long type, data;  // data: the Xid number of a critical error
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(NvmlEvent) == 32);

struct NvmlFunctions {
  using Device = void*;
  BENCH_FUNCTIONS(
      NvmlFunctions, (init, nvmlInit_v2, int (*)()), (shutdown, nvmlShutdown, int (*)()),
      (error_string, nvmlErrorString, const char* (*)(int)),
      (driver_version, nvmlSystemGetDriverVersion, int (*)(char*, unsigned), optional),
      (library_version, nvmlSystemGetNVMLVersion, int (*)(char*, unsigned), optional),
      (device_by_bus_id, nvmlDeviceGetHandleByPciBusId_v2, int (*)(const char*, Device*)),
      (clock, nvmlDeviceGetClockInfo, int (*)(Device, int, unsigned*), optional),
      (clock_limit, nvmlDeviceGetMaxClockInfo, int (*)(Device, int, unsigned*), optional),
      (clock_reasons, nvmlDeviceGetCurrentClocksEventReasons, int (*)(Device, unsigned long long*),
       optional),
      (temperature, nvmlDeviceGetTemperature, int (*)(Device, int, unsigned*), optional),
      (power, nvmlDeviceGetPowerUsage, int (*)(Device, unsigned*), optional),
      (power_limit, nvmlDeviceGetEnforcedPowerLimit, int (*)(Device, unsigned*), optional),
      (energy, nvmlDeviceGetTotalEnergyConsumption, int (*)(Device, unsigned long long*), optional),
      (persistence, nvmlDeviceGetPersistenceMode, int (*)(Device, int*), optional),
      (mig, nvmlDeviceGetMigMode, int (*)(Device, unsigned*, unsigned*), optional),
      (ecc, nvmlDeviceGetEccMode, int (*)(Device, int*, int*), optional),
      (performance_state, nvmlDeviceGetPerformanceState, int (*)(Device, int*), optional),
      (fields, nvmlDeviceGetFieldValues, int (*)(Device, int, NvmlField*), optional),
      (processes, nvmlDeviceGetComputeRunningProcesses_v3, int (*)(Device, unsigned*, NvmlProcess*),
       optional),
      (memory_errors, nvmlDeviceGetTotalEccErrors, int (*)(Device, int, int, unsigned long long*),
       optional),
      (memory, nvmlDeviceGetMemoryInfo, int (*)(Device, NvmlMemory*), optional),
      (create_events, nvmlEventSetCreate, int (*)(void**), optional),
      (register_events, nvmlDeviceRegisterEvents, int (*)(Device, unsigned long long, void*),
       optional),
      (wait_for_event, nvmlEventSetWait_v2, int (*)(void*, NvmlEvent*, unsigned), optional),
      (free_events, nvmlEventSetFree, int (*)(void*), optional));
};

}  // namespace bench::ops::cuda
