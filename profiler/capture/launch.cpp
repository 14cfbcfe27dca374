// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/launch.hpp"

#include "base/inherited_signals.hpp"
#include "profiler/capture/spool_format.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {
namespace {

bool is_executable_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

std::string read_head(const std::string& file, std::size_t size) {
  std::ifstream stream(file, std::ios::binary);
  std::string head(size, '\0');
  stream.read(head.data(), static_cast<std::streamsize>(size));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  return head;
}

// "#!/usr/bin/env python3" -> the path of env. What env runs is expected to be dynamic if env is.
std::optional<std::string> parse_interpreter(const std::string& head) {
  if (!head.starts_with("#!")) return std::nullopt;
  const std::size_t begin = head.find_first_not_of(" \t", 2);
  if (begin == std::string::npos) return std::nullopt;
  return head.substr(begin, head.find_first_of(" \t\n", begin) - begin);
}

// Returns the path of the dynamic loader, or nullopt for a static program.
std::optional<std::string> read_loader(const std::string& file, const Elf64_Ehdr& header) {
  std::ifstream stream(file, std::ios::binary);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    stream.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    if (!stream.read(reinterpret_cast<char*>(&segment), sizeof segment)) break;
    constexpr std::uint64_t kMaxPath = 4096;
    if (segment.p_type != PT_INTERP || segment.p_filesz > kMaxPath) continue;
    std::string path(segment.p_filesz, '\0');
    stream.seekg(static_cast<std::streamoff>(segment.p_offset));
    stream.read(path.data(), static_cast<std::streamsize>(path.size()));
    return path.substr(0, path.find('\0'));
  }
  return std::nullopt;
}

std::optional<std::string> obstacle_of_elf(const std::string& file, const std::string& head) {
  Elf64_Ehdr header;
  if (head.size() < sizeof header || std::memcmp(head.data(), ELFMAG, SELFMAG) != 0) {
    return std::nullopt;  // a script without `#!`, which a shell runs
  }
  std::memcpy(&header, head.data(), sizeof header);
  Elf64_Ehdr own;
  std::memcpy(&own, read_head("/proc/self/exe", sizeof own).data(), sizeof own);
  if (header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] || header.e_machine != own.e_machine) {
    return "is for another machine or word size than this tool";
  }
  const auto loader = read_loader(file, header);
  if (!loader) return "is a static program, which cannot load a library";
  if (loader->find("musl") != std::string::npos) {
    return "uses the C library musl, which the capture library does not support";
  }
  return std::nullopt;
}

// The pid of the program to which forward() sends SIGTERM and SIGHUP. SIGINT and SIGQUIT are
// ignored here, because the terminal also sends them to the program. A signal handler may access
// only a variable of this type.
volatile std::sig_atomic_t running_program = 0;

constexpr std::array kForwardedSignals = {SIGTERM, SIGHUP};
constexpr std::array kTerminalSignals = {SIGINT, SIGQUIT};

void forward(int signal) {
  if (running_program > 0) kill(static_cast<pid_t>(running_program), signal);
}

// Delays SIGTERM and SIGHUP while the program starts or ends. None is lost: unblock() delivers
// those that arrived.
class SignalBlock {
 public:
  SignalBlock() { block(); }
  ~SignalBlock() { unblock(); }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;
  void block() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : kForwardedSignals) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &previous_);
  }
  void unblock() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }

 private:
  sigset_t previous_{};
};

// Handles signals while the program runs. Requires a SignalBlock when it begins and ends, so that
// forward() always finds a program that exists.
class SignalForwarding {
 public:
  explicit SignalForwarding(pid_t program) {
    running_program = program;
    auto* previous = previous_.data();
    for (const int signal : kForwardedSignals) install(signal, forward, *previous++);
    for (const int signal : kTerminalSignals) install(signal, SIG_IGN, *previous++);
  }
  ~SignalForwarding() {
    const auto* previous = previous_.data();
    for (const int signal : kForwardedSignals) sigaction(signal, previous++, nullptr);
    for (const int signal : kTerminalSignals) sigaction(signal, previous++, nullptr);
    running_program = 0;
  }
  SignalForwarding(const SignalForwarding&) = delete;
  SignalForwarding& operator=(const SignalForwarding&) = delete;

 private:
  static void install(int signal, void (*handler)(int), struct sigaction& previous) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigaction(signal, &action, &previous);
  }
  std::array<struct sigaction, kForwardedSignals.size() + kTerminalSignals.size()> previous_{};
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// Waits until the child ends, but leaves its pid in use, so that signals can still be sent to it.
void wait_for_end(pid_t child) {
  siginfo_t info;
  while (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
}

// Frees the pid of a child that has ended, and returns its exit status as a shell does. Returns an
// error if the system does not know the status, since any number would be an invented one.
Result<int> collect_exit_status(pid_t child, const std::string& program) {
  int status = 0;
  pid_t collected = 0;
  do {
    collected = waitpid(child, &status, 0);
  } while (collected < 0 && errno == EINTR);
  if (collected < 0) {
    return Error{fmt::format("has ended, but its exit status is lost: {}", std::strerror(errno)),
                 program, "start this tool with SIGCHLD at its default action"};
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Returns the value of `variable` if it does not name this tool's own library.
std::optional<std::string> other_tool(const char* variable, const std::string& own,
                                      const std::map<std::string, std::string>& inherited) {
  const auto set = inherited.find(variable);
  if (set == inherited.end() || set->second.empty() || set->second == own) return std::nullopt;
  return set->second;
}

// Executing the program closes the other end of the pipe. If that fails, the pipe contains the
// reason.
int read_failure(int descriptor) {
  int failure = 0;
  ssize_t size = 0;
  while ((size = read(descriptor, &failure, sizeof failure)) < 0 && errno == EINTR) {
  }
  close(descriptor);
  return size == sizeof failure ? failure : 0;
}

}  // namespace

std::map<std::string, std::string> capture_environment(
    const CaptureRequest& request, std::map<std::string, std::string> inherited) {
  std::map<std::string, std::string> result = std::move(inherited);
  std::string& preload = result["LD_PRELOAD"];
  preload += (preload.empty() ? "" : ":") + request.library;
  result[capture::kSpoolVariable] = request.spool;
  // A std::string, because GCC 12 warns about an overlap if a literal is assigned.
  if (request.backtrace == Backtrace::yes) result[capture::kBacktraceVariable] = std::string("1");
  if (request.resident == ResidentMemory::yes)
    result[capture::kResidentVariable] = std::string("1");
  if (request.sample_period) {
    result[capture::kSamplePeriodVariable] = fmt::format("{}", request.sample_period->count());
  }
  if (!other_nvtx_tool(request, result)) result[capture::kNvtxVariable] = request.library;
  if (!request.cuda_library.empty() && !other_cuda_tool(request, result)) {
    result[capture::kCudaVariable] = request.cuda_library;
    result[capture::kKindsVariable] = request.kinds;
    result[capture::kDumpPeriodVariable] = request.dump_period;
  }
  result[capture::kVerboseVariable] = request.verbose;
  for (const char* name : capture::kVerboseVariables) {
    const auto set = result.find(name);
    if (set == result.end() || set->second.empty()) continue;
    if (set->second != "0" && set->second != "none") return result;  // the user's own choice
  }
  for (const char* name : capture::kVerboseVariables) result[name] = request.verbose;
  return result;
}

std::optional<std::string> other_nvtx_tool(const CaptureRequest& request,
                                           const std::map<std::string, std::string>& inherited) {
  return other_tool(capture::kNvtxVariable, request.library, inherited);
}

std::optional<std::string> other_cuda_tool(const CaptureRequest& request,
                                           const std::map<std::string, std::string>& inherited) {
  if (request.cuda_library.empty()) return std::nullopt;
  return other_tool(capture::kCudaVariable, request.cuda_library, inherited);
}

Result<std::string> find_executable(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) {
    if (is_executable_file(name)) return name;
    const bool there = access(name.c_str(), F_OK) == 0;
    return Error{there ? "cannot be executed" : "no such program", name, ""};
  }
  std::size_t begin = 0;
  while (begin <= search_path.size()) {
    const std::size_t end = std::min(search_path.find(':', begin), search_path.size());
    const std::string folder = search_path.substr(begin, end - begin);
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (is_executable_file(file)) return file;
    begin = end + 1;
  }
  return Error{"no such program in PATH", name, ""};
}

std::optional<std::string> preload_obstacle(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return fmt::format("{} is setuid or setgid, so the loader does not preload libraries into it",
                       file);
  }
  const std::string head = read_head(file, 4096);
  if (const auto interpreter = parse_interpreter(head)) {
    const auto obstacle =
        obstacle_of_elf(*interpreter, read_head(*interpreter, sizeof(Elf64_Ehdr)));
    if (!obstacle) return std::nullopt;
    return fmt::format("{}, which runs {}, {}", *interpreter, file, *obstacle);
  }
  const auto obstacle = obstacle_of_elf(file, head);
  if (!obstacle) return std::nullopt;
  return fmt::format("{} {}", file, *obstacle);
}

Result<int> run_program_to_end(const std::string& program, const std::vector<std::string>& command,
                               const std::map<std::string, std::string>& environment,
                               const InheritedSignals* signals) {
  std::vector<std::string> words = command;
  std::vector<std::string> settings;
  for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> variables = pointers(settings);
  std::array<int, 2> failure_pipe{};
  if (pipe2(failure_pipe.data(), O_CLOEXEC) != 0) return Error{std::strerror(errno), program, ""};
  SignalBlock block;
  const pid_t child = fork();
  if (child == 0) {
    block.unblock();
    if (signals != nullptr) signals->restore();
    execve(program.c_str(), arguments.data(), variables.data());
    const int failure = errno;
    static_cast<void>(!write(failure_pipe[1], &failure, sizeof failure));
    _exit(127);
  }
  close(failure_pipe[1]);
  if (child < 0) {
    close(failure_pipe[0]);
    return Error{fmt::format("cannot create a process: {}", std::strerror(errno)), program, ""};
  }
  const SignalForwarding forwarding(child);
  block.unblock();
  const int failure = read_failure(failure_pipe[0]);
  wait_for_end(child);
  block.block();
  Result<int> status = collect_exit_status(child, program);
  if (failure != 0) {
    return Error{fmt::format("cannot be executed: {}", std::strerror(failure)), program, ""};
  }
  return status;
}

}  // namespace bench
