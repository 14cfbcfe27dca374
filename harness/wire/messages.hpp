// SPDX-License-Identifier: Apache-2.0
// What coordinator and worker say to each other: typed messages and their JSON lines
// (docs/worker_protocol.md). One request, one reply; the coordinator always speaks first.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/device_samples.hpp"
#include "harness/result/record.hpp"
#include "ops/catalogue.hpp"
#include "ops/kernel_facts.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

inline constexpr int kProtocolVersion = 1;

// Environment variable of a worker: process id of its coordinator, with which it ends.
inline constexpr const char* kCoordinatorVariable = "BENCH_COORDINATOR";

// none: `explain`, nothing is timed. reference: first process of a case. expected: later processes,
// against the first one's values.
enum class CheckKind { none, reference, expected };

// What a later process of the same case is compared with.
struct OutputSample {
  std::string digest;          // content_hash over all outputs in their plain form
  std::vector<double> values;  // at check_positions() of each output, outputs in order
};

struct HelloRequest {
  int protocol = 0;
  Bytes reuse_distance{0};  // the largest that any case of this worker asks for
  // Of all caches that the run may use. A worker cannot see it: OpenMP has bound its first thread.
  std::optional<Bytes> last_level_cache;
};
struct DescribeRequest {};
// Tensors, work and formulas of a problem: what an operator of a plugin makes of its parameters.
struct ModelRequest {
  std::string op;
  ops::Direction direction = ops::Direction::forward;
  DataType dtype = DataType::f32;
  ops::Layout layout = ops::Layout::any;
  ops::Math math = ops::Math::standard;
  std::string tokens;  // the parameter segment of its case id, without post-ops
};
struct PrepareRequest {
  std::string id;
  std::shared_ptr<const PlannedNetwork> network;  // set for op `network`
  CheckKind check = CheckKind::reference;
  OutputSample expected;  // with CheckKind::expected
  std::uint64_t seed = 1;
  std::optional<Bytes> reuse_distance;
  ops::MetLayouts met;      // of a layer: the layouts in which its network hands its inputs over
  std::int64_t tuning = 0;  // ops::Backend::set_tuning()
  ops::SampleMethod sample_method = ops::SampleMethod::any;
};
// The steps of a network as a chain, for what its layers meet there. Nothing is allocated or run.
struct StepsRequest {
  DataType dtype = DataType::f32;
  std::shared_ptr<const PlannedNetwork> network;
};
struct WarmUpRequest {
  std::int64_t iterations = 0;
  Nanoseconds time{0};
};
struct RoundRequest {
  std::int64_t samples = 0;
  // Not empty: the samples run inside of one NVTX range "layer:RANGE", for a vendor's tool.
  std::string range = {};
  // What a sample covers, where it is not to be what the warm-up found: both sides of a duet take
  // the same.
  std::optional<std::int64_t> iterations_per_sample = std::nullopt;
};
// A profile pass over one case, from its creation on: nothing prepared before is used or kept.
struct ProfileRequest {
  PrepareRequest prepare;                       // checked with CheckKind::none: nothing
  std::map<std::string, std::string> switches;  // name -> value, profiler/switches.hpp
  std::string spool;                            // file that the activities are appended to
  std::string run_id;                           // of their records
  std::vector<std::string> scope;  // layers around the case: {"resnet50_v1_5"}; its network's name
  std::int64_t warmup_iterations = 0;
  Nanoseconds warmup_time{0};
  // yes: for a case that fails. Each operator and primitive is written before it begins, and
  // everything from the first run on is recorded, without a warm-up.
  enum class Announce { no, yes };
  Announce announce = Announce::no;
};
// The same for the counters pass of the case, which a worker of its own carries out.
ProfileRequest counters_request(ProfileRequest request);
bool is_counters_request(const ProfileRequest& request);
// The machine's own speed (canary.hpp). What is prepared stays as it is.
struct CanaryRequest {};
// Looks at the machine for so long, once a millisecond, and works in between.
struct WatchRequest {
  Nanoseconds time{0};
};
struct ReleaseRequest {};
struct QuitRequest {};
using Request = std::variant<HelloRequest, DescribeRequest, ModelRequest, PrepareRequest,
                             StepsRequest, WarmUpRequest, RoundRequest, ProfileRequest,
                             CanaryRequest, WatchRequest, ReleaseRequest, QuitRequest>;

struct HelloReply {
  int protocol = 0;
  std::string tool_version;
  std::string backend;
  std::string device;
  ops::LibraryInfo library;
  Bytes arena{0};  // what a case with cold caches will rotate over at most
  std::vector<ops::LibraryInfo> plugins = {};
};
struct DescribeReply {
  std::string document;  // JSON
};
struct ModelReply {
  Result<ops::Model> model;
};
struct BufferInfo {
  std::string name;  // of the tensor: "weights"; "activations" of a network: all of them together
  std::string role;  // "input", "weights", "output", "activation"
  std::string layout;
  Bytes size{0};
};
struct PreparedReply {
  std::string implementation;
  // Of the backend, where it is another one than the greeting's.
  std::vector<ops::LibraryInfo> libraries;
  std::vector<BufferInfo> buffers;
  std::vector<ops::KernelStep> steps;
  Nanoseconds create{0}, create_hit{0}, reorder{0}, first_run{0};
  MemoryUse memory{};
  std::string check;    // how the result was verified; empty with CheckKind::none
  OutputSample output;  // of CheckKind::reference alone
  // The kernel's own; layouts, cold sets; "primitives": steps of an iteration, where the kernel
  // names them; "output.digest": of the outputs, with every check but none.
  std::map<std::string, std::string> details;
};
struct StepsReply {
  std::vector<ops::KernelStep> steps;
};
struct RefusedReply {
  Outcome outcome = Outcome::failed;
  std::string reason;
};
inline RefusedReply failed_reply(std::string reason) {
  return {Outcome::failed, std::move(reason)};
}
inline RefusedReply failed_reply(const Error& error) { return failed_reply(error.message()); }
struct WarmedUpReply {
  std::int64_t iterations = 0;  // run, never counted
  std::int64_t iterations_per_sample = 1;
  bool steady = true;
  Nanoseconds sample{0};  // expected duration of one sample
};
// Fewer samples than asked for, and some void: the device gives no valid ones any more.
struct RoundReply {
  std::vector<Nanoseconds> samples;
  std::optional<std::int64_t> iterations_per_sample = std::nullopt;  // older workers do not say
  DeviceSamples device = {};
  // Beside each sample; the level is the coordinator's to know.
  SampleCanaries canaries = {};
};
// In the details of a profile pass: why nothing of its rows may be compared, and what is to be
// known of them.
inline constexpr const char* kTraceVoidDetail = "gpu.void";
inline constexpr const char* kTraceNoteDetail = "gpu.note";
struct ProfiledReply {
  std::int64_t iterations = 0;             // recorded
  Nanoseconds profiled{0}, unprofiled{0};  // medians of an iteration in this worker, with and
                                           // without collectors, taken in turns
  // Of the recorded iterations, together: wall = attributed + unattributed.
  Nanoseconds wall{0}, attributed{0}, unattributed{0};
  std::int64_t activities = 0;     // written
  std::int64_t damaged = 0;        // lines of the library's log that could not be read
  std::int64_t unknown = 0;        // ... of a kind or format that is not known
  std::vector<std::string> notes;  // what was wrong with the first of them
  Bytes peak{0};                   // of all memory taken, cold and second copies included
  std::map<std::string, std::string> details;  // what the library says of itself, cold sets
};
struct CanariesReply {
  Canaries time;
};
// The looks in their order: MachineLook of sample_canary.hpp.
struct WatchedReply {
  int threads = 0;
  std::vector<Nanoseconds> canaries, chains, lost;
};
struct DoneReply {};
using Reply =
    std::variant<HelloReply, DescribeReply, ModelReply, PreparedReply, StepsReply, RefusedReply,
                 WarmedUpReply, RoundReply, ProfiledReply, CanariesReply, WatchedReply, DoneReply>;

// Where a worker's time went since its first command.
struct Spent {
  Nanoseconds timed{0}, warmup{0}, setup{0}, check{0}, profile{0};
};
struct ReplyMessage {
  Reply reply;
  Spent spent;
};

// One line without newline. Values that are no UTF-8 are written with replacement characters.
std::string encode(const Request& request);
std::string encode(const ReplyMessage& reply);
// Errors say what is wrong with the line, of which a beginning is quoted. `catalogue`: what
// operators there are; must outlive the request.
Result<Request> decode_request(std::string_view line,
                               const ops::Catalogue& catalogue = ops::built_in_catalogue());
Result<ReplyMessage> decode_reply(std::string_view line);

}  // namespace bench
