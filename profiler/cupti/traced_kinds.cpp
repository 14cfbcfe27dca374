// SPDX-License-Identifier: Apache-2.0
// table: one row per kind of record or per call
#include "profiler/cupti/traced_kinds.hpp"

#include <array>

namespace bench {
namespace {

// Kernels come first: the first kind that is enabled makes CUPTI instrument the loaded code. Not
// KERNEL, because it serialises kernels.
constexpr std::array<TracedKind, 12> kTracedKinds = {{
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "CONCURRENT_KERNEL", RecordGroup::device,
     KindNeed::required},
    {CUPTI_ACTIVITY_KIND_MEMCPY, "MEMCPY", RecordGroup::device, KindNeed::required},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, "MEMCPY2", RecordGroup::device, KindNeed::wanted},
    {CUPTI_ACTIVITY_KIND_MEMSET, "MEMSET", RecordGroup::device, KindNeed::required},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "SYNCHRONIZATION", RecordGroup::device, KindNeed::wanted},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, "OVERHEAD", RecordGroup::device, KindNeed::wanted},
    {CUPTI_ACTIVITY_KIND_MEMORY2, "MEMORY2", RecordGroup::memory, KindNeed::wanted},
    {CUPTI_ACTIVITY_KIND_DEVICE, "DEVICE", RecordGroup::device, KindNeed::wanted},
    {CUPTI_ACTIVITY_KIND_CONTEXT, "CONTEXT", RecordGroup::device, KindNeed::wanted},
    {CUPTI_ACTIVITY_KIND_RUNTIME, "RUNTIME", RecordGroup::operators, KindNeed::required},
    {CUPTI_ACTIVITY_KIND_DRIVER, "DRIVER", RecordGroup::api, KindNeed::wanted},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "EXTERNAL_CORRELATION", RecordGroup::operators,
     KindNeed::required},
}};

// Libraries make these calls constantly. They take almost no time and start nothing on a device.
constexpr std::array<CUpti_CallbackId, 9> kSilentRuntimeCalls = {
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_ptsz_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v12030,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_ptsz_v12030};
constexpr std::array<CUpti_CallbackId, 9> kSilentDriverCalls = {
    CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState,
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
    CUPTI_DRIVER_TRACE_CBID_cuCtxPushCurrent_v2,
    CUPTI_DRIVER_TRACE_CBID_cuCtxPopCurrent_v2,
    CUPTI_DRIVER_TRACE_CBID_cuCtxGetDevice,
    CUPTI_DRIVER_TRACE_CBID_cuDeviceGetAttribute,
    CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress,
    CUPTI_DRIVER_TRACE_CBID_cuGetProcAddress_v2};
// Kernels that a library launches without the runtime can only be found through these calls.
constexpr std::array<CUpti_CallbackId, 8> kDriverLaunches = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};

}  // namespace

std::span<const TracedKind> traced_kinds() { return kTracedKinds; }
std::span<const CUpti_CallbackId> silent_runtime_calls() { return kSilentRuntimeCalls; }
std::span<const CUpti_CallbackId> silent_driver_calls() { return kSilentDriverCalls; }
std::span<const CUpti_CallbackId> driver_launches() { return kDriverLaunches; }

}  // namespace bench
