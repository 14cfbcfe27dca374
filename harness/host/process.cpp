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

// Maximum time of one poll(), and thus between two calls of `interrupted`.
constexpr Nanoseconds kMaxPollTime = std::chrono::milliseconds(40);
// Time between two checks whether a process has ended.
constexpr Nanoseconds kReapPause = std::chrono::milliseconds(1);

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

Error system_error(const std::string& what) {
  return {fmt::format("{}: {}", what, std::strerror(errno)), "", ""};
}

// The descriptors at both ends of a connection between parent and child.
struct DescriptorPair {
  int parent = -1;
  int child = -1;
};

// Creates a socket for data from parent to child. Unlike write() to a pipe, send() can suppress
// SIGPIPE.
std::optional<DescriptorPair> make_socket() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  return DescriptorPair{ends[0], ends[1]};
}

std::optional<DescriptorPair> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return DescriptorPair{ends[0], ends[1]};
}

// The data that the child needs between fork and exec, where it must not allocate memory.
struct LaunchData {
  std::vector<char*> arguments, environment;
  cpu_set_t processors;
  bool set_affinity = false;
  ProcessRequest::Addresses addresses = ProcessRequest::Addresses::drawn;
  DescriptorPair input, output, error, status;
  pid_t parent = 0;
};

// Adds an environment variable that pads arguments and environment to a multiple of a fixed size.
// The kernel puts these texts, and a pointer to each, above the stack. Without padding, the stack's
// address would depend on their size.
void add_padding(const std::vector<std::string>& arguments, std::vector<std::string>& environment) {
  constexpr std::size_t kPaddedSize = std::size_t{1} << 16;
  constexpr std::string_view kPadding = "BENCH_PADDING=";
  std::size_t size = arguments.front().size() + 1;  // the kernel adds the program's path once more
  const auto add_size = [&](const std::string& text) { size += text.size() + 1 + sizeof(char*); };
  std::ranges::for_each(arguments, add_size);
  std::ranges::for_each(environment, add_size);
  size += kPadding.size() + 1 + sizeof(char*);
  environment.push_back(std::string(kPadding) +
                        std::string((kPaddedSize - size % kPaddedSize) % kPaddedSize, '.'));
}

// Returns pointers to the texts, which must outlive the result, and a final nullptr.
std::vector<char*> make_pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Runs in the child after fork. Executes the program, or writes errno to the status pipe and exits.
[[noreturn]] void run_child(const LaunchData& launch) {
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
  for (const int signal : {SIGPIPE, SIGCHLD}) std::signal(signal, SIG_DFL);
  sigset_t no_signals;
  sigemptyset(&no_signals);
  sigprocmask(SIG_SETMASK, &no_signals, nullptr);
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
  constexpr unsigned long kQueryOnly = 0xffffffff;
  const int persona = personality(kQueryOnly);
  if (persona >= 0 && (persona & ADDR_NO_RANDOMIZE) != 0) return fixed;
  std::ifstream file("/proc/sys/kernel/randomize_va_space");
  int randomisation = 1;
  file >> randomisation;
  return file && randomisation == 0 ? fixed : drawn;
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
  if (!signal) return "an unknown status";
  const int number = *signal;
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
  LaunchData launch{};
  launch.addresses = request.addresses;
  if (request.addresses == ProcessRequest::Addresses::fixed) add_padding(arguments, environment);
  launch.arguments = make_pointers(arguments);
  launch.environment = make_pointers(environment);
  launch.set_affinity = !request.processors.empty();
  CPU_ZERO(&launch.processors);
  for (const int processor : request.processors) CPU_SET(processor, &launch.processors);
  launch.parent = getpid();
  const bool is_joined = request.output == ProcessRequest::Output::joined;

  std::array<int, 4> child_ends = {-1, -1, -1, -1};
  const auto close_child_ends = [&] {
    for (int& end : child_ends) close_descriptor(end);
  };
  ChildProcess child;
  const auto open = [&](std::optional<DescriptorPair> pair, std::size_t index, int& parent_end,
                        DescriptorPair& result) {
    if (!pair) return false;
    result = *pair;
    parent_end = pair->parent;
    child_ends[index] = pair->child;
    return true;
  };
  int status = -1;
  const bool is_open = open(make_socket(), 0, child.input_, launch.input) &&
                       open(make_pipe(), 1, child.output_, launch.output) &&
                       open(make_pipe(), 2, child.error_, launch.error) &&
                       open(make_pipe(), 3, status, launch.status);
  if (is_joined) launch.output.child = launch.error.child;
  const pid_t pid = is_open ? fork() : -1;
  if (pid == 0) run_child(launch);
  const int fork_error = errno;
  close_child_ends();
  if (pid < 0) {
    close_descriptor(status);
    errno = fork_error;
    return system_error("cannot start a process");
  }
  child.pid_ = pid;
  // A successful exec closes the status pipe without writing to it.
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
      searched_size_(other.searched_size_),
      error_tail_(std::move(other.error_tail_)),
      error_untaken_(std::move(other.error_untaken_)),
      end_(other.end_) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0 && !end_ && kill()) {
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
  // With a channel, input_ and output_ are the same connection, which stays open for reading.
  if (input_ >= 0) shutdown(input_, SHUT_WR);
  close_descriptor(input_);
}

ChildProcess::Wait ChildProcess::wait_for_channel(ChannelListener& listener, Nanoseconds limit,
                                                  const std::function<bool()>& interrupted,
                                                  Clock& clock) {
  const Nanoseconds start = clock.now();
  // Requests do not use standard input here. A worker without the channel's path (`env -i`) reads
  // from standard input, so closing it ends the worker at once.
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

bool ChildProcess::kill() {
  return pid_ <= 0 || end_ || ::kill(pid_, SIGKILL) == 0 || errno != EPERM;
}

void ChildProcess::read_standard_error() {
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t count = read(error_, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) close_descriptor(error_);
    if (count <= 0) return;
    const std::string_view text(chunk.data(), static_cast<std::size_t>(count));
    error_untaken_ += text;
    error_tail_ += text;
    if (error_tail_.size() > kKeptStandardError) {
      error_tail_.erase(0, error_tail_.size() - kKeptStandardError);
    }
    // The caller may never take the text, so its size is limited.
    if (error_untaken_.size() > 16 * kKeptStandardError)
      error_untaken_.erase(0, error_untaken_.size() / 2);
  }
}

std::string ChildProcess::take_standard_error() { return std::exchange(error_untaken_, {}); }

void ChildProcess::poll_once(int descriptor, short events, Nanoseconds remaining) {
  std::array<pollfd, 2> descriptors = {pollfd{descriptor, events, 0}, pollfd{error_, POLLIN, 0}};
  const Nanoseconds timeout = std::clamp(remaining, Nanoseconds(0), kMaxPollTime);
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  is_ready_ = false;
  if (poll(descriptors.data(), descriptors.size(), static_cast<int>(milliseconds)) <= 0) return;
  if (descriptors[1].revents != 0) read_standard_error();
  is_ready_ = descriptors[0].revents != 0;
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
    const std::size_t end = buffer_.find('\n', searched_size_);
    if (end != std::string::npos) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      searched_size_ = 0;
      return Wait::ready;
    }
    searched_size_ = buffer_.size();
    if (interrupted && interrupted()) return Wait::interrupted;
    const Nanoseconds remaining = limit - (clock.now() - start);
    if (remaining <= Nanoseconds(0)) return Wait::deadline;
    poll_once(output_, POLLIN, remaining);
    if (!is_ready_) continue;
    std::array<char, 65536> chunk;
    const ssize_t count = read(output_, chunk.data(), chunk.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) {
      line = std::exchange(buffer_, {});
      searched_size_ = 0;
      return Wait::closed;
    }
    buffer_.append(chunk.data(), static_cast<std::size_t>(count));
    if (buffer_.size() > kMaxWorkerLine) {
      line = std::exchange(buffer_, {});
      searched_size_ = 0;
      return Wait::ready;  // the caller reports that this is not a valid message
    }
  }
}

bool ChildProcess::has_unread_output() {
  if (!buffer_.empty()) return true;
  std::array<char, 4096> chunk;
  ssize_t count = 0;
  do {
    count = read(output_, chunk.data(), chunk.size());
  } while (count < 0 && errno == EINTR);
  if (count > 0) buffer_.append(chunk.data(), static_cast<std::size_t>(count));
  return !buffer_.empty();
}

std::optional<ProcessEnd> ChildProcess::try_reap() {
  if (end_) return end_;
  int status = 0;
  const pid_t reaped = waitpid(pid_, &status, WNOHANG);
  if (reaped == 0 || (reaped < 0 && errno == EINTR)) return std::nullopt;
  if (reaped < 0) {  // ECHILD: it has ended, but its status is lost
    end_ = ProcessEnd{};
    return end_;
  }
  end_ = WIFSIGNALED(status) ? ProcessEnd{std::nullopt, WTERMSIG(status)}
                             : ProcessEnd{WEXITSTATUS(status), std::nullopt};
  return end_;
}

ProcessEnd ChildProcess::finish(Nanoseconds limit, Clock& clock) {
  const Nanoseconds start = clock.now();
  std::optional<ProcessEnd> end = try_reap();
  while (!end) {
    if (clock.now() - start >= limit && !kill()) {
      end_ = ProcessEnd{};
      break;
    }
    // Reads standard error, since the child cannot end while it waits for space in that pipe.
    poll_once(-1, 0, kReapPause);
    end = try_reap();
  }
  if (error_ >= 0) read_standard_error();
  return end.value_or(ProcessEnd{});
}

}  // namespace bench
