// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/messages.hpp"

#include "base/checked.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "harness/result/fields.hpp"
#include "harness/wire/wire_fields.hpp"
#include "harness/wire/worker_limits.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace bench::ops {

BENCH_FIELDS(Tensor, name, role, dtype, dims, touched);
BENCH_FIELDS(Work, macs, flops, flops_valid, sfu_ops, bytes_read, bytes_written);
BENCH_FIELDS(Formula, name, expression, values, result);
BENCH_FIELDS(Model, tensors, work, formulas);
BENCH_FIELDS(KernelStep, node, kind, implementation, layouts, (input_layouts, "met"));

}  // namespace bench::ops

namespace bench {

std::span<const std::string_view> enumerator_names(DataType) {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const DataTypeInfo& type : data_types()) names.push_back(type.name);
    return names;
  }();
  return kNames;
}

BENCH_FIELDS(Error, what, where, next);
BENCH_FIELDS(BufferInfo, name, role, layout, (size, "bytes"));
BENCH_FIELDS(WorkerTimes, timed, warmup, setup, check, profile);

// In JSON, null represents NaN.
inline void fields(JsonWriter& writer, const OutputSample& sample) {
  BENCH_MEMBERS(writer, sample, digest, values, (tolerances, kOptional));
}
inline void fields(JsonReader& reader, OutputSample& sample) {
  std::vector<std::optional<double>> values;
  reader.required("digest", sample.digest);
  reader.signed_numbers(
      [&](JsonReader& signed_reader) { signed_reader.required("values", values); });
  reader.optional("tolerances", sample.tolerances);
  sample.values.clear();
  for (const auto& value : values)
    sample.values.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
}

BENCH_FIELDS(HelloRequest, protocol, reuse_distance, last_level_cache);
BENCH_FIELDS(DescribeRequest, probed);
BENCH_FIELDS(ModelRequest, op, direction, dtype, layout, math, tokens);
BENCH_FIELDS(WarmUpRequest, iterations, time);
BENCH_FIELDS(RoundRequest, samples, (range, kOptional), iterations_per_sample);
BENCH_FIELDS(WatchRequest, time);
BENCH_FIELDS(ReleaseRequest, (check, kUnlessInitial));
void fields(auto&, JsonOf<QuitRequest> auto&) {}

inline constexpr JsonRange kIterationsPerSample =
    within(1, static_cast<double>(kMaxIterationsPerSample));

BENCH_FIELDS(HelloReply, protocol, tool_version, backend, device, library, arena,
             (plugins, kOptional), (build, kOptional));
BENCH_FIELDS(DescribeReply, document);
BENCH_FIELDS(StepsReply, steps);
BENCH_FIELDS(ErrorReply, outcome, reason, (implementation, kOptional), (details, kOptional));
BENCH_FIELDS(WarmedUpReply, iterations, (iterations_per_sample, kIterationsPerSample), steady,
             sample);
BENCH_FIELDS(ProfiledReply, iterations, profiled, unprofiled, wall, attributed, unattributed,
             activities, (malformed, "damaged"), unknown, notes, peak, details);
BENCH_FIELDS(WatchedReply, (threads, at_least(1)), canaries, chains, lost, compute, memory, join);
void fields(auto&, JsonOf<DoneReply> auto&) {}
void fields(auto& archive, JsonOf<RoundReply> auto& r) {
  BENCH_MEMBERS(archive, r, samples);
  device_clock_fields(archive, r.device);
  BENCH_OPTIONAL_MEMBERS(archive, r, details);
  remark_fields(archive, r.device);
  BENCH_MEMBERS(archive, r, (iterations_per_sample, kIterationsPerSample), energy, latencies);
  BENCH_MEMBERS(archive, r.canaries, (threads, "canary_threads", at_least(1)));
  if (r.canaries.threads) BENCH_MEMBERS(archive, r.canaries, (times, "canaries_ns"), join);
}
inline void fields(JsonWriter& writer, const ModelReply& r) {
  if (r.model.ok()) return fields(writer, *r.model);
  writer.required("error", r.model.error());
}
inline void fields(JsonReader& reader, ModelReply& r) {
  if (reader.has("error")) {
    Error error;
    reader.required("error", error);
    r.model = std::move(error);
  } else {
    fields(reader, *r.model);
  }
}
// A reply contains all times; an unknown time is written as 0.
inline void prepared_time_fields(JsonWriter& writer, const PreparationTimes& times) {
  for (const PreparationTime& row : kPreparationTimes)
    writer.required(row.name, (times.*row.time).value_or(Nanoseconds(0)));
}
inline void prepared_time_fields(JsonReader& reader, PreparationTimes& times) {
  for (const PreparationTime& row : kPreparationTimes)
    reader.required(row.name, (times.*row.time).emplace());
}
// The times of `setup` are details of the message.
inline void detail_fields(JsonWriter& writer, const PreparedReply& r) {
  std::map<std::string, std::string> details = r.details;
  for (const auto& [name, time] : r.setup)
    details[std::string(kSetupDetail) + name] = std::to_string(time.count());
  writer.required("details", details);
}
inline void detail_fields(JsonReader& reader, PreparedReply& r) {
  reader.required("details", r.details);
  r.setup = take_setup(r.details);
}
void fields(auto& archive, JsonOf<PreparedReply> auto& r) {
  BENCH_MEMBERS(archive, r, implementation, (libraries, kOptional), buffers, steps);
  prepared_time_fields(archive, r.preparation);
  BENCH_MEMBERS(archive, r, memory, check, output, (choices, kOptional));
  detail_fields(archive, r);
}

namespace {

// Maximum number of characters of an invalid line that an error quotes: enough to recognise the
// program that wrote the line.
constexpr std::size_t kMaxLineQuote = 120;

// Write and read the parameters of a layer. The operator's table states the kind of each parameter.
void parameter_fields(JsonWriter& writer, const ops::LayerDefinition& layer,
                      const ops::OperatorRegistry&) {
  if (layer.reshape) return;  // a view has no operator
  const auto table = layer.parameters.table();
  writer.required_object("parameters", [&](JsonWriter& parameters) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      const auto put = [&](const auto& value) {
        if constexpr (!std::is_same_v<decltype(value), const std::monostate&>)
          parameters.required(table[i].name, value);
      };
      std::visit(put, layer.parameters.value(i));
    }
  });
}

template <class T>
void read_parameter(JsonReader& reader, std::string_view name, ops::ParameterSet& set) {
  T value{};
  reader.required(name, value);
  if (reader.ok()) set.set(name, std::move(value));
}

void read_parameter(JsonReader& reader, const ops::Parameter& parameter, ops::ParameterSet& set) {
  switch (parameter.kind) {
    case ops::ParameterKind::count:
      return read_parameter<std::int64_t>(reader, parameter.name, set);
    case ops::ParameterKind::flag:
      return read_parameter<bool>(reader, parameter.name, set);
    case ops::ParameterKind::word:
      return read_parameter<std::string>(reader, parameter.name, set);
    case ops::ParameterKind::real:
      return read_parameter<double>(reader, parameter.name, set);
    case ops::ParameterKind::spatial:
    case ops::ParameterKind::shape:
      return read_parameter<std::vector<std::int64_t>>(reader, parameter.name, set);
    case ops::ParameterKind::padding:
      return read_parameter<std::vector<ops::PadPair>>(reader, parameter.name, set);
  }
}

void parameter_fields(JsonReader& reader, ops::LayerDefinition& layer,
                      const ops::OperatorRegistry& registry) {
  if (layer.reshape) return;
  const ops::Operator* op = registry.find(layer.op);
  if (op == nullptr) return reader.report_problem(fmt::format("unknown operator `{}`", layer.op));
  layer.parameters = ops::ParameterSet(op->parameters);
  reader.required_object("parameters", [&](JsonReader& parameters) {
    for (const std::string_view name : parameters.names()) {
      const ops::Parameter* parameter = ops::find_parameter(op->parameters, name);
      if (parameter == nullptr) return parameters.report_field(name, "is an unknown parameter");
      read_parameter(parameters, *parameter, layer.parameters);
    }
  });
}

template <class Archive>
void network_fields(Archive& archive, JsonOf<PlannedNetwork> auto& network,
                    const ops::OperatorRegistry& registry) {
  BENCH_MEMBERS(archive, network.definition, name, input);
  archive.list("inputs", network.definition.inputs, [&](Archive& entry, auto& input) {
    entry.required("name", input.name);
    entry.required("sizes", input.sizes);
  });
  archive.list("layers", network.definition.layers, [&](Archive& entry, auto& layer) {
    BENCH_MEMBERS(entry, layer, name, op, reshape);
    parameter_fields(entry, layer, registry);
    BENCH_MEMBERS(entry, layer, inputs);
  });
  BENCH_MEMBERS(archive, network.definition, (outputs, kUnlessInitial));
  archive.list("training", network.definition.training, [&](Archive& entry, auto& layer) {
    BENCH_MEMBERS(entry, layer, op);
    parameter_fields(entry, layer, registry);
    BENCH_MEMBERS(entry, layer, (inputs, kUnlessInitial));
  });
  BENCH_MEMBERS(archive, network, batch, mode);
  bool fuse = network.fusion == ops::Fusion::fused;
  archive.required("fuse", fuse);
  if constexpr (Archive::kReads) network.fusion = fuse ? ops::Fusion::fused : ops::Fusion::separate;
}

using NetworkPointer = std::shared_ptr<const PlannedNetwork>;

void network_member(JsonWriter& writer, const NetworkPointer& network,
                    const ops::OperatorRegistry& registry) {
  if (network == nullptr) return;
  writer.object("network", [&](JsonWriter& inner) { network_fields(inner, *network, registry); });
}
void network_member(JsonReader& reader, NetworkPointer& network,
                    const ops::OperatorRegistry& registry) {
  reader.object("network", [&](JsonReader& inner) {
    auto read = std::make_shared<PlannedNetwork>();
    network_fields(inner, *read, registry);
    network = std::move(read);
  });
}

using Registry = ops::OperatorRegistry;

// Most requests do not depend on the operators.
void request_fields(auto& archive, auto& r, const Registry&) { fields(archive, r); }
void request_fields(auto& archive, JsonOf<PrepareRequest> auto& r, const Registry& registry) {
  BENCH_MEMBERS(archive, r, id, check, seed);
  network_member(archive, r.network, registry);
  if (r.check == CheckKind::expected) archive.required("expected", r.expected);
  BENCH_MEMBERS(archive, r, reuse_distance, (input_layouts, "met_layouts", kOptional),
                (tuning, "tune", kUnlessInitial), (choices, kOptional),
                (sample_method, kUnlessInitial));
}
template <class Archive>
void request_fields(Archive& archive, JsonOf<StepsRequest> auto& r, const Registry& registry) {
  BENCH_MEMBERS(archive, r, dtype);
  network_member(archive, r.network, registry);
  if constexpr (Archive::kReads) {
    if (r.network == nullptr) archive.report_field("network", "is missing");
  }
}
void request_fields(auto& archive, JsonOf<ProfileRequest> auto& r, const Registry& registry) {
  archive.required_object("prepare",
                          [&](auto& inner) { request_fields(inner, r.prepare, registry); });
  BENCH_MEMBERS(archive, r, switches, spool, run_id, scope, warmup_iterations, warmup_time,
                announce);
}
// Returns the names of the messages in the order of the alternatives.
template <class... Messages>
constexpr std::array<std::string_view, sizeof...(Messages)> names_of(
    std::type_identity<std::variant<Messages...>>) {
  return {Messages::kName...};
}
constexpr auto kCommands = names_of(std::type_identity<Request>());
constexpr auto kReplies = names_of(std::type_identity<Reply>());

Error protocol_error(std::string_view line, std::string_view reason) {
  std::string quoted;
  for (const char c : line.substr(0, kMaxLineQuote)) {
    quoted += c >= ' ' && c < '\x7f' ? c : '?';
  }
  if (line.size() > kMaxLineQuote) quoted += "...";
  return {fmt::format("not a message of the worker protocol ({}): `{}`", reason, quoted), "", ""};
}

// Returns the rules for the numbers of a reply: those of records, but a plugin's model may contain
// negative numbers.
JsonRules reply_rules(JsonValue reply) {
  if (reply.text_at("reply") == ModelReply::kName) return kWireRules;
  return {.numbers = JsonRules::Numbers::not_negative,
          .max_integer = static_cast<std::uint64_t>(kMaxReplyInteger)};
}

constexpr const char* kKindsSwitch = "kinds";

std::string counters_name() { return std::string(to_string(RecordGroup::counters)); }

// Returns nullopt if the sum does not fit into a duration.
std::optional<Nanoseconds> checked_sum(std::span<const Nanoseconds> times) {
  Checked sum = 0;
  for (const Nanoseconds time : times) sum += time.count();
  const auto value = sum.value();
  return value ? std::optional(Nanoseconds(*value)) : std::nullopt;
}

bool has_too_many_reasons(const SampleRemarks& remarks) {
  Checked with_reason = 0;
  for (const auto& [reason, count] : remarks.reasons) with_reason += count;
  return with_reason.value().value_or(remarks.count + 1) > remarks.count;
}

// The first rule that the values of a reply violate, whatever the request was; empty if there is
// none.
std::string find_contradiction(const auto&) { return ""; }
std::string find_contradiction(const ErrorReply& reply) {
  constexpr auto kAll = kRefusals<Outcome::unsupported, Outcome::skipped, Outcome::wrong_result>;
  if (std::ranges::find(kAll, reply.outcome) != kAll.end()) return "";
  return fmt::format("a refusal cannot have the outcome `{}`", to_string(reply.outcome));
}
// The last sample of a warm-up has as many iterations as the samples that follow it.
std::string find_contradiction(const WarmedUpReply& reply) {
  return reply.iterations >= reply.iterations_per_sample
             ? ""
             : "`iterations` is less than `iterations_per_sample`";
}
std::string find_contradiction(const RoundReply& reply) {
  const auto sum = checked_sum(reply.samples);
  if (!sum || sum->count() > kMaxReplyInteger)
    return fmt::format("the sum of `samples_ns` is more than {}", kMaxReplyInteger);
  const DeviceSamples& device = reply.device;
  for (const auto* remarks : {&device.voided, &device.throttled, &device.unsteady_clock}) {
    if (has_too_many_reasons(*remarks)) return "remarks have more reasons than their `count`";
  }
  return "";
}
std::string find_contradiction(const WatchedReply& reply) {
  const std::size_t looks = reply.canaries.size();
  const bool are_equal = reply.chains.size() == looks && reply.lost.size() == looks &&
                         reply.compute.size() == looks && reply.memory.size() == looks;
  return are_equal ? "" : "its lists have different lengths";
}

std::string too_long(std::string_view what, Nanoseconds time, Nanoseconds elapsed) {
  return fmt::format("it reports {} of {}, which is longer than the request ({})", what,
                     format_time(time), format_time(elapsed));
}

// Returns whether a time on the clock of a device, or of an unknown clock, is possible.
bool is_possible(Nanoseconds time, Nanoseconds elapsed, Nanoseconds tolerance) {
  return time <= kMaxReplySlowdown * elapsed + tolerance;
}

// What an answer says against its request, which took the time `elapsed`; empty if nothing.
std::string find_mismatch(const auto&, const auto&, Nanoseconds) { return ""; }
std::string find_mismatch(const PrepareRequest& request, const PreparedReply& reply, Nanoseconds) {
  const bool must_have_output = request.check == CheckKind::reference;
  const bool has_output = !reply.output.digest.empty() && !reply.output.values.empty();
  return must_have_output && !has_output ? "`output` is empty" : "";
}
std::string find_mismatch(const WarmUpRequest&, const WarmedUpReply& reply, Nanoseconds elapsed) {
  return is_possible(reply.sample, elapsed, kDeviceClockTolerance)
             ? ""
             : too_long("a sample", reply.sample, elapsed);
}
std::string find_mismatch(const RoundRequest& request, const RoundReply& reply,
                          Nanoseconds elapsed) {
  if (std::ssize(reply.samples) > request.samples)
    return fmt::format("it has {} samples instead of {}", reply.samples.size(), request.samples);
  const bool has_device_clock = reply.device.sample_method.has_value();
  if (has_device_clock) {
    // The number of iterations is given in duets, whose times become a verdict.
    const bool is_of_duet = request.iterations_per_sample.has_value();
    const Nanoseconds tolerance = is_of_duet ? kReplyClockTolerance : kDeviceClockTolerance;
    for (const Nanoseconds sample : reply.samples) {
      if (!is_possible(sample, elapsed, tolerance)) return too_long("a sample", sample, elapsed);
    }
    return "";
  }
  if (reply.latencies && reply.latencies->times.back() > elapsed + kReplyClockTolerance)
    return too_long("a latency", reply.latencies->times.back(), elapsed);
  const Nanoseconds sum = checked_sum(reply.samples).value_or(Nanoseconds::max());
  return sum <= elapsed + kReplyClockTolerance ? "" : too_long("samples", sum, elapsed);
}

// Returns why the reply cannot answer the request; empty if it can.
template <class Message>
std::string find_problem(const Message& request, const Reply& reply, Nanoseconds elapsed) {
  if (const auto* answer = std::get_if<typename Message::Answer>(&reply))
    return find_mismatch(request, *answer, elapsed);
  const auto* refusal = std::get_if<ErrorReply>(&reply);
  if (refusal == nullptr)
    return fmt::format("`{}` does not answer `{}`", reply_name(reply), Message::kName);
  constexpr std::span<const Outcome> kPermitted = Message::kDuty.refusals;
  if (std::ranges::find(kPermitted, refusal->outcome) != kPermitted.end()) return "";
  return fmt::format("`{}` cannot be refused with the outcome `{}`", Message::kName,
                     to_string(refusal->outcome));
}

}  // namespace

ProfileRequest counters_request(ProfileRequest request) {
  request.switches = {{kKindsSwitch, counters_name()}};
  request.announce = false;
  return request;
}

bool is_counters_request(const ProfileRequest& request) {
  const auto kinds = request.switches.find(kKindsSwitch);
  return kinds != request.switches.end() && kinds->second == counters_name();
}

std::string encode(const Request& request) {
  return json_object(
      [&](JsonWriter& writer) {
        tagged_fields(writer, "command", kCommands, request, [](auto& archive, auto& r) {
          request_fields(archive, r, ops::built_in_operators());
        });
      },
      kWireStyle);
}

std::string encode(const ReplyMessage& reply) {
  return json_object(
      [&](JsonWriter& writer) {
        tagged_fields(writer, "reply", kReplies, reply.reply,
                      [](auto& archive, auto& r) { fields(archive, r); });
        writer.required("spent", reply.spent);
      },
      kWireStyle);
}

Result<Request> decode_request(std::string_view line, const ops::OperatorRegistry& registry) {
  Request request;
  const auto declare = [&](JsonReader& reader) {
    tagged_fields(reader, "command", kCommands, request,
                  [&](auto& archive, auto& r) { request_fields(archive, r, registry); });
  };
  const Status status = read_json_object(line, declare, kWireRules);
  if (!status.ok()) return protocol_error(line, status.error().what);
  return request;
}

RequestDuty duty(const Request& request) {
  return std::visit([](const auto& message) { return message.kDuty; }, request);
}
std::string_view command_name(const Request& request) { return kCommands[request.index()]; }
std::string_view reply_name(const Reply& reply) { return kReplies[reply.index()]; }

Result<ReplyMessage> decode_reply(std::string_view line) {
  const auto document = parse_json(line);
  if (!document) return protocol_error(line, document.error().what);
  if (!document->root().is_object()) return protocol_error(line, "it is not a JSON object");
  ReplyMessage message;
  JsonReader reader(document->root(), reply_rules(document->root()));
  tagged_fields(reader, "reply", kReplies, message.reply,
                [](auto& archive, auto& r) { fields(archive, r); });
  reader.required("spent", message.spent);
  std::string problem = reader.problem();
  if (problem.empty())
    problem = std::visit([](const auto& r) { return find_contradiction(r); }, message.reply);
  if (!problem.empty()) return protocol_error(line, problem);
  return message;
}

Result<ReplyMessage> decode_reply(std::string_view line, const Request& request,
                                  Nanoseconds elapsed) {
  BENCH_ASSIGN_OR_RETURN(ReplyMessage message, decode_reply(line));
  const std::string problem = std::visit(
      [&](const auto& asked) { return find_problem(asked, message.reply, elapsed); }, request);
  if (!problem.empty()) return protocol_error(line, problem);
  return message;
}

}  // namespace bench
