// SPDX-License-Identifier: Apache-2.0
// The messages between coordinator and worker: types and their JSON lines
// (docs/worker_protocol.md). Each request has one reply, and the coordinator always speaks first.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"
#include "ops/kernel_facts.hpp"
#include "ops/operator_registry.hpp"
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

// Environment variable of a worker: process id of its coordinator. The worker ends when that
// process ends.
inline constexpr const char* kCoordinatorVariable = "BENCH_COORDINATOR";

// none: for `explain`, which times nothing. reference: for the first process of a case. expected:
// for later processes, which compare with the first one's values.
enum class CheckKind { none, reference, expected };

// The values with which a later process of the same case compares its outputs.
struct OutputSample {
  std::string digest;          // content_hash over all outputs in their plain form
  std::vector<double> values;  // at check_positions() of each output, in the order of the outputs
};

struct HelloRequest {
  int protocol = 0;
  Bytes reuse_distance{0};  // the largest distance requested by any case of this worker
  // Size of all last-level caches that the run may use. A worker cannot determine it, because
  // OpenMP has bound its first thread.
  std::optional<Bytes> last_level_cache;
};
struct DescribeRequest {};
// Tensors, work and formulas of a problem: what a plugin's operator derives from its parameters.
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
  ops::InputLayouts
      input_layouts;        // for a layer: the layouts in which its network passes its inputs
  std::int64_t tuning = 0;  // ops::Backend::set_tuning()
  ops::SampleMethod sample_method = ops::SampleMethod::any;
};
// The steps of a network as a chain, to find the layouts of its layers' inputs. Nothing is
// allocated or run.
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
  // If not empty, the samples run inside one NVTX range "layer:RANGE", so that a vendor's tool can
  // select them.
  std::string range = {};
  // Iterations per sample. If absent, the warm-up determines the number. Both sides of a duet use
  // the same number.
  std::optional<std::int64_t> iterations_per_sample = std::nullopt;
};
// A profile pass over one case, starting with its creation: it uses and keeps nothing that was
// prepared before.
struct ProfileRequest {
  PrepareRequest prepare;                       // uses CheckKind::none: no check
  std::map<std::string, std::string> switches;  // name -> value, profiler/switches.hpp
  std::string spool;                            // file that the activities are appended to
  std::string run_id;                           // for the activity records
  // layers that contain the case: {"resnet50_v1_5"}; its network's name
  std::vector<std::string> scope;
  std::int64_t warmup_iterations = 0;
  Nanoseconds warmup_time{0};
  // yes: for a case that fails. Writes each operator and primitive before it begins, and records
  // everything from the first run on, without a warm-up.
  enum class Announce { no, yes };
  Announce announce = Announce::no;
};
// The same request for the counters pass of the case, which a separate worker carries out.
ProfileRequest counters_request(ProfileRequest request);
bool is_counters_request(const ProfileRequest& request);
// Measures the machine's own speed (canary.hpp). The prepared case stays as it is.
struct CanaryRequest {};
// Observes the machine for this time, once per millisecond, and computes in between.
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
  Bytes arena{0};  // maximum size over which a case with cold caches rotates
  std::vector<ops::LibraryInfo> plugins = {};
};
struct DescribeReply {
  std::string document;  // JSON
};
struct ModelReply {
  Result<ops::Model> model = ops::Model{};
};
struct BufferInfo {
  // Name of the tensor: "weights"; "activations": all those of a network together.
  std::string name;
  std::string role;  // "input", "weights", "output", "activation"
  std::string layout;
  Bytes size{0};
};
struct PreparedReply {
  std::string implementation;
  // The backend's libraries, if it is not the backend of the handshake.
  std::vector<ops::LibraryInfo> libraries;
  std::vector<BufferInfo> buffers;
  std::vector<ops::KernelStep> steps;
  PreparationTimes preparation;  // all times
  MemoryUse memory{};
  std::string check;    // how the result was verified; empty with CheckKind::none
  OutputSample output;  // only with CheckKind::reference
  // The kernel's own details; layouts and cold sets. "primitives": steps of an iteration, if the
  // kernel names them. "output.digest": digest of the outputs, with every check except `none`.
  std::map<std::string, std::string> details;
  // Parts of the creation: "context_ns". They are among the details of the message.
  std::map<std::string, Nanoseconds> setup = {};
};
struct StepsReply {
  std::vector<ops::KernelStep> steps;
};
struct ErrorReply {
  Outcome outcome = Outcome::failed;
  std::string reason;
};
inline ErrorReply failed_reply(std::string reason) { return {Outcome::failed, std::move(reason)}; }
inline ErrorReply failed_reply(const Error& error) { return failed_reply(error.message()); }
struct WarmedUpReply {
  std::int64_t iterations = 0;  // executed, never counted
  std::int64_t iterations_per_sample = 1;
  bool steady = true;
  Nanoseconds sample{0};  // expected duration of one sample
};
// If there are fewer samples than requested and some were discarded, the device no longer gives
// valid ones.
struct RoundReply {
  std::vector<Nanoseconds> samples;
  std::optional<std::int64_t> iterations_per_sample = std::nullopt;  // nullopt from older workers
  DeviceSamples device = {};
  // One per sample. The coordinator determines the level.
  SampleCanaries canaries = {};
  // nullopt if it cannot be read; `details` then has the reason (harness/result/energy.hpp).
  std::optional<ProcessEnergy> energy = std::nullopt;
  // Details of the kernel that sampling added or changed. They belong to the case.
  std::map<std::string, std::string> details = {};
};
// Keys in the details of a profile pass: why its rows must not be compared, and what the reader
// should know about them.
inline constexpr const char* kTraceVoidDetail = "gpu.void";
inline constexpr const char* kTraceNoteDetail = "gpu.note";
struct ProfiledReply {
  std::int64_t iterations = 0;  // recorded
  // Medians of an iteration in this worker, with and without collectors, interleaved.
  Nanoseconds profiled{0}, unprofiled{0};
  // Totals of the recorded iterations: wall = attributed + unattributed.
  Nanoseconds wall{0}, attributed{0}, unattributed{0};
  std::int64_t activities = 0;     // written to the spool
  std::int64_t malformed = 0;      // lines of the library's log that could not be read
  std::int64_t unknown = 0;        // ... of an unknown kind or format
  std::vector<std::string> notes;  // what was wrong with the first of these lines
  Bytes peak{0};                   // peak of all allocated memory, including cold and second copies
  std::map<std::string, std::string> details;  // what the library reports about itself, cold sets
};
struct CanariesReply {
  Canaries time;
};
// The observations in order: MachineLook of sample_canary.hpp.
struct WatchedReply {
  int threads = 0;
  std::vector<Nanoseconds> canaries, chains, lost;
};
struct DoneReply {};
using Reply =
    std::variant<HelloReply, DescribeReply, ModelReply, PreparedReply, StepsReply, ErrorReply,
                 WarmedUpReply, RoundReply, ProfiledReply, CanariesReply, WatchedReply, DoneReply>;

// How a worker has spent its time since its first command.
struct WorkerTimes {
  Nanoseconds timed{0}, warmup{0}, setup{0}, check{0}, profile{0};
};
struct ReplyMessage {
  Reply reply;
  WorkerTimes spent;
};

// One line without newline. Invalid UTF-8 is written with replacement characters.
std::string encode(const Request& request);
std::string encode(const ReplyMessage& reply);
// Errors state what is wrong with the line and quote its beginning. `registry` lists the
// operators; it must outlive the request.
Result<Request> decode_request(std::string_view line,
                               const ops::OperatorRegistry& registry = ops::built_in_operators());
Result<ReplyMessage> decode_reply(std::string_view line);

}  // namespace bench
