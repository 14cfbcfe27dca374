// SPDX-License-Identifier: Apache-2.0
// Samples a program, its threads and its children through perf_event_open(2), from outside: the
// program may block signals, handle them, execute other programs or be killed.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace bench {

// What is sampled. user: the program's own code. user_and_kernel: also the kernel's code that runs
// for it, which the system permits to administrators.
enum class PerfExtent { user, user_and_kernel };

class PerfRecorder {
 public:
  // Samples the programs that the calling thread starts from now on, from their exec on. Writes
  // the samples to the new file `spool` (spool_format.hpp). Returns an error with the system's
  // reason if it does not permit that.
  static Result<std::unique_ptr<PerfRecorder>> start(const std::string& spool, Nanoseconds period);
  // Stops, if stop() was not called.
  ~PerfRecorder();
  PerfRecorder(const PerfRecorder&) = delete;
  PerfRecorder& operator=(const PerfRecorder&) = delete;

  // Writes what is left. Returns an error if records could not be written.
  Status stop();
  PerfExtent extent() const { return extent_; }

 private:
  class Ring;
  PerfRecorder() = default;
  Status open(PerfExtent extent, Nanoseconds period);
  void read_until_stopped();
  void read_all();
  void append(const std::string& lines);

  PerfExtent extent_ = PerfExtent::user;
  std::vector<std::unique_ptr<Ring>> rings_;  // one per processor
  int file_ = -1;
  int wake_ = -1;  // an eventfd that ends the thread
  int write_error_ = 0;
  std::string lines_;
  std::thread reader_;
};

}  // namespace bench

// Records of perf_event_open(2) as lines of the file of samples, which spool_format.hpp describes.
struct perf_event_attr;

namespace bench {

// Sets what the function below decodes: address, thread and time of each sample, and the modules
// and processes that are needed to name them.
void request_perf_records(perf_event_attr& attributes);

// Appends the line of one record, header included. A record that names no sample appends nothing.
// Never reads beyond the record, which may be cut.
void append_perf_record(std::span<const std::byte> record, std::string& lines);

}  // namespace bench
