// SPDX-License-Identifier: Apache-2.0
// The interface between `bench profile` and the library that it preloads into programs: environment
// variables and the records of the spool (docs/decisions/0004-capture-by-a-preloaded-library.md).
// The library includes nothing else of this project.
//
// The spool contains JSON lines. All processes and threads append to it, one write(2) per line:
//   {"record":"process","pid":1,"tid":1,"ns":1,"program":"/usr/bin/python3","rank":"3"}
//   {"record":"verbose","pid":1,"tid":1,"ns":1,"text":"onednn_verbose,...","resident":1,
//    "backtrace":["lib+0x1"]}
//   {"record":"fork","pid":2,"tid":2,"ns":1,"parent":1,"parent_tid":1}
//   {"record":"process_end","pid":1,"tid":1,"ns":1,"onednn":"/usr/lib/libdnnl.so.3",
//    "cuda":"/usr/lib/libcuda.so.1","cpu_ns":1,"kernel_ns":1}
// A `process` record without a `process_end` before it, of the same pid, is the same process after
// exec. `ns` is CLOCK_MONOTONIC when the line was complete. A frame of a backtrace is the path of
// its module, "+0x" and the address as the module's symbol table counts it. `resident` is the
// resident memory of the process at that moment, in bytes. `rank` is the value of the first of
// kRankVariables that counts and begins with a digit. `cpu_ns` is the CPU time of the process,
// `kernel_ns` its part in the kernel. `onednn` is present if a module of the
// process had oneDNN's functions, `cuda` if one had the CUDA driver's. `parent_tid` is the thread
// that forked, if known.
//
// NVTX records (all fields after `ns` are optional; numbers are per process):
//   {"record":"nvtx_push",...,"domain":1,"category":2,"payload_type":1,"payload":7,"text":"step"}
//   {"record":"nvtx_pop",...,"domain":1}
//   {"record":"nvtx_start",...,"id":3,"string":2}      as nvtx_push; ends by its id, on any thread
//   {"record":"nvtx_end",...,"id":3}
//   {"record":"nvtx_mark",...,"text":"here"}           as nvtx_push
//   {"record":"nvtx_domain",...,"id":1,"text":"cuDNN"}
//   {"record":"nvtx_string",...,"id":2,"domain":1,"text":"registered"}
//   {"record":"nvtx_category",...,"id":2,"domain":1,"text":"io"}
//   {"record":"nvtx_thread",...,"id":17,"text":"loader"}   id: the thread that has the name
//   {"record":"thread_end",...}                            of a thread that has pushed a range
// Records of samples:
//   {"record":"sampling","pid":1,"tid":1,"ns":1,"period":5025125,"signal":62}   in each process
//   {"record":"sampling",...,"error":"text"}         sampling did not start, or has ended
//   {"record":"samples",...,"thread":1,"objects":["/usr/bin/app"],
//    "samples":[[1,0,4096,1],...]}
// A sample is its time, the index of its module among `objects` (-1 for generated code, -2 if the
// module is gone), the address as the module's symbol table counts it, and how many periods it
// stands for. All samples of a thread are written before its next record. `process_end` then has
// `lost`, the number of periods without a sample.
//
// If the system takes the samples instead, `bench profile` writes them to a file of their own,
// named after the spool and kSampleSpoolSuffix, in about the order of time:
//   {"record":"sampling","pid":0,"tid":0,"ns":0,"period":5025125,"kernel":1}
//   {"record":"exec","pid":1,"tid":1,"ns":1,"name":"python3"}
//   {"record":"map","pid":1,"tid":1,"ns":1,"begin":4096,"size":8192,"offset":0,"file":"/lib/a.so"}
//   {"record":"child","pid":2,"tid":2,"ns":1,"parent":1}
//   {"record":"sample","pid":1,"tid":1,"ns":1,"address":4100}      "kernel":1 if it was there
//   {"record":"lost","pid":1,"tid":1,"ns":1,"count":3}
// `kernel` of `sampling`: whether the kernel's code is sampled. `file` is what the kernel calls the
// memory: "//anon" for generated code.
//
// A record that could not be written is missing; kLossMode shows this. Domain 0 is the default one
// and is not written. `payload_type` is nvtxPayloadType_t, `payload` the bits of the value. Calls
// of the CUDA profiler give the records "profiler_start" and "profiler_stop".
#pragma once

namespace bench::capture {

// Absolute path of the existing spool. If it is not set, the library does nothing, unless
// kAutostartVariable is.
inline constexpr char kSpoolVariable[] = "BENCH_CAPTURE_SPOOL";
// "1", and no spool: the library makes one itself, so that it also records a program that was not
// started with `bench profile`. It is named after kFileVariable and kAutostartSuffix, by default
// profile-PID.jsonl.
inline constexpr char kAutostartVariable[] = "BENCH_PROFILE_AUTOSTART";
inline constexpr char kFileVariable[] = "BENCH_PROFILE_FILE";
inline constexpr char kAutostartSuffix[] = ".spool";
// Mode bit that the library sets on the spool if a record could not be written (full disk or file
// size limit). It is the owner's execute permission, which has no meaning for such a file.
inline constexpr unsigned kLossMode = 0100;

// "1": record a backtrace with each line.
inline constexpr char kBacktraceVariable[] = "BENCH_CAPTURE_BACKTRACE";
// "1": record the process's resident memory with each line.
inline constexpr char kResidentVariable[] = "BENCH_CAPTURE_RESIDENT";
// Nanoseconds of a thread's CPU time between two samples of it. If it is not set, there are none.
inline constexpr char kSamplePeriodVariable[] = "BENCH_CAPTURE_SAMPLE_PERIOD";
// The value of ONEDNN_VERBOSE that `bench profile` chose. If the program finds a different value,
// its user wants the lines on standard output and gets them there too.
inline constexpr char kVerboseVariable[] = "BENCH_CAPTURE_VERBOSE";

// Creation and execution, which is "2" in all versions. This unusual spelling lets the library
// recognise a user's own setting by its text. All versions read it as 2.
inline constexpr char kCaptureVerbose[] = "2,2";

// The variables from which oneDNN reads its verbose mode: since 2.x; 1.x and 2.x; 0.x.
inline constexpr const char* kVerboseVariables[] = {"ONEDNN_VERBOSE", "DNNL_VERBOSE",
                                                    "MKLDNN_VERBOSE"};

// The variables that state the rank of a process in a distributed job, the most certain first.
struct RankVariable {
  const char* name;
  const char* companion;  // counts only if this is set, too; nullptr: always
};
inline constexpr RankVariable kRankVariables[] = {
    {"OMPI_COMM_WORLD_RANK", nullptr},
    {"PMI_RANK", nullptr},  // MPICH, Intel MPI
    {"PMIX_RANK", nullptr},
    // torchrun starts several ranks in one task of Slurm.
    {"RANK", "TORCHELASTIC_RUN_ID"},
    {"SLURM_PROCID", nullptr},
    {"RANK", nullptr},
    {"MV2_COMM_WORLD_RANK", nullptr}};

// The variable that names the tool for NVTX to load.
inline constexpr char kNvtxVariable[] = "NVTX_INJECTION64_PATH";

// The library that the driver loads in cuInit: libbench_cuda_injection.so. It writes one file per
// process, named after the spool, this suffix and the process. profiler/gpu/gpu_record_lines.hpp
// defines its records.
inline constexpr char kCudaVariable[] = "CUDA_INJECTION64_PATH";
inline constexpr char kGpuSpoolSuffix[] = ".gpu.";
inline constexpr char kSampleSpoolSuffix[] = ".samples";
// The switches `kinds` and `dump_period` for this library, as on a command line.
inline constexpr char kKindsVariable[] = "BENCH_CAPTURE_KINDS";
inline constexpr char kDumpPeriodVariable[] = "BENCH_CAPTURE_DUMP_PERIOD";
// Tracer name of a session that could not be traced; its faults state the reason.
inline constexpr char kNoTracer[] = "none";

}  // namespace bench::capture
