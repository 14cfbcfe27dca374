// SPDX-License-Identifier: Apache-2.0
// Samples where the threads of the program compute. A timer of each thread's CPU time sends the
// thread a real-time signal that the program does not use; SIGPROF and the program's own timers
// stay as they are. The handler notes the address at which the thread was, and only calls functions
// that are safe in signal handlers. Memory is bounded: each of at most 1024 threads at a time has
// room for 32 samples, which are then written to the spool.
#pragma once

#include "profiler/capture/preload/spool.hpp"

namespace bench::capture {

// Starts sampling the calling thread, and each thread that it creates, if this was requested.
void start_sampling();

// Writes the samples of the calling thread. Call this before each record about the thread, so that
// the reader knows the ranges that were open during a sample.
void flush_samples();

// Ends the sampling of all threads, and writes their samples. Adds the fields of `process_end`.
void stop_sampling(Text& fields);

}  // namespace bench::capture
