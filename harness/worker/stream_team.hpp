// SPDX-License-Identifier: Apache-2.0
// The threads that the streams of a case run on.
#pragma once

#include "harness/host/placement.hpp"
#include "harness/worker/sample_canary.hpp"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bench {

// One thread per stream. Everything that a stream does runs on its thread, because the library
// takes the number of threads and its thread pool from the thread that calls it. Streams have no
// processor in common. All functions are for one controlling thread.
class StreamTeam {
 public:
  explicit StreamTeam(StreamProcessors processors);
  StreamTeam(const StreamTeam&) = delete;
  StreamTeam& operator=(const StreamTeam&) = delete;
  ~StreamTeam();

  std::size_t size() const { return processors_.size(); }
  int threads() const;  // sum over all streams
  // Calls work(stream) on the threads of all streams at the same time and returns after the last
  // call. Throws what the first stream that failed has thrown.
  void run_all(const std::function<void(std::size_t stream)>& work);
  // Calls `work` on the thread of one stream and returns after it. Throws what it throws.
  void run_on(std::size_t stream, const std::function<void()>& work);
  // Binds each thread of the streams' parallel regions to its processor. Call this before each
  // round: the OpenMP runtime may have replaced threads.
  void bind_threads();

 private:
  void serve(std::size_t stream);
  void dispatch(std::size_t first, std::size_t count,
                const std::function<void(std::size_t stream)>& work);

  const StreamProcessors processors_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::vector<char> has_work_;  // by stream
  std::size_t running_ = 0;
  bool must_end_ = false;
  std::vector<std::exception_ptr> errors_;  // by stream
  std::vector<std::thread> threads_;        // declared last: they use all other members
};

// Creates a canary that runs on the threads of all streams at once. `make`: creates the canary of
// the thread that calls it. The team must outlive the canary.
std::unique_ptr<SampleCanary> make_team_canary(
    StreamTeam& team, const std::function<std::unique_ptr<SampleCanary>()>& make);

}  // namespace bench
