// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx/nvtx_tracker.hpp"

#include "profiler/nvtx/framework_range.hpp"
#include "profiler/scope_path.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace bench {
namespace {

constexpr std::string_view kLayer = "layer:";
// Maximum number of forward operators that are kept for their backward operators. The limit bounds
// the memory, because a training run may last arbitrarily long.
constexpr std::size_t kMaxForwards = std::size_t{1} << 20;

// Same order as nvtxPayloadType_t.
enum class PayloadType : std::uint64_t { none, u64, i64, f64, u32, i32, f32 };

std::string format_payload(const NvtxCall& call) {
  switch (static_cast<PayloadType>(call.payload_type)) {
    case PayloadType::u64:
    case PayloadType::u32:
      return fmt::format("{}", call.payload);
    case PayloadType::i64:
      return fmt::format("{}", static_cast<std::int64_t>(call.payload));
    case PayloadType::i32:
      return fmt::format("{}", static_cast<std::int32_t>(static_cast<std::uint32_t>(call.payload)));
    case PayloadType::f64:
      return fmt::format("{}", std::bit_cast<double>(call.payload));
    case PayloadType::f32:
      return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(call.payload)));
    default:
      return {};
  }
}

std::optional<FrameworkRange> parse_operator(std::string_view text) {
  auto range = parse_framework_range(text);
  return range ? range : parse_pyprof_marker(text);
}

bool is_inside(std::string_view path, std::string_view scope_path) {
  if (scope_path.empty()) return true;
  return path.starts_with(scope_path) && path.substr(scope_path.size()).starts_with(':');
}

void set_text(Attributes& attributes, Attribute attribute, const std::string& text) {
  if (!text.empty()) attributes.set(attribute, text);
}

}  // namespace

NvtxTracker::NvtxTracker(const CaptureWindow& window, const FrameworkWorkProvider& compute_work,
                         const NvtxFacts& known, GpuLaunches* launches, ActivitySink& sink)
    : window_(window), work_of_(compute_work), known_(known), launches_(launches), sink_(sink) {}

NvtxTracker::Process& NvtxTracker::process(std::int64_t pid) {
  return processes_.try_emplace(pid, window_).first->second;
}

const std::string& NvtxTracker::resolve_text(const Process& process, const NvtxCall& call,
                                             std::string& unknown) {
  if (call.string == 0) return call.text;
  const auto known = process.strings.find(call.string);
  if (known != process.strings.end()) return known->second;
  return unknown = fmt::format("(string {})", call.string);
}

Activity NvtxTracker::describe(const Process& process, const NvtxCall& call,
                               const std::string& text) const {
  Activity activity;
  activity.kind = ActivityKind::range;
  activity.name = text.empty() ? "(no name)" : text;
  activity.start = call.at;
  activity.track.pid = call.pid;
  activity.track.tid = call.tid;
  if (const auto domain = process.domains.find(call.domain); domain != process.domains.end()) {
    set_text(activity.attributes, Attribute::domain, domain->second);
  } else if (call.domain != 0) {
    activity.attributes.set(Attribute::domain, fmt::format("(domain {})", call.domain));
  }
  std::string details;
  if (call.category != 0) {
    const auto known = process.categories.find({call.domain, call.category});
    details = known == process.categories.end() ? fmt::format("category:{}", call.category)
                                                : "category:" + known->second;
  }
  if (const std::string payload = format_payload(call); !payload.empty()) {
    details += fmt::format("{}payload:{}", details.empty() ? "" : " ", payload);
  }
  set_text(activity.attributes, Attribute::auxiliary, details);
  return activity;
}

Status NvtxTracker::push(const NvtxCall& call) {
  Process& process = this->process(call.pid);
  facts_.own_threads.emplace(call.pid, call.tid);
  std::vector<Frame>& frames = process.threads[call.tid];
  std::string unknown;
  const std::string& text = resolve_text(process, call, unknown);
  if (!process.range_thread) process.range_thread = call.tid;
  const bool is_outermost = frames.empty() && process.range_thread == call.tid;
  Frame frame;
  frame.activity = describe(process, call, text);
  frame.domain = call.domain;
  if (!frames.empty()) {
    frame.path = frames.back().path;
    frame.trace = frames.back().trace;
  }
  frame.role = process.window.begin_range(
      text, is_outermost ? WindowState::Level::outermost : WindowState::Level::nested, call.at);
  if (text.starts_with(kLayer) && text.size() > kLayer.size()) {
    frame.activity.name = text.substr(kLayer.size());
    frame.path = append_scope(frame.path, frame.activity.name);
  } else if (auto stack = parse_trace_marker(text)) {
    frame.trace = *std::move(stack);
  } else if (const auto range = parse_operator(text)) {
    enter_operator(process, call, *range, frames, frame);
  }
  frame.activity.scope = frame.path;
  frames.push_back(std::move(frame));
  return Done{};
}

void NvtxTracker::enter_operator(Process& process, const NvtxCall& call,
                                 const FrameworkRange& range, std::vector<Frame>& enclosing,
                                 Frame& frame) {
  const auto outer = std::find_if(enclosing.rbegin(), enclosing.rend(),
                                  [](const Frame& other) { return other.is_operator; });
  frame.is_operator = true;
  frame.activity.name = range.name;
  Attributes& attributes = frame.activity.attributes;
  set_text(attributes, Attribute::source_location, frame.trace);
  if (range.sequence) attributes.set(Attribute::sequence, *range.sequence);
  set_text(attributes, Attribute::module, std::string(range.module));
  set_text(attributes, Attribute::in_shapes, format_framework_shapes(range.inputs));
  set_text(attributes, Attribute::problem, std::string(range.sizes));
  if (range.direction != FrameworkDirection::unknown) {
    frame.activity.direction =
        range.direction == FrameworkDirection::backward ? "backward" : "forward";
  } else if (outer != enclosing.rend()) {
    frame.activity.direction = outer->activity.direction;
  }
  if (range.sequence && range.direction == FrameworkDirection::forward) {
    give_sequence_to_markers(enclosing, frame);
  }
  link_sequence(process, call.tid, range, enclosing, frame);

  frame.has_work = outer != enclosing.rend() && outer->has_work;
  const bool is_nested = outer != enclosing.rend() && outer->concerns_outputs;
  frame.concerns_outputs = is_nested || FrameworkOutputs::concerns(range);
  facts_.outputs.note(
      call.pid, range,
      is_nested ? FrameworkOutputs::Level::nested : FrameworkOutputs::Level::outermost);
  const FrameworkRange::Shape* output = known_.outputs.find(call.pid, range);
  if (output != nullptr)
    set_text(attributes, Attribute::out_shapes, format_framework_shapes({*output}));
  if (!frame.has_work) add_work(range, output, frame);
  if (!range.arguments.empty()) frame.call = marked_call(frame.activity);
}

// A marker has no sequence number of its own. It takes the call's number from the first operator
// inside it.
void NvtxTracker::give_sequence_to_markers(std::vector<Frame>& enclosing, const Frame& frame) {
  for (Frame& outer : enclosing) {
    Attributes& attributes = outer.activity.attributes;
    if (outer.call == nullptr || attributes.find(Attribute::sequence) != nullptr) continue;
    attributes.set(Attribute::sequence, *frame.activity.attributes.integer(Attribute::sequence));
    outer.activity.direction = frame.activity.direction;
    outer.holder = GpuLaunches::kUnattributed;  // calls made before did not have this information
    outer.held.reset();
  }
}

std::shared_ptr<const NvtxTracker::MarkedCall> NvtxTracker::marked_call(const Activity& marker) {
  constexpr std::array<std::string_view, 2> kProducts = {"conv", "gemm"};
  MarkedCall call;
  const Attributes& attributes = marker.attributes;
  call.op = attributes.text(Attribute::op);
  for (const Attribute attribute : {Attribute::module, Attribute::parameters, Attribute::dtype,
                                    Attribute::in_shapes, Attribute::source_location}) {
    const std::string_view text = attributes.text(attribute);
    if (!text.empty()) call.facts.set(attribute, text);
  }
  const auto flops = attributes.integer(Attribute::flops);
  if (flops && std::ranges::find(kProducts, call.op) != kProducts.end()) {
    call.gradient = GpuOperatorWork{*flops, attributes.integer(Attribute::bytes),
                                    GpuOperatorWork::Extent::each_gradient};
  }
  return std::make_shared<const MarkedCall>(std::move(call));
}

// Returns the outermost call with work, because the inner ones are its parts. If no call has work,
// returns the innermost.
std::shared_ptr<const NvtxTracker::MarkedCall> NvtxTracker::call_around(
    const std::vector<Frame>& enclosing) {
  std::shared_ptr<const MarkedCall> found;
  for (const Frame& frame : enclosing) {
    if (frame.call == nullptr) continue;
    found = frame.call;
    if (frame.activity.attributes.find(Attribute::flops) != nullptr) break;
  }
  return found;
}

// Gives a backward operator the layer and the call of the forward operator with the same sequence
// number. Autograd runs backward operators on its own threads, where neither layers nor markers are
// open.
void NvtxTracker::link_sequence(Process& process, std::int64_t tid, const FrameworkRange& range,
                                const std::vector<Frame>& enclosing, Frame& frame) {
  if (!range.sequence) return;
  const auto known = process.forwards.find(*range.sequence);
  if (range.direction == FrameworkDirection::backward) {
    const bool is_unambiguous = known != process.forwards.end() && known->second.tid != 0;
    if (is_unambiguous) adopt(known->second, frame);
    return;
  }
  if (known == process.forwards.end()) {
    if (process.forwards.size() >= kMaxForwards) process.forwards.clear();
    process.forwards.emplace(*range.sequence, Forward{tid, frame.path, call_around(enclosing)});
  } else if (known->second.tid == tid) {
    known->second.path = frame.path;
    known->second.call = call_around(enclosing);
  } else {
    known->second.tid = 0;
  }
}

// Copies the facts that `attributes` lacks. All facts of a marked call are texts.
void NvtxTracker::add_missing(const Attributes& facts, Attributes& attributes) {
  for (const auto& [attribute, value] : facts) {
    if (attributes.find(attribute) != nullptr) continue;
    attributes.set(attribute, std::get<std::string>(value));
  }
}

void NvtxTracker::adopt(const Forward& forward, Frame& frame) {
  if (is_inside(forward.path, frame.path)) frame.path = forward.path;
  if (forward.call == nullptr) return;
  frame.call = forward.call;
  Attributes& attributes = frame.activity.attributes;
  if (!forward.call->op.empty()) attributes.set(Attribute::op, forward.call->op);
  add_missing(forward.call->facts, attributes);
}

void NvtxTracker::add_work(const FrameworkRange& range, const FrameworkRange::Shape* output,
                           Frame& frame) {
  if (!work_of_ || range.inputs.empty()) return;
  const auto work = work_of_(
      {range.name, &range.inputs, output, range.arguments.empty() ? nullptr : &range.arguments});
  if (!work) return;
  frame.has_work = true;
  Attributes& attributes = frame.activity.attributes;
  attributes.set(Attribute::op, work->op);
  set_text(attributes, Attribute::parameters, work->parameters);
  if (work->extent == GpuOperatorWork::Extent::each_gradient) {
    // The range's own work is unknown: it computes an unknown number of gradients.
    frame.gradient = GpuOperatorWork{work->flops, work->bytes, work->extent};
    return;
  }
  if (work->macs) attributes.set(Attribute::macs, *work->macs);
  attributes.set(Attribute::flops, work->flops);
  if (work->bytes) attributes.set(Attribute::bytes, *work->bytes);
  set_text(attributes, Attribute::dtype, work->dtype);
  set_text(attributes, Attribute::tensor_cores, work->tensor_cores);
}

Status NvtxTracker::pop(const NvtxCall& call) {
  Process& process = this->process(call.pid);
  std::vector<Frame>& frames = process.threads[call.tid];
  const auto found = std::find_if(frames.rbegin(), frames.rend(),
                                  [&](const Frame& frame) { return frame.domain == call.domain; });
  if (found == frames.rend()) {
    ++unbalanced_;
    return Done{};
  }
  Frame frame = std::move(*found);
  frames.erase(std::next(found).base());
  return close(process, frame, call.at);
}

Status NvtxTracker::start(const NvtxCall& call) {
  Process& process = this->process(call.pid);
  // The program can no longer end an open range whose id it starts again.
  if (auto earlier = process.started.extract(call.id); !earlier.empty()) {
    BENCH_RETURN_IF_ERROR(abandon(process, earlier.mapped(), call.at));
  }
  std::string unknown;
  const std::string& text = resolve_text(process, call, unknown);
  Frame frame;
  frame.activity = describe(process, call, text);
  const auto thread = process.threads.find(call.tid);
  if (thread != process.threads.end() && !thread->second.empty()) {
    frame.activity.scope = thread->second.back().path;
  }
  frame.role = process.window.begin_range(text, WindowState::Level::nested, call.at);
  process.started.emplace(call.id, std::move(frame));
  return Done{};
}

Status NvtxTracker::end(const NvtxCall& call) {
  Process& process = this->process(call.pid);
  const auto found = process.started.find(call.id);
  if (found == process.started.end()) {
    ++unbalanced_;
    return Done{};
  }
  Frame frame = std::move(found->second);
  process.started.erase(found);
  return close(process, frame, call.at);
}

Status NvtxTracker::mark(const NvtxCall& call) {
  Process& process = this->process(call.pid);
  std::string unknown;
  Activity activity = describe(process, call, resolve_text(process, call, unknown));
  activity.kind = ActivityKind::marker;
  activity.attributes.set(Attribute::marker_scope, "thread");
  ++ranges_;
  return consume(activity);
}

Status NvtxTracker::name_domain(const NvtxCall& call) {
  process(call.pid).domains.insert_or_assign(call.id, call.text);
  return Done{};
}

Status NvtxTracker::name_string(const NvtxCall& call) {
  process(call.pid).strings.insert_or_assign(call.id, call.text);
  return Done{};
}

Status NvtxTracker::name_category(const NvtxCall& call) {
  process(call.pid).categories.insert_or_assign({call.domain, call.id}, call.text);
  return Done{};
}

Status NvtxTracker::name_thread(const NvtxCall& call) {
  facts_.thread_names.insert_or_assign({call.pid, static_cast<std::int64_t>(call.id)}, call.text);
  return Done{};
}

Status NvtxTracker::end_thread(const NvtxCall& call) {
  Process& process = this->process(call.pid);
  const auto thread = process.threads.find(call.tid);
  if (thread == process.threads.end()) return Done{};
  std::vector<Frame> frames = std::move(thread->second);
  process.threads.erase(thread);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    BENCH_RETURN_IF_ERROR(abandon(process, *frame, call.at));
  }
  return Done{};
}

Status NvtxTracker::start_profiler(const NvtxCall& call) {
  WindowState& window = process(call.pid).window;
  window.start_profiler(call.at);
  window_was_open_ = window_was_open_ || window.was_open();
  return Done{};
}

Status NvtxTracker::stop_profiler(const NvtxCall& call) {
  process(call.pid).window.stop_profiler(call.at);
  return Done{};
}

Status NvtxTracker::begin_process(std::int64_t pid, Nanoseconds at) {
  attribute_remaining_launches(pid, at);
  const auto previous = processes_.find(pid);
  if (previous == processes_.end()) return Done{};
  BENCH_RETURN_IF_ERROR(leave_all_open(previous->second));
  processes_.erase(previous);
  return Done{};
}

void NvtxTracker::fork(std::int64_t pid, std::int64_t tid, std::int64_t parent,
                       std::optional<std::int64_t> parent_tid, Nanoseconds at) {
  const auto found = processes_.find(parent);
  if (found == processes_.end() || pid == parent) return;
  Process child = found->second;
  child.window = found->second.window.forked(at);
  child.forwards.clear();
  child.range_thread.reset();
  for (auto& [id, frame] : child.started) frame.belongs_to_parent = true;
  std::vector<Frame> frames;
  if (parent_tid) frames = std::move(child.threads[*parent_tid]);
  for (Frame& frame : frames) frame.belongs_to_parent = true;
  child.threads.clear();
  child.threads.emplace(tid, std::move(frames));
  processes_.insert_or_assign(pid, std::move(child));
}

std::vector<std::pair<Nanoseconds, Nanoseconds>> NvtxTracker::open_times(std::int64_t pid,
                                                                         Nanoseconds begin,
                                                                         Nanoseconds end) const {
  const auto found = processes_.find(pid);
  // A process without ranges has no state yet.
  return (found == processes_.end() ? WindowState(window_) : found->second.window)
      .open_times(begin, end);
}

Status NvtxTracker::finish() {
  attribute_all_launches();
  for (auto& [pid, process] : processes_) BENCH_RETURN_IF_ERROR(leave_all_open(process));
  processes_.clear();
  return Done{};
}

Status NvtxTracker::consume(Activity& activity) {
  if (activity.kind == ActivityKind::primitive) {
    facts_.own_threads.emplace(activity.track.pid, activity.track.tid);
  }
  const Process& process = this->process(activity.track.pid);
  const auto thread = process.threads.find(activity.track.tid);
  if (thread == process.threads.end() || thread->second.empty()) {
    activity.scope.clear();
  } else {
    activity.scope = thread->second.back().path;
    take_direction(thread->second, activity);
    if (activity.kind == ActivityKind::sample) {
      activity.attributes.set(Attribute::range, thread->second.back().activity.name);
    }
    const std::string& trace = thread->second.back().trace;
    if (activity.kind == ActivityKind::primitive)
      set_text(activity.attributes, Attribute::source_location, trace);
  }
  return forward(process, activity);
}

// Sets the direction of a primitive that has none, such as a reorder or a product: that of the
// innermost range with a direction.
void NvtxTracker::take_direction(const std::vector<Frame>& frames, Activity& activity) {
  if (activity.kind != ActivityKind::primitive || !activity.direction.empty()) return;
  const auto enclosing = std::find_if(frames.rbegin(), frames.rend(), [](const Frame& frame) {
    return !frame.activity.direction.empty();
  });
  if (enclosing != frames.rend()) activity.direction = enclosing->activity.direction;
}

Status NvtxTracker::close(Process& process, Frame& frame, Nanoseconds at) {
  process.window.end_range(frame.role, at);
  if (frame.belongs_to_parent) return Done{};
  ++ranges_;
  frame.activity.duration = std::max(at - frame.activity.start, Nanoseconds(0));
  return forward(process, frame.activity);
}

// The range stays unfinished, but the program goes on, so the range's part in the window ends.
Status NvtxTracker::abandon(Process& process, Frame& frame, Nanoseconds at) {
  process.window.end_range(frame.role, at);
  return leave_open(process, frame);
}

Status NvtxTracker::leave_open(Process& process, Frame& frame) {
  if (frame.belongs_to_parent) return Done{};
  ++ranges_;
  frame.activity.attributes.set(Attribute::unfinished, std::int64_t{1});
  return forward(process, frame.activity);
}

Status NvtxTracker::leave_all_open(Process& process) {
  for (auto& [tid, frames] : process.threads) {
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      BENCH_RETURN_IF_ERROR(leave_open(process, *frame));
    }
  }
  for (auto& [id, frame] : process.started) BENCH_RETURN_IF_ERROR(leave_open(process, frame));
  return Done{};
}

Status NvtxTracker::forward(const Process& process, Activity& activity) {
  window_was_open_ = window_was_open_ || process.window.was_open();
  if (!process.window.contains(activity.start)) return Done{};
  const auto name = known_.thread_names.find({activity.track.pid, activity.track.tid});
  activity.attributes.erase(Attribute::thread_name);
  if (name != known_.thread_names.end()) {
    set_text(activity.attributes, Attribute::thread_name, name->second);
  }
  ++taken_;
  if (activity.kind == ActivityKind::range || activity.kind == ActivityKind::marker) {
    ++taken_ranges_;
  }
  return sink_.consume(activity);
}

}  // namespace bench
