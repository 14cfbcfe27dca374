// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/stream_team.hpp"

#include "base/processors.hpp"
#include "harness/worker/region_threads.hpp"

#include <algorithm>
#include <utility>

namespace bench {

StreamTeam::StreamTeam(StreamProcessors processors)
    : processors_(std::move(processors)),
      has_work_(processors_.size(), 0),
      errors_(processors_.size()) {
  for (std::size_t stream = 0; stream < processors_.size(); ++stream)
    threads_.emplace_back([this, stream] { serve(stream); });
}

StreamTeam::~StreamTeam() {
  {
    const std::lock_guard lock(mutex_);
    must_end_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

int StreamTeam::threads() const {
  std::size_t threads = 0;
  for (const std::vector<int>& stream : processors_) threads += stream.size();
  return static_cast<int>(threads);
}

void StreamTeam::run_all(const std::function<void(std::size_t stream)>& work) {
  dispatch(0, size(), work);
}

void StreamTeam::run_on(std::size_t stream, const std::function<void()>& work) {
  dispatch(stream, 1, [&](std::size_t) { work(); });
}

void StreamTeam::bind_threads() {
  run_all([this](std::size_t stream) { bind_region_threads(processors_[stream]); });
}

void StreamTeam::serve(std::size_t stream) {
  set_processors(processors_[stream]);
  set_region_threads(static_cast<int>(processors_[stream].size()));
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return must_end_ || has_work_[stream] != 0; });
    if (must_end_) return;
    has_work_[stream] = 0;
    lock.unlock();
    std::exception_ptr error;
    try {
      (*work_)(stream);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    errors_[stream] = std::move(error);
    if (--running_ == 0) done_.notify_one();
  }
}

void StreamTeam::dispatch(std::size_t first, std::size_t count,
                          const std::function<void(std::size_t stream)>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  running_ = count;
  for (std::size_t stream = first; stream < first + count; ++stream) has_work_[stream] = 1;
  wake_.notify_all();
  done_.wait(lock, [this] { return running_ == 0; });
  for (std::exception_ptr& error : errors_) {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }
}

namespace {

class TeamCanary final : public SampleCanary {
 public:
  TeamCanary(StreamTeam& team, const std::function<std::unique_ptr<SampleCanary>()>& make)
      : team_(team), canaries_(team.size()), looks_(team.size()) {
    team_.run_all([&](std::size_t stream) { canaries_[stream] = make(); });
  }

  int threads() const override { return team_.threads(); }
  Nanoseconds take() override {
    team_.run_all(
        [this](std::size_t stream) { looks_[stream].canary = canaries_[stream]->take(); });
    return slowest(&MachineLook::canary);
  }
  MachineLook look() override {
    team_.run_all([this](std::size_t stream) { looks_[stream] = canaries_[stream]->look(); });
    return {slowest(&MachineLook::canary), slowest(&MachineLook::chain),
            slowest(&MachineLook::lost)};
  }
  std::optional<Nanoseconds> join() const override {
    std::optional<Nanoseconds> longest;
    for (const auto& canary : canaries_) longest = std::max(longest, canary->join());
    return longest;
  }
  std::int64_t preemptions() override { return canaries_.front()->preemptions(); }

 private:
  Nanoseconds slowest(Nanoseconds MachineLook::*time) const {
    return (*std::ranges::max_element(looks_, {}, time)).*time;
  }

  StreamTeam& team_;
  std::vector<std::unique_ptr<SampleCanary>> canaries_;  // by stream
  std::vector<MachineLook> looks_;
};

}  // namespace

std::unique_ptr<SampleCanary> make_team_canary(
    StreamTeam& team, const std::function<std::unique_ptr<SampleCanary>()>& make) {
  return std::make_unique<TeamCanary>(team, make);
}

}  // namespace bench
