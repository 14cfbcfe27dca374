// SPDX-License-Identifier: Apache-2.0
// NVML's functions and structures as nvml.cpp uses them.
#pragma once

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
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*library_version)(char*, unsigned) = nullptr;
  int (*device_by_bus_id)(const char*, Device*) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*clock_limit)(Device, int, unsigned*) = nullptr;
  int (*clock_reasons)(Device, unsigned long long*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;
  int (*energy)(Device, unsigned long long*) = nullptr;
  int (*persistence)(Device, int*) = nullptr;
  int (*mig)(Device, unsigned*, unsigned*) = nullptr;
  int (*ecc)(Device, int*, int*) = nullptr;
  int (*performance_state)(Device, int*) = nullptr;
  int (*fields)(Device, int, NvmlField*) = nullptr;
  int (*processes)(Device, unsigned*, NvmlProcess*) = nullptr;
  int (*memory_errors)(Device, int, int, unsigned long long*) = nullptr;
  int (*memory)(Device, NvmlMemory*) = nullptr;
  int (*create_events)(void**) = nullptr;
  int (*register_events)(Device, unsigned long long, void*) = nullptr;
  int (*wait_for_event)(void*, NvmlEvent*, unsigned) = nullptr;
  int (*free_events)(void*) = nullptr;
};

}  // namespace bench::ops::cuda
