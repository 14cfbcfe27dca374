// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/kineto_context.hpp"

#include "base/characters.hpp"
#include "profiler/gpu/kernel_work.hpp"
#include "profiler/scope_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <variant>

namespace bench {
namespace {

// Bounds for malformed and hostile files; real traces stay far below.
constexpr std::size_t kMaxThreads = 10'000;
constexpr std::size_t kMaxNesting = 4096;
constexpr std::size_t kMaxKernels = 1024;  // those of an operator
constexpr std::size_t kMaxBuffers = 1 << 20;
constexpr std::size_t kMaxScope = 4096;

constexpr std::string_view kBackward = "backward";

// Facts of an operator that all of its kernels have, and those that state its work.
constexpr std::array kKernelFacts = {Attribute::in_shapes, Attribute::dtype, Attribute::sequence,
                                     Attribute::source_location};
constexpr std::array kWorkFacts = {Attribute::problem, Attribute::auxiliary};

template <class Facts>
void copy_facts(const Facts& facts, const Attributes& from, Attributes& to) {
  for (const Attribute attribute : facts) {
    const AttributeValue* const found = from.find(attribute);
    if (found != nullptr) std::visit([&](const auto& value) { to.set(attribute, value); }, *found);
  }
}

// Returns "net.py:73" for "net.py(73): forward". Empty for functions of PyTorch itself, which say
// nothing about the program, and for other texts.
std::string python_place(std::string_view frame) {
  constexpr std::string_view kAfterLine = "): ";
  const std::size_t end = frame.find(kAfterLine);
  const std::size_t begin = frame.substr(0, end).rfind('(');
  if (end == frame.npos || begin == frame.npos || begin == 0 || begin + 1 == end) return {};
  const std::string_view file = frame.substr(0, begin);
  const std::string_view line = frame.substr(begin + 1, end - begin - 1);
  const bool is_number = std::ranges::all_of(line, is_digit);
  const bool is_of_pytorch = file.starts_with("torch/") || file.find("/torch/") != file.npos;
  if (!is_number || is_of_pytorch || file.starts_with('<') || file.size() > kMaxScope) return {};
  return fmt::format("{}:{}", file, line);
}

// Returns the place of the innermost frame outside PyTorch of "net.py(3): forward;train.py(9):
// main".
std::string innermost_place(std::string_view stack) {
  while (!stack.empty()) {
    if (std::string place = python_place(cut_field(stack, ';')); !place.empty()) return place;
  }
  return {};
}

// Whether the operator computes a convolution by calling others, which lack its arguments.
bool is_whole_convolution(std::string_view name) {
  return name == "aten::conv1d" || name == "aten::conv2d" || name == "aten::conv3d";
}

// Returns for each kernel whether it has the work of the operator.
std::vector<bool> find_workers(std::string_view operator_name,
                               const std::vector<Activity>& kernels) {
  GpuOperatorWork work{.flops = 1, .bytes = {}};
  if (operator_name == "aten::convolution_backward")
    work.extent = GpuOperatorWork::Extent::each_gradient;
  std::vector<KernelCandidate> candidates;
  for (const Activity& kernel : kernels) candidates.push_back({kernel.name, std::nullopt});
  std::vector<bool> workers;
  for (const KernelWork& found : work_of_kernels(work, candidates))
    workers.push_back(found.flops == work.flops);
  return workers;
}

}  // namespace

Status KinetoContext::consume(KinetoRow& row) {
  constexpr Nanoseconds kLatest{std::numeric_limits<std::int64_t>::max() / 4 - 1};
  Activity& activity = row.activity;
  activity.start = std::min(activity.start + header_.base, kLatest);
  if (header_.rank) activity.attributes.set(Attribute::rank, *header_.rank);
  if (row.role == KinetoRow::Role::window || row.role == KinetoRow::Role::whole) {
    activity.track.pid = names_.main_process();
    const auto name = names_.processes.find(activity.track.pid);
    const bool is_window = row.role == KinetoRow::Role::window;
    if (is_window) activity.track.tid = activity.track.pid;
    if (is_window && name != names_.processes.end()) activity.name = name->second;
    return forward(activity);
  }
  if (row.role == KinetoRow::Role::memory) return consume_memory(activity);
  return activity.track.device ? consume_device(row) : consume_host(row);
}

// Returns what is open on the thread when the activity begins.
std::vector<KinetoContext::Open>& KinetoContext::open_at(const Activity& activity) {
  if (threads_.size() > kMaxThreads) threads_.clear();
  std::vector<Open>& stack = threads_[{activity.track.pid, activity.track.tid}];
  while (!stack.empty() && stack.back().end <= activity.start) stack.pop_back();
  return stack;
}

Status KinetoContext::consume_host(KinetoRow& row) {
  Activity& activity = row.activity;
  const bool nests = activity.duration &&
                     (activity.kind == ActivityKind::operation ||
                      activity.kind == ActivityKind::range || activity.kind == ActivityKind::api);
  if (nests) enter(row, activity, open_at(activity));
  return forward(activity);
}

void KinetoContext::find_direction(Activity& activity, const Open* parent) {
  const std::string_view outer = parent == nullptr ? "" : std::string_view(parent->direction);
  const bool is_operator = activity.kind == ActivityKind::operation;
  if (outer == kBackward) activity.direction = outer;
  if (!activity.direction.empty()) return;
  const bool is_tracked = is_operator && activity.attributes.integer(Attribute::sequence);
  activity.direction = is_tracked ? "forward" : std::string(outer);
}

// Returns the place of the Python code that the activity is or was called from, and states it with
// an operator.
std::string KinetoContext::find_place(Activity& activity, const Open* parent) {
  std::string place;
  if (activity.kind == ActivityKind::range) place = python_place(activity.name);
  if (place.empty()) place = innermost_place(activity.attributes.text(Attribute::backtrace));
  if (place.empty() && parent != nullptr) place = parent->place;
  if (activity.kind == ActivityKind::operation && !place.empty())
    activity.attributes.set(Attribute::source_location, place);
  return place;
}

// Sets the layer and direction of the activity, and opens it.
void KinetoContext::enter(const KinetoRow& row, Activity& activity, std::vector<Open>& stack) {
  const Open* parent = stack.empty() ? nullptr : &stack.back();
  find_direction(activity, parent);
  if (activity.scope.empty() && parent != nullptr) activity.scope = parent->scope;
  if (row.role == KinetoRow::Role::module && activity.scope.size() < kMaxScope) {
    activity.scope = append_scope(
        activity.scope, std::string_view(activity.name).substr(kKinetoModulePrefix.size()));
  }
  const auto sequence = activity.attributes.integer(Attribute::sequence);
  if (sequence && activity.direction == kBackward && activity.scope.empty()) {
    if (const std::string* layer = layers_.find(*sequence)) activity.scope = *layer;
  } else if (sequence && !activity.scope.empty() && activity.direction != kBackward) {
    layers_.add(*sequence, activity.scope);
  }
  Open open{activity.start + *activity.duration,
            activity.scope,
            activity.direction,
            find_place(activity, parent),
            parent == nullptr ? nullptr : parent->innermost,
            parent == nullptr ? nullptr : parent->whole};
  if (activity.kind == ActivityKind::operation) {
    auto made = std::make_shared<Operator>();
    made->name = activity.name;
    made->scope = activity.scope;
    made->direction = activity.direction;
    copy_facts(kKernelFacts, activity.attributes, made->facts);
    copy_facts(kWorkFacts, activity.attributes, made->facts);
    open.innermost = std::move(made);
    if (open.whole == nullptr && is_whole_convolution(activity.name)) open.whole = open.innermost;
    if (row.external_id > 0)
      operators_.add(row.external_id, open.whole != nullptr ? open.whole : open.innermost);
  }
  if (stack.size() < kMaxNesting) stack.push_back(std::move(open));
}

Status KinetoContext::consume_memory(Activity& change) {
  const std::vector<Open>& stack = open_at(change);
  const std::int64_t size = *change.attributes.integer(Attribute::size_bytes);
  const Address address{change.track.pid, change.track.device.value_or(-1),
                        *change.attributes.integer(Attribute::address)};
  const auto found = buffers_.find(address);
  if (found != buffers_.end()) {
    Activity buffer = std::move(found->second);
    buffers_.erase(found);
    buffer.duration = change.start - buffer.start;
    BENCH_RETURN_IF_ERROR(forward(buffer));
  }
  if (size <= 0) return Done{};
  change.name = "memory";
  if (!stack.empty()) {
    change.scope = stack.back().scope;
    if (stack.back().innermost != nullptr) change.name = stack.back().innermost->name;
  }
  if (buffers_.size() >= kMaxBuffers) return forward(change);
  buffers_.emplace(address, std::move(change));
  return Done{};
}

Status KinetoContext::consume_device(KinetoRow& row) {
  Activity& activity = row.activity;
  activity.track.pid = names_.main_process();
  activity.track.tid = 0;
  OperatorPointer owner;
  if (const auto* found = operators_.find(row.external_id)) owner = *found;
  if (owner != nullptr && activity.kind != ActivityKind::range) {
    activity.scope = owner->scope;
    activity.direction = owner->direction;
    activity.attributes.set(Attribute::op, owner->name);
    if (activity.kind == ActivityKind::kernel)
      copy_facts(kKernelFacts, owner->facts, activity.attributes);
  }
  Pending& pending = streams_[{*activity.track.device, activity.track.stream.value_or(-1)}];
  const bool joins = activity.kind == ActivityKind::kernel && owner != nullptr;
  if (!joins || owner != pending.owner || pending.kernels.size() >= kMaxKernels)
    BENCH_RETURN_IF_ERROR(forward(pending));
  if (!joins) return forward(activity);
  pending.owner = std::move(owner);
  pending.kernels.push_back(std::move(activity));
  if (streams_.size() <= kMaxThreads) return Done{};
  for (auto& [stream, waiting] : streams_) BENCH_RETURN_IF_ERROR(forward(waiting));
  streams_.clear();
  return Done{};
}

Status KinetoContext::forward(Pending& pending) {
  if (pending.owner == nullptr) return Done{};
  const OperatorPointer owner = std::move(pending.owner);
  const std::vector<bool> workers = find_workers(owner->name, pending.kernels);
  for (std::size_t i = 0; i < pending.kernels.size(); ++i) {
    Activity& kernel = pending.kernels[i];
    if (workers[i]) copy_facts(kWorkFacts, owner->facts, kernel.attributes);
    BENCH_RETURN_IF_ERROR(forward(kernel));
  }
  pending.kernels.clear();
  pending.owner.reset();
  return Done{};
}

Status KinetoContext::forward(Activity& activity) {
  const Track& track = activity.track;
  const auto process = names_.processes.find(track.pid);
  if (process != names_.processes.end())
    activity.attributes.set(Attribute::process_name, process->second);
  const auto thread = names_.threads.find({track.pid, track.tid});
  if (thread != names_.threads.end() && !track.device)
    activity.attributes.set(Attribute::thread_name, thread->second);
  ++forwarded_;
  return sink_.consume(activity);
}

Status KinetoContext::finish() {
  for (auto& [stream, pending] : streams_) BENCH_RETURN_IF_ERROR(forward(pending));
  for (auto& [address, buffer] : buffers_) BENCH_RETURN_IF_ERROR(forward(buffer));
  return Done{};
}

}  // namespace bench
