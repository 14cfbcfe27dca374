/* SPDX-License-Identifier: Apache-2.0 */
/* What libbench_cuda.so exports besides bench_plugin_entry (ops/plugin/bench_plugin.h). */
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
 * valid during the call. Loads the driver and, with BENCH_CUDA_PROBE_LIBRARIES, NVIDIA's libraries:
 * call it in a separate process. */
BENCH_PLUGIN_EXPORT void bench_cuda_probe(int32_t extent,
                                          void (*write)(void* self, const char* text, size_t size),
                                          void* self);

#define BENCH_CUDA_SUPPORT "bench_cuda_support"

/* Calls `write` once with what would compute the problem on a device, determined without one:
 * {"runs": "yes" | "no" | "unknown", "by": ..., "reason": ..., "engines": [...]}. `backend`:
 * cudnn, cublaslt or cublas. `device` is cuDNN's description of a device as JSON; the answer then
 * lists cuDNN's engines for it, the first choice first. With only `deviceVer` (900: compute
 * capability 9.0), the answer contains what depends on that. "" means device 0 of this machine, if
 * there is one. May load NVIDIA's libraries and its driver, for
 * a described device also the toolkit's stub of the driver: call it in a separate process. */
BENCH_PLUGIN_EXPORT void bench_cuda_support(
    const bench_problem* problem, const char* backend, const char* device,
    void (*write)(void* self, const char* text, size_t size), void* self);

#define BENCH_CUDA_PLAN "bench_cuda_plan"

/* The same for a network. If it runs, the answer has also "basis", which says what the answer rests
 * on, and "steps", in order. Each has "node", "kind", "way", "implementation", "layouts" and
 * "other_ways" (ops/cuda/cudnn/network_plan.hpp). */
BENCH_PLUGIN_EXPORT void bench_cuda_plan(const bench_network* network, const char* device,
                                         void (*write)(void* self, const char* text, size_t size),
                                         void* self);

#ifdef __cplusplus
}
#endif

#endif /* BENCH_CUDA_H */
