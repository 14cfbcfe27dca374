/* SPDX-License-Identifier: Apache-2.0 */
/* What libbench_cuda.so exports beside bench_plugin_entry (ops/plugin/bench_plugin.h). */
#ifndef BENCH_CUDA_H
#define BENCH_CUDA_H

#include "ops/plugin/bench_plugin.h"

#include <stddef.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_CUDA_PROBE "bench_cuda_probe"

enum { BENCH_CUDA_PROBE_DEVICES = 0, BENCH_CUDA_PROBE_LIBRARIES = 1 };

/* Calls `write` once with the document of ops/cuda/probe.hpp (schema bench.cuda_probe/1), which is
 * valid during the call. Loads the driver, and with BENCH_CUDA_PROBE_LIBRARIES NVIDIA's libraries:
 * for a process of its own. */
BENCH_PLUGIN_EXPORT void bench_cuda_probe(int32_t extent,
                                          void (*write)(void* self, const char* text, size_t size),
                                          void* self);

#define BENCH_CUDA_SUPPORT "bench_cuda_support"

/* Calls `write` once with what would compute the problem on a device, told without one:
 * {"runs": "yes" | "no" | "unknown", "by": ..., "reason": ..., "engines": [...]}. `backend`:
 * cudnn, cublaslt or cublas. `device`: JSON, as cuDNN describes a device, for which its engines are
 * then named, the first choice first; of `deviceVer` alone (900: compute capability 9.0) what
 * depends on that is told; "" for device 0 of this machine, where there is one. May load NVIDIA's
 * driver and libraries. */
BENCH_PLUGIN_EXPORT void bench_cuda_support(
    const bench_problem* problem, const char* backend, const char* device,
    void (*write)(void* self, const char* text, size_t size), void* self);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_CUDA_H */
