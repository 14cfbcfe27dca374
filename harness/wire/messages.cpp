// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/messages.hpp"

#include "harness/wire/model_json.hpp"
#include "harness/wire/protocol_values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace bench {
namespace {

using bench::to_json;  // in addition to the overloads of this file
using nlohmann::json;

// Characters of an invalid line that an error quotes: enough to recognise the program that wrote
// it.
constexpr std::size_t kQuotedCharacters = 120;

constexpr std::array<std::string_view, 3> kCheckNames = {"none", "reference", "expected"};

std::string dump(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

json to_json(Nanoseconds time) { return time.count(); }

json to_json(const PrepareRequest& r) {
  json message = {
      {"id", r.id}, {"check", kCheckNames[static_cast<std::size_t>(r.check)]}, {"seed", r.seed}};
  if (r.network) message["network"] = network_to_json(*r.network);
  if (r.check == CheckKind::expected) message["expected"] = to_json(r.expected);
  if (r.reuse_distance) message["reuse_distance_bytes"] = r.reuse_distance->count;
  if (!r.met.empty()) message["met_layouts"] = r.met;
  if (r.tuning != 0) message["tune"] = r.tuning;
  if (r.sample_method != ops::SampleMethod::any) {
    message["sample_method"] = name_of(r.sample_method);
  }
  return message;
}

struct RequestWriter {
  json operator()(const HelloRequest& r) const {
    json message = {{"command", "hello"},
                    {"protocol", r.protocol},
                    {"reuse_distance_bytes", r.reuse_distance.count}};
    if (r.last_level_cache) message["last_level_cache_bytes"] = r.last_level_cache->count;
    return message;
  }
  json operator()(const DescribeRequest&) const { return {{"command", "describe"}}; }
  json operator()(const ModelRequest& r) const {
    json message = to_json(r);
    message["command"] = "model";
    return message;
  }
  json operator()(const PrepareRequest& r) const {
    json message = to_json(r);
    message["command"] = "prepare";
    return message;
  }
  json operator()(const StepsRequest& r) const {
    return {{"command", "steps"},
            {"dtype", info(r.dtype).name},
            {"network", network_to_json(*r.network)}};
  }
  json operator()(const WarmUpRequest& r) const {
    return {{"command", "warm_up"}, {"iterations", r.iterations}, {"time_ns", to_json(r.time)}};
  }
  json operator()(const RoundRequest& r) const {
    json message = {{"command", "round"}, {"samples", r.samples}};
    if (!r.range.empty()) message["range"] = r.range;
    if (r.iterations_per_sample) message["iterations_per_sample"] = *r.iterations_per_sample;
    return message;
  }
  json operator()(const ProfileRequest& r) const {
    return {{"command", "profile"},
            {"prepare", to_json(r.prepare)},
            {"switches", r.switches},
            {"spool", r.spool},
            {"run_id", r.run_id},
            {"scope", r.scope},
            {"warmup_iterations", r.warmup_iterations},
            {"warmup_time_ns", to_json(r.warmup_time)},
            {"announce", r.announce == ProfileRequest::Announce::yes}};
  }
  json operator()(const CanaryRequest&) const { return {{"command", "canary"}}; }
  json operator()(const WatchRequest& r) const {
    return {{"command", "watch"}, {"time_ns", to_json(r.time)}};
  }
  json operator()(const ReleaseRequest&) const { return {{"command", "release"}}; }
  json operator()(const QuitRequest&) const { return {{"command", "quit"}}; }
};

Request read_hello(const json& m, const ops::OperatorRegistry&) {
  HelloRequest r{
      m.at("protocol").get<int>(), {m.at("reuse_distance_bytes").get<std::int64_t>()}, {}};
  if (m.contains("last_level_cache_bytes")) {
    r.last_level_cache = Bytes{m.at("last_level_cache_bytes").get<std::int64_t>()};
  }
  return r;
}
Request read_describe(const json&, const ops::OperatorRegistry&) { return DescribeRequest{}; }
Request read_model(const json& m, const ops::OperatorRegistry&) { return model_request(m); }
PrepareRequest prepare_request(const json& m, const ops::OperatorRegistry& catalogue) {
  PrepareRequest r;
  r.id = m.at("id").get<std::string>();
  r.check = named<CheckKind>(kCheckNames, m.at("check").get<std::string>(), "check");
  r.seed = m.at("seed").get<std::uint64_t>();
  if (m.contains("network")) r.network = network_from_json(m.at("network"), catalogue);
  if (r.check == CheckKind::expected) r.expected = output_sample(m.at("expected"));
  if (m.contains("reuse_distance_bytes")) {
    r.reuse_distance = Bytes{m.at("reuse_distance_bytes").get<std::int64_t>()};
  }
  if (m.contains("met_layouts")) r.met = m.at("met_layouts").get<ops::InputLayouts>();
  r.tuning = m.value("tune", r.tuning);
  r.sample_method = named<ops::SampleMethod>(ops::kSampleMethodNames,
                                             m.value("sample_method", "any"), "sample method");
  return r;
}
Request read_prepare(const json& m, const ops::OperatorRegistry& catalogue) {
  return prepare_request(m, catalogue);
}
Request read_steps(const json& m, const ops::OperatorRegistry& catalogue) {
  const auto dtype = data_type_from_name(m.at("dtype").get<std::string>());
  if (!dtype) throw std::runtime_error("unknown dtype");
  return StepsRequest{*dtype, network_from_json(m.at("network"), catalogue)};
}
Request read_warm_up(const json& m, const ops::OperatorRegistry&) {
  return WarmUpRequest{m.at("iterations").get<std::int64_t>(), nanoseconds(m.at("time_ns"))};
}
Request read_round(const json& m, const ops::OperatorRegistry&) {
  RoundRequest r{m.at("samples").get<std::int64_t>(), m.value("range", std::string())};
  if (m.contains("iterations_per_sample")) {
    r.iterations_per_sample = m.at("iterations_per_sample").get<std::int64_t>();
  }
  return r;
}
Request read_profile(const json& m, const ops::OperatorRegistry& catalogue) {
  ProfileRequest r;
  r.prepare = prepare_request(m.at("prepare"), catalogue);
  r.switches = m.at("switches").get<std::map<std::string, std::string>>();
  r.spool = m.at("spool").get<std::string>();
  r.run_id = m.at("run_id").get<std::string>();
  r.scope = m.at("scope").get<std::vector<std::string>>();
  r.warmup_iterations = m.at("warmup_iterations").get<std::int64_t>();
  r.warmup_time = nanoseconds(m.at("warmup_time_ns"));
  r.announce =
      m.at("announce").get<bool>() ? ProfileRequest::Announce::yes : ProfileRequest::Announce::no;
  return r;
}
Request read_canary(const json&, const ops::OperatorRegistry&) { return CanaryRequest{}; }
Request read_watch(const json& m, const ops::OperatorRegistry&) {
  return WatchRequest{nanoseconds(m.at("time_ns"))};
}
Request read_release(const json&, const ops::OperatorRegistry&) { return ReleaseRequest{}; }
Request read_quit(const json&, const ops::OperatorRegistry&) { return QuitRequest{}; }

struct RequestRow {
  std::string_view name;
  Request (*read)(const json&, const ops::OperatorRegistry&);
};
constexpr std::array<RequestRow, 12> kRequests = {{{"hello", read_hello},
                                                   {"describe", read_describe},
                                                   {"model", read_model},
                                                   {"prepare", read_prepare},
                                                   {"steps", read_steps},
                                                   {"warm_up", read_warm_up},
                                                   {"round", read_round},
                                                   {"profile", read_profile},
                                                   {"canary", read_canary},
                                                   {"watch", read_watch},
                                                   {"release", read_release},
                                                   {"quit", read_quit}}};

json to_json(const BufferInfo& buffer) {
  return {{"name", buffer.name},
          {"role", buffer.role},
          {"layout", buffer.layout},
          {"bytes", buffer.size.count}};
}

struct ReplyWriter {
  json operator()(const HelloReply& r) const {
    return {{"reply", "hello"},
            {"protocol", r.protocol},
            {"tool_version", r.tool_version},
            {"backend", r.backend},
            {"device", r.device},
            {"library", to_json(r.library)},
            {"arena_bytes", r.arena.count},
            {"plugins", to_json(r.plugins)}};
  }
  json operator()(const DescribeReply& r) const {
    return {{"reply", "describe"}, {"document", r.document}};
  }
  json operator()(const ModelReply& r) const {
    json message = to_json(r.model);
    message["reply"] = "model";
    return message;
  }
  json operator()(const PreparedReply& r) const {
    json buffers = json::array();
    for (const BufferInfo& buffer : r.buffers) buffers.push_back(to_json(buffer));
    return {{"reply", "prepared"},
            {"implementation", r.implementation},
            {"libraries", to_json(r.libraries)},
            {"buffers", std::move(buffers)},
            {"steps", to_json(r.steps)},
            {"create_ns", to_json(r.create)},
            {"create_hit_ns", to_json(r.create_hit)},
            {"reorder_ns", to_json(r.reorder)},
            {"first_run_ns", to_json(r.first_run)},
            {"memory", to_json(r.memory)},
            {"check", r.check},
            {"output", to_json(r.output)},
            {"details", r.details}};
  }
  json operator()(const StepsReply& r) const {
    return {{"reply", "steps"}, {"steps", to_json(r.steps)}};
  }
  json operator()(const RefusedReply& r) const {
    return {{"reply", "refused"}, {"outcome", name_of(r.outcome)}, {"reason", r.reason}};
  }
  json operator()(const WarmedUpReply& r) const {
    return {{"reply", "warmed_up"},
            {"iterations", r.iterations},
            {"iterations_per_sample", r.iterations_per_sample},
            {"steady", r.steady},
            {"sample_ns", to_json(r.sample)}};
  }
  json operator()(const RoundReply& r) const {
    json message = {{"reply", "round"}, {"samples_ns", to_json(r.samples)}};
    put(r.device, message);
    if (r.iterations_per_sample) message["iterations_per_sample"] = *r.iterations_per_sample;
    if (r.canaries.threads) {
      message["canaries_ns"] = to_json(r.canaries.times);
      message["canary_threads"] = *r.canaries.threads;
      if (r.canaries.join) message["join_ns"] = to_json(*r.canaries.join);
    }
    return message;
  }
  json operator()(const ProfiledReply& r) const {
    return {{"reply", "profiled"},
            {"iterations", r.iterations},
            {"profiled_ns", to_json(r.profiled)},
            {"unprofiled_ns", to_json(r.unprofiled)},
            {"wall_ns", to_json(r.wall)},
            {"attributed_ns", to_json(r.attributed)},
            {"unattributed_ns", to_json(r.unattributed)},
            {"activities", r.activities},
            {"damaged", r.malformed},
            {"unknown", r.unknown},
            {"notes", r.notes},
            {"peak_bytes", r.peak.count},
            {"details", r.details}};
  }
  json operator()(const CanariesReply& r) const {
    return {{"reply", "canaries"}, {"time", to_json(r.time)}};
  }
  json operator()(const WatchedReply& r) const {
    return {{"reply", "watched"},
            {"threads", r.threads},
            {"canaries_ns", to_json(r.canaries)},
            {"chains_ns", to_json(r.chains)},
            {"lost_ns", to_json(r.lost)}};
  }
  json operator()(const DoneReply&) const { return {{"reply", "done"}}; }
};

Reply reply_hello(const json& m) {
  HelloReply reply{m.at("protocol").get<int>(),        m.at("tool_version").get<std::string>(),
                   m.at("backend").get<std::string>(), m.at("device").get<std::string>(),
                   library_info(m.at("library")),      {m.at("arena_bytes").get<std::int64_t>()}};
  reply.plugins = library_infos(m, "plugins");
  return reply;
}
Reply reply_model(const json& m) { return ModelReply{model_result(m)}; }
Reply reply_describe(const json& m) { return DescribeReply{m.at("document").get<std::string>()}; }
Reply reply_prepared(const json& m) {
  PreparedReply r;
  r.implementation = m.at("implementation").get<std::string>();
  r.libraries = library_infos(m, "libraries");
  for (const json& b : m.at("buffers")) {
    r.buffers.push_back({b.at("name").get<std::string>(),
                         b.at("role").get<std::string>(),
                         b.at("layout").get<std::string>(),
                         {b.at("bytes").get<std::int64_t>()}});
  }
  r.steps = kernel_steps(m.at("steps"));
  r.create = nanoseconds(m.at("create_ns"));
  r.create_hit = nanoseconds(m.at("create_hit_ns"));
  r.reorder = nanoseconds(m.at("reorder_ns"));
  r.first_run = nanoseconds(m.at("first_run_ns"));
  r.memory = memory_use(m.at("memory"));
  r.check = m.at("check").get<std::string>();
  r.output = output_sample(m.at("output"));
  r.details = m.at("details").get<std::map<std::string, std::string>>();
  return r;
}
Reply reply_steps(const json& m) { return StepsReply{kernel_steps(m.at("steps"))}; }
Reply reply_refused(const json& m) {
  return RefusedReply{
      named<Outcome>(outcome_names(), m.at("outcome").get<std::string>(), "outcome"),
      m.at("reason").get<std::string>()};
}
Reply reply_warmed_up(const json& m) {
  return WarmedUpReply{m.at("iterations").get<std::int64_t>(),
                       m.at("iterations_per_sample").get<std::int64_t>(),
                       m.at("steady").get<bool>(), nanoseconds(m.at("sample_ns"))};
}
Reply reply_round(const json& m) {
  RoundReply r;
  r.samples = times(m.at("samples_ns"));
  r.device = device_samples(m);
  if (m.contains("iterations_per_sample")) {
    r.iterations_per_sample = m.at("iterations_per_sample").get<std::int64_t>();
  }
  if (m.contains("canary_threads")) {
    r.canaries.times = times(m.at("canaries_ns"));
    r.canaries.threads = m.at("canary_threads").get<int>();
    if (m.contains("join_ns")) r.canaries.join = nanoseconds(m.at("join_ns"));
  }
  return r;
}
Reply reply_profiled(const json& m) {
  ProfiledReply r;
  r.iterations = m.at("iterations").get<std::int64_t>();
  r.profiled = nanoseconds(m.at("profiled_ns"));
  r.unprofiled = nanoseconds(m.at("unprofiled_ns"));
  r.wall = nanoseconds(m.at("wall_ns"));
  r.attributed = nanoseconds(m.at("attributed_ns"));
  r.unattributed = nanoseconds(m.at("unattributed_ns"));
  r.activities = m.at("activities").get<std::int64_t>();
  r.malformed = m.at("damaged").get<std::int64_t>();
  r.unknown = m.at("unknown").get<std::int64_t>();
  r.notes = m.at("notes").get<std::vector<std::string>>();
  r.peak = Bytes{m.at("peak_bytes").get<std::int64_t>()};
  r.details = m.at("details").get<std::map<std::string, std::string>>();
  return r;
}
Reply reply_canaries(const json& m) { return CanariesReply{canaries(m.at("time"))}; }
Reply reply_watched(const json& m) {
  return WatchedReply{m.at("threads").get<int>(), times(m.at("canaries_ns")),
                      times(m.at("chains_ns")), times(m.at("lost_ns"))};
}
Reply reply_done(const json&) { return DoneReply{}; }

struct ReplyRow {
  std::string_view name;
  Reply (*read)(const json&);
};
constexpr std::array<ReplyRow, 12> kReplies = {{{"hello", reply_hello},
                                                {"describe", reply_describe},
                                                {"model", reply_model},
                                                {"prepared", reply_prepared},
                                                {"steps", reply_steps},
                                                {"refused", reply_refused},
                                                {"warmed_up", reply_warmed_up},
                                                {"round", reply_round},
                                                {"profiled", reply_profiled},
                                                {"canaries", reply_canaries},
                                                {"watched", reply_watched},
                                                {"done", reply_done}}};

Error broken(std::string_view line, std::string_view why) {
  std::string quoted;
  for (const char c : line.substr(0, kQuotedCharacters)) {
    quoted += c >= ' ' && c < '\x7f' ? c : '?';
  }
  if (line.size() > kQuotedCharacters) quoted += "...";
  return {fmt::format("not a message of the worker protocol ({}): `{}`", why, quoted), "", ""};
}

// Returns the row of `table` whose name is the value of the member `key` of `message`.
template <class Row, std::size_t kSize>
const Row& find_row(const std::array<Row, kSize>& table, const json& message, const char* key) {
  const auto name = message.at(key).get<std::string>();
  for (const Row& row : table) {
    if (row.name == name) return row;
  }
  throw std::runtime_error(fmt::format("unknown {} `{}`", key, name));
}

constexpr const char* kKinds = "kinds";

std::string counters_word() {
  return std::string(record_group_names()[static_cast<std::size_t>(RecordGroup::counters)]);
}

}  // namespace

ProfileRequest counters_request(ProfileRequest request) {
  request.switches = {{kKinds, counters_word()}};
  request.announce = ProfileRequest::Announce::no;
  return request;
}

bool is_counters_request(const ProfileRequest& request) {
  const auto kinds = request.switches.find(kKinds);
  return kinds != request.switches.end() && kinds->second == counters_word();
}

std::string encode(const Request& request) { return dump(std::visit(RequestWriter{}, request)); }

std::string encode(const ReplyMessage& reply) {
  json message = std::visit(ReplyWriter{}, reply.reply);
  message["spent"] = {{"timed_ns", to_json(reply.spent.timed)},
                      {"warmup_ns", to_json(reply.spent.warmup)},
                      {"setup_ns", to_json(reply.spent.setup)},
                      {"check_ns", to_json(reply.spent.check)},
                      {"profile_ns", to_json(reply.spent.profile)}};
  return dump(message);
}

Result<Request> decode_request(std::string_view line, const ops::OperatorRegistry& catalogue) {
  try {
    const json message = json::parse(line);
    return find_row(kRequests, message, "command").read(message, catalogue);
    // exceptions of json and of this project; errors are values from here on
  } catch (const std::exception& error) {
    return broken(line, error.what());
  }
}

Result<ReplyMessage> decode_reply(std::string_view line) {
  try {
    const json message = json::parse(line);
    ReplyMessage result{find_row(kReplies, message, "reply").read(message), {}};
    const json& spent = message.at("spent");
    result.spent = {nanoseconds(spent.at("timed_ns")), nanoseconds(spent.at("warmup_ns")),
                    nanoseconds(spent.at("setup_ns")), nanoseconds(spent.at("check_ns")),
                    Nanoseconds(spent.value("profile_ns", std::int64_t{0}))};
    return result;
  } catch (const std::exception& error) {
    return broken(line, error.what());
  }
}

}  // namespace bench
