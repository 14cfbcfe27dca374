// SPDX-License-Identifier: Apache-2.0
// The messages between coordinator and worker: types, and functions for their JSON lines
// (docs/worker_protocol.md). The coordinator sends requests, and the worker sends one reply per
// request. Each type declares its name in JSON, and each request what holds for its answer.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"
#include "ops/kernel_facts.hpp"
#include "ops/operator_registry.hpp"
#include "ops/problem.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

inline constexpr int kProtocolVersion = 1;

// Environment variable of a worker with the process id of its coordinator. The worker ends when the
// coordinator ends.
inline constexpr const char* kCoordinatorVariable = "BENCH_COORDINATOR";

// How a worker checks the outputs of a case.
// none: no check, for requests that do not measure a case of the run.
// reference: compare with an independent computation. For the first process.
// expected: compare with the output of the first process. For later processes.
BENCH_ENUM(CheckKind, none, reference, expected);

// A sample of a case's outputs, with which later processes compare theirs.
struct OutputSample {
  std::string digest;          // content_hash() of all outputs in plain layout
  std::vector<double> values;  // at check_positions() of each output, in the order of the outputs
  // Absolute tolerances of the outputs of a step of training, in their order; else empty.
  std::vector<double> tolerances = {};
};

// How a worker has spent its time since its first command.
struct WorkerTimes {
  Nanoseconds timed{0}, warmup{0}, setup{0}, check{0}, profile{0};
};

// The outcomes with which a worker may refuse a request. A worker whose plugin cannot be loaded
// refuses every request with `failed`.
template <Outcome... kOutcomes>
inline constexpr std::array kRefusals = {Outcome::failed, kOutcomes...};

// What holds for all requests of a type.
struct RequestDuty {
  std::string_view activity;  // what the worker does: "the worker ended with SIGSEGV while ..."
  std::span<const Outcome> refusals = kRefusals<>;
  // The time that grows by a call in which the worker fails, since it can no longer report it.
  Nanoseconds WorkerTimes::*time = &WorkerTimes::setup;
};

struct HelloRequest {
  static constexpr std::string_view kName = "hello";
  static constexpr RequestDuty kDuty{"starting"};
  using Answer = struct HelloReply;
  int protocol = 0;
  Bytes reuse_distance{0};  // the largest reuse distance of all cases of this worker
  // Total size of the last-level caches that the run may use. A worker cannot determine this size,
  // because OpenMP has bound its first thread.
  std::optional<Bytes> last_level_cache;
};
// Requests the document of worker_document.hpp.
struct DescribeRequest {
  static constexpr std::string_view kName = "describe";
  static constexpr RequestDuty kDuty{"describing itself"};
  using Answer = struct DescribeReply;
  // Names of the backends whose devices and libraries the document states, besides the first
  // backend. nullopt: all.
  std::optional<std::vector<std::string>> probed;
};
// Requests the tensors, work and formulas that a plugin's operator derives from its parameters.
struct ModelRequest {
  static constexpr std::string_view kName = "model";
  static constexpr RequestDuty kDuty{"modelling a problem"};
  using Answer = struct ModelReply;
  std::string op;
  ops::Direction direction = ops::Direction::forward;
  DataType dtype = DataType::f32;
  ops::Layout layout = ops::Layout::any;
  ops::Math math = ops::Math::standard;
  std::string tokens;  // the parameter segment of its case id, without post-ops
};
struct PrepareRequest {
  static constexpr std::string_view kName = "prepare";
  static constexpr RequestDuty kDuty{
      "preparing and checking",
      kRefusals<Outcome::unsupported, Outcome::skipped, Outcome::wrong_result>};
  using Answer = struct PreparedReply;
  std::string id;
  std::shared_ptr<const PlannedNetwork> network;  // set for op `network`
  CheckKind check = CheckKind::reference;
  OutputSample expected;  // only for CheckKind::expected
  std::uint64_t seed = 1;
  std::optional<Bytes> reuse_distance;
  // For a layer: the layouts in which its network passes its inputs
  ops::InputLayouts input_layouts;
  std::int64_t tuning = 0;  // ops::Backend::set_tuning()
  ops::SampleMethod sample_method = ops::SampleMethod::any;
  std::string choices = {};  // choices of the case's first process: ops::Backend::set_choices()
};
// Requests the steps of a network, which contain the layouts of its layers' inputs. The worker does
// not allocate or run anything.
struct StepsRequest {
  static constexpr std::string_view kName = "steps";
  static constexpr RequestDuty kDuty{"laying out a network",
                                     kRefusals<Outcome::unsupported, Outcome::skipped>};
  using Answer = struct StepsReply;
  DataType dtype = DataType::f32;
  std::shared_ptr<const PlannedNetwork> network;
};
struct WarmUpRequest {
  static constexpr std::string_view kName = "warm_up";
  static constexpr RequestDuty kDuty{"warming up", kRefusals<>, &WorkerTimes::warmup};
  using Answer = struct WarmedUpReply;
  std::int64_t iterations = 0;
  Nanoseconds time{0};
};
struct RoundRequest {
  static constexpr std::string_view kName = "round";
  static constexpr RequestDuty kDuty{"measuring", kRefusals<>, &WorkerTimes::timed};
  using Answer = struct RoundReply;
  std::int64_t samples = 0;
  // If not empty, the samples run inside one NVTX range "layer:RANGE", so that a vendor's profiler
  // can select them.
  std::string range = {};
  // Iterations per sample; nullopt for the number that the warm-up has determined. Both sides of a
  // duet use the same number.
  std::optional<std::int64_t> iterations_per_sample = std::nullopt;
};
// Requests a profile pass over one case. The pass creates the case itself; it does not use or
// change a case that was prepared before.
struct ProfileRequest {
  static constexpr std::string_view kName = "profile";
  static constexpr RequestDuty kDuty{
      "profiling", kRefusals<Outcome::unsupported, Outcome::skipped, Outcome::wrong_result>,
      &WorkerTimes::profile};
  using Answer = struct ProfiledReply;
  // With a check only if the pass locates a failure (`announce`), or if the measured processes
  // rejected an engine for its result.
  PrepareRequest prepare;
  std::map<std::string, std::string> switches;  // name -> value (profiler/switches.hpp)
  std::string spool;                            // file to which the worker appends activities
  std::string run_id;                           // for the activity records
  // Scope that contains the case: the name of its network, such as {"resnet50_v1_5"}
  std::vector<std::string> scope;
  std::int64_t warmup_iterations = 0;
  Nanoseconds warmup_time{0};
  // For a case that fails. The worker writes the record of each operator and primitive before
  // it begins. It records everything from the first run of the kernel on, without a warm-up.
  bool announce = false;
};
// Returns the same request for the counters pass of the case, which a separate worker executes.
ProfileRequest counters_request(ProfileRequest request);
bool is_counters_request(const ProfileRequest& request);
// Requests to observe the machine for this time.
struct WatchRequest {
  static constexpr std::string_view kName = "watch";
  static constexpr RequestDuty kDuty{"watching the machine", kRefusals<Outcome::skipped>};
  using Answer = struct WatchedReply;
  Nanoseconds time{0};
};
// Ends the measurement of the prepared case.
struct ReleaseRequest {
  static constexpr std::string_view kName = "release";
  static constexpr RequestDuty kDuty{"releasing the case", kRefusals<Outcome::wrong_result>};
  using Answer = struct DoneReply;
  // The worker first runs the case once more and compares its outputs with those of the
  // preparation. It answers with wrong_result if they differ.
  bool check = false;
};
struct QuitRequest {
  static constexpr std::string_view kName = "quit";
  static constexpr RequestDuty kDuty{"ending"};
  using Answer = struct DoneReply;
};
using Request = std::variant<HelloRequest, DescribeRequest, ModelRequest, PrepareRequest,
                             StepsRequest, WarmUpRequest, RoundRequest, ProfileRequest,
                             WatchRequest, ReleaseRequest, QuitRequest>;

struct HelloReply {
  static constexpr std::string_view kName = "hello";
  int protocol = 0;
  std::string tool_version;
  std::string backend;
  std::string device;
  ops::LibraryInfo library;
  Bytes arena{0};  // maximum size of the memory over which a case with cold caches rotates
  std::vector<ops::LibraryInfo> plugins = {};
  std::string build = {};  // the compiler of the program, and its options; empty if unknown
};
struct DescribeReply {
  static constexpr std::string_view kName = "describe";
  std::string document;  // JSON
};
struct ModelReply {
  static constexpr std::string_view kName = "model";
  Result<ops::Model> model = ops::Model{};
};
struct BufferInfo {
  // Name of the tensor, such as "weights"; "activations" means all activations of a network
  std::string name;
  std::string role;  // "input", "weights", "output", "activation"
  std::string layout;
  Bytes size{0};
};
struct PreparedReply {
  static constexpr std::string_view kName = "prepared";
  std::string implementation;
  // Libraries of the case's backend, if HelloReply names another backend
  std::vector<ops::LibraryInfo> libraries;
  std::vector<BufferInfo> buffers;
  std::vector<ops::KernelStep> steps;
  PreparationTimes preparation;  // all times are set
  MemoryUse memory{};
  std::string check;    // how the result was verified; empty with CheckKind::none
  OutputSample output;  // only with CheckKind::reference
  // Details of the kernel, layouts and cold sets. "primitives" has the number of steps per
  // iteration, if the kernel names them. "output.digest" has the digest of the outputs, unless the
  // check is `none`.
  std::map<std::string, std::string> details;
  // Times of parts of the creation, such as "context_ns". The message contains them in its details.
  std::map<std::string, Nanoseconds> setup = {};
  std::string choices = {};  // ops::Backend::choices()
};
struct StepsReply {
  static constexpr std::string_view kName = "steps";
  std::vector<ops::KernelStep> steps;
};
struct ErrorReply {
  static constexpr std::string_view kName = "refused";
  Outcome outcome = Outcome::failed;
  std::string reason;
  // The kernel whose result is wrong, or that failed; empty if there is none.
  std::string implementation = {};
  std::map<std::string, std::string> details = {};
};
inline ErrorReply failed_reply(std::string reason) { return {Outcome::failed, std::move(reason)}; }
inline ErrorReply failed_reply(const Error& error) { return failed_reply(error.message()); }
struct WarmedUpReply {
  static constexpr std::string_view kName = "warmed_up";
  std::int64_t iterations = 0;  // executed in the warm-up; not part of any sample
  std::int64_t iterations_per_sample = 1;
  bool steady = true;
  Nanoseconds sample{0};  // expected duration of one sample
};
// If the reply has fewer samples than requested and some were discarded, the device no longer gives
// valid samples.
struct RoundReply {
  static constexpr std::string_view kName = "round";
  std::vector<Nanoseconds> samples;
  std::optional<std::int64_t> iterations_per_sample = std::nullopt;  // nullopt from older workers
  DeviceSamples device = {};
  // One canary per sample. The coordinator determines the quiet level.
  SampleCanaries canaries = {};
  // nullopt if it cannot be read; then `details` contains the reason (harness/result/energy.hpp).
  std::optional<ProcessEnergy> energy = std::nullopt;
  std::optional<LatencyCounts> latencies = std::nullopt;  // only for cases with streams
  // Details of the kernel that sampling added or changed; they become details of the case.
  std::map<std::string, std::string> details = {};
};
// Keys in the details of a profile pass: why its GPU activities are invalid, and notes about them.
inline constexpr const char* kTraceVoidDetail = "gpu.void";
inline constexpr const char* kTraceNoteDetail = "gpu.note";
struct ProfiledReply {
  static constexpr std::string_view kName = "profiled";
  std::int64_t iterations = 0;  // recorded
  // Medians of the iteration time in this worker, with and without collectors. Measured
  // interleaved.
  Nanoseconds profiled{0}, unprofiled{0};
  // Totals of the recorded iterations: wall = attributed + unattributed.
  Nanoseconds wall{0}, attributed{0}, unattributed{0};
  std::int64_t activities = 0;     // written to the spool
  std::int64_t malformed = 0;      // lines of the library's log that could not be read
  std::int64_t unknown = 0;        // lines of the library's log of an unknown kind or format
  std::vector<std::string> notes;  // what was wrong with the first of these lines
  // Peak of all allocated memory, with cold copies and the second creation of the kernel.
  Bytes peak{0};
  std::map<std::string, std::string> details;  // information from the library, cold sets
};
// The observations in their order. All lists have the same length.
struct WatchedReply {
  static constexpr std::string_view kName = "watched";
  int threads = 0;
  // The slowest canary, chain and loss around the work (harness/worker/sample_canary.hpp)
  std::vector<Nanoseconds> canaries, chains, lost;
  // Times of compute-bound and of memory-bound work (harness/worker/probe_work.hpp). 0: the
  // operating system took a processor away.
  std::vector<Nanoseconds> compute, memory;
  std::optional<Nanoseconds> join;  // median time to start and join the threads
};
struct DoneReply {
  static constexpr std::string_view kName = "done";
};
using Reply =
    std::variant<HelloReply, DescribeReply, ModelReply, PreparedReply, StepsReply, ErrorReply,
                 WarmedUpReply, RoundReply, ProfiledReply, WatchedReply, DoneReply>;

struct ReplyMessage {
  Reply reply;
  WorkerTimes spent;
};

RequestDuty duty(const Request& request);
// Return the names in the members `command` and `reply`.
std::string_view command_name(const Request& request);
std::string_view reply_name(const Reply& reply);

// Returns one line without a newline. Replacement characters replace invalid UTF-8.
std::string encode(const Request& request);
std::string encode(const ReplyMessage& reply);
// Parses one line. Errors state what is wrong with the line and quote its beginning. The numbers of
// a reply obey the rules of records (harness/result/fields.hpp), so that a record of what a worker
// reported can be read again. `registry`
// contains the operators and must outlive the request.
Result<Request> decode_request(std::string_view line,
                               const ops::OperatorRegistry& registry = ops::built_in_operators());
Result<ReplyMessage> decode_reply(std::string_view line);
// Parses the reply to `request`, which arrived after the time `elapsed`. Also returns an error for
// a reply that cannot answer the request: another kind of reply, an outcome that the request cannot
// have, too many samples, or times that are longer than `elapsed`.
Result<ReplyMessage> decode_reply(std::string_view line, const Request& request,
                                  Nanoseconds elapsed);

}  // namespace bench
