// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/command_server.hpp"

#include "base/text.hpp"
#include "base/version.hpp"
#include "harness/host/environment.hpp"
#include "harness/result/energy.hpp"
#include "harness/result/latency.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/roofline.hpp"
#include "harness/stats/summary.hpp"
#include "harness/wire/slowdown.hpp"
#include "harness/worker/check.hpp"
#include "harness/worker/counters_pass.hpp"
#include "harness/worker/processor_counters.hpp"
#include "harness/worker/profile_pass.hpp"
#include "harness/worker/rotation.hpp"
#include "harness/worker/stream_sampler.hpp"
#include "harness/worker/thrown_reply.hpp"
#include "harness/worker/worker.hpp"
#include "harness/worker/workload.hpp"
#include "profiler/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

namespace bench {
namespace {

// Maximum number of samples of a watch, which bounds the reply.
constexpr std::int64_t kMaxLooks = 20'000;

// Returns the sum of the streams' memory, each of which has a kernel with buffers.
MemoryUse sum_of_streams(MemoryUse use, std::size_t streams) {
  const auto count = static_cast<std::int64_t>(streams);
  for (Bytes* bytes : {&use.peak, &use.weights, &use.workspace, &*use.activations})
    bytes->count *= count;
  return use;
}

MemoryUse kernel_memory_use(const ops::Kernel& kernel) {
  MemoryUse use{kernel.workspace(), {0}, kernel.workspace()};
  Bytes activations{0};
  for (const ops::KernelBuffer& buffer : kernel.buffers()) {
    use.peak = use.peak + buffer.size;
    Bytes& subtotal = buffer.role == ops::BufferRole::weights ? use.weights : activations;
    subtotal = subtotal + buffer.size;
  }
  use.activations = activations;
  return use;
}

// Returns one entry per tensor. The activations of a network share one entry, because a list of
// fifty is not useful.
std::vector<BufferInfo> make_buffer_infos(const ops::Kernel& kernel,
                                          std::span<const ops::Tensor> tensors) {
  std::vector<BufferInfo> infos;
  BufferInfo activations{"activations", "activation", "", {0}};
  const auto buffers = kernel.buffers();
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].role == ops::BufferRole::activation || i >= tensors.size()) {
      activations.size = activations.size + buffers[i].size;
    } else {
      infos.push_back({tensors[i].name, std::string(to_string(buffers[i].role)), buffers[i].layout,
                       buffers[i].size});
    }
  }
  if (activations.size.count > 0) infos.push_back(std::move(activations));
  return infos;
}

// Reads the energy counters of a device over one round, which begins at construction.
class EnergyReading {
 public:
  explicit EnergyReading(const EnergyMeterResult* meter) : meter_(meter) {
    if (meter_ != nullptr && meter_->ok()) before_ = (**meter_)->read();
  }
  // Adds the energy or the reason why it is unknown to the reply.
  void finish(Nanoseconds elapsed, RoundReply& reply) {
    if (meter_ == nullptr) return;
    if (!meter_->ok()) return set_reason(meter_->error().message(), reply);
    EnergyMeter& meter = ***meter_;
    const auto after = before_ ? meter.read() : std::nullopt;
    const auto energy = after ? energy_between(*before_, *after) : std::nullopt;
    if (!energy) return set_reason("an energy counter could not be read during a round", reply);
    reply.energy = {*energy, elapsed, meter.source()};
  }

 private:
  static void set_reason(const std::string& reason, RoundReply& reply) {
    reply.details[kEnergyDetail] = "n/a: " + reason;
  }
  const EnergyMeterResult* meter_;
  std::optional<std::vector<EnergyCount>> before_;
};

// Whether a backend has measured candidates for the kernel or for a layer.
bool was_chosen_by_measuring(const std::map<std::string, std::string>& details) {
  const auto layer = details.lower_bound("choice.");
  return details.contains("tuned") ||
         (layer != details.end() && layer->first.starts_with("choice."));
}

}  // namespace

struct CommandServer::BuiltKernel {
  std::string problem;  // id with cache `hot`, shared by the variants of a problem
  std::uint64_t seed;
  ops::Backend* backend;
  Workload workload;
  std::vector<PreparedKernel> prepared;  // by stream
  std::int64_t tuning;
  CacheMode cache;  // that candidates were measured with
  bool is_checked = false;
  PreparedReply reply;  // without the details that depend on the cache mode
};

CommandServer::CommandServer(ops::Backend& backend, Clock& clock, ServerOptions options)
    : CommandServer(std::make_shared<WorkerContext>(WorkerContext{ops::BackendSet(backend)}), clock,
                    std::move(options)) {}

CommandServer::CommandServer(std::shared_ptr<WorkerContext> context, Clock& clock,
                             ServerOptions options)
    : context_(std::move(context)),
      clock_(clock),
      options_(std::move(options)),
      slowdown_(options_.slowdown ? parse_slowdown(*options_.slowdown) : Result<double>(0.0)),
      arena_size_(arena_size(std::nullopt, Bytes{0}, options_.available)) {
  if (options_.streams.size() > 1) team_ = std::make_unique<StreamTeam>(options_.streams);
  arenas_.resize(stream_count());
}

void CommandServer::on_stream(std::size_t stream, const std::function<void()>& work) {
  team_ ? team_->run_on(stream, work) : work();
}

std::optional<Bytes> CommandServer::available_per_stream() const {
  if (!options_.available) return std::nullopt;
  return Bytes{options_.available->count / static_cast<std::int64_t>(stream_count())};
}

ErrorReply CommandServer::at_stream(std::size_t stream, ErrorReply error) const {
  if (team_ == nullptr) return error;
  error.reason = fmt::format("stream {} of {}: {}", stream + 1, stream_count(), error.reason);
  return error;
}

Result<Done, ErrorReply> CommandServer::check_stream_support(const CaseKey& key,
                                                             const ops::Backend& backend) {
  if (key.streams > 1 && !backend.runs_streams())
    return ErrorReply{Outcome::unsupported, ops::streams_unsupported_reason(backend.name())};
  if (static_cast<std::size_t>(key.streams) == stream_count()) return Done{};
  return failed_reply(fmt::format("the case has {}, but this worker was started for {}; {} sets it",
                                  pluralise(key.streams, "stream"), stream_count(),
                                  kStreamsVariable));
}

template <>
Result<DescribeReply, ErrorReply> CommandServer::answer(const DescribeRequest& request) {
  return DescribeReply{describe(*context_, request.probed)};
}

template <>
Result<HelloReply, ErrorReply> CommandServer::answer(const HelloRequest& request) {
  ops::Backend& backend = context_->backends.first();
  last_level_cache_ = request.last_level_cache;
  arena_size_ = arena_size(request.last_level_cache, request.reuse_distance, options_.available);
  return HelloReply{kProtocolVersion,
                    std::string(tool_version()),
                    std::string(backend.name()),
                    std::string(backend.device()),
                    backend.library(),
                    arena_size_,
                    context_->plugins,
                    fmt::format("{} {}", build_facts().compiler, build_facts().flags)};
}

template <>
Result<ModelReply, ErrorReply> CommandServer::answer(const ModelRequest& request) {
  const ops::Operator* op = registry().find(request.op);
  if (op == nullptr) return failed_reply("unknown operator `" + request.op + "`");
  auto tokens = ops::parse_problem_tokens(*op, request.tokens);
  if (!tokens) return ModelReply{tokens.error()};
  auto parameters = op->complete(tokens->parameters);
  if (!parameters) return ModelReply{parameters.error()};
  ops::Problem problem;
  problem.op = op;
  problem.direction = request.direction;
  problem.dtype = request.dtype;
  problem.layout = request.layout;
  problem.math = request.math;
  problem.parameters = std::move(*parameters);
  return ModelReply{op->model(problem)};
}

template <>
Result<PreparedReply, ErrorReply> CommandServer::answer(const PrepareRequest& request) {
  const Nanoseconds start = clock_.now();
  const Nanoseconds check_before = spent_.check;
  const auto add_setup_time = [&] {
    spent_.setup += (clock_.now() - start) - (spent_.check - check_before);
  };
  end_measurement();
  Result<CaseKey> key = parse_id(request.id, registry());
  if (!key) return failed_reply(key.error());
  CaseKey hot = *key;
  hot.cache = CacheMode::hot;
  try {
    const std::string problem = to_id(hot);
    const bool is_same =
        built_ && built_->problem == problem && built_->seed == request.seed &&
        built_->tuning == request.tuning &&
        (built_->cache == key->cache || !was_chosen_by_measuring(built_->reply.details)) &&
        (built_->is_checked || request.check == CheckKind::none);
    if (!is_same) {
      built_.reset();  // freed before the next one needs the memory
      if (Result<Done, ErrorReply> done = build(*key, problem, request); !done) {
        built_.reset();
        add_setup_time();
        return std::move(done).error();
      }
    }
    PreparedReply reply = built_->reply;
    const Status bound = make_rotations(key->cache, request.reuse_distance, reply.details);
    add_setup_time();
    if (!bound) return failed_reply(bound.error());
    // A backend that knows the caches of the case has stated them.
    if (key->cache != CacheMode::hot && was_chosen_by_measuring(reply.details))
      reply.details.emplace("tuned_caches", "hot, other than those of the case");
    SamplerOptions options{{}, options_.pause, request.sample_method, sample_canary()};
    if (*slowdown_ > 0) options.slowdown = *slowdown_;
    sampler_ = team_ ? make_stream_sampler(*team_, rotations_, clock_, options)
                     : make_sampler(built_->prepared.front().kernel(), *rotations_.front(), clock_,
                                    std::move(options));
    if (request.check == CheckKind::expected) reply.output = {};  // the sender has it already
    return reply;
  } catch (const std::exception& exception) {
    built_.reset();
    add_setup_time();
    return thrown_reply(PrepareRequest::kName, exception);
  }
}

template <>
Result<StepsReply, ErrorReply> CommandServer::answer(const StepsRequest& request) {
  const Nanoseconds start = clock_.now();
  const PlannedNetwork& planned = *request.network;
  const auto network = ops::make_network(planned.definition, planned.batch, request.dtype,
                                         planned.mode, planned.fusion, registry());
  if (!network) return failed_reply(network.error());
  const auto kernel = context_->backends.first().create(*network);
  spent_.setup += clock_.now() - start;
  if (!kernel) return to_error_reply(kernel.error());
  return StepsReply{(*kernel)->steps()};
}

Result<Done, ErrorReply> CommandServer::build(const CaseKey& key, const std::string& problem,
                                              const PrepareRequest& request) {
  const auto backend = context_->backends.find(key.backend);
  if (!backend) return to_error_reply(backend.error());
  BENCH_RETURN_IF_ERROR(check_stream_support(key, **backend));
  auto workload = admit(key, request.network.get(), **backend, available_per_stream(), registry());
  if (!workload) return std::move(workload).error();
  const InputValues values = input_values(*workload, request.seed);
  set_candidates(**backend, request, key.cache, arena_size_);
  for (;;) {
    auto done = build_once(problem, key.cache, **backend, *workload, values, request);
    if (done || !takes_next_engine(**backend, *workload, done.error())) return done;
    built_.reset();
  }
}

// Creates the kernel with the library's current choice of engine, and checks it.
Result<Done, ErrorReply> CommandServer::build_once(const std::string& problem, CacheMode cache,
                                                   ops::Backend& backend, const Workload& workload,
                                                   const InputValues& values,
                                                   const PrepareRequest& request) {
  std::vector<PreparedKernel> prepared;
  for (std::size_t stream = 0; stream < stream_count(); ++stream) {
    std::optional<ErrorReply> failure;
    on_stream(stream, [&] {
      auto kernel = PreparedKernel::build(backend, workload, values, clock_, available_per_stream(),
                                          request.input_layouts);
      if (kernel) prepared.push_back(std::move(*kernel));
      if (!kernel) failure = at_stream(stream, to_error_reply(kernel.error()));
    });
    if (failure) return *std::move(failure);
  }
  built_ = std::make_shared<BuiltKernel>(BuiltKernel{problem,
                                                     request.seed,
                                                     &backend,
                                                     workload,
                                                     std::move(prepared),
                                                     request.tuning,
                                                     cache,
                                                     false,
                                                     {}});
  ops::Kernel& kernel = built_->prepared.front().kernel();
  PreparedReply& reply = built_->reply;
  reply.implementation = kernel.implementation();
  reply.details = kernel.details();
  reply.choices = backend.choices();
  if (request.tuning != 0) reply.details.emplace("tune", std::to_string(request.tuning));
  if (&backend != &context_->backends.first()) {
    reply.libraries = backend.further_libraries();
    reply.libraries.insert(reply.libraries.begin(), backend.library());
  }
  if (options_.addresses == ProcessRequest::Addresses::drawn) reply.details["addresses"] = "drawn";
  for (const ops::LibraryInfo& library : reply.libraries) {
    reply.details["library." + library.name] = library.version;
    reply.details["library." + library.name + ".path"] = library.path;
  }
  reply.buffers = make_buffer_infos(kernel, workload_tensors(built_->workload));
  for (const BufferInfo& buffer : reply.buffers) {
    if (!buffer.layout.empty()) reply.details["layout." + buffer.name] = buffer.layout;
  }
  reply.steps = kernel.steps();
  if (!reply.steps.empty()) {
    reply.details.emplace(kPrimitivesDetail, std::to_string(reply.steps.size()));
  }
  reply.preparation = built_->prepared.front().preparation();
  reply.memory = sum_of_streams(kernel_memory_use(kernel), stream_count());
  return check(values, request);
}

Result<Done, ErrorReply> CommandServer::check(const InputValues& values,
                                              const PrepareRequest& request) {
  if (request.check == CheckKind::none) return Done{};
  const Nanoseconds start = clock_.now();
  auto verified = check_streams_agree(values, request);
  spent_.check += clock_.now() - start;
  if (!verified) {
    ErrorReply error = std::move(verified).error();
    if (error.outcome == Outcome::wrong_result) {
      error.implementation = built_->reply.implementation;
      error.details = built_->reply.details;
    }
    return error;
  }
  built_->is_checked = true;
  built_->reply.check = std::move(verified->text);
  built_->reply.output = std::move(verified->output);
  built_->reply.details.emplace(kOutputDigestDetail, built_->reply.output.digest);
  return Done{};
}

// Checks the first stream as requested, and each other stream against the first one, since all have
// the same inputs.
Result<Verification, ErrorReply> CommandServer::check_streams_agree(const InputValues& values,
                                                                    const PrepareRequest& request) {
  CheckRequest check{request.check, request.expected, request.seed, options_.available};
  std::optional<Verification> first;
  for (std::size_t stream = 0; stream < stream_count(); ++stream) {
    std::optional<Result<Verification, ErrorReply>> verified;
    on_stream(stream, [&] {
      verified = verify(*built_->backend, built_->workload, built_->prepared[stream], values, check,
                        clock_);
    });
    if (!*verified) return at_stream(stream, verified->error());
    if (first) continue;
    first = std::move(**verified);
    check = {CheckKind::expected, first->output, request.seed, options_.available,
             "those of the first stream"};
  }
  if (team_) first->text += fmt::format("; the same in all {} streams", stream_count());
  return *std::move(first);
}

// Binds the kernel of each stream. With cold caches, the streams share the size of the arena, since
// they also share the caches.
Status CommandServer::make_rotations(CacheMode cache, std::optional<Bytes> distance,
                                     std::map<std::string, std::string>& details) {
  for (std::size_t stream = 0; stream < stream_count(); ++stream) {
    Status bound = Done{};
    on_stream(stream, [&] {
      bound = [&]() -> Status {
        Arena* arena = nullptr;
        if (cache != CacheMode::hot) {
          BENCH_ASSIGN_OR_RETURN(arena, provide_arena(stream, distance));
        }
        PreparedKernel& prepared = built_->prepared[stream];
        const std::vector<void*> own = prepared.addresses();
        BENCH_ASSIGN_OR_RETURN(
            rotations_.emplace_back(),
            bind_rotation(prepared.kernel(), own, cache, distance, arena, details));
        return Done{};
      }();
    });
    if (!bound) {
      rotations_.clear();
      return bound;
    }
  }
  if (team_ == nullptr) return Done{};
  details["streams.processors"] = format_stream_processors(options_.streams);
  if (const auto bytes = details.find(kColdBytesDetail); bytes != details.end()) {
    const auto of_one = parse_number<std::int64_t>(bytes->second).value_or(0);
    bytes->second = fmt::to_string(of_one * static_cast<std::int64_t>(stream_count()));
  }
  return Done{};
}

// Returns the arena of a stream for the prepared case. All cases of a worker share the arenas on
// the host, whose size covers the run's largest distance. On a device, the arena is created again
// if a case needs a larger one.
Result<Arena*> CommandServer::provide_arena(std::size_t stream, std::optional<Bytes> distance) {
  std::optional<Arena>& arena = arenas_[stream];
  ops::DeviceMemory* device = built_->backend->memory();
  if (arena && arena->memory() == device &&
      (device == nullptr || distance.value_or(Bytes{0}) <= arena->size())) {
    return &*arena;
  }
  arena.reset();  // freed before the next one needs the memory
  const Bytes on_host{arena_size_.count / static_cast<std::int64_t>(stream_count())};
  const Bytes size =
      device == nullptr ? on_host : device_arena_size(*device, distance.value_or(Bytes{0}));
  BENCH_ASSIGN_OR_RETURN(Arena created, Arena::create(size, kArenaSeed, nullptr, device));
  arena.emplace(std::move(created));
  return &*arena;
}

template <>
Result<WarmedUpReply, ErrorReply> CommandServer::answer(const WarmUpRequest& request) {
  if (rotations_.empty()) return failed_reply("warm_up without a prepared case");
  const Nanoseconds start = clock_.now();
  Result<WarmUpResult> warmed = warm_up(*sampler_, request.iterations, request.time, clock_);
  spent_.warmup += clock_.now() - start;
  if (!warmed) return failed_reply(warmed.error());
  warmed_up_ = *warmed;
  return WarmedUpReply{warmed->iterations, warmed->iterations_per_sample, warmed->steady,
                       warmed->sample};
}

template <>
Result<RoundReply, ErrorReply> CommandServer::answer(const RoundRequest& request) {
  const std::int64_t iterations =
      request.iterations_per_sample.value_or(warmed_up_ ? warmed_up_->iterations_per_sample : 0);
  if (rotations_.empty() || !warmed_up_ || request.samples < 1 || iterations < 1) {
    return failed_reply(
        "a round needs a prepared and warm case, and at least one sample and iteration");
  }
  RoundReply reply;
  reply.iterations_per_sample = iterations;
  // The window and the range mark the round for external profilers.
  std::optional<ProfilerWindow> window;
  std::optional<Scope> range;
  if (!request.range.empty()) {
    // The profiler shows everything inside the range, which must be only the case.
    sampler_->leave_out_canaries();
    window.emplace(find_profiler_calls());
    ScopeSpec spec;
    spec.name = request.range;
    range.emplace(nullptr, std::move(spec));
  }
  RoundSamples samples;
  EnergyReading energy(energy_meter());
  const Nanoseconds start = clock_.now();
  const Status status = run_round(*sampler_, request.samples, iterations, samples);
  const Nanoseconds elapsed = clock_.now() - start;
  // The sum is limited to the time that passed in this process, because a device's clock is another
  // clock.
  spent_.timed += std::min(samples.timed, elapsed);
  if (!status) return failed_reply(status.error());
  reply.samples = std::move(samples.samples);
  reply.device = std::move(samples.device);
  if (!samples.latencies.empty()) {
    reply.latencies = count_latencies(std::move(samples.latencies));
    reply.latencies->clock = samples.clock;
  }
  reply.details = changed_details();
  energy.finish(elapsed, reply);
  if (canary_ && !samples.canaries.empty()) {
    reply.canaries = {std::move(samples.canaries), canary_->threads(), median(samples.joins)};
  }
  return reply;
}

// Returns the details that are new or changed since the preparation. A kernel knows some of them,
// such as the sampling method, only after sampling.
std::map<std::string, std::string> CommandServer::changed_details() const {
  std::map<std::string, std::string> details;
  const ops::Kernel& kernel = built_->prepared.front().kernel();
  if (!kernel.has_device_clock()) return details;
  const auto& reported = built_->reply.details;
  for (const auto& [name, value] : kernel.details()) {
    const auto earlier = reported.find(name);
    if (earlier == reported.end() || earlier->second != value) details[name] = value;
  }
  return details;
}

template <>
Result<ProfiledReply, ErrorReply> CommandServer::answer(const ProfileRequest& request) {
  const Nanoseconds start = clock_.now();
  end_measurement();
  // Frees memory for the pass, which creates everything itself in order to observe the creation.
  built_.reset();
  for (std::optional<Arena>& arena : arenas_) arena.reset();
  Result<ProfiledReply, ErrorReply> reply = ProfiledReply{};
  // The pass observes one instance of the case alone, with the threads of the first stream.
  on_stream(0, [&] { reply = run_pass(request); });
  spent_.profile += clock_.now() - start;
  if (!reply) return std::move(reply).error();
  if (team_) {
    reply->details["streams"] =
        fmt::format("one of {}, alone on its threads: a profile shows one instance of the case",
                    stream_count());
  }
  return std::move(*reply);
}

Result<ProfiledReply, ErrorReply> CommandServer::run_pass(const ProfileRequest& request) {
  const auto key = parse_id(request.prepare.id, registry());
  const auto backend = context_->backends.find(key ? key->backend : std::string());
  if (!backend) return to_error_reply(backend.error());
  const auto events = options_.perf_events ? options_.perf_events() : nullptr;
  std::optional<ProcessorCounters> processor;
  if (events) processor.emplace(*events, clock_);
  const ProfilePassContext context{**backend,
                                   clock_,
                                   options_.available,
                                   arena_size_,
                                   decoder_,
                                   registry(),
                                   processor ? &*processor : nullptr};
  return is_counters_request(request) ? run_counters_pass(context, request)
                                      : run_profile_pass(context, request);
}

const EnergyMeterResult* CommandServer::energy_meter() {
  if (!options_.energy_meter) return nullptr;
  const std::string device(built_->backend->device());
  auto entry = meters_.find(device);
  if (entry == meters_.end()) {
    entry = meters_.emplace(device, options_.energy_meter(device)).first;
  }
  return &entry->second;
}

SampleCanary* CommandServer::sample_canary() {
  if (!canary_ && options_.sample_canary) {
    canary_ = team_ ? make_team_canary(*team_, options_.sample_canary) : options_.sample_canary();
  }
  return canary_.get();
}

// Samples the speed of the machine: the canary, the computing work, the canary, the streaming work,
// and the canary again, which is the first one of the next sample.
template <>
Result<WatchedReply, ErrorReply> CommandServer::answer(const WatchRequest& request) {
  SampleCanary* const canary = sample_canary();
  if (canary == nullptr || !options_.probe_work) return failed_reply("this worker has no canaries");
  const Nanoseconds start = clock_.now();
  const auto work = options_.probe_work(last_level_cache_, options_.available);
  if (work == nullptr) {
    return ErrorReply{
        Outcome::skipped,
        fmt::format("not enough memory to watch the machine, which takes {}",
                    format_bytes(probe_memory(last_level_cache_, canary->threads())))};
  }
  WatchedReply reply;
  reply.threads = canary->threads();
  std::vector<Nanoseconds> joins;
  const auto time_of = [&](void (ProbeWork::*part)()) {
    const std::int64_t preemptions = canary->preemptions();
    const Nanoseconds begin = clock_.now();
    (*work.*part)();
    const Nanoseconds time = clock_.now() - begin;
    return canary->preemptions() == preemptions ? time : Nanoseconds(0);
  };
  MachineLook last = canary->look();
  Nanoseconds next_look{0};
  const Nanoseconds begin = clock_.now();
  for (Nanoseconds now = begin; now - begin < request.time; now = clock_.now()) {
    const Nanoseconds compute = time_of(&ProbeWork::compute);
    const MachineLook middle = canary->look();
    const Nanoseconds stream = time_of(&ProbeWork::stream);
    const MachineLook after = canary->look();
    // The processor stays as busy as with a case. An idle one would have another clock, and other
    // processes would run on it.
    if (now - begin >= next_look) {
      next_look += request.time / kMaxLooks;
      reply.canaries.push_back(std::max({last.canary, middle.canary, after.canary}));
      reply.chains.push_back(std::max({last.chain, middle.chain, after.chain}));
      reply.lost.push_back(std::max({last.lost, middle.lost, after.lost}));
      reply.compute.push_back(compute);
      reply.memory.push_back(stream);
      if (const auto join = canary->join()) joins.push_back(*join);
    }
    last = after;
  }
  reply.join = median(joins);
  spent_.setup += clock_.now() - start;
  return reply;
}

template <>
Result<DoneReply, ErrorReply> CommandServer::answer(const ReleaseRequest& request) {
  const bool must_check =
      request.check && !rotations_.empty() && built_ != nullptr && built_->is_checked;
  const Nanoseconds start = clock_.now();
  Result<Done, ErrorReply> checked = must_check ? check_again() : Done{};
  spent_.check += clock_.now() - start;
  end_measurement();
  if (checked) return DoneReply{};
  built_.reset();  // not used for another variant of the problem
  return std::move(checked).error();
}

// The sampled invocation is checked if it uses the kernel's own buffers. Copies for cold caches
// have other inputs.
Result<Done, ErrorReply> CommandServer::check_again() {
  const CheckRequest request{CheckKind::expected, built_->reply.output, built_->seed,
                             options_.available, "those before the samples"};
  try {
    for (std::size_t stream = 0; stream < stream_count(); ++stream) {
      const auto invocations = rotations_[stream]->invocations();
      ops::Invocation* const sampled = invocations.size() == 1 ? invocations.front() : nullptr;
      Result<Done, ErrorReply> checked = Done{};
      on_stream(stream, [&] {
        checked = verify_again(*built_->backend, built_->workload, built_->prepared[stream],
                               sampled, request, clock_);
      });
      if (!checked) return at_stream(stream, std::move(checked).error());
    }
    return Done{};
  } catch (const std::bad_alloc&) {
    return failed_reply("not enough memory for the check after the samples");
  } catch (const std::exception& exception) {
    return thrown_reply("check after the samples", exception);
  }
}

void CommandServer::end_measurement() {
  sampler_.reset();
  rotations_.clear();
  warmed_up_.reset();
}

template <>
Result<DoneReply, ErrorReply> CommandServer::answer(const QuitRequest& /*request*/) {
  return DoneReply{};
}

// After the specialisations, which the next two use.
// A backend returns its errors. One that throws fails its case; the worker stays usable.
template <class Message>
Reply CommandServer::guarded_answer(const Message& message) {
  try {
    auto answered = answer(message);
    if (answered) return *std::move(answered);
    return std::move(answered).error();
  } catch (const std::exception& exception) {
    end_measurement();
    built_.reset();
    return thrown_reply(Message::kName, exception);
  }
}

ReplyMessage CommandServer::handle(const Request& request) {
  if (context_->fault) return {failed_reply(*context_->fault), spent_};
  if (!slowdown_) return {failed_reply(slowdown_.error()), spent_};
  Reply reply = std::visit([&](const auto& message) { return guarded_answer(message); }, request);
  return {std::move(reply), spent_};
}

}  // namespace bench
