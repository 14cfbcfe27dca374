// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/worker.hpp"

#include "base/available_memory.hpp"
#include "base/version.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/placement.hpp"
#include "harness/host/process.hpp"
#include "harness/wire/messages.hpp"
#include "harness/wire/worker_document.hpp"
#include "harness/worker/command_server.hpp"
#include "ops/onednn/library.hpp"
#include "ops/operator.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

// First descriptor for the protocol, above those that libraries could mistake for standard streams.
constexpr int kFirstOwnDescriptor = 10;

// Reads and writes lines on descriptors. Reads block. The worker ends at the end of input and after
// an error.
class Channel {
 public:
  Channel(int in, int out) : in_(in), out_(out) {}

  std::optional<std::string> read_line() {
    for (;;) {
      const std::size_t end = buffer_.find('\n', searched_);
      if (end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        searched_ = 0;
        return line;
      }
      searched_ = buffer_.size();
      std::array<char, 65536> chunk;
      const ssize_t count = read(in_, chunk.data(), chunk.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return std::nullopt;
      buffer_.append(chunk.data(), static_cast<std::size_t>(count));
    }
  }

  bool write_line(std::string line) {
    line += '\n';
    std::string_view remaining = line;
    while (!remaining.empty()) {
      const ssize_t count = write(out_, remaining.data(), remaining.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      remaining.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

 private:
  int in_, out_;
  std::string buffer_;
  std::size_t searched_ = 0;
};

// Duplicates a standard stream to a descriptor for the protocol and returns the duplicate, -1 on
// error. Returns any other descriptor unchanged.
int move_off_standard_streams(int descriptor) {
  if (descriptor > STDERR_FILENO) return descriptor;
  return fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
}

// Replaces the standard streams that the protocol has used. A library's output then goes to
// standard error.
void free_standard_streams(int in, int out) {
  if (in == STDIN_FILENO) {
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) {
      dup2(null, STDIN_FILENO);
      close(null);
    }
  }
  if (out == STDOUT_FILENO) dup2(STDERR_FILENO, STDOUT_FILENO);
}

// Makes the operating system kill this process when its coordinator ends, even inside an operator
// that never returns. Returns false if the coordinator has already ended. Without
// kCoordinatorVariable (a worker started by hand), only the end of input ends the worker.
bool die_with_coordinator() {
  const char* text = std::getenv(kCoordinatorVariable);
  if (text == nullptr) return true;
  pid_t coordinator = 0;
  const std::string_view digits = text;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), coordinator);
  if (error != std::errc() || end != digits.data() + digits.size()) return true;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == coordinator;
}

}  // namespace

namespace {

int serve_commands(Channel& channel, const std::shared_ptr<WorkerContext>& context, Clock& clock) {
  ServerOptions options{available_memory("")};
  options.addresses = own_addresses();
  options.sample_canary = make_sample_canary;
  options.probe_work = make_probe_work;
  options.perf_events = make_perf_events;
  options.energy_meter = open_energy_meter;
  if (const char* slowdown = std::getenv(kSlowdownVariable)) options.slowdown = slowdown;
  if (const char* streams = std::getenv(kStreamsVariable))
    options.streams = parse_stream_processors(streams).value_or(StreamProcessors{});
  CommandServer server(context, clock, std::move(options));
  while (std::optional<std::string> line = channel.read_line()) {
    const Result<Request> request = decode_request(*line, context->registry());
    const ReplyMessage reply =
        request ? server.handle(*request)
                : ReplyMessage{ErrorReply{Outcome::failed, request.error().message()}, {}};
    if (!channel.write_line(encode(reply))) return EXIT_FAILURE;
    if (request && std::holds_alternative<QuitRequest>(*request)) return EXIT_SUCCESS;
  }
  return EXIT_SUCCESS;
}

// Returns nullopt if the coordinator has ended or no descriptor is available.
std::optional<Channel> open_channel(int in, int out) {
  if (!die_with_coordinator()) return std::nullopt;
  std::signal(SIGINT, SIG_IGN);   // Ctrl-C reaches the whole process group; the coordinator decides
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe becomes an error of write
  const int own_in = move_off_standard_streams(in);
  const int own_out = move_off_standard_streams(out);
  if (own_in < 0 || own_out < 0) return std::nullopt;
  free_standard_streams(in, out);
  return Channel(own_in, own_out);
}

}  // namespace

int serve(int in, int out, const WorkerContextFactory& make_worker_context, Clock& clock) {
  std::optional<Channel> channel = open_channel(in, out);
  return channel ? serve_commands(*channel, make_worker_context(), clock) : EXIT_FAILURE;
}

int serve(int in, int out, ops::Backend& backend, Clock& clock) {
  std::optional<Channel> channel = open_channel(in, out);
  if (!channel) return EXIT_FAILURE;
  return serve_commands(
      *channel, std::make_shared<WorkerContext>(WorkerContext{ops::BackendSet(backend)}), clock);
}

// `bench worker --describe` and `--probe onednn` (harness/worker/worker.hpp).
namespace {

ops::OperatorDescription make_description(const ops::Operator& op) {
  ops::OperatorDescription description;
  description.name = op.name;
  description.help = op.help;
  description.takes_post_ops = op.takes_post_ops;
  description.directions.assign(op.directions.begin(), op.directions.end());
  for (const ops::Parameter& parameter : op.parameters) {
    description.parameters.push_back({std::string(parameter.name),
                                      std::string(parameter.token),
                                      parameter.kind,
                                      std::string(parameter.fallback),
                                      std::string(parameter.help),
                                      parameter.minimum,
                                      {parameter.words.begin(), parameter.words.end()}});
  }
  return description;
}

void add_devices(WorkerContext& context, const std::optional<std::vector<std::string>>& probed,
                 WorkerDocument& document) {
  const ops::Backend& first = context.backends.first();
  document.devices.push_back(
      {std::string(first.device()), std::string(first.name()), first.library(), std::nullopt});
  for (const auto& other : context.backends.others(probed)) {
    auto& list = other.missing ? document.missing : document.devices;
    list.push_back({other.device, other.name, other.library, other.missing});
  }
}

}  // namespace

std::string describe(WorkerContext& context,
                     const std::optional<std::vector<std::string>>& probed) {
  WorkerDocument document;
  document.protocol = kProtocolVersion;
  document.tool_version = tool_version();
  for (const ops::Operator* op : context.registry().operators()) {
    document.operators.push_back(make_description(*op));
  }
  for (const DataTypeInfo& type : data_types()) {
    if (type.is_case_type) document.types.push_back({std::string(type.name), type.bytes});
  }
  for (const ops::BackendRow& row : context.registry().backends()) {
    document.backends.push_back({row.name, row.device, row.operators, row.source});
  }
  add_devices(context, probed, document);
  document.plugins = context.plugins;
  return format_worker_document(document);
}

std::string identify_onednn() {
  WorkerDocument document;
  document.protocol = kProtocolVersion;
  document.tool_version = tool_version();
  document.devices.push_back({"cpu", "onednn", ops::onednn_library_file(), std::nullopt});
  return format_worker_document(document);
}

}  // namespace bench
