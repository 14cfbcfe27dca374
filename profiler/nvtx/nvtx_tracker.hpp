// SPDX-License-Identifier: Apache-2.0
// Tracks the NVTX ranges of a spool's processes. Converts records of NVTX calls into activities and
// provides the scope of everything else on their threads.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/nvtx/framework_range.hpp"
#include "profiler/nvtx/gpu_launches.hpp"
#include "profiler/nvtx/window.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// One NVTX call. spool_format.hpp states which fields each call uses.
struct NvtxCall {
  std::int64_t pid = 0, tid = 0;
  Nanoseconds at{0};
  std::uint64_t domain = 0;    // 0 for the default domain
  std::uint64_t category = 0;  // 0 for none
  std::uint64_t id = 0;
  std::uint64_t string = 0;  // registered string; 0 if `text` is the text
  std::uint64_t payload_type = 0;
  std::uint64_t payload = 0;  // bits of the value
  std::string text;
};

// Facts known only at the end of a spool. One pass collects them and another one uses them.
struct NvtxFacts {
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names;  // key: pid and tid
  FrameworkOutputs outputs;
  // Threads that push ranges or execute primitives themselves; key: pid and tid. Other threads work
  // for them.
  std::set<std::pair<std::int64_t, std::int64_t>> own_threads;
};

// Activities:
//   push to pop: `range`, named by the text. Ranges nest on their thread.
//   layer: "layer:NAME" opens a layer. Its range is named NAME. The layer is part of the scope of
//     this range and of everything inside.
//   framework operator (framework_range.hpp): the range has the operator's name, shapes, sequence
//     number and direction. A nested operator without a sequence number has the direction of the
//     enclosing one. A backward operator also has the layers of its forward operator. An operator
//     gets its work (FLOPs and bytes) if this program can compute it and no enclosing one has it.
//   PyProf marker: has the sequence number and direction of the first operator inside it.
//     Backward operators with its sequence numbers inherit its op, parameters, module, data type
//     and shapes if they have none.
//   start to end: `range`, on the thread that started it; does not open a scope. Another start with
//     the same id leaves the earlier range unfinished.
//   mark: `marker`.
// Attributes: `domain` (except the default one), `auxiliary` ("category:io payload:7"),
// `thread_name`. A range that never ended is `unfinished`.
class NvtxTracker {
 public:
  // All arguments must outlive the tracker. `compute_work` may be empty and `launches` may be
  // nullptr.
  NvtxTracker(const CaptureWindow& window, const FrameworkWorkProvider& compute_work,
              const NvtxFacts& known, GpuLaunches* launches, ActivitySink& sink);

  // Call this before each record of the spool. CUDA calls on its thread up to this time belong to
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

  // A new program began in the process. Ranges that the previous program left open are unfinished.
  Status begin_process(std::int64_t pid, Nanoseconds at);
  // The child's thread starts with the open ranges of the forking thread as its scope. These ranges
  // still belong to the parent: the child does not forward them.
  void fork(std::int64_t pid, std::int64_t tid, std::int64_t parent,
            std::optional<std::int64_t> parent_tid, Nanoseconds at);
  Status finish();  // marks ranges that are still open as unfinished

  // Forwards a thread's activity with the currently open scope if its start is inside the window. A
  // primitive without a direction takes that of the enclosing range. A sample gets the name of the
  // innermost open range.
  Status consume(Activity& activity);

  // Returns what a CUDA call belongs to that a thread makes now: the same object for all calls in
  // one range. Returns nullptr outside of layers and operators. For callers that pass no
  // GpuLaunches.
  std::shared_ptr<const GpuHolder> find_holder(std::int64_t pid, std::int64_t tid);
  // Whether a range is open whose operator had calls: later calls may belong to it.
  bool has_open_holder() const;

  // Returns when the window of a process was open between `begin` and `end`. Empty if it never was.
  std::vector<std::pair<Nanoseconds, Nanoseconds>> open_times(std::int64_t pid, Nanoseconds begin,
                                                              Nanoseconds end) const;

  const NvtxFacts& facts() const { return facts_; }
  std::int64_t taken() const { return taken_; }
  std::int64_t ranges() const { return ranges_; }  // including marks, inside the window or not
  std::int64_t taken_ranges() const { return taken_ranges_; }
  std::int64_t unbalanced() const { return unbalanced_; }  // ends without a beginning
  bool window_was_open() const { return window_was_open_; }

 private:
  // What a PyProf marker states about a call, for its backward operators.
  struct MarkedCall {
    std::string op;
    Attributes facts;
    std::optional<GpuOperatorWork> gradient;  // for products: each gradient is one product
  };
  struct Frame {
    Activity activity;  // without its duration
    // The call that this marker states or, for a backward operator, that of its forward operator;
    // nullptr if there is none.
    std::shared_ptr<const MarkedCall> call;
    std::string path;   // scope of everything inside
    std::string trace;  // call stack of the innermost marker with one
    std::uint64_t domain = 0;
    WindowState::RangeRole role = WindowState::RangeRole::none;
    bool belongs_to_parent = false;  // a fork has it
    bool is_operator = false;
    bool has_work = false;
    std::optional<GpuOperatorWork> gradient;  // work of each gradient of a backward operator
    bool concerns_outputs = false;
    GpuLaunches::HolderId holder =
        // holder of the CUDA calls made in this range and in no inner one
        GpuLaunches::kUnattributed;
    std::shared_ptr<const GpuHolder> held;  // the same for callers of find_holder()
  };
  // Layers of the last forward operator with a sequence number, and the marked call around it. The
  // tid is 0 if several threads use the sequence number.
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
    // key: domain, category
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> categories;
    std::map<std::int64_t, Forward> forwards;  // key: sequence number
    std::optional<std::int64_t> range_thread;  // thread that pushed the first range
    WindowState window;
  };

  Process& process(std::int64_t pid);
  // Valid as long as both arguments. `unknown` holds the text of an unknown string.
  static const std::string& resolve_text(const Process& process, const NvtxCall& call,
                                         std::string& unknown);
  Activity describe(const Process& process, const NvtxCall& call, const std::string& text) const;
  void enter_operator(Process& process, const NvtxCall& call, const FrameworkRange& range,
                      std::vector<Frame>& around, Frame& frame);
  static void give_sequence_to_markers(std::vector<Frame>& around, const Frame& frame);
  static std::shared_ptr<const MarkedCall> marked_call(const Activity& marker);
  static std::shared_ptr<const MarkedCall> call_around(const std::vector<Frame>& around);
  void link_sequence(Process& process, std::int64_t tid, const FrameworkRange& range,
                     const std::vector<Frame>& around, Frame& frame);
  static void add_missing(const Attributes& facts, Attributes& attributes);
  static void adopt(const Forward& forward, Frame& frame);
  void add_work(const FrameworkRange& range, const FrameworkRange::Shape* output, Frame& frame);
  Status close(Process& process, Frame& frame, Nanoseconds at);
  Status abandon(Process& process, Frame& frame, Nanoseconds at);
  Status leave_open(Process& process, Frame& frame);
  Status leave_all_open(Process& process);
  static void take_direction(const std::vector<Frame>& frames, Activity& activity);
  Status forward(const Process& process, Activity& activity);

  void switch_window(std::int64_t pid, Nanoseconds until);
  void give_launches(Process& process, std::int64_t pid, std::int64_t tid, Nanoseconds until);
  void attribute_remaining_launches(std::int64_t pid, Nanoseconds until);
  void attribute_all_launches();
  GpuLaunches::HolderId find_holder(std::vector<Frame>& frames);
  using FrameEnd = std::vector<Frame>::iterator;
  static FrameEnd find_holder_end(std::vector<Frame>& frames);
  static std::optional<GpuHolder> make_holder(std::vector<Frame>& frames, FrameEnd end);
  static void describe_operator(const Activity& range, GpuHolder& holder);
  static void describe_call(const MarkedCall& call, GpuHolder& holder);

  const CaptureWindow& window_;
  const FrameworkWorkProvider& work_of_;
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
