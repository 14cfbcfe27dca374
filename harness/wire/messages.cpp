// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/messages.hpp"

#include "base/json_fields.hpp"
#include "harness/result/fields.hpp"
#include "harness/wire/reply_rules.hpp"
#include "harness/wire/wire_fields.hpp"
#include "harness/wire/worker_limits.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

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
void fields(auto&, JsonOf<QuitRequest> auto&) {}

inline constexpr JsonRange kIterationsPerSample =
    within(1, static_cast<double>(kMaxIterationsPerSample));

BENCH_FIELDS(HelloReply, protocol, tool_version, backend, device, library, arena,
             (plugins, kOptional));
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

// Writes or reads an enumeration of two values as a boolean.
template <class Archive, class Enum>
void flag_field(Archive& archive, const char* name, Enum& value,
                std::type_identity_t<std::remove_const_t<Enum>> no,
                std::type_identity_t<std::remove_const_t<Enum>> yes) {
  bool flag = value == yes;
  archive.required(name, flag);
  if constexpr (Archive::kReads) value = flag ? yes : no;
}

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
  flag_field(archive, "fuse", network.fusion, ops::Fusion::separate, ops::Fusion::fused);
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
  BENCH_MEMBERS(archive, r, switches, spool, run_id, scope, warmup_iterations, warmup_time);
  flag_field(archive, "announce", r.announce, ProfileRequest::Announce::no,
             ProfileRequest::Announce::yes);
}
template <class Archive>
void request_fields(Archive& archive, JsonOf<ReleaseRequest> auto& r, const Registry&) {
  bool check = r.check == ReleaseRequest::Check::yes;
  archive.defaulted("check", check, false);
  if constexpr (Archive::kReads)
    r.check = check ? ReleaseRequest::Check::yes : ReleaseRequest::Check::no;
}

// In the order of the alternatives of Request.
constexpr std::array<std::string_view, std::variant_size_v<Request>> kCommands = {
    "hello", "describe", "model", "prepare", "steps", "warm_up",
    "round", "profile",  "watch", "release", "quit"};

// In the order of the alternatives of Reply.
constexpr std::array<std::string_view, std::variant_size_v<Reply>> kReplies = {
    "hello",     "describe", "model",    "prepared", "steps", "refused",
    "warmed_up", "round",    "profiled", "watched",  "done"};

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
  constexpr std::string_view kModel = "model";
  if (reply.text_at("reply") == kModel) return kWireRules;
  return {.numbers = JsonRules::Numbers::not_negative,
          .max_integer = static_cast<std::uint64_t>(kMaxReplyInteger)};
}

constexpr const char* kKindsSwitch = "kinds";

std::string counters_name() { return std::string(to_string(RecordGroup::counters)); }

}  // namespace

ProfileRequest counters_request(ProfileRequest request) {
  request.switches = {{kKindsSwitch, counters_name()}};
  request.announce = ProfileRequest::Announce::no;
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
  if (problem.empty()) problem = find_contradiction(message.reply);
  if (!problem.empty()) return protocol_error(line, problem);
  return message;
}

Result<ReplyMessage> decode_reply(std::string_view line, const Request& request,
                                  Nanoseconds elapsed) {
  BENCH_ASSIGN_OR_RETURN(ReplyMessage message, decode_reply(line));
  const std::string problem = find_mismatch(request, message.reply, elapsed);
  if (!problem.empty()) return protocol_error(line, problem);
  return message;
}

}  // namespace bench
