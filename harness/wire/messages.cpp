// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/messages.hpp"

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

void fields(auto& archive, JsonOf<Tensor> auto& tensor) {
  archive.required("name", tensor.name);
  archive.required("role", tensor.role);
  archive.required("dtype", tensor.dtype);
  archive.required("dims", tensor.dims);
  archive.required("touched", tensor.touched);
}

void fields(auto& archive, JsonOf<Work> auto& work) {
  archive.optional("macs", work.macs);
  archive.required("flops", work.flops);
  archive.required("flops_valid", work.flops_valid);
  archive.required("sfu_ops", work.sfu_ops);
  archive.required("bytes_read", work.bytes_read);
  archive.required("bytes_written", work.bytes_written);
}

void fields(auto& archive, JsonOf<Formula> auto& formula) {
  archive.required("name", formula.name);
  archive.required("expression", formula.expression);
  archive.required("values", formula.values);
  archive.required("result", formula.result);
}

void fields(auto& archive, JsonOf<Model> auto& model) {
  archive.required("tensors", model.tensors);
  archive.required("work", model.work);
  archive.required("formulas", model.formulas);
}

void fields(auto& archive, JsonOf<KernelStep> auto& step) {
  archive.required("node", step.node);
  archive.required("kind", step.kind);
  archive.required("implementation", step.implementation);
  archive.required("layouts", step.layouts);
  archive.required("met", step.input_layouts);
}

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

void fields(auto& archive, JsonOf<Error> auto& error) {
  archive.required("what", error.what);
  archive.required("where", error.where);
  archive.required("next", error.next);
}

void fields(auto& archive, JsonOf<BufferInfo> auto& buffer) {
  archive.required("name", buffer.name);
  archive.required("role", buffer.role);
  archive.required("layout", buffer.layout);
  archive.required("bytes", buffer.size);
}

void fields(auto& archive, JsonOf<WorkerTimes> auto& spent) {
  archive.required("timed_ns", spent.timed);
  archive.required("warmup_ns", spent.warmup);
  archive.required("setup_ns", spent.setup);
  archive.required("check_ns", spent.check);
  archive.optional("profile_ns", spent.profile);  // older workers do not send it
}

// In JSON, null represents NaN.
inline void fields(JsonWriter& writer, const OutputSample& sample) {
  writer.required("digest", sample.digest);
  writer.required("values", sample.values);
  writer.optional("tolerances", sample.tolerances);
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
  archive.required("name", network.definition.name);
  archive.required("input", network.definition.input);
  archive.list("inputs", network.definition.inputs, [&](Archive& entry, auto& input) {
    entry.required("name", input.name);
    entry.required("sizes", input.sizes);
  });
  archive.list("layers", network.definition.layers, [&](Archive& entry, auto& layer) {
    entry.required("name", layer.name);
    entry.required("op", layer.op);
    entry.optional("reshape", layer.reshape);
    parameter_fields(entry, layer, registry);
    entry.required("inputs", layer.inputs);
  });
  archive.defaulted("outputs", network.definition.outputs, std::vector<std::string>{});
  archive.list("training", network.definition.training, [&](Archive& entry, auto& layer) {
    entry.required("op", layer.op);
    parameter_fields(entry, layer, registry);
    entry.defaulted("inputs", layer.inputs, std::vector<std::string>{});
  });
  archive.required("batch", network.batch);
  archive.required("mode", network.mode);
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

void request_fields(auto& archive, JsonOf<HelloRequest> auto& r, const Registry&) {
  archive.required("protocol", r.protocol);
  archive.required("reuse_distance_bytes", r.reuse_distance);
  archive.optional("last_level_cache_bytes", r.last_level_cache);
}
void request_fields(auto& archive, JsonOf<DescribeRequest> auto& r, const Registry&) {
  archive.optional("probed", r.probed);
}
void request_fields(auto& archive, JsonOf<ModelRequest> auto& r, const Registry&) {
  archive.required("op", r.op);
  archive.required("direction", r.direction);
  archive.required("dtype", r.dtype);
  archive.required("layout", r.layout);
  archive.required("math", r.math);
  archive.required("tokens", r.tokens);
}
void request_fields(auto& archive, JsonOf<PrepareRequest> auto& r, const Registry& registry) {
  archive.required("id", r.id);
  archive.required("check", r.check);
  archive.required("seed", r.seed);
  network_member(archive, r.network, registry);
  if (r.check == CheckKind::expected) archive.required("expected", r.expected);
  archive.optional("reuse_distance_bytes", r.reuse_distance);
  archive.optional("met_layouts", r.input_layouts);
  archive.defaulted("tune", r.tuning, std::int64_t{0});
  archive.optional("choices", r.choices);
  archive.defaulted("sample_method", r.sample_method, ops::SampleMethod::any);
}
template <class Archive>
void request_fields(Archive& archive, JsonOf<StepsRequest> auto& r, const Registry& registry) {
  archive.required("dtype", r.dtype);
  network_member(archive, r.network, registry);
  if constexpr (Archive::kReads) {
    if (r.network == nullptr) archive.report_field("network", "is missing");
  }
}
void request_fields(auto& archive, JsonOf<WarmUpRequest> auto& r, const Registry&) {
  archive.required("iterations", r.iterations);
  archive.required("time_ns", r.time);
}
void request_fields(auto& archive, JsonOf<RoundRequest> auto& r, const Registry&) {
  archive.required("samples", r.samples);
  archive.optional("range", r.range);
  archive.optional("iterations_per_sample", r.iterations_per_sample);
}
void request_fields(auto& archive, JsonOf<ProfileRequest> auto& r, const Registry& registry) {
  archive.required_object("prepare",
                          [&](auto& inner) { request_fields(inner, r.prepare, registry); });
  archive.required("switches", r.switches);
  archive.required("spool", r.spool);
  archive.required("run_id", r.run_id);
  archive.required("scope", r.scope);
  archive.required("warmup_iterations", r.warmup_iterations);
  archive.required("warmup_time_ns", r.warmup_time);
  flag_field(archive, "announce", r.announce, ProfileRequest::Announce::no,
             ProfileRequest::Announce::yes);
}
void request_fields(auto& archive, JsonOf<WatchRequest> auto& r, const Registry&) {
  archive.required("time_ns", r.time);
}
template <class Archive>
void request_fields(Archive& archive, JsonOf<ReleaseRequest> auto& r, const Registry&) {
  bool check = r.check == ReleaseRequest::Check::yes;
  archive.defaulted("check", check, false);
  if constexpr (Archive::kReads)
    r.check = check ? ReleaseRequest::Check::yes : ReleaseRequest::Check::no;
}
void request_fields(auto&, JsonOf<QuitRequest> auto&, const Registry&) {}

// In the order of the alternatives of Request.
constexpr std::array<std::string_view, std::variant_size_v<Request>> kCommands = {
    "hello", "describe", "model", "prepare", "steps", "warm_up",
    "round", "profile",  "watch", "release", "quit"};

constexpr JsonRange kIterationsPerSample = within(1, static_cast<double>(kMaxIterationsPerSample));

void reply_fields(auto& archive, JsonOf<HelloReply> auto& r) {
  archive.required("protocol", r.protocol);
  archive.required("tool_version", r.tool_version);
  archive.required("backend", r.backend);
  archive.required("device", r.device);
  archive.required("library", r.library);
  archive.required("arena_bytes", r.arena);
  archive.optional("plugins", r.plugins);
}
void reply_fields(auto& archive, JsonOf<DescribeReply> auto& r) {
  archive.required("document", r.document);
}
void reply_fields(JsonWriter& writer, const ModelReply& r) {
  if (r.model.ok()) return fields(writer, *r.model);
  writer.required("error", r.model.error());
}
void reply_fields(JsonReader& reader, ModelReply& r) {
  if (reader.has("error")) {
    Error error;
    reader.required("error", error);
    r.model = std::move(error);
  } else {
    fields(reader, *r.model);
  }
}
// A reply contains all times; an unknown time is written as 0.
void reply_fields(JsonWriter& writer, const PreparationTimes& times) {
  for (const PreparationTime& row : kPreparationTimes)
    writer.required(row.name, (times.*row.time).value_or(Nanoseconds(0)));
}
void reply_fields(JsonReader& reader, PreparationTimes& times) {
  for (const PreparationTime& row : kPreparationTimes)
    reader.required(row.name, (times.*row.time).emplace());
}
// The times of `setup` are details of the message.
void detail_fields(JsonWriter& writer, const PreparedReply& r) {
  std::map<std::string, std::string> details = r.details;
  for (const auto& [name, time] : r.setup)
    details[std::string(kSetupDetail) + name] = std::to_string(time.count());
  writer.required("details", details);
}
void detail_fields(JsonReader& reader, PreparedReply& r) {
  reader.required("details", r.details);
  r.setup = take_setup(r.details);
}
void reply_fields(auto& archive, JsonOf<PreparedReply> auto& r) {
  archive.required("implementation", r.implementation);
  archive.optional("libraries", r.libraries);
  archive.required("buffers", r.buffers);
  archive.required("steps", r.steps);
  reply_fields(archive, r.preparation);
  archive.required("memory", r.memory);
  archive.required("check", r.check);
  archive.required("output", r.output);
  archive.optional("choices", r.choices);
  detail_fields(archive, r);
}
void reply_fields(auto& archive, JsonOf<StepsReply> auto& r) { archive.required("steps", r.steps); }
void reply_fields(auto& archive, JsonOf<ErrorReply> auto& r) {
  archive.required("outcome", r.outcome);
  archive.required("reason", r.reason);
  archive.optional("implementation", r.implementation);
  archive.optional("details", r.details);
}
void reply_fields(auto& archive, JsonOf<WarmedUpReply> auto& r) {
  archive.required("iterations", r.iterations);
  archive.required("iterations_per_sample", r.iterations_per_sample, kIterationsPerSample);
  archive.required("steady", r.steady);
  archive.required("sample_ns", r.sample);
}
void reply_fields(auto& archive, JsonOf<RoundReply> auto& r) {
  archive.required("samples_ns", r.samples);
  device_clock_fields(archive, r.device);
  archive.optional("details", r.details);
  remark_fields(archive, r.device);
  archive.optional("iterations_per_sample", r.iterations_per_sample, kIterationsPerSample);
  energy_fields(archive, r.energy);
  latency_count_fields(archive, r.latencies);
  archive.optional("canary_threads", r.canaries.threads, at_least(1));
  if (!r.canaries.threads) return;
  archive.required("canaries_ns", r.canaries.times);
  archive.optional("join_ns", r.canaries.join);
}
void reply_fields(auto& archive, JsonOf<ProfiledReply> auto& r) {
  archive.required("iterations", r.iterations);
  archive.required("profiled_ns", r.profiled);
  archive.required("unprofiled_ns", r.unprofiled);
  archive.required("wall_ns", r.wall);
  archive.required("attributed_ns", r.attributed);
  archive.required("unattributed_ns", r.unattributed);
  archive.required("activities", r.activities);
  archive.required("damaged", r.malformed);
  archive.required("unknown", r.unknown);
  archive.required("notes", r.notes);
  archive.required("peak_bytes", r.peak);
  archive.required("details", r.details);
}
void reply_fields(auto& archive, JsonOf<WatchedReply> auto& r) {
  archive.required("threads", r.threads, at_least(1));
  archive.required("canaries_ns", r.canaries);
  archive.required("chains_ns", r.chains);
  archive.required("lost_ns", r.lost);
  archive.required("compute_ns", r.compute);
  archive.required("memory_ns", r.memory);
  archive.optional("join_ns", r.join);
}
void reply_fields(auto&, JsonOf<DoneReply> auto&) {}

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
                      [](auto& archive, auto& r) { reply_fields(archive, r); });
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
                [](auto& archive, auto& r) { reply_fields(archive, r); });
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
