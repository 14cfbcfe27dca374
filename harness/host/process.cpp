// SPDX-License-Identifier: Apache-2.0
#include "harness/host/process.hpp"

#include "harness/host/channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace bench {
namespace {

// Interval between checks for an interrupt; ten checks per second are guaranteed.
constexpr Nanoseconds kSlice = std::chrono::milliseconds(40);
// Pause between two checks of a process that is expected to end.
constexpr Nanoseconds kReapPause = std::chrono::milliseconds(1);

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

Error system_error(const std::string& what) {
  return {fmt::format("{}: {}", what, std::strerror(errno)), "", ""};
}

// Both ends of a connection between parent and child.
struct Pair {
  int parent = -1;
  int child = -1;
};

// A socket for the direction in which the parent writes: send() can suppress SIGPIPE.
std::optional<Pair> make_socket() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  return Pair{ends[0], ends[1]};
}

std::optional<Pair> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pair{ends[0], ends[1]};
}

// Everything that the child needs between fork and exec, where it must not allocate memory.
struct Launch {
  std::vector<char*> arguments, environment;
  cpu_set_t processors;
  bool set_affinity = false;
  ProcessRequest::Addresses addresses = ProcessRequest::Addresses::drawn;
  Pair input, output, error, status;
  pid_t parent = 0;
};

// The kernel puts these texts, and a pointer to each, above the stack. The stack's address
// therefore depends on their size. Adds a variable that pads them to a fixed size, or to the next
// multiple if they are larger.
void pad(const std::vector<std::string>& arguments, std::vector<std::string>& environment) {
  constexpr std::size_t kUnit = std::size_t{1} << 16;
  constexpr std::string_view kPadding = "BENCH_PADDING=";
  std::size_t size = arguments.front().size() + 1;  // the kernel adds the program's path once more
  const auto add = [&](const std::string& text) { size += text.size() + 1 + sizeof(char*); };
  std::ranges::for_each(arguments, add);
  std::ranges::for_each(environment, add);
  size += kPadding.size() + 1 + sizeof(char*);
  environment.push_back(std::string(kPadding) + std::string((kUnit - size % kUnit) % kUnit, '.'));
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

[[noreturn]] void run_child(const Launch& launch) {
  const auto fail = [&] {
    const int error = errno;
    (void)!write(launch.status.child, &error, sizeof error);
    _exit(127);
  };
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launch.parent) _exit(127);  // the parent ended before prctl
  if (dup2(launch.input.child, STDIN_FILENO) < 0 || dup2(launch.output.child, STDOUT_FILENO) < 0 ||
      dup2(launch.error.child, STDERR_FILENO) < 0) {
    fail();
  }
  if (launch.set_affinity && sched_setaffinity(0, sizeof launch.processors, &launch.processors)) {
    fail();
  }
  // Some containers refuse this; the addresses are then randomised as usual.
  if (launch.addresses == ProcessRequest::Addresses::fixed) personality(ADDR_NO_RANDOMIZE);
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(launch.arguments[0], launch.arguments.data(), launch.environment.data());
  fail();
  _exit(127);
}

const std::map<int, std::string_view>& signal_names() {
  static const std::map<int, std::string_view> kNames = {
      {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGHUP, "SIGHUP"},
      {SIGILL, "SIGILL"},   {SIGINT, "SIGINT"},   {SIGKILL, "SIGKILL"}, {SIGPIPE, "SIGPIPE"},
      {SIGSEGV, "SIGSEGV"}, {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}, {SIGXCPU, "SIGXCPU"},
      {SIGXFSZ, "SIGXFSZ"}, {SIGQUIT, "SIGQUIT"}, {SIGSYS, "SIGSYS"},   {SIGALRM, "SIGALRM"}};
  return kNames;
}

}  // namespace

ProcessRequest::Addresses own_addresses() {
  using enum ProcessRequest::Addresses;
  constexpr unsigned long kAsk = 0xffffffff;
  const int persona = personality(kAsk);
  if (persona >= 0 && (persona & ADDR_NO_RANDOMIZE) != 0) return fixed;
  std::ifstream file("/proc/sys/kernel/randomize_va_space");
  int drawn_by_system = 1;
  file >> drawn_by_system;
  return file && drawn_by_system == 0 ? fixed : drawn;
}

std::map<std::string, std::string> inherited_environment() {
  std::map<std::string, std::string> result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      result.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return result;
}

std::string ProcessEnd::text() const {
  if (exit_status) return fmt::format("exit status {}", *exit_status);
  const int number = signal.value_or(0);
  const auto name = signal_names().find(number);
  const std::string short_name =
      name == signal_names().end() ? fmt::format("signal {}", number) : std::string(name->second);
  return fmt::format("{} ({})", short_name, strsignal(number));
}

Result<ChildProcess> ChildProcess::start(const ProcessRequest& request) {
  std::vector<std::string> arguments = {request.program};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment;
  for (const auto& [name, value] : request.environment) environment.push_back(name + "=" + value);
  Launch launch{};
  launch.addresses = request.addresses;
  if (request.addresses == ProcessRequest::Addresses::fixed) pad(arguments, environment);
  launch.arguments = pointers(arguments);
  launch.environment = pointers(environment);
  launch.set_affinity = !request.processors.empty();
  CPU_ZERO(&launch.processors);
  for (const int processor : request.processors) CPU_SET(processor, &launch.processors);
  launch.parent = getpid();
  const bool joined = request.output == ProcessRequest::Output::joined;

  std::array<int, 4> child_ends = {-1, -1, -1, -1};
  const auto close_child_ends = [&] {
    for (int& end : child_ends) close_descriptor(end);
  };
  ChildProcess child;
  const auto open = [&](std::optional<Pair> pair, std::size_t index, int& parent_end, Pair& out) {
    if (!pair) return false;
    out = *pair;
    parent_end = pair->parent;
    child_ends[index] = pair->child;
    return true;
  };
  int status = -1;
  const bool opened = open(make_socket(), 0, child.input_, launch.input) &&
                      open(make_pipe(), 1, child.output_, launch.output) &&
                      open(make_pipe(), 2, child.error_, launch.error) &&
                      open(make_pipe(), 3, status, launch.status);
  if (joined) launch.output.child = launch.error.child;
  const pid_t pid = opened ? fork() : -1;
  if (pid == 0) run_child(launch);
  const int fork_error = errno;
  close_child_ends();
  if (pid < 0) {
    close_descriptor(status);
    errno = fork_error;
    return system_error("cannot start a process");
  }
  child.pid_ = pid;
  // A successful exec closes this without writing anything.
  int exec_error = 0;
  ssize_t count = 0;
  do {
    count = read(status, &exec_error, sizeof exec_error);
  } while (count < 0 && errno == EINTR);
  close_descriptor(status);
  if (count == static_cast<ssize_t>(sizeof exec_error)) {
    errno = exec_error;
    return system_error(fmt::format("cannot execute `{}`", request.program));
  }
  for (const int end : {child.output_, child.error_}) fcntl(end, F_SETFL, O_NONBLOCK);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      error_(std::exchange(other.error_, -1)),
      buffer_(std::move(other.buffer_)),
      searched_(other.searched_),
      error_tail_(std::move(other.error_tail_)),
      error_new_(std::move(other.error_new_)),
      end_(other.end_) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0 && !end_) {
    kill();
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  close_all();
}

void ChildProcess::close_all() {
  close_descriptor(input_);
  close_descriptor(output_);
  close_descriptor(error_);
}

void ChildProcess::close_input() {
  // Its end of a channel shares the connection with output_, which stays open.
  if (input_ >= 0) shutdown(input_, SHUT_WR);
  close_descriptor(input_);
}

ChildProcess::Wait ChildProcess::wait_for_channel(ChannelListener& listener, Nanoseconds limit,
                                                  const std::function<bool()>& interrupted,
                                                  Clock& clock) {
  const Nanoseconds start = clock.now();
  // No requests come this way, so a worker that did not get the channel's name (`env -i`) ends at
  // once.
  close_descriptor(input_);
  for (;;) {
    if (const std::optional<int> connection = listener.accept()) {
      close_descriptor(output_);
      input_ = *connection;
      output_ = fcntl(*connection, F_DUPFD_CLOEXEC, 0);
      fcntl(output_, F_SETFL, O_NONBLOCK);
      return Wait::ready;
    }
    if (try_reap()) return Wait::closed;
    if (interrupted && interrupted()) return Wait::interrupted;
    const Nanoseconds remaining = limit - (clock.now() - start);
    if (remaining <= Nanoseconds(0)) return Wait::deadline;
    poll_once(listener.descriptor(), POLLIN, remaining);
  }
}

void ChildProcess::kill() {
  if (pid_ > 0 && !end_) ::kill(pid_, SIGKILL);
}

void ChildProcess::read_standard_error() {
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t count = read(error_, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) close_descriptor(error_);
    if (count <= 0) return;
    const std::string_view text(chunk.data(), static_cast<std::size_t>(count));
    error_new_ += text;
    error_tail_ += text;
    if (error_tail_.size() > kKeptStandardError) {
      error_tail_.erase(0, error_tail_.size() - kKeptStandardError);
    }
    // Limits the memory, because the caller may never take the text.
    if (error_new_.size() > 16 * kKeptStandardError) error_new_.erase(0, error_new_.size() / 2);
  }
}

std::string ChildProcess::take_standard_error() { return std::exchange(error_new_, {}); }

void ChildProcess::poll_once(int descriptor, short events, Nanoseconds remaining) {
  std::array<pollfd, 2> descriptors = {pollfd{descriptor, events, 0}, pollfd{error_, POLLIN, 0}};
  const Nanoseconds slice = std::clamp(remaining, Nanoseconds(0), kSlice);
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(slice).count();
  ready_ = false;
  if (poll(descriptors.data(), descriptors.size(), static_cast<int>(milliseconds)) <= 0) return;
  if (descriptors[1].revents != 0) read_standard_error();
  ready_ = descriptors[0].revents != 0;
}

ChildProcess::Wait ChildProcess::write(std::string_view text, Nanoseconds limit,
                                       const std::function<bool()>& interrupted, Clock& clock) {
  const Nanoseconds start = clock.now();
  while (!text.empty()) {
    const ssize_t count = send(input_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return Wait::closed;
    if (interrupted && interrupted()) return Wait::interrupted;
    const Nanoseconds remaining = limit - (clock.now() - start);
    if (remaining <= Nanoseconds(0)) return Wait::deadline;
    poll_once(input_, POLLOUT, remaining);
  }
  return Wait::ready;
}

ChildProcess::Wait ChildProcess::read_line(std::string& line, Nanoseconds limit,
                                           const std::function<bool()>& interrupted, Clock& clock) {
  const Nanoseconds start = clock.now();
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      searched_ = 0;
      return Wait::ready;
    }
    searched_ = buffer_.size();
    if (interrupted && interrupted()) return Wait::interrupted;
    const Nanoseconds remaining = limit - (clock.now() - start);
    if (remaining <= Nanoseconds(0)) return Wait::deadline;
    poll_once(output_, POLLIN, remaining);
    if (!ready_) continue;
    std::array<char, 65536> chunk;
    const ssize_t count = read(output_, chunk.data(), chunk.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) {
      line = std::exchange(buffer_, {});
      searched_ = 0;
      return Wait::closed;
    }
    buffer_.append(chunk.data(), static_cast<std::size_t>(count));
    if (buffer_.size() > kMaxWorkerLine) {
      line = std::exchange(buffer_, {});
      searched_ = 0;
      return Wait::ready;  // no message: the caller of the read reports it
    }
  }
}

std::optional<ProcessEnd> ChildProcess::try_reap() {
  if (end_) return end_;
  int status = 0;
  const pid_t reaped = waitpid(pid_, &status, WNOHANG);
  if (reaped != pid_) return std::nullopt;
  end_ = WIFSIGNALED(status) ? ProcessEnd{std::nullopt, WTERMSIG(status)}
                             : ProcessEnd{WEXITSTATUS(status), std::nullopt};
  return end_;
}

ProcessEnd ChildProcess::finish(Nanoseconds limit, Clock& clock) {
  const Nanoseconds start = clock.now();
  std::optional<ProcessEnd> end = try_reap();
  while (!end) {
    if (clock.now() - start >= limit) kill();
    // Its standard error may be full, so that it waits for this process.
    poll_once(-1, 0, kReapPause);
    end = try_reap();
  }
  if (error_ >= 0) read_standard_error();
  return *end;
}

}  // namespace bench
