// SPDX-License-Identifier: Apache-2.0
// NVTX ranges of the processes of a spool: from records of their calls to activities, and the scope
// in which everything else of their threads happened.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/capture/framework_outputs.hpp"
#include "profiler/capture/framework_range.hpp"
#include "profiler/capture/gpu_launches.hpp"
#include "profiler/capture/window.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// One call of NVTX; what each needs of it: spool_format.hpp.
struct NvtxCall {
  std::int64_t pid = 0, tid = 0;
  Nanoseconds at{0};
  std::uint64_t domain = 0;    // 0: the default one
  std::uint64_t category = 0;  // 0: none
  std::uint64_t id = 0;
  std::uint64_t string = 0;  // 0: `text` is the text
  std::uint64_t payload_type = 0;
  std::uint64_t payload = 0;  // bits of the value
  std::string text;
};

// What is known only at the end of a spool: collected by one pass over it, used by another.
struct NvtxFacts {
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names;  // by pid and tid
  FrameworkOutputs outputs;
};

// Activities:
//   push to pop: `range`, named by the text; on their threads they nest. "layer:NAME" is a layer:
//     its range is named NAME, and it and all within have it in their scope. A framework's operator
//     (framework_range.hpp) is named by it and has its shapes, its sequence number, its direction
//     (a nested operator without a sequence number that of the one around it), a backward one
//     also the layers of its forward operator; and work where that is understood and no
//     operator around it has work already. A marker of PyProf has the sequence number and direction
//     of the first operator in it; backward operators of its sequence numbers have its op,
//     parameters, module, data type and shapes where they tell none.
//   start to end: `range`, on the thread that started it; gives no scope.
//   mark: `marker`.
// Attributes: `domain` (not of the default one), `auxiliary` ("category:io payload:7"),
// `thread_name`. A range that never ended is `unfinished`.
class NvtxTracker {
 public:
  // All of them outlive the tracker. `work_of` may be empty, `launches` nullptr.
  NvtxTracker(const CaptureWindow& window, const FrameworkWorkOf& work_of, const NvtxFacts& known,
              GpuLaunches* launches, ActivitySink& sink);

  // Before each record of the spool: what CUDA was asked for on its thread until then happened in
  // the ranges that are open now.
  void advance(std::int64_t pid, std::int64_t tid, Nanoseconds at);

  Status push(const NvtxCall& call);
  Status pop(const NvtxCall& call);
  Status start(const NvtxCall& call);
  Status end(const NvtxCall& call);
  Status mark(const NvtxCall& call);
  Status name_domain(const NvtxCall& call);
  Status name_string(const NvtxCall& call);
  Status name_category(const NvtxCall& call);
  Status name_thread(const NvtxCall& call);
  Status end_thread(const NvtxCall& call);
  Status start_profiler(const NvtxCall& call);
  Status stop_profiler(const NvtxCall& call);

  // A program began in the process: what the one before left open is unfinished.
  Status begin_process(std::int64_t pid, Nanoseconds at);
  // The child goes on in the ranges of the thread that forked, which stay the parent's.
  void fork(std::int64_t pid, std::int64_t tid, std::int64_t parent,
            std::optional<std::int64_t> parent_tid, Nanoseconds at);
  Status finish();  // what is still open is unfinished

  // Hands on an activity of a thread, with the scope that is open on it now, where its start lies
  // in the window. A primitive without a direction takes that of the range around it.
  Status take(Activity& activity);

  const NvtxFacts& facts() const { return facts_; }
  std::int64_t taken() const { return taken_; }
  std::int64_t ranges() const { return ranges_; }  // and marks, in the window or not
  std::int64_t taken_ranges() const { return taken_ranges_; }
  std::int64_t unbalanced() const { return unbalanced_; }  // ends of nothing
  bool window_was_open() const { return window_was_open_; }

 private:
  // What one of PyProf's markers tells of a call, for its backward operators.
  struct MarkedCall {
    std::string op;
    Attributes facts;
    std::optional<GpuOperatorWork> gradient;  // of products: each gradient is one
  };
  struct Frame {
    Activity activity;  // without its duration
    // Of a marker, or of the forward operator of a backward one; nullptr: none.
    std::shared_ptr<const MarkedCall> call;
    std::string path;  // scope of what happens inside
    std::uint64_t domain = 0;
    WindowState::Part part = WindowState::Part::none;
    bool is_parents = false;  // of a process that forked
    bool is_operator = false;
    bool has_work = false;
    bool concerns_outputs = false;
    GpuLaunches::HolderId holder =
        GpuLaunches::kNobody;  // of what CUDA is asked for directly inside
  };
  // Layers of the last forward operator with a sequence number, and the marked call that it is part
  // of; tid 0: of several threads.
  struct Forward {
    std::int64_t tid = 0;
    std::string path;
    std::shared_ptr<const MarkedCall> call;
  };
  struct Process {
    explicit Process(const CaptureWindow& wanted) : window(wanted) {}
    std::map<std::int64_t, std::vector<Frame>> threads;  // open ranges, outermost first
    std::map<std::uint64_t, Frame> started;
    std::map<std::uint64_t, std::string> domains, strings;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> categories;  // of a domain
    std::map<std::int64_t, Forward> forwards;                                   // by sequence
    std::optional<std::int64_t> range_thread;  // that pushed the first range
    WindowState window;
  };

  Process& process(std::int64_t pid);
  static std::string text_of(const Process& process, const NvtxCall& call);
  Activity describe(const Process& process, const NvtxCall& call, const std::string& text) const;
  void enter_operator(Process& process, const NvtxCall& call, const FrameworkRange& range,
                      std::vector<Frame>& around, Frame& frame);
  static void tell_markers(std::vector<Frame>& around, const Frame& frame);
  static std::shared_ptr<const MarkedCall> marked_call(const Activity& marker);
  static std::shared_ptr<const MarkedCall> call_around(const std::vector<Frame>& around);
  void link_sequence(Process& process, std::int64_t tid, const FrameworkRange& range,
                     const std::vector<Frame>& around, Frame& frame);
  static void add_missing(const Attributes& facts, Attributes& attributes);
  static void adopt(const Forward& forward, Frame& frame);
  void add_work(const FrameworkRange& range, const FrameworkRange::Shape* output, Frame& frame);
  Status close(Process& process, Frame& frame, Nanoseconds at);
  Status leave_open(Process& process, Frame& frame);
  Status leave_all_open(Process& process);
  static void take_direction(const std::vector<Frame>& frames, Activity& activity);
  Status hand_on(const Process& process, Activity& activity);

  void switch_window(std::int64_t pid, Nanoseconds until);
  void give_launches(Process& process, std::int64_t pid, std::int64_t tid, Nanoseconds until);
  void give_rest(std::int64_t pid, Nanoseconds until);
  void give_all();
  GpuLaunches::HolderId holder_of(std::vector<Frame>& frames);
  static void describe_operator(const Activity& range, GpuHolder& holder);
  static void describe_call(const MarkedCall& call, GpuHolder& holder);

  const CaptureWindow& window_;
  const FrameworkWorkOf& work_of_;
  const NvtxFacts& known_;
  GpuLaunches* const launches_;
  ActivitySink& sink_;
  std::map<std::int64_t, Process> processes_;
  NvtxFacts facts_;
  std::int64_t taken_ = 0;
  std::int64_t ranges_ = 0;
  std::int64_t taken_ranges_ = 0;
  std::int64_t unbalanced_ = 0;
  bool window_was_open_ = false;
};

}  // namespace bench
