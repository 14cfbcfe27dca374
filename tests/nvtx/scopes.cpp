// SPDX-License-Identifier: Apache-2.0
// Scopes as the runner uses them, for a tool that listens: nested, left early, left by an
// exception, in two threads, with a recorder ("recorder" as argument) and without one.
#include "base/env.hpp"
#include "profiler/recorder.hpp"

#include <cstring>
#include <optional>
#include <stdexcept>
#include <thread>

namespace {

class NoSink final : public bench::ActivitySink {
 public:
  bench::Status consume(const bench::Activity&) override { return bench::Done{}; }
};

bench::Status fail_inside(bench::Recorder* recorder) {
  const bench::Scope scope(recorder, {.name = "fails"});
  return bench::Error{"on purpose", "", ""};
}

void throw_inside(bench::Recorder* recorder) {
  const bench::Scope outer(recorder, {.name = "outer"});
  const bench::Scope inner(recorder, {.name = "throws:twice"});
  throw std::runtime_error("on purpose");
}

void do_case(bench::Recorder* recorder) {
  const bench::Scope case_scope(recorder,
                                {.name = "", .case_id = "conv/forward/c64/f32/onednn/cpu/hot"});
  { const bench::Scope layer(recorder, {.name = "layer1"}); }
  static_cast<void>(fail_inside(recorder));
  try {
    throw_inside(recorder);
  } catch (const std::runtime_error&) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::MonotonicClock clock;
  NoSink sink;
  std::optional<bench::Recorder> recorder;
  if (argc > 1 && std::strcmp(argv[1], "recorder") == 0) {
    recorder.emplace(clock, sink, std::set<bench::RecordGroup>{bench::RecordGroup::operators});
    recorder->start();
  }
  bench::Recorder* used_recorder = recorder ? &*recorder : nullptr;
  std::thread other(do_case, used_recorder);
  do_case(used_recorder);
  other.join();
}
